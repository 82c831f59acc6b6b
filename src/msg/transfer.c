/* The machine of large messages, whose payload waits at the sender until a receive is there.
 *
 *   sender                                   receiver
 *     | ANNOUNCE total, id, keys                |
 *     |---------------------------------------->|  ... a receive matches
 *     |   GRANT id, answer, range, mover, slot, |
 *     |<-----------------------------------keys |
 *     |  DATA, or puts and gets                 |
 *     |<= = = = = = = = = = = = = = = = = = = =>|
 *     |                               DONE id   |
 *     |<----------------------------------------|
 *
 * States, events and invariants: docs/design.md 4a. All movement is done under progress, one chunk of each transfer in
 * a round, so that the nics are polled in between. A step moves; what follows from it is decided in one place,
 * transfer_settle. A receive that is too short asks only for what it has room for, or is done at once: the sender never
 * knows. */
#include "msg/transfer.h"

static void done_send(struct msg_peer *peer, unsigned flags, uint64_t id, uint64_t answer)
{
    struct msg_frame_done body = {id, answer};
    vmsg_peer_control(peer, msg_header(MSG_FRAME_DONE, 0, 0, flags), &body, sizeof body);
}

void vmsg_done_tell(struct msg_peer *peer, uint64_t id) { done_send(peer, 0, id, 0); }

/* Peer lock held. NOTE NULL: it has none. */
int vmsg_transfer_announce(struct msg_request *request, const struct msg_note *note)
{
    struct msg_peer *peer = request->peer;
    struct msg_transfer *transfer = vmsg_transfer_take(request);
    struct {
        struct msg_frame_announce head;
        struct msg_frame_key list[MSG_KEYS];
    } body;
    int listed = 0, first = note != NULL;
    if (!transfer)
        return ERR_MEMORY;
    if (request->total)
        (void)vmsg_keys_register(transfer, request->total, true); /* without a key it is sent */
    body.head.total = request->total;
    body.head.id = vmsg_transfer_id(transfer);
    unsigned flags = vmsg_keys_write(transfer, &body.head.key, body.list, &listed);
    struct iovec piece[2] = {{(void *)(uintptr_t)note, sizeof *note}};
    piece[first] = (struct iovec){&body, sizeof body.head + (size_t)listed * sizeof *body.list};
    msg_phase_set(request, MSG_PHASE_ANNOUNCED);
    int error = msg_peer_send(peer, request->order | MSG_FRAME_ANNOUNCE << 8 | flags, piece, 1 + first);
    if (error == OK) {
        COUNT(send_rendezvous);
        COUNT_ADD(send_bytes, request->total);
    } else if (error == VI_HELD) { /* with many keys and a note it may need such memory, too */
        error = ERR_AGAIN;
    } else if (error != ERR_AGAIN) {
        vmsg_transfer_give(transfer);
    }
    return error;
}

/* ---- the grant --------------------------------------------------------------------------------------------------- */

/* Over a network, where a put by the sender over some rail saves a copy, and the immediate can name the transfer. Peer
 * lock held. */
static bool puts_pay(const struct msg_transfer *transfer)
{
    const struct msg_peer *peer = transfer->peer;
    bool pay = false;
    for (int i = 0; peer->remote && i < MSG_REPLAY_RAILS; i++) {
        uint64_t least = peer->far->vi[i] ? vi_caps(peer->far->vi[i])->put_least : 0;
        pay |= least && transfer->want >= least;
    }
    return pay && vbase_pool_index(transfer) <= UINT16_MAX;
}

/* Peer lock held. The other side may answer at once: nothing of the transfer is touched afterwards but under that
 * lock. */
static void grant_send(struct msg_transfer *transfer, uint64_t from, uint64_t upto)
{
    struct msg_peer *peer = transfer->peer;
    bool slot = transfer->mover != MSG_PUSH;
    struct {
        struct msg_frame_grant head;
        struct msg_frame_grant_more more;
        struct msg_frame_key list[MSG_KEYS];
    } body = {.head = {.id = transfer->remote, .upto = upto, .mover = transfer->mover}, .more = {.from = from}};
    unsigned flags = 0;
    int listed = 0;
    body.head.answer = vmsg_transfer_id(transfer);
    if (transfer->mover == MSG_SHARE || puts_pay(transfer))
        flags = vmsg_keys_write(transfer, &body.head.key, body.list, &listed);
    if (slot)
        vmsg_slot_tell(transfer, &body.head);
    if (slot && !peer->slots_told) {
        body.more.slots = vmsg_slots.region.key;
        flags |= MSG_FLAG_SLOTS;
        peer->slots_told = true;
    }
    bool more = from || listed || flags & MSG_FLAG_SLOTS;
    size_t length = sizeof body.head + (more ? sizeof body.more + (size_t)listed * sizeof *body.list : 0);
    vmsg_peer_answer(peer, msg_header(MSG_FRAME_GRANT, 0, 0, flags), &body, (uint32_t)length);
}

/* The sender is to move this range alone. */
static void push_grant(struct msg_transfer *transfer, uint64_t from, uint64_t upto)
{
    struct msg_peer *peer = transfer->peer;
    int error = vmsg_transfer_cursor(transfer, from);
    vmsg_transfer_pass(transfer);
    if (error) {
        vmsg_done_tell(peer, transfer->remote);
        vmsg_transfer_end(transfer, error);
        return;
    }
    transfer->mover = MSG_PUSH;
    transfer->phase = MSG_ENDING;
    msg_lock(&peer->lock);
    if (puts_pay(transfer))
        (void)vmsg_keys_register(transfer, transfer->want, false);
    grant_send(transfer, from, upto);
    msg_unlock(&peer->lock);
}

/* A get has failed, and none is under way: the sender moves the rest; where it sends chunks itself that one, as the
 * last. The slot is kept: a sender that finds another generation believes that all is there. */
static void rest_grant(struct msg_transfer *transfer)
{
    const struct msg_chunk *hole = vmsg_chunk_unmoved(transfer);
    uint64_t from = hole->from, upto = transfer->want;
    if (transfer->mover == MSG_PUSH_SLOT) {
        upto = from + hole->bytes;
        if (transfer->moved + hole->bytes < transfer->want)
            return;
    } else {
        transfer->moved = from;
    }
    if (transfer->slot)
        vmsg_slot_close(transfer);
    vmsg_chunks_drop(transfer);
    push_grant(transfer, from, upto);
}

/* ---- what follows ------------------------------------------------------------------------------------------------ */

static void receive_over(struct msg_transfer *transfer)
{
    bool got = transfer->mover == MSG_PULL || (transfer->mover == MSG_PUSH_SLOT && transfer->mine);
    if (transfer->remote && (got || transfer->peer->remote))
        vmsg_done_tell(transfer->peer, transfer->remote);
    vmsg_transfer_end(transfer, OK);
}

static bool send_settle(struct msg_transfer *transfer)
{
    if (transfer->under_way)
        return true;
    if (transfer->mover == MSG_PUSH) { /* granted while a put was under way, whose result means nothing now */
        vmsg_chunks_drop(transfer);
        return false;
    }
    if (transfer->error) {
        vmsg_chunks_drop(transfer);
        vmsg_transfer_pass(transfer);
        transfer->phase = MSG_WAITING;
        done_send(transfer->peer, MSG_FLAG_PARTIAL, vmsg_transfer_id(transfer), transfer->remote);
        return true;
    }
    bool all = vmsg_slot_all(transfer);
    if (all)
        vmsg_transfer_end(transfer, OK);
    return all;
}

/* True: there is nothing to do for it here now; it may be over. */
static bool transfer_settle(struct msg_transfer *transfer)
{
    if (transfer->sender && transfer->remote)
        return send_settle(transfer);
    if (transfer->under_way)
        return transfer->error;
    if (transfer->mover == MSG_SHARE ? vmsg_slot_all(transfer) : transfer->moved >= transfer->want)
        receive_over(transfer);
    else if (transfer->error && !transfer->remote)
        vmsg_transfer_end(transfer, transfer->error);
    else if (transfer->error)
        rest_grant(transfer);
    else
        return false;
    return true;
}

/* In SHARE both sides look at the slot until the end; else a frame will come. True: as transfer_settle. */
static bool transfer_proceed(struct msg_transfer *transfer)
{
    bool settled = transfer_settle(transfer);
    if (!settled && (transfer->phase == MSG_MOVING || transfer->mover == MSG_SHARE))
        vmsg_transfer_work(transfer);
    return settled;
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

/* Not longer ago; another thread's clock may be ahead. */
static bool is_recent(uint64_t ticks, uint64_t now, uint64_t ns)
{
    return now <= ticks || now - ticks <= vbase_clock_ticks_of_ns(ns);
}

/* For the receiver: does the sender send? The first frame comes soon, unless it computes; one that sends, also for
 * another message, may copy something else before the next frame. */
static bool sender_sends(const struct msg_transfer *transfer)
{
    uint64_t busy = atomic_load_explicit(&transfer->peer->busy, memory_order_relaxed), now = clock_ticks();
    return is_recent(transfer->granted_at, now, TUNED(SENDER_FIRST)) || is_recent(busy, now, TUNED(SENDER_PATIENCE));
}

/* Taken out of the work list. True: something moved. */
static bool transfer_step(struct msg_transfer *transfer)
{
    bool pushes = transfer->sender && transfer->remote && transfer->mover != MSG_SHARE;
    if (pushes)
        return transfer->peer->remote ? vmsg_bond_step(transfer) : vmsg_push_step(transfer);
    if (transfer->phase == MSG_ENDING)
        return transfer_proceed(transfer);
    if (!vmsg_transfer_first(transfer))
        return false; /* it is worked at again when it is */
    if (transfer->mover == MSG_PUSH_SLOT && !transfer->claimed && sender_sends(transfer)) {
        vmsg_transfer_work(transfer);
        return false;
    }
    int status = vmsg_chunks_step(transfer);
    if (status == OK)
        return true; /* vmsg_transfer_told goes on */
    if (status == ERR_NOT_FOUND) {
        vmsg_transfer_pass(transfer);
        transfer->phase = MSG_ENDING;
    }
    bool settled = transfer_proceed(transfer);
    return status == ERR_NOT_FOUND ? settled : status != ERR_AGAIN;
}

bool vmsg_transfers_work(void)
{
    struct msg_engine *engine = &vmsg_engine;
    bool moved = false;
    msg_lock(&engine->leaf);
    struct list_node *last = list_empty(&engine->work) ? NULL : engine->work.head.previous, *node = NULL;
    while (last && node != last && (node = list_first(&engine->work))) {
        msg_chore_remove(node);
        msg_unlock(&engine->leaf);
        moved |= transfer_step(container_of(node, struct msg_transfer, link));
        msg_lock(&engine->leaf);
    }
    msg_unlock(&engine->leaf);
    return moved;
}

void vmsg_transfer_told(void *cookie, int status)
{
    if (vmsg_engine.failed)
        return; /* its request may be abandoned */
    struct msg_transfer *transfer = vmsg_chunk_told(cookie, status);
    if (transfer)
        (void)transfer_proceed(transfer);
}

/* ---- the receiver ------------------------------------------------------------------------------------------------ */

/* With SHARE the first chunk is claimed here while the sender does not know the slot yet. With other movers the caller
 * may go and compute, and the sender should find everything unclaimed. False: no slot is free. */
static bool slot_grant(struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    bool inside = !vmsg_engine.threads && msg_waited(transfer->request);
    bool now = transfer->mover == MSG_SHARE && inside && vmsg_transfer_first(transfer);
    if (!vmsg_slot_take(transfer, now))
        return false;
    transfer->granted_at = clock_ticks();
    msg_lock(&peer->lock); /* the sink takes it, too: it does not see the end before the transfer is in the work list */
    grant_send(transfer, 0, transfer->want);
    if (!now)
        vmsg_transfer_work(transfer);
    msg_unlock(&peer->lock);
    if (now)
        (void)transfer_step(transfer);
    return true;
}

/* A receive got an announced message; WANT is what it has room for. No lock held. */
void vmsg_transfer_matched(struct msg_request *request, const struct msg_envelope *envelope, uint64_t want)
{
    struct msg_peer *peer = envelope->peer;
    __atomic_store_n(&request->peer, peer, __ATOMIC_RELEASE); /* its wait looks at it */
    struct msg_transfer *transfer = want ? vmsg_transfer_take(request) : NULL;
    if (!transfer) {
        if (want)
            request->result.bytes = 0;
        vmsg_done_tell(peer, envelope->id);
        msg_complete(request, want ? ERR_MEMORY : request->result.error);
        return;
    }
    transfer->remote = envelope->id;
    transfer->want = transfer->upto = want;
    transfer->phase = MSG_MOVING;
    if (envelope->keys)
        transfer->keys = *envelope->keys;
    msg_lock(&peer->lock);
    transfer->mover = (uint8_t)vmsg_mover_choose(transfer);
    msg_unlock(&peer->lock);
    if (transfer->mover == MSG_PUSH) {
        push_grant(transfer, 0, want);
    } else if (transfer->mover == MSG_PULL || !slot_grant(transfer)) {
        transfer->mover = MSG_PULL;
        vmsg_transfer_work(transfer);
    }
    vmsg_wake(); /* the caller may go and compute */
}

/* The transfer into which a frame or a put brings BYTES from FROM on; NULL: they were not asked for. */
static struct msg_transfer *transfer_asked(struct msg_peer *peer, uint64_t id, uint64_t from, uint64_t bytes)
{
    msg_lock(&peer->lock); /* under it the grant went out: the transfer is seen as it was then */
    struct msg_transfer *transfer = vmsg_transfer_find(peer, id);
    msg_unlock(&peer->lock);
    if (!transfer || transfer->sender || (transfer->mover != MSG_PUSH && transfer->mover != MSG_PUSH_SLOT))
        return NULL;
    uint64_t mine = transfer->moved + (transfer->claimed ? transfer->part[0].bytes : 0);
    uint64_t behind = mine > from ? mine : from;
    return behind < transfer->want && bytes <= transfer->want - behind ? transfer : NULL;
}

bool vmsg_transfer_data(struct msg_peer *peer, uint64_t header, const void *body, size_t length)
{
    struct msg_frame_data head = {0};
    const char *payload = (const char *)body + sizeof head;
    struct msg_transfer *transfer = NULL;
    uint64_t bytes = length - sizeof head;
    (void)header;
    if (length > sizeof head) {
        memcpy(&head, body, sizeof head);
        transfer = transfer_asked(peer, head.id, head.from, bytes);
    }
    if (!transfer || vmsg_transfer_cursor(transfer, head.from) != OK) { /* it is there since the range was granted */
        vmsg_refused(peer, "a part of a message that was not requested");
        return false;
    }
    COUNT_ADD(copy_pipelined, bytes);
    if (transfer->cursor)
        vtype_unpack(transfer->cursor, payload, bytes);
    else
        base_copy((char *)transfer->buffer.base + head.from, payload, bytes);
    if (transfer->mover == MSG_PUSH_SLOT)
        atomic_store_explicit(&peer->busy, clock_ticks(), memory_order_relaxed);
    transfer->moved += bytes;
    bool waited = msg_waited(transfer->request);
    return transfer_settle(transfer) && waited;
}

void vmsg_transfer_arrived(struct msg_peer *peer, uint32_t immediate, uint64_t bytes)
{
    uint64_t id = (uint64_t)(immediate >> 16) << 32 | (immediate & UINT16_MAX);
    struct msg_transfer *transfer = transfer_asked(peer, id, 0, bytes);
    if (!transfer || !transfer->regions) {
        vmsg_refused(peer, "a put that was not requested");
        return;
    }
    transfer->moved += bytes;
    (void)transfer_settle(transfer);
}

/* The sender has stopped: what it has not put is got by the receiver alone. */
static void partial_heard(struct msg_peer *peer, const struct msg_frame_done *done)
{
    msg_lock(&peer->lock); /* as in transfer_asked */
    struct msg_transfer *transfer = vmsg_transfer_find(peer, done->answer);
    msg_unlock(&peer->lock);
    if ((!transfer || transfer->sender) && done->id)
        vmsg_done_tell(peer, done->id);
    if (!transfer || transfer->sender || !transfer->slot || transfer->mover == MSG_PULL || transfer->mover == MSG_PUSH)
        return; /* or it crosses a grant of the rest */
    uint64_t own = transfer->mine * transfer->chunk;
    uint64_t end = transfer->mover == MSG_SHARE ? vmsg_slot_put(transfer) : transfer->want;
    vmsg_slot_close(transfer);
    vmsg_transfer_rest(transfer);
    transfer->next = own < transfer->want ? own : transfer->want;
    transfer->upto = end > transfer->next ? end : transfer->next;
    transfer->moved += transfer->want - transfer->upto;
    transfer->mover = MSG_PULL;
    transfer->phase = MSG_MOVING;
    if (!transfer->under_way)
        (void)transfer_proceed(transfer);
}

/* ---- the sender -------------------------------------------------------------------------------------------------- */

/* A grant that makes sense now: the first one, or one of the rest after a get of the receiver has failed. */
static bool grant_fits(const struct msg_transfer *transfer, const struct msg_frame_grant *grant, uint64_t from)
{
    bool first = transfer->phase == MSG_WAITING, remote = transfer->peer->remote;
    if (from >= grant->upto || grant->upto > transfer->request->total || !grant->answer)
        return false;
    if (grant->mover == MSG_PUSH)
        return first || (!remote && transfer->mover != MSG_PUSH);
    bool whole = type_buffer_contiguous(&transfer->buffer);
    bool slot = grant->mover == MSG_PUSH_SLOT || (grant->mover == MSG_SHARE && whole);
    return slot && first && !remote && !from;
}

/* Peer lock held. False: it makes no sense. */
static bool grant_take(struct msg_transfer *transfer, const struct msg_frame_grant *grant, uint64_t from)
{
    bool pushes = grant->mover == MSG_PUSH;
    struct vi_state state = {.put = false};
    if (!grant_fits(transfer, grant, from) || (!pushes && !vmsg_slot_find(transfer, grant)))
        return false;
    vmsg_transfer_rest(transfer);
    vmsg_transfer_pass(transfer);
    if (!transfer->under_way)
        vmsg_chunks_drop(transfer);
    msg_phase_set(transfer->request, MSG_PHASE_MOVING);
    transfer->remote = grant->answer;
    transfer->mover = grant->mover;
    transfer->want = grant->upto;
    transfer->next = from;
    transfer->upto = pushes ? grant->upto : 0;
    bool puts = grant->mover != MSG_SHARE || (vi_query(transfer->peer->vi, &state) == OK && state.put);
    transfer->phase = puts ? MSG_MOVING : MSG_ENDING; /* else it only checks */
    int error = vmsg_transfer_cursor(transfer, from);
    if (error)
        vmsg_failed(error); /* the receiver waits for bytes that cannot be walked to */
    return true;
}

/* Begins what was granted; no lock held. */
static void grant_begin(struct msg_transfer *transfer)
{
    if (transfer->mover == MSG_PUSH) {
        if (!transfer->under_way)
            vmsg_transfer_work(transfer);
    } else if (transfer->slot) {
        (void)transfer_step(transfer); /* the receiver is at it already */
    } else { /* the slot cannot be mapped; in PUSH_SLOT the receiver says DONE in any case */
        transfer->phase = MSG_WAITING;
        uint64_t id = transfer->mover == MSG_SHARE ? vmsg_transfer_id(transfer) : 0;
        done_send(transfer->peer, MSG_FLAG_PARTIAL, id, transfer->remote);
    }
}

bool vmsg_transfer_granted(struct msg_peer *peer, uint64_t header, const void *body, size_t length)
{
    struct msg_frame_grant head;
    struct msg_frame_grant_more more = {.from = 0};
    struct msg_keys keys;
    struct msg_transfer *transfer = NULL;
    unsigned flags = msg_header_flags(header);
    size_t heads = length == sizeof head ? length : sizeof head + sizeof more;
    bool sane = length >= heads;
    if (sane) {
        memcpy(&head, body, sizeof head);
        memcpy(&more, (const char *)body + sizeof head, heads - sizeof head);
        const struct vi_key *key = flags & MSG_FLAG_KEY ? &head.key : NULL;
        sane = vmsg_keys_read(&keys, key, (const char *)body + heads, length - heads);
    }
    msg_lock(&peer->lock);
    if (sane && heads > sizeof head && flags & MSG_FLAG_SLOTS && !peer->remote && !peer->slots)
        vmsg_slots_map(peer, &more.slots);
    if (sane)
        transfer = vmsg_transfer_sent(peer, head.id);
    sane = transfer && grant_take(transfer, &head, more.from);
    if (sane)
        transfer->keys = keys;
    msg_unlock(&peer->lock);
    if (sane)
        grant_begin(transfer);
    else
        vmsg_refused(peer, "a grant for a message that is not announced");
    return false;
}

/* The receiver says that it has what it wants. */
static bool send_may_end(const struct msg_transfer *transfer)
{
    bool given = transfer->peer->remote ? vmsg_bond_all_given(transfer)
                                        : transfer->phase == MSG_ENDING || transfer->mover == MSG_PUSH_SLOT;
    return !transfer->under_way && (transfer->phase == MSG_WAITING || given);
}

void vmsg_transfer_done(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    if (msg_header_flags(header) & MSG_FLAG_PARTIAL) {
        partial_heard(peer, &body->done);
        return;
    }
    msg_lock(&peer->lock);
    struct msg_transfer *transfer = vmsg_transfer_sent(peer, body->done.id);
    bool sane = transfer && send_may_end(transfer);
    bool forsaken = !transfer && peer->forsaken;
    if (sane)
        vmsg_transfer_end(transfer, OK);
    else if (forsaken) /* dropped by the peer after its goodbye */
        peer->forsaken--;
    msg_unlock(&peer->lock);
    if (!sane && !forsaken)
        vmsg_refused(peer, "an end of a message that is not announced");
}

/* ---- without a message ------------------------------------------------------------------------------------------- */

int vmsg_transfer_start(const struct msg_movement *movement)
{
    struct msg_peer *peer = movement->peer;
    uint64_t bytes = type_buffer_bytes(&movement->buffer);
    struct msg_transfer *transfer = vmsg_transfer_make(peer, &movement->buffer, movement->sender);
    if (!transfer)
        return ERR_MEMORY;
    transfer->keys = movement->keys;
    transfer->over = movement->over;
    transfer->owner = movement->owner;
    transfer->want = transfer->upto = bytes;
    transfer->mover = MSG_PULL;
    transfer->phase = MSG_MOVING;
    int error = vmsg_transfer_cursor(transfer, 0);
    if (error) {
        vmsg_transfer_give(transfer);
        return error;
    }
    msg_lock(&peer->lock);
    (void)vmsg_keys_register(transfer, bytes, false);
    vmsg_transfer_work(transfer);
    msg_unlock(&peer->lock);
    vmsg_wake();
    return OK;
}
