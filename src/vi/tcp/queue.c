/* The queue before a busy or missing socket. Small messages that wait there share items and leave in one system
 * call. Copied bytes belong to the queue; the memory of a put stays the caller's until the put is complete. Under
 * vi->lock. */
#include "vi/tcp/tcp.h"

/* A new one at the end, of PIECES pieces, the first of which is to be set, and ROOM bytes behind them. */
static struct tcp_item *item_add(struct tcp_queue *queue, int pieces, uint32_t room)
{
    struct tcp_item *item = malloc(sizeof(*item) + (size_t)pieces * sizeof(struct iovec) + room);
    if (!item)
        return NULL;
    item->next = NULL;
    item->room = room;
    item->put = room == 0;
    item->at = 0;
    item->pieces = 1;
    if (queue->last)
        queue->last->next = item;
    else
        queue->first = item;
    queue->last = item;
    return item;
}

bool tcp_queue_copy(struct tcp_queue *queue, const void *data, size_t length)
{
    const uint8_t *from = data;
    while (length > 0) {
        struct tcp_item *item = queue->last;
        if (!item || item->room == 0) {
            item = item_add(queue, 1, (uint32_t)TUNED(TCP_CHUNK));
            if (!item)
                return false;
            item->piece[0] = (struct iovec){item->piece + 1, 0};
        }
        size_t take = length < item->room ? length : item->room;
        base_copy((uint8_t *)item->piece[0].iov_base + item->piece[0].iov_len, from, take);
        item->piece[0].iov_len += take;
        item->room -= (uint32_t)take;
        queue->bytes += take;
        queue->copied += take;
        from += take;
        length -= take;
    }
    return true;
}

struct tcp_item *tcp_queue_put(struct tcp_queue *queue, const struct iovec *piece, int pieces)
{
    struct tcp_item *item = item_add(queue, pieces + 1, 0);
    if (!item)
        return NULL;
    item->piece[0] = (struct iovec){&item->frame, sizeof(item->frame)};
    queue->bytes += sizeof(item->frame);
    for (int i = 0; i < pieces; i++) {
        if (piece[i].iov_len == 0)
            continue;
        item->piece[item->pieces++] = piece[i];
        queue->bytes += piece[i].iov_len;
    }
    return item;
}

int tcp_queue_gather(const struct tcp_queue *queue, struct iovec *out, int most, size_t bytes)
{
    int count = 0;
    for (const struct tcp_item *item = queue->first; item; item = item->next)
        for (int i = item->at; i < item->pieces; i++) {
            if (count == most || bytes == 0)
                return count;
            out[count] = item->piece[i];
            if (out[count].iov_len > bytes)
                out[count].iov_len = bytes;
            bytes -= out[count++].iov_len;
        }
    return count;
}

static void queue_pop(struct tcp_queue *queue)
{
    struct tcp_item *item = queue->first;
    queue->first = item->next;
    if (!queue->first)
        queue->last = NULL;
    free(item);
}

void tcp_queue_sent(struct tcp_queue *queue, size_t bytes)
{
    queue->bytes -= bytes;
    while (queue->first) {
        struct tcp_item *item = queue->first;
        while (item->at < item->pieces) {
            struct iovec *piece = &item->piece[item->at];
            size_t take = bytes < piece->iov_len ? bytes : piece->iov_len;
            piece->iov_base = (uint8_t *)piece->iov_base + take;
            piece->iov_len -= take;
            bytes -= take;
            queue->copied -= item->put ? 0 : take;
            if (piece->iov_len > 0)
                return;
            item->at++;
        }
        queue_pop(queue);
    }
}

void tcp_queue_drop(struct tcp_queue *queue)
{
    while (queue->first)
        queue_pop(queue);
    queue->bytes = queue->copied = 0;
}

uint64_t tcp_queue_lent(const struct tcp_queue *queue)
{
    for (const struct tcp_item *item = queue->first; item; item = item->next)
        if (item->put)
            return item->number;
    return TCP_NONE;
}
