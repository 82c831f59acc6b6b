/* What the sender gives to the rails of a network: a granted range, cut into chunks, each taken by a rail whose backlog
 * is short. Under progress.
 *
 * A chunk is a put where the rail has a key of the receiver's buffer, else a DATA frame; the frame says where it
 * belongs. It is noted with its rail until it has landed; chunks that did not land over a lost rail come back here
 * after its fence and go over another. The transfer is over when the receiver says DONE: until then its buffer is
 * lent. */
#include "msg/transfer.h"

bool vmsg_bond_back(struct msg_peer *peer, const struct msg_replay_bulk *bulk)
{
    struct msg_transfer *transfer = vmsg_transfer_sent(peer, bulk->id);
    if (!transfer || transfer->phase == MSG_WAITING)
        return true; /* it is over: all of it has landed */
    struct msg_span *span = malloc(sizeof *span);
    if (!span)
        return false;
    *span = (struct msg_span){transfer->back, bulk->from, bulk->bytes};
    transfer->back = span;
    vmsg_transfer_rest(transfer);
    transfer->phase = MSG_MOVING;
    vmsg_transfer_work(transfer);
    return true;
}

bool vmsg_bond_all_given(const struct msg_transfer *transfer)
{
    return transfer->next == transfer->upto && !transfer->back;
}

/* ---- one chunk --------------------------------------------------------------------------------------------------- */

/* Where the next one begins, and its most. */
static uint64_t next_chunk(const struct msg_transfer *transfer, uint64_t *from)
{
    *from = transfer->back ? transfer->back->from : transfer->next;
    return transfer->back ? transfer->back->bytes : transfer->upto - transfer->next;
}

static void chunk_gone(struct msg_transfer *transfer, uint64_t bytes)
{
    struct msg_span *span = transfer->back;
    if (!span) {
        transfer->next += bytes;
        return;
    }
    span->from += bytes;
    span->bytes -= bytes;
    if (!span->bytes) {
        transfer->back = span->next;
        free(span);
    }
}

static int chunk_put(struct msg_transfer *transfer, struct vi *vi, const struct vi_key *key, uint64_t from,
                     uint64_t bytes)
{
    struct iovec piece = {(char *)transfer->buffer.base + from, bytes};
    struct vi_transfer put = {.local = &piece, .pieces = 1, .key = *key, .offset = from, .signal = true};
    put.region = vmsg_region_for(transfer, vi);
    put.immediate = (uint32_t)(transfer->remote >> 32 << 16 | (transfer->remote & UINT16_MAX));
    int error = vi_put(vi, &put);
    return error == VI_COMPLETE ? OK : error;
}

static int chunk_send(struct msg_transfer *transfer, int rail, uint64_t from, uint64_t bytes)
{
    struct msg_frame_data head = {transfer->remote, from};
    int error = vmsg_transfer_cursor(transfer, from);
    transfer->peer->far->over = rail;
    if (!error)
        error = vmsg_frame_send(transfer->peer, msg_header(MSG_FRAME_DATA, 0, 0, 0), (struct iovec){&head, sizeof head},
                                &transfer->buffer, transfer->cursor, from, bytes);
    return error;
}

/* The next chunk over this rail, as much of MOST as goes at once. Peer lock held. */
static int chunk_give(struct msg_transfer *transfer, int rail, uint64_t most)
{
    struct msg_far *far = transfer->peer->far;
    struct vi *vi = far->vi[rail];
    bool puts = type_buffer_contiguous(&transfer->buffer) && vi_caps(vi)->put;
    const struct vi_key *key = puts ? vmsg_key_for(transfer, vi) : NULL;
    uint64_t from, bytes = next_chunk(transfer, &from);
    uint64_t room = key ? vi_caps(vi)->max_put : msg_frame_room(transfer->peer, vi) - sizeof(struct msg_frame_data);
    bytes = bytes < most ? bytes : most;
    bytes = bytes < room ? bytes : room;
    int error = key ? chunk_put(transfer, vi, key, from, bytes) : chunk_send(transfer, rail, from, bytes);
    if (key && error && error != ERR_AGAIN && error != ERR_LINK_DOWN) { /* no memory may be locked for it */
        room = msg_frame_room(transfer->peer, vi) - sizeof(struct msg_frame_data);
        bytes = bytes < room ? bytes : room;
        error = chunk_send(transfer, rail, from, bytes);
    }
    if (error)
        return error;
    vmsg_replay_bulk_sent(&far->replay, rail, &(struct msg_replay_bulk){vmsg_transfer_id(transfer), from, bytes});
    chunk_gone(transfer, bytes);
    far->pace[rail].backlog += bytes;
    far->pace[rail].given += bytes;
    return OK;
}

/* ---- which rail -------------------------------------------------------------------------------------------------- */

/* What the rail sends in a millisecond or two, so that the others may take what comes after it. With only one rail it
 * is more. Never more than all that the rail was given before: the first bytes over a shaped link make its rate look
 * too high. */
static uint64_t chunk_of(const struct msg_far *far, int rail)
{
    uint64_t bytes = far->pace[rail].rate / 1000 * TUNED(RAIL_CHUNK_TIME) / 1000;
    if (far->held == 1) {
        bytes *= TUNED(RAIL_CHUNK_ALONE);
        bytes = bytes < TUNED(RAIL_ALONE_LEAST) ? TUNED(RAIL_ALONE_LEAST) : bytes;
        return bytes < TUNED(RAIL_PUT_MOST) ? bytes : TUNED(RAIL_PUT_MOST);
    }
    if (bytes > far->pace[rail].given)
        bytes = far->pace[rail].given;
    return bytes < TUNED(RAIL_CHUNK_LEAST)  ? TUNED(RAIL_CHUNK_LEAST)
           : bytes > TUNED(RAIL_CHUNK_MOST) ? TUNED(RAIL_CHUNK_MOST)
                                            : bytes;
}

/* Near the end a rail leaves a chunk to the others if they finish everything sooner than it would finish the chunk, and
 * one of them is better than it: so the best of all never refuses. */
static bool in_time(struct msg_transfer *transfer, int rail, uint64_t chunk)
{
    struct msg_far *far = transfer->peer->far;
    const struct msg_pace *pace = &far->pace[rail];
    uint64_t left = transfer->upto - transfer->next, rates = 0;
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

/* As much as the rail takes: with others beside it, a chunk at a time when its backlog is short. Peer lock held. */
static int rail_fill(struct msg_transfer *transfer, int rail)
{
    struct msg_peer *peer = transfer->peer;
    struct msg_far *far = peer->far;
    int error = OK;
    while (!error && !vmsg_bond_all_given(transfer) && vmsg_replay_bulk_room(&far->replay, rail)) {
        uint64_t from, left = next_chunk(transfer, &from), chunk = chunk_of(far, rail);
        uint64_t before = atomic_load_explicit(&far->vi[rail]->waiting, memory_order_relaxed);
        if (before >= (far->held > 1 ? chunk * TUNED(RAIL_WAITING) / 100 : chunk))
            break;
        vmsg_rail_measure(peer, rail, TUNED(RAIL_PACE));
        if (far->held > 1 && !in_time(transfer, rail, chunk < left ? chunk : left))
            break;
        error = chunk_give(transfer, rail, chunk);
    }
    return error;
}

/* Gives what the rails take now. False: none took any. */
bool vmsg_bond_step(struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    int error = OK;
    msg_lock(&peer->lock);
    uint64_t before = transfer->next;
    struct msg_span *back = transfer->back;
    for (int i = 0; i < MSG_REPLAY_RAILS && !error; i++) {
        if (peer->far->vi[i] && !vmsg_bond_all_given(transfer))
            error = rail_fill(transfer, i);
        if (error == ERR_AGAIN || error == ERR_LINK_DOWN)
            error = OK;
    }
    bool went = transfer->next != before || transfer->back != back;
    if (vmsg_bond_all_given(transfer))
        transfer->phase = MSG_ENDING;
    else
        vmsg_transfer_work(transfer);
    msg_unlock(&peer->lock);
    if (error)
        vmsg_failed(error);
    return went;
}
