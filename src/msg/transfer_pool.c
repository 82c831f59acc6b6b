/* The pool of transfers, their ids, the work list, and the order among those of one peer.
 *
 * Index and generation make the id that the other side uses. An id that comes from the wire is believed only if it
 * names a live transfer of this very peer in the right role and phase. Under the leaf lock: the pool, the work list and
 * the turns; the content belongs to the holder of progress, or, until its message is announced, to the thread that
 * launches it. */
#include "msg/transfer.h"

struct base_pool vmsg_transfers;

struct msg_transfer *vmsg_transfer_make(struct msg_peer *peer, const struct type_buffer *buffer, bool sender)
{
    struct msg_engine *engine = &vmsg_engine;
    msg_lock(&engine->leaf);
    struct msg_transfer *transfer = vbase_pool_take(&vmsg_transfers);
    if (transfer) {
        memset(transfer, 0, offsetof(struct msg_transfer, region));
        transfer->peer = peer;
        transfer->buffer = *buffer;
        transfer->sender = sender;
        for (int i = 0; i < MSG_CHUNKS; i++)
            transfer->part[i].bytes = 0;
        if (sender && !peer->parted) {
            peer->pending_sends++;
            engine->pending_sends++;
        }
    }
    msg_unlock(&engine->leaf);
    if (!transfer) {
        (void)vbase_fail(ERR_MEMORY, "no memory to move %llu bytes %s rank %d",
                         (unsigned long long)type_buffer_bytes(buffer), sender ? "to" : "from", peer->world);
        return NULL;
    }
    if (peer->remote)
        msg_await();
    if (msg_dead(peer->world)) /* its message was announced before it died */
        msg_death_again();
    return transfer;
}

/* That of a request, made when it has none yet: a launch may be tried several times. */
struct msg_transfer *vmsg_transfer_take(struct msg_request *request)
{
    struct msg_transfer *transfer = request->extra;
    if (!transfer) {
        request->extra = transfer = vmsg_transfer_make(request->peer, &request->buffer, request->kind == MSG_SEND);
        if (transfer)
            transfer->request = request;
    }
    return transfer;
}

/* Leaves the line of its peer's transfers: the next one has its turn. Under leaf. */
static void turn_leave(struct msg_transfer *transfer)
{
    if (!list_node_linked(&transfer->turn))
        return;
    list_remove(&transfer->turn);
    struct list_node *first = list_first(&transfer->peer->turns[transfer->sender]);
    struct msg_transfer *next = first ? container_of(first, struct msg_transfer, turn) : NULL;
    if (next && !list_node_linked(&next->link))
        msg_chore(&vmsg_engine.work, &next->link);
}

void vmsg_transfer_give(struct msg_transfer *transfer)
{
    struct msg_engine *engine = &vmsg_engine;
    struct msg_peer *peer = transfer->peer;
    vmsg_keys_drop(transfer);
    free(transfer->cursor);
    if (transfer->slot && !transfer->sender)
        vmsg_slot_give(transfer);
    for (struct msg_span *span = transfer->back, *next; span; span = next) {
        next = span->next;
        free(span);
    }
    if (transfer->request)
        transfer->request->extra = NULL;
    if (peer->remote)
        msg_await_end();
    msg_lock(&engine->leaf);
    if (list_node_linked(&transfer->link))
        msg_chore_remove(&transfer->link);
    turn_leave(transfer);
    if (transfer->sender && peer->pending_sends) {
        peer->pending_sends--;
        engine->pending_sends--;
    }
    vbase_pool_give(&vmsg_transfers, transfer);
    msg_unlock(&engine->leaf);
}

void vmsg_transfer_end(struct msg_transfer *transfer, int error)
{
    struct msg_request *request = transfer->request;
    void (*over)(void *, int) = transfer->over;
    void *owner = transfer->owner;
    vmsg_transfer_give(transfer);
    if (request)
        msg_complete(request, error ? error : request->result.error);
    else
        over(owner, error);
}

/* ---- ids --------------------------------------------------------------------------------------------------------- */

struct msg_transfer *vmsg_transfer_next(const struct msg_peer *peer, uint32_t *place)
{
    struct msg_engine *engine = &vmsg_engine;
    struct msg_transfer *transfer;
    msg_lock(&engine->leaf); /* those of others are made meanwhile */
    while ((transfer = vbase_pool_next(&vmsg_transfers, place)) && transfer->peer != peer)
        ;
    msg_unlock(&engine->leaf);
    return transfer;
}

uint64_t vmsg_transfer_id(const struct msg_transfer *transfer)
{
    return (uint64_t)vbase_pool_generation(transfer) << 32 | vbase_pool_index(transfer);
}

struct msg_transfer *vmsg_transfer_find(struct msg_peer *peer, uint64_t id)
{
    struct msg_transfer *transfer = vbase_pool_at(&vmsg_transfers, (uint32_t)id, (uint32_t)(id >> 32));
    return transfer && transfer->peer == peer ? transfer : NULL;
}

struct msg_transfer *vmsg_transfer_sent(struct msg_peer *peer, uint64_t id)
{
    struct msg_transfer *transfer = vmsg_transfer_find(peer, id);
    if (!transfer || !transfer->sender || !transfer->request)
        return NULL;
    enum msg_phase phase = msg_phase(transfer->request);
    /* else no other rank was told of it */
    return phase == MSG_PHASE_ANNOUNCED || phase == MSG_PHASE_MOVING ? transfer : NULL;
}

/* ---- the work list ----------------------------------------------------------------------------------------------- */

void vmsg_transfer_work(struct msg_transfer *transfer)
{
    struct msg_engine *engine = &vmsg_engine;
    msg_lock(&engine->leaf);
    if (!list_node_linked(&transfer->link))
        msg_chore(&engine->work, &transfer->link);
    msg_unlock(&engine->leaf);
}

void vmsg_transfer_rest(struct msg_transfer *transfer)
{
    msg_lock(&vmsg_engine.leaf);
    if (list_node_linked(&transfer->link))
        msg_chore_remove(&transfer->link);
    msg_unlock(&vmsg_engine.leaf);
}

/* ---- the buffer -------------------------------------------------------------------------------------------------- */

/* A cursor for a buffer that is not one piece; the place is set to FROM. */
int vmsg_transfer_cursor(struct msg_transfer *transfer, uint64_t from)
{
    if (type_buffer_contiguous(&transfer->buffer))
        return OK;
    if (!transfer->cursor) {
        transfer->cursor = malloc(sizeof *transfer->cursor);
        if (!transfer->cursor)
            return vbase_fail(ERR_MEMORY, "no memory for a transfer with rank %d", transfer->peer->world);
        vtype_cursor_start(transfer->cursor, &transfer->buffer);
    }
    if (transfer->cursor->position != from)
        vtype_cursor_seek(transfer->cursor, from);
    return OK;
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

/* Behind all others, except that a short one need not wait for long ones. */
static void turn_take(struct list *turns, struct msg_transfer *transfer)
{
    struct list_node *place = &turns->head;
    while (transfer->want <= TUNED(PASSING_MOST) && place->previous != &turns->head) {
        struct msg_transfer *before = container_of(place->previous, struct msg_transfer, turn);
        if (before->want <= TUNED(PASSED_LEAST) || before->passed == TUNED(PASSED_TIMES))
            break;
        before->passed++;
        place = place->previous;
    }
    list_insert_before(place, &transfer->turn);
}

bool vmsg_transfer_first(struct msg_transfer *transfer)
{
    struct list *turns = &transfer->peer->turns[transfer->sender];
    msg_lock(&vmsg_engine.leaf);
    if (!list_node_linked(&transfer->turn))
        turn_take(turns, transfer);
    bool first = list_first(turns) == &transfer->turn;
    msg_unlock(&vmsg_engine.leaf);
    return first;
}

void vmsg_transfer_pass(struct msg_transfer *transfer)
{
    msg_lock(&vmsg_engine.leaf);
    turn_leave(transfer);
    msg_unlock(&vmsg_engine.leaf);
}
