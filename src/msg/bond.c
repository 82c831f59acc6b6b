/* The large messages of remote ranks: cut into chunks, each pulled by a rail whose way out is short. Under progress.
 *
 * A chunk is a put where both buffers are one piece, else a DATA frame; it says itself where it belongs. It is noted with its
 * rail until it has landed; what a lost rail did not land comes back here and goes over another. The transfer is over when
 * the receiver says FINISH: until then its buffer is lent. */
#include "msg/transfer.h"

#define CHUNK_US    1500         /* of a rail's time, for one chunk, where there are several rails; */
#define CHUNK_LEAST (32u << 10)
#define CHUNK_MOST  (1u << 20)
#define ALONE       4            /* times that, and */
#define ALONE_LEAST (256u << 10) /* so much, where there is one: others may come up, and what a slow rail was given stays with it */
#define PACE_NS     2000000      /* between two questions to the kernel about one of them */

/* A chunk that came back. */
struct msg_span {
    struct msg_span *next;
    uint64_t from, bytes;
};

bool vmsg_bond_back(struct msg_peer *peer, const struct msg_replay_bulk *bulk)
{
    struct msg_transfer *transfer = vmsg_transfer_at(peer, bulk->id, MSG_TRANSFER_PLACING);
    if (!transfer)
        transfer = vmsg_transfer_at(peer, bulk->id, MSG_TRANSFER_SENDING);
    if (!transfer)
        return true; /* it is over: all of it has landed */
    struct msg_span *span = malloc(sizeof *span);
    if (!span)
        return false;
    *span = (struct msg_span){transfer->back, bulk->from, bulk->bytes};
    transfer->back = span;
    vmsg_transfer_work(transfer);
    return true;
}

void vmsg_bond_forget(struct msg_transfer *transfer)
{
    for (struct msg_span *span = transfer->back, *next; span; span = next) {
        next = span->next;
        free(span);
    }
    transfer->back = NULL;
}

static bool all_given(const struct msg_transfer *transfer)
{
    return transfer->moved == transfer->upto && !transfer->back;
}

/* ---- one chunk --------------------------------------------------------------------------------------------------- */

/* Where the next one begins, and its most. */
static uint64_t next_chunk(const struct msg_transfer *transfer, uint64_t *from)
{
    *from = transfer->back ? transfer->back->from : transfer->moved;
    return transfer->back ? transfer->back->bytes : transfer->upto - transfer->moved;
}

static void chunk_gone(struct msg_transfer *transfer, uint64_t bytes)
{
    struct msg_span *span = transfer->back;
    if (!span) {
        transfer->moved += bytes;
        return;
    }
    span->from += bytes;
    span->bytes -= bytes;
    if (!span->bytes) {
        transfer->back = span->next;
        free(span);
    }
}

static int chunk_put(struct msg_transfer *transfer, int rail, uint64_t from, uint64_t bytes)
{
    struct iovec piece = {(char *)transfer->request->buffer.base + from, bytes};
    struct vi_transfer put = {
        .local = &piece, .pieces = 1, .key = transfer->key, .offset = from, .signal = true,
        .immediate = (uint32_t)(transfer->remote >> 32 << 16 | (transfer->remote & UINT16_MAX))};
    int error = vi_put(transfer->peer->far->vi[rail], &put);
    return error == VI_COMPLETE ? OK : error;
}

static int chunk_send(struct msg_transfer *transfer, int rail, uint64_t from, uint64_t bytes)
{
    struct msg_frame_data head = {transfer->remote, from};
    int error = vmsg_transfer_cursor(transfer, from);
    transfer->peer->far->over = rail;
    if (!error)
        error = vmsg_frame_send(transfer->request, msg_header(MSG_FRAME_DATA, 0, 0, 0), (struct iovec){&head, sizeof head},
                                transfer->cursor, from, bytes);
    return error;
}

/* The next chunk over this rail. Peer lock held. */
static int chunk_give(struct msg_transfer *transfer, int rail, uint64_t most)
{
    struct msg_peer *peer = transfer->peer;
    bool put = transfer->phase == MSG_TRANSFER_PLACING;
    uint64_t from, bytes = next_chunk(transfer, &from);
    if (!put && most > msg_frame_most(peer) - sizeof(struct msg_frame_data))
        most = msg_frame_most(peer) - sizeof(struct msg_frame_data);
    if (bytes > most)
        bytes = most;
    int error = put ? chunk_put(transfer, rail, from, bytes) : chunk_send(transfer, rail, from, bytes);
    if (error)
        return error;
    vmsg_replay_bulk_sent(&peer->far->replay, rail, &(struct msg_replay_bulk){vmsg_transfer_id(transfer), from, bytes});
    chunk_gone(transfer, bytes);
    return OK;
}

/* ---- which rail -------------------------------------------------------------------------------------------------- */

/* What goes in a millisecond or two, so that the others may take what comes after it. With one rail more; as its rate is not known
 * at first, this is not: a job begins with one. And never more than all it was given before: what a shaped link lets through at
 * first says too much of its rate. */
static uint64_t chunk_of(const struct msg_far *far, int rail)
{
    uint64_t bytes = far->pace[rail].rate / 1000 * CHUNK_US / 1000;
    if (far->held == 1)
        return bytes * ALONE < ALONE_LEAST ? ALONE_LEAST : bytes * ALONE > MSG_PLACE ? MSG_PLACE : bytes * ALONE;
    if (bytes > far->pace[rail].given)
        bytes = far->pace[rail].given;
    return bytes < CHUNK_LEAST ? CHUNK_LEAST : bytes > CHUNK_MOST ? CHUNK_MOST : bytes;
}

/* Near the end a rail leaves a chunk to the others if they are through with everything sooner than it is with the chunk, and
 * one of them is the better one for it: so the best of all never refuses. */
static bool in_time(struct msg_transfer *transfer, int rail, uint64_t chunk)
{
    struct msg_far *far = transfer->peer->far;
    const struct msg_pace *pace = &far->pace[rail];
    uint64_t left = transfer->upto - transfer->moved, rates = 0;
    double mine = (double)(pace->backlog + chunk);
    bool better = false;
    for (int i = 0; i < MSG_REPLAY_RAILS && pace->rate; i++)
        if (i != rail && far->vi[i] && vmsg_replay_bulk_room(&far->replay, i)) {
            rates += far->pace[i].rate;
            left += far->pace[i].backlog;
            better |= (double)(far->pace[i].backlog + chunk) * (double)pace->rate < mine * (double)far->pace[i].rate;
        }
    return !better || mine * (double)rates <= (double)left * (double)pace->rate;
}

/* As much as the rail takes: with others beside it, a chunk at a time when its way out is short. Peer lock held. */
static int rail_fill(struct msg_transfer *transfer, int rail)
{
    struct msg_peer *peer = transfer->peer;
    struct msg_far *far = peer->far;
    int error = OK;
    while (!error && !all_given(transfer) && vmsg_replay_bulk_room(&far->replay, rail)) {
        uint64_t from, left = next_chunk(transfer, &from), chunk = chunk_of(far, rail);
        uint64_t before = atomic_load_explicit(&far->vi[rail]->waiting, memory_order_relaxed);
        if (before >= (far->held > 1 ? chunk / 2 : chunk))
            break;
        vmsg_rail_measure(peer, rail, PACE_NS);
        if (far->held > 1 && !in_time(transfer, rail, chunk < left ? chunk : left))
            break;
        error = chunk_give(transfer, rail, chunk);
        far->pace[rail].backlog += error ? 0 : chunk;
        far->pace[rail].given += error ? 0 : chunk;
    }
    return error;
}

/* Gives what the rails take now. False: none took any. */
bool vmsg_bond_step(struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    bool went = false;
    int error = OK;
    msg_lock(&peer->lock);
    uint64_t before = transfer->moved;
    struct msg_span *back = transfer->back;
    for (int i = 0; i < MSG_REPLAY_RAILS && !error; i++) {
        if (peer->far->vi[i] && !all_given(transfer))
            error = rail_fill(transfer, i);
        if (error == ERR_AGAIN || error == ERR_LINK_DOWN)
            error = OK;
    }
    went = transfer->moved != before || transfer->back != back;
    if (!all_given(transfer))
        vmsg_transfer_work(transfer);
    msg_unlock(&peer->lock);
    if (error)
        vmsg_failed(error);
    return went;
}

/* The receiver says that he has all of it. */
bool vmsg_bond_may_end(const struct msg_transfer *transfer)
{
    return transfer->peer->remote && transfer->sender && all_given(transfer) &&
           (transfer->phase == MSG_TRANSFER_PLACING || transfer->phase == MSG_TRANSFER_SENDING);
}
