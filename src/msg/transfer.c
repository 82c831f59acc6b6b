/* Transfers: the long state of one message, on either side. They lie in a pool; index and generation make the id that
 * the other side uses. An id that comes from the wire is believed only if it names a live transfer of this very peer in
 * the right phase. Under the leaf lock: the pool and the work list; the content belongs to whoever holds progress, or,
 * until its message was announced, to whoever launches it. */
#include "msg/transfer.h"

struct base_pool vmsg_transfers;

struct msg_transfer *vmsg_transfer_take(struct msg_request *request)
{
    struct msg_engine *engine = &vmsg_engine;
    msg_lock(&engine->leaf);
    struct msg_transfer *transfer = vbase_pool_take(&vmsg_transfers);
    if (transfer && request->kind == MSG_SEND && !request->peer->parted) {
        request->peer->pending_sends++;
        engine->pending_sends++;
    }
    if (transfer)
        *transfer = (struct msg_transfer){.request = request,
                                          .peer = request->peer,
                                          .sender = request->kind == MSG_SEND,
                                          .ended = request->peer->ended,
                                          .way = MSG_WAY_GET};
    msg_unlock(&engine->leaf);
    if (!transfer)
        return NULL;
    if (request->peer->remote)
        msg_await();
    request->extra = transfer;
    if (msg_dead(request->peer->world)) /* announced before he died */
        msg_death_again();
    return transfer;
}

/* The transfer of a send, made when it has none yet: a launch may be tried several times. */
int vmsg_transfer_for_send(struct msg_request *request)
{
    if (request->extra || vmsg_transfer_take(request))
        return OK;
    return vbase_fail(ERR_MEMORY, "no memory to send %llu bytes to rank %d", (unsigned long long)request->total,
                      request->peer->world);
}

/* Whether ours were on their way beside it. Under leaf. */
static void crossed(const struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    /* relaxed: a hint for the next one */
    atomic_store_explicit(&peer->crossing, peer->pending_sends || peer->ended != transfer->ended, memory_order_relaxed);
}

/* Receiver: the request is complete. What else an end takes waits until there is nothing better to do. */
void vmsg_transfer_over(struct msg_transfer *transfer, int error)
{
    struct msg_request *request = transfer->request;
    transfer->phase = MSG_TRANSFER_OVER;
    transfer->over_at = clock_ticks();
    transfer->request = NULL;
    request->extra = NULL;
    struct list *turns = &transfer->peer->turns[false];
    msg_lock(&vmsg_engine.leaf);
    crossed(transfer);
    if (list_node_linked(&transfer->turn)) {
        transfer->overtook = list_first(turns) != &transfer->turn;
        list_remove(&transfer->turn);
    }
    transfer->alone = list_empty(turns);
    if (!list_node_linked(&transfer->link))
        msg_chore(&vmsg_engine.work, &transfer->link);
    msg_unlock(&vmsg_engine.leaf);
    msg_complete(request, error);
}

void vmsg_transfer_give(struct msg_transfer *transfer)
{
    struct msg_engine *engine = &vmsg_engine;
    if (transfer->region.nic)
        vi_dereg(&transfer->region);
    free(transfer->cursor);
    if (transfer->slot && !transfer->sender)
        vmsg_joint_leave(transfer);
    vmsg_bond_forget(transfer);
    if (transfer->request)
        transfer->request->extra = NULL;
    if (transfer->peer->remote)
        msg_await_end();
    msg_lock(&engine->leaf);
    if (list_node_linked(&transfer->link))
        msg_chore_remove(&transfer->link);
    if (list_node_linked(&transfer->turn))
        list_remove(&transfer->turn);
    struct msg_peer *peer = transfer->peer;
    if (transfer->sender && peer->pending_sends) {
        peer->pending_sends--;
        engine->pending_sends--;
    }
    if (transfer->sender)
        peer->ended++;
    else if (transfer->phase != MSG_TRANSFER_OVER)
        crossed(transfer);
    vbase_pool_give(&vmsg_transfers, transfer);
    msg_unlock(&engine->leaf);
}

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

struct msg_transfer *vmsg_transfer_at(struct msg_peer *peer, uint64_t id, enum msg_transfer_phase phase)
{
    struct msg_transfer *transfer = vmsg_transfer_find(peer, id);
    return transfer && transfer->phase == phase ? transfer : NULL;
}

void vmsg_transfer_work(struct msg_transfer *transfer)
{
    struct msg_engine *engine = &vmsg_engine;
    msg_lock(&engine->leaf);
    if (!list_node_linked(&transfer->link))
        msg_chore(&engine->work, &transfer->link);
    msg_unlock(&engine->leaf);
}

/* A cursor for a buffer that is not one piece; the place is set to FROM. */
int vmsg_transfer_cursor(struct msg_transfer *transfer, uint64_t from)
{
    const struct type_buffer *buffer = &transfer->request->buffer;
    if (type_buffer_contiguous(buffer))
        return OK;
    if (!transfer->cursor) {
        transfer->cursor = malloc(sizeof *transfer->cursor);
        if (!transfer->cursor)
            return vbase_fail(ERR_MEMORY, "no memory for a transfer with rank %d", transfer->peer->world);
        vtype_cursor_start(transfer->cursor, buffer);
    }
    if (transfer->cursor->position != from)
        vtype_cursor_seek(transfer->cursor, from);
    return OK;
}

/* The next pieces of our buffer from transfer->moved on, at most MSG_FETCHED and BYTES together; returns their bytes. */
uint64_t vmsg_transfer_pieces(struct msg_transfer *transfer, uint64_t bytes, struct iovec *piece, int *pieces)
{
    *pieces = 1;
    piece[0] = (struct iovec){(void *)((uintptr_t)transfer->request->buffer.base + transfer->moved), bytes};
    if (!transfer->cursor)
        return bytes;
    vtype_cursor_seek(transfer->cursor, transfer->moved);
    return vtype_gather(transfer->cursor, piece, MSG_FETCHED, bytes, pieces);
}

/* The other side may reach the first BYTES of our buffer, where they are one piece. */
bool vmsg_transfer_register(struct msg_transfer *transfer, uint64_t bytes)
{
    const struct type_buffer *buffer = &transfer->request->buffer;
    if (!transfer->region.nic && type_buffer_contiguous(buffer) &&
        vi_reg(transfer->peer->nic, buffer->base, bytes, &transfer->region) != OK)
        transfer->region.nic = NULL;
    return transfer->region.nic;
}

#define SHORT       (64u << 10) /* bytes: goes ahead of those above MSG_CHUNK, */
#define PASSED_MOST 16u         /* which let so many pass */

/* Behind all others, except that a short one need not wait for long ones. */
static void turn_take(struct list *turns, struct msg_transfer *transfer)
{
    struct list_node *place = &turns->head;
    while (transfer->upto <= SHORT && place->previous != &turns->head) {
        struct msg_transfer *before = container_of(place->previous, struct msg_transfer, turn);
        if (before->upto <= MSG_CHUNK || before->passed == PASSED_MOST)
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
    if (list_node_linked(&transfer->turn))
        list_remove(&transfer->turn);
    msg_unlock(&vmsg_engine.leaf);
}

/* By what was learned, here or by the other side. */
static enum msg_way way_learned(struct msg_transfer *transfer, unsigned allowed, enum msg_way first)
{
    struct msg_peer *peer = transfer->peer;
    bool crossing = atomic_load_explicit(&peer->crossing, memory_order_relaxed);
    enum msg_way way;
    transfer->learned = transfer->region.nic ? crossing : 2;
    struct msg_choice *choice = &peer->choice[transfer->learned];
    if (crossing)
        allowed &= ~(1u << MSG_WAY_JOINT); /* both processors are at work in any case */
    if (!(allowed >> first & 1))
        first = MSG_WAY_GET;
    msg_lock(&peer->lock);
    if (transfer->learned == 1 && peer->world < vmsg_engine.rank) {
        way = vmsg_choice_follow(choice, transfer->upto, allowed, first);
    } else {
        way = vmsg_choice_take(choice, transfer->upto, allowed, first);
        transfer->began = clock_ticks();
    }
    msg_unlock(&peer->lock);
    return way;
}

#define FRAMES_FROM (512u << 10) /* bytes into short pieces: from here on a sender who packs was faster than a kernel */

/* A matched receive whose payload can be fetched; REACH: of the peer. Into short pieces: in frames, as he is asked, or alone. */
void vmsg_transfer_choose(struct msg_transfer *transfer, const struct vi_state *reach)
{
    const struct vi_caps *caps = &transfer->peer->nic->caps;
    bool both = caps->map && caps->max_put >= 2 * MSG_CHUNK, whole = vmsg_transfer_register(transfer, transfer->upto);
    bool joint = both && whole && reach->put;
    enum msg_way first = !whole ? (transfer->upto < FRAMES_FROM ? MSG_WAY_GET : MSG_WAY_FRAMES)
                         : transfer->upto < reach->get_least ? MSG_WAY_FRAMES : MSG_WAY_JOINT;
    if (!both || (first == MSG_WAY_JOINT && !joint))
        transfer->way = MSG_WAY_GET;
    else if (vbase_settings.single_from)
        transfer->way = whole ? (uint8_t)first : MSG_WAY_GET;
    else
        transfer->way = (uint8_t)way_learned(
            transfer, 1u << MSG_WAY_FRAMES | (unsigned)joint << MSG_WAY_JOINT | 1u << MSG_WAY_GET, first);
}

#define NOTICE_NS 500

/* What else was under way when it ended. */
static enum msg_order order(const struct msg_transfer *transfer)
{
    if (transfer->way == MSG_WAY_GET)
        return atomic_load_explicit(&transfer->peer->joint, memory_order_relaxed) ? MSG_ORDER_BESIDE : MSG_ORDER_ALONE;
    return transfer->overtook ? MSG_ORDER_OVERTOOK : MSG_ORDER_ALONE;
}

void vmsg_transfer_judge(struct msg_transfer *transfer, bool well)
{
    struct msg_peer *peer = transfer->peer;
    if (!transfer->began)
        return;
    /* Got alone it ends for the sender a notice later, unless others are behind it and hide that. */
    uint64_t began = transfer->began - (transfer->way == MSG_WAY_GET ? vbase_clock_ticks_of_ns(NOTICE_NS) : 0);
    msg_lock(&peer->lock);
    vmsg_choice_told(&peer->choice[transfer->learned], transfer->upto, (enum msg_way)transfer->way,
                     well ? began : 0, transfer->over_at ? transfer->over_at : clock_ticks(), well ? order(transfer) : MSG_ORDER_ALONE);
    transfer->began = 0;
    msg_unlock(&peer->lock);
}
