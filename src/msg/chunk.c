/* Chunks that this side moves by gets and puts: claimed, begun, completed.
 *
 * A chunk is claimed from the slot that both sides share, or from the range that is held here. If the provider is busy,
 * a chunk stays claimed. Over a network several are under way, over all rails that have a key; those of a lost rail are
 * begun again over another when it is closed, which is when nothing of it lands any more. After a failure no more are
 * begun; transfer.c decides what follows. */
#include "msg/transfer.h"

#define CHUNK_BITS 4u
_Static_assert(MSG_CHUNKS <= 1 << CHUNK_BITS, "a cookie holds the index of any");

/* A cookie names a chunk by its transfer's generation and index, so that a late completion names none. */
static void *cookie_of(const struct msg_transfer *transfer, const struct msg_chunk *chunk)
{
    uint64_t number = (uint64_t)(chunk - transfer->part);
    uint64_t index = vbase_pool_index(transfer), generation = vbase_pool_generation(transfer);
    return (void *)(uintptr_t)(generation << 32 | index << CHUNK_BITS | number);
}

static struct msg_chunk *chunk_of(void *cookie, struct msg_transfer **transfer)
{
    uint64_t word = (uintptr_t)cookie;
    *transfer = vbase_pool_at(&vmsg_transfers, (uint32_t)word >> CHUNK_BITS, (uint32_t)(word >> 32));
    struct msg_chunk *chunk = *transfer ? &(*transfer)->part[word & ((1u << CHUNK_BITS) - 1)] : NULL;
    return chunk && chunk->bytes && chunk->rail != MSG_NOT_BEGUN ? chunk : NULL;
}

/* ---- claiming ---------------------------------------------------------------------------------------------------- */

static bool claims_from_slot(const struct msg_transfer *transfer)
{
    return transfer->mover == MSG_SHARE || transfer->mover == MSG_PUSH_SLOT;
}

/* With several threads a copy keeps the others out of progress. What was claimed from a slot is moved whole: its
 * receiver has chosen the length for both sides. */
static uint64_t chunk_most(const struct msg_transfer *transfer, const struct vi *vi)
{
    uint64_t most = TUNED(CHUNK);
    if (claims_from_slot(transfer))
        return vi_caps(vi)->max_put;
    if (vmsg_engine.threads && !transfer->peer->remote)
        most = TUNED(CHUNK_THREADS);
    return most < vi_caps(vi)->max_put ? most : vi_caps(vi)->max_put;
}

const struct msg_chunk *vmsg_chunk_unmoved(const struct msg_transfer *transfer)
{
    const struct msg_chunk *first = NULL;
    for (int i = 0; i < MSG_CHUNKS && transfer->claimed > transfer->under_way; i++) {
        const struct msg_chunk *chunk = &transfer->part[i];
        if (chunk->bytes && chunk->rail == MSG_NOT_BEGUN && (!first || chunk->from < first->from))
            first = chunk;
    }
    return first;
}

/* One that is to be begun: an old one, else a new one; NULL: there is none. */
static struct msg_chunk *chunk_claim(struct msg_transfer *transfer)
{
    struct msg_chunk *chunk = (struct msg_chunk *)(uintptr_t)vmsg_chunk_unmoved(transfer);
    if (chunk || transfer->claimed >= MSG_CHUNKS - 1)
        return chunk;
    for (chunk = transfer->part; chunk->bytes;)
        chunk++;
    if (claims_from_slot(transfer)) {
        if (transfer->under_way || !vmsg_slot_claim(transfer, &chunk->from, &chunk->bytes))
            return NULL; /* one at a time: what is done is one range */
    } else {
        chunk->from = transfer->next;
        chunk->bytes = transfer->upto - transfer->next;
        transfer->next = transfer->upto; /* chunk_cut gives back what is too much */
        if (!chunk->bytes)
            return NULL;
    }
    chunk->rail = MSG_NOT_BEGUN;
    transfer->claimed++;
    return chunk;
}

static void chunk_free(struct msg_transfer *transfer, struct msg_chunk *chunk)
{
    chunk->bytes = 0;
    transfer->claimed--;
}

void vmsg_chunks_drop(struct msg_transfer *transfer)
{
    for (int i = 0; i < MSG_CHUNKS && transfer->claimed; i++)
        if (transfer->part[i].bytes)
            chunk_free(transfer, &transfer->part[i]);
    transfer->error = OK;
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

/* What is too much goes back to the range; or, where a rail with less room replaces a lost one, to the place that is
 * kept for it. */
static bool chunk_cut(struct msg_transfer *transfer, struct msg_chunk *chunk, uint64_t bytes)
{
    struct msg_chunk *rest = transfer->part;
    if (chunk->bytes <= bytes)
        return true;
    if (chunk->from + chunk->bytes == transfer->next) {
        transfer->next -= chunk->bytes - bytes;
    } else if (transfer->claimed < MSG_CHUNKS) {
        while (rest->bytes)
            rest++;
        *rest = (struct msg_chunk){chunk->from + bytes, chunk->bytes - bytes, MSG_NOT_BEGUN};
        transfer->claimed++;
    } else {
        return false;
    }
    chunk->bytes = bytes;
    return true;
}

/* Its local pieces; 0: it is too long for this vi now. */
static int chunk_gather(struct msg_transfer *transfer, struct msg_chunk *chunk, uint64_t most, struct iovec *piece)
{
    int pieces = 1;
    if (!chunk_cut(transfer, chunk, most))
        return 0;
    piece[0] = (struct iovec){(void *)((uintptr_t)transfer->buffer.base + chunk->from), chunk->bytes};
    if (!transfer->cursor)
        return 1;
    vtype_cursor_seek(transfer->cursor, chunk->from);
    uint64_t bytes = vtype_gather(transfer->cursor, piece, MSG_GATHERED, chunk->bytes, &pieces);
    return chunk_cut(transfer, chunk, bytes) ? pieces : 0;
}

static int chunk_begin(struct msg_transfer *transfer, struct msg_chunk *chunk, struct vi *vi, int rail)
{
    const struct vi_key *key = vmsg_key_for(transfer, vi);
    struct iovec piece[MSG_GATHERED];
    struct vi_transfer move = {.local = piece, .cookie = cookie_of(transfer, chunk)};
    if (!key)
        return ERR_UNSUPPORTED;
    move.pieces = chunk_gather(transfer, chunk, chunk_most(transfer, vi), piece);
    if (!move.pieces)
        return ERR_AGAIN;
    move.key = *key;
    move.region = vmsg_region_for(transfer, vi);
    move.offset = chunk->from;
    int status = transfer->sender ? vi_put(vi, &move) : vi_get(vi, &move);
    if (status == OK) {
        chunk->rail = (int8_t)rail;
        transfer->under_way++;
    }
    return status;
}

/* Over the rails in turn: the next one that takes it. A rail that is busy, not up yet, or whose loss is about to be
 * told, is no failure. */
static int chunk_begin_far(struct msg_transfer *transfer, struct msg_chunk *chunk)
{
    struct msg_far *far = transfer->peer->far;
    int status = ERR_AGAIN, failure = OK;
    bool busy = false;
    msg_lock(&transfer->peer->lock);
    for (int i = 0; i < MSG_REPLAY_RAILS && status == ERR_AGAIN; i++) {
        far->moved_by = (far->moved_by + 1) % MSG_REPLAY_RAILS;
        struct vi *vi = far->vi[far->moved_by];
        if (!vi)
            continue;
        status = vi->name ? chunk_begin(transfer, chunk, vi, far->moved_by) : ERR_AGAIN;
        if (status == OK || status == VI_COMPLETE)
            break;
        busy |= status == ERR_AGAIN || status == ERR_LINK_DOWN;
        failure = status == ERR_AGAIN || status == ERR_LINK_DOWN ? failure : status;
        status = ERR_AGAIN;
    }
    msg_unlock(&transfer->peer->lock);
    return status == ERR_AGAIN && failure && !busy ? failure : status;
}

static void chunk_moved(struct msg_transfer *transfer, struct msg_chunk *chunk)
{
    transfer->moved += chunk->bytes;
    chunk_free(transfer, chunk);
    if (transfer->mover == MSG_SHARE)
        vmsg_slot_count(transfer);
}

int vmsg_chunks_step(struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    struct msg_chunk *chunk;
    while ((chunk = chunk_claim(transfer))) {
        int status = peer->remote ? chunk_begin_far(transfer, chunk)
                                  : chunk_begin(transfer, chunk, peer->vi, MSG_BY_LANE);
        if (status == OK)
            continue;
        if (status == VI_COMPLETE)
            chunk_moved(transfer, chunk);
        else if (status != ERR_AGAIN)
            transfer->error = status;
        else if (transfer->under_way)
            return OK;
        return status;
    }
    return transfer->under_way ? OK : ERR_NOT_FOUND;
}

struct msg_transfer *vmsg_chunk_told(void *cookie, int status)
{
    struct msg_transfer *transfer;
    struct msg_chunk *chunk = chunk_of(cookie, &transfer);
    if (!chunk || (transfer->peer->remote && status == ERR_LINK_DOWN))
        return NULL; /* the latter: it is begun again when its rail is closed */
    transfer->under_way--;
    chunk->rail = MSG_NOT_BEGUN;
    if (status == OK)
        chunk_moved(transfer, chunk);
    else
        transfer->error = status;
    return transfer;
}

/* Peer lock held. */
void vmsg_chunks_lost(struct msg_peer *peer, int rail)
{
    struct msg_transfer *transfer;
    for (uint32_t place = 0; (transfer = vmsg_transfer_next(peer, &place));) {
        bool some = false;
        for (int i = 0; i < MSG_CHUNKS && transfer->under_way; i++)
            if (transfer->part[i].bytes && transfer->part[i].rail == rail) {
                transfer->part[i].rail = MSG_NOT_BEGUN;
                transfer->under_way--;
                some = true;
            }
        if (some)
            vmsg_transfer_work(transfer);
    }
}
