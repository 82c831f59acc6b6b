/* The way out of a vi: frames, and the queue behind a busy socket. Called by the thread that sends on the vi, and by
 * the poll; everything here happens under vi->lock.
 *
 * A send on an idle socket is one sendmsg for frame and payload. What the socket does not take is copied and waits;
 * later messages join it there and leave together; so do small ones whose sender says that more follows. A put is never
 * copied: its memory stays the caller's until the other side has said that it is in memory. No more than TCP_DEPTH
 * frames are under way, taken or not by the socket.
 *
 * A socket that fails here is only marked; the poll finds the mark and tells the sink. */
#include "vi/tcp/tcp.h"

/* Makes the poll examine this vi: its queue is not empty, or its socket has failed. */
static void writer_add(struct tcp_vi *vi)
{
    struct tcp_nic *nic = tcp_nic_of(vi->call.vi.nic);
    base_lock(&nic->writers_lock);
    if (!vi->writing) {
        vi->writing = true;
        list_append(&nic->writers, &vi->writer);
        nic->writing++;
    }
    base_unlock(&nic->writers_lock);
    /* seq_cst: pairs with tcp_arm: either it sees us in the list, or we see that it sleeps */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&nic->call.asleep, memory_order_relaxed) && vi->call.link && !vi->watched) {
        vi->watched = true;
        call_watch(vi->call.link, EPOLLIN | EPOLLOUT);
    }
}

static int socket_failed(struct tcp_vi *vi, int error)
{
    vi->failed = error;
    writer_add(vi);
    errno = error;
    return vbase_fail_errno(ERR_LINK_DOWN, "sending to rank %u", vi->call.vi.peer);
}

/* Bytes that the socket took, 0 when it is full, -1 when it has failed. */
static ssize_t socket_send(struct tcp_vi *vi, const struct iovec *piece, int pieces)
{
    struct msghdr message = {.msg_iov = (struct iovec *)piece, .msg_iovlen = (size_t)pieces};
    ssize_t sent = sendmsg(vi->call.link->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) {
        base_count_card(&vbase_counters->card0, vi->call.card, (uint64_t)sent);
        return sent;
    }
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -1;
}

static struct tcp_frame frame_stamp(struct tcp_vi *vi, enum tcp_kind kind, uint32_t length, uint64_t word)
{
    /* relaxed: a count, it promises nothing about memory here */
    uint32_t took = atomic_load_explicit(&vi->took, memory_order_relaxed);
    atomic_store_explicit(&vi->told, took, memory_order_relaxed);
    return (struct tcp_frame){.length = length, .kind = (uint8_t)kind, .number = (uint16_t)vi->sent, .taken = took,
                              .word = word};
}

static uint64_t count_frame(struct tcp_vi *vi)
{
    uint64_t number = atomic_load_explicit(&vi->sent, memory_order_relaxed) + 1;
    atomic_store_explicit(&vi->sent, number, memory_order_release); /* pairs with the poll's judgement of `taken` */
    if (likely(vi->call.link)) /* else it is not known over which card it goes */
        base_count_card(&vbase_counters->frames0, vi->call.card, 1);
    return number;
}

static int queue_pieces(struct tcp_vi *vi, const struct iovec *piece, int pieces, size_t skip)
{
    bool fresh = !vi->queue.first;
    for (int i = 0; i < pieces; i++) {
        size_t gone = skip < piece[i].iov_len ? skip : piece[i].iov_len;
        skip -= gone;
        if (!tcp_queue_copy(&vi->queue, (const uint8_t *)piece[i].iov_base + gone, piece[i].iov_len - gone))
            return socket_failed(vi, ENOMEM);
    }
    atomic_store_explicit(&vi->call.vi.waiting, vi->queue.bytes, memory_order_relaxed);
    if (fresh && vi->call.link)
        writer_add(vi);
    return OK;
}

static uint64_t total_of(const struct iovec *piece, int pieces)
{
    uint64_t length = 0;
    for (int i = 0; i < pieces; i++)
        length += piece[i].iov_len;
    return length;
}

/* Sends what the queue holds, as far as the socket takes it. A call holds the socket, and acknowledgements wait
 * meanwhile: so less in one call to another host than within a host, where fewer calls are better. */
static void queue_flush(struct tcp_vi *vi)
{
    struct iovec piece[TUNED(TCP_PIECES)];
    vi->held = false;
    for (int turn = 0; turn < (int)TUNED(TCP_TURNS) && vi->queue.first; turn++) {
        int pieces = tcp_queue_gather(&vi->queue, piece, (int)TUNED(TCP_PIECES),
                                      vi->call.near ? TUNED(TCP_PUSH_NEAR) : TUNED(TCP_PUSH_MOST));
        size_t asked = total_of(piece, pieces);
        ssize_t sent = socket_send(vi, piece, pieces);
        if (sent < 0) {
            (void)socket_failed(vi, errno);
            return;
        }
        tcp_queue_sent(&vi->queue, (size_t)sent);
        if ((size_t)sent < asked)
            break;
    }
}

/* FRAME and the pieces, at once if the socket takes them and nothing waits before them. */
static int frame_send(struct tcp_vi *vi, const struct tcp_frame *frame, const struct iovec *piece, int pieces,
                      bool more)
{
    struct iovec all[TUNED(TCP_PIECES_DIRECT)];
    size_t total = sizeof(*frame) + frame->length;
    ssize_t sent = 0;
    int error;
    all[0] = (struct iovec){(void *)frame, sizeof(*frame)};
    if (pieces >= (int)TUNED(TCP_PIECES_DIRECT)) {
        bool fresh = !vi->queue.first && vi->call.link;
        error = queue_pieces(vi, all, 1, 0) ?: queue_pieces(vi, piece, pieces, 0);
        if (!error && fresh)
            queue_flush(vi);
        return error;
    }
    for (int i = 0; i < pieces; i++)
        all[i + 1] = piece[i];
    if (vi->call.link && (vi->held || (more && total <= TUNED(TCP_HELD) && !vi->queue.first))) {
        error = queue_pieces(vi, all, pieces + 1, 0);
        vi->held = true;
        if (!error && (!more || vi->queue.copied > TUNED(TCP_HELD_MOST)))
            queue_flush(vi);
        return error;
    }
    if (vi->call.link && !vi->queue.first) {
        sent = socket_send(vi, all, pieces + 1);
        if (sent < 0)
            return socket_failed(vi, errno);
        if ((size_t)sent == total)
            return OK;
    }
    return queue_pieces(vi, all, pieces + 1, (size_t)sent);
}

static int send_room(struct tcp_vi *vi, uint64_t length)
{
    /* relaxed: an old value only makes the way look fuller */
    uint64_t under_way = atomic_load_explicit(&vi->sent, memory_order_relaxed) -
                         atomic_load_explicit(&vi->taken, memory_order_relaxed);
    if (vi->failed)
        return ERR_LINK_DOWN;
    if (under_way >= TUNED(TCP_DEPTH)) {
        COUNT(lane_full);
        return ERR_AGAIN;
    }
    if (vi->queue.copied > 0 && vi->queue.copied + length > TUNED(TCP_QUEUE)) {
        COUNT(socket_full);
        return ERR_AGAIN;
    }
    return OK;
}

int tcp_send(struct vi *base, uint64_t header, const struct iovec *piece, int pieces, unsigned flags)
{
    struct tcp_vi *vi = tcp_vi_of(base);
    uint64_t length = total_of(piece, pieces);
    if (unlikely(length > TCP_MAX_SEND))
        return vbase_fail(ERR_ARGUMENT, "a send of %llu bytes over tcp; at most %u", (unsigned long long)length,
                          TCP_MAX_SEND);
    base_lock(&vi->lock);
    int error = send_room(vi, length);
    if (likely(!error)) {
        count_frame(vi);
        struct tcp_frame frame = frame_stamp(vi, TCP_SEND, (uint32_t)length, header);
        error = frame_send(vi, &frame, piece, pieces, flags & VI_MORE);
    }
    base_unlock(&vi->lock);
    return error;
}

/* ---- puts -------------------------------------------------------------------------------------------------------- */

static int judge_put(const struct vi_transfer *transfer, uint64_t length)
{
    uint64_t there = transfer->key.word[1];
    if (transfer->offset > there || length > there - transfer->offset)
        return vbase_fail(ERR_ARGUMENT, "a put of %llu bytes at %llu into a region of %llu", (unsigned long long)length,
                          (unsigned long long)transfer->offset, (unsigned long long)there);
    if (length > TCP_MAX_PUT)
        return vbase_fail(ERR_ARGUMENT, "a put of %llu bytes over tcp; at most %u", (unsigned long long)length,
                          TCP_MAX_PUT);
    return OK;
}

static int put_room(struct tcp_vi *vi, bool posted)
{
    int error = send_room(vi, 0);
    if (error || !posted)
        return error;
    if (!vi->posted)
        vi->posted = calloc(TUNED(TCP_PUTS), sizeof(*vi->posted));
    if (!vi->posted)
        return vbase_fail(ERR_MEMORY, "puts to rank %u", vi->call.vi.peer);
    if (vi->posted_end - vi->posted_first < TUNED(TCP_PUTS))
        return OK;
    COUNT(lane_full);
    return ERR_AGAIN;
}

static int put_locked(struct tcp_vi *vi, const struct vi_transfer *transfer, uint64_t length)
{
    bool fresh = !vi->queue.first;
    int error = put_room(vi, transfer->cookie != NULL);
    if (error)
        return error;
    struct tcp_item *item = tcp_queue_put(&vi->queue, transfer->local, transfer->pieces);
    if (!item)
        return vbase_fail(ERR_MEMORY, "a put of %d pieces to rank %u", transfer->pieces, vi->call.vi.peer);
    item->number = count_frame(vi);
    item->frame.frame = frame_stamp(vi, TCP_PUT, (uint32_t)length, transfer->key.word[0]);
    item->frame.frame.flags = (transfer->signal ? TCP_FLAG_SIGNAL : 0) | (transfer->cookie ? 0 : TCP_FLAG_QUIET);
    item->frame.frame.immediate = transfer->immediate;
    item->frame.offset = transfer->offset;
    if (transfer->cookie)
        vi->posted[vi->posted_end++ % TUNED(TCP_PUTS)] = (struct tcp_posted){item->number, transfer->cookie, OK};
    if (fresh && vi->call.link) {
        queue_flush(vi);
        if (vi->queue.first && !vi->failed)
            writer_add(vi);
    }
    atomic_store_explicit(&vi->call.vi.waiting, vi->queue.bytes, memory_order_relaxed);
    return OK; /* a socket that failed now is told by the poll, and this put with it */
}

int tcp_put(struct vi *base, const struct vi_transfer *transfer)
{
    struct tcp_vi *vi = tcp_vi_of(base);
    uint64_t length = total_of(transfer->local, transfer->pieces);
    int error = judge_put(transfer, length);
    if (error)
        return error;
    base_lock(&vi->lock);
    error = put_locked(vi, transfer, length);
    base_unlock(&vi->lock);
    return error;
}

/* The next put that is complete, or failed with FAILED. */
static bool next_completed(struct tcp_vi *vi, int failure, struct tcp_posted *out)
{
    uint64_t taken = atomic_load_explicit(&vi->taken, memory_order_relaxed);
    base_lock(&vi->lock);
    bool found = vi->posted_first != vi->posted_end &&
            (failure || vi->posted[vi->posted_first % TUNED(TCP_PUTS)].number <= taken);
    if (found)
        *out = vi->posted[vi->posted_first++ % TUNED(TCP_PUTS)];
    base_unlock(&vi->lock);
    return found;
}

void tcp_completed(struct tcp_vi *vi, int failure)
{
    struct call_nic *nic = vi->call.peer->nic;
    struct tcp_posted posted;
    while (next_completed(vi, failure, &posted))
        if (posted.cookie && atomic_load_explicit(&vi->call.open, memory_order_relaxed)) {
            nic->told++;
            nic->nic.sink.done(&vi->call.vi, posted.cookie, failure ? failure : posted.status);
        }
}

bool tcp_put_refused(struct tcp_vi *vi, uint64_t number)
{
    bool found = false;
    base_lock(&vi->lock);
    for (uint64_t i = vi->posted_first; i != vi->posted_end; i++) {
        struct tcp_posted *posted = &vi->posted[i % TUNED(TCP_PUTS)];
        if ((uint32_t)posted->number == (uint32_t)number) {
            posted->status = vbase_fail(ERR_ARGUMENT, "rank %u has no such memory", vi->call.vi.peer);
            found = true;
        }
    }
    base_unlock(&vi->lock);
    return found;
}

/* ---- what the poll sends ----------------------------------------------------------------------------------------- */

static void control_send(struct tcp_vi *vi, enum tcp_kind kind, uint64_t word)
{
    struct tcp_frame frame = frame_stamp(vi, kind, 0, word);
    (void)frame_send(vi, &frame, NULL, 0, false);
}

void tcp_control_send(struct tcp_vi *vi, enum tcp_kind kind, uint64_t word)
{
    base_lock(&vi->lock);
    if (vi->call.link && kind == TCP_TAKEN && vi->queue.first)
        vi->owes = true;
    else if (vi->call.link)
        control_send(vi, kind, word);
    base_unlock(&vi->lock);
}

bool tcp_flush(struct tcp_vi *vi)
{
    struct tcp_nic *nic = tcp_nic_of(vi->call.vi.nic);
    base_lock(&vi->lock);
    uint64_t before = vi->queue.bytes;
    if (vi->call.link && !vi->failed)
        queue_flush(vi);
    if (vi->call.link && !vi->failed && !vi->queue.first && vi->owes) {
        vi->owes = false;
        control_send(vi, TCP_TAKEN, 0);
    }
    if (vi->call.link && (vi->queue.first || vi->failed)) {
        writer_add(vi);
    } else if (vi->watched && vi->call.link) {
        vi->watched = false;
        call_watch(vi->call.link, EPOLLIN);
    }
    if (vi->call.leaving && vi->call.link && !vi->queue.first)
        shutdown(vi->call.link->fd, SHUT_WR); /* the other side reads to the end and closes */
    nic->moved |= vi->queue.bytes != before;
    nic->bytes += vi->queue.bytes < before ? before - vi->queue.bytes : 0;
    atomic_store_explicit(&vi->call.vi.waiting, vi->queue.bytes, memory_order_relaxed);
    bool good = !vi->failed;
    base_unlock(&vi->lock);
    return good;
}

/* Under writers_lock. */
static void writer_remove(struct tcp_nic *nic, struct tcp_vi *vi)
{
    list_remove(&vi->writer);
    vi->writing = false;
    nic->writing--;
}

static struct tcp_vi *writer_take(struct tcp_nic *nic)
{
    base_lock(&nic->writers_lock);
    struct list_node *node = list_first(&nic->writers);
    struct tcp_vi *vi = node ? container_of(node, struct tcp_vi, writer) : NULL;
    if (vi)
        writer_remove(nic, vi);
    base_unlock(&nic->writers_lock);
    return vi;
}

void tcp_writer_forget(struct tcp_vi *vi)
{
    struct tcp_nic *nic = tcp_nic_of(vi->call.vi.nic);
    base_lock(&nic->writers_lock);
    if (vi->writing)
        writer_remove(nic, vi);
    base_unlock(&nic->writers_lock);
}

/* Each writer has one turn; those whose queue is not empty afterwards are back in the list. */
bool tcp_writers_flush(struct tcp_nic *nic, bool tell)
{
    struct tcp_vi *vi;
    bool good = true;
    /* relaxed: a vi added at this moment has its turn next time */
    for (uint32_t turns = atomic_load_explicit(&nic->writing, memory_order_relaxed); turns > 0; turns--) {
        vi = writer_take(nic);
        if (!vi)
            break;
        if (tcp_flush(vi))
            continue;
        good = false;
        if (tell)
            call_break(&vi->call, ERR_LINK_DOWN);
    }
    return good;
}
