/* Joint copy: both ends of an announced message work on it at once, where they share memory.
 *
 *   sender                                        receiver
 *     | ANNOUNCE total, id, key                     |
 *     |-------------------------------------------->|  matched; takes a slot of its board
 *     |   BOARD key (once), JOIN id, answer, key of  |
 *     |<--------------------------------------------|  the buffer, slot; begins to fetch at once
 *     |  both claim chunks from the slot's counter: the receiver gets, the sender puts;
 *     |  each writes how many it has moved, and looks how many the other one has
 *
 * The board is memory of the receiver that the sender maps. A slot of it counts the chunks that were claimed, and has a word of
 * each side with the chunks that it moved, which it alone writes. Up to 1 MiB there are two chunks; how large the first one is the
 * receiver learns from who has done his part first. Both words together tell either side that all is there; no frame says so. A
 * sender who computes, or cannot put, claims nothing, and the receiver does it all. All carry a generation: a
 * sender who comes late finds the slot in other hands, so all is there. For that the receiver keeps it until his receive is complete,
 * or the sender has withdrawn.
 *
 * In frames: below the size from which single copies pay on this machine, the sender does not put what he claims but sends
 * it in DATA frames, which the receiver copies out while the next ones are copied in: two copies, on two cores. The
 * receiver then begins to fetch only when he has heard nothing for a while: a sender who computes holds nobody up. He
 * counts the bytes himself, without these words, and says FINISH if he fetched any. A sender who claimed all is complete
 * with his last frame. A chunk that the receiver cannot get is asked for (CLEAR) when everything else is there.
 *
 * Without frames: a chunk that was claimed and could not be moved is never counted: the receiver then
 * asks for everything to be sent (CLEAR), the sender says WITHDRAW and the receiver begins again alone. Either way no
 * put lands after the receive is complete: CLEAR is answered when no put is under way. */
#include "msg/transfer.h"

struct msg_board vmsg_board;

#define CHUNK_LEAST 16384u
#define PAGE        4096u
#define PATIENCE_NS 50000 /* with a sender in frames, before the receiver begins to fetch */

#define SLOTS 64
struct msg_slot {
    _Atomic uint64_t claim; /* generation, chunks claimed at the end, at the start; changed by compare and swap of either side;
                             * acquire, pairs with the release in slot_take */
    /* Generation, chunks moved; release and acquire: who sees that all are there sees their bytes. Of `got` also in slot_take:
     * a sender who comes late takes a new generation for the end. */
    _Atomic uint64_t got; /* by the receiver, who alone writes it */
    _Atomic uint64_t put ALIGNED(2 * CACHE_LINE); /* by the sender, who alone writes it; a processor may fetch lines in pairs */
} ALIGNED(4 * CACHE_LINE);
_Static_assert(sizeof(struct msg_slot) == 256 && offsetof(struct msg_slot, put) == 128, "wire");
#define COUNT_BITS  18u /* of either count */
#define COUNT_MASK  ((1u << COUNT_BITS) - 1)
#define CHUNKS_MOST COUNT_MASK
#define GENERATION_MOST ((1u << (64 - 2 * COUNT_BITS)) - 1)
static uint64_t slot_word(uint32_t generation) { return (uint64_t)generation << (2 * COUNT_BITS); }
static uint32_t word_generation(uint64_t word) { return (uint32_t)(word >> (2 * COUNT_BITS)); }

static uint64_t chunks_of(uint64_t bytes)
{
    return bytes <= CHUNK_LEAST ? 1 : bytes <= 2 * MSG_CHUNK ? 2 : (bytes + MSG_CHUNK - 1) / MSG_CHUNK;
}

/* Where it begins. */
static uint64_t chunk_at(const struct msg_transfer *transfer, uint64_t number)
{
    uint64_t upto = transfer->upto, chunks = chunks_of(upto);
    if (number == chunks)
        return upto;
    if (number == 0 || chunks > 2)
        return number * MSG_CHUNK;
    uint64_t first = upto * transfer->share / 256 / PAGE * PAGE;
    return first ? first : PAGE;
}

/* ---- the board: under leaf --------------------------------------------------------------------------------------- */

static bool board_ready(struct vi_nic *nic)
{
    struct msg_board *board = &vmsg_board;
    if (!board->tried && vi_reg(nic, NULL, SLOTS * sizeof(struct msg_slot), &board->region) == OK) {
        board->nic = nic;
        board->free = UINT64_MAX;
    }
    board->tried = true;
    return board->nic == nic;
}

/* Only here is it written; a locked instruction would wait for all that was just stored for the sender. */
static void count(struct msg_peer *peer, int more)
{
    uint32_t joint = atomic_load_explicit(&peer->joint, memory_order_relaxed); /* others read it as a hint */
    atomic_store_explicit(&peer->joint, joint + (uint32_t)more, memory_order_relaxed);
}

/* AT_ONCE: the first chunk is claimed by us already. */
static bool slot_take(struct msg_transfer *transfer, bool at_once)
{
    struct msg_board *board = &vmsg_board;
    msg_lock(&vmsg_engine.leaf);
    bool taken = board_ready(transfer->peer->vi->nic) && board->free;
    if (taken) {
        transfer->slot_number = (uint16_t)__builtin_ctzll(board->free);
        board->free &= board->free - 1;
        board->generation = board->generation == GENERATION_MOST ? 1 : board->generation + 1; /* never 0 */
        transfer->generation = board->generation;
        count(transfer->peer, 1);
    }
    msg_unlock(&vmsg_engine.leaf);
    if (taken) {
        transfer->slot = (struct msg_slot *)board->region.address + transfer->slot_number;
        atomic_store_explicit(&transfer->slot->got, slot_word(transfer->generation), memory_order_release);
        atomic_store_explicit(&transfer->slot->claim, slot_word(transfer->generation) + at_once, memory_order_release);
        transfer->moved = 0;
        transfer->under_way = at_once ? chunk_at(transfer, 1) : 0;
        transfer->mine = at_once;
    }
    return taken;
}

/* From now on no claim of the sender succeeds. */
static void slot_shut(struct msg_transfer *transfer)
{
    atomic_store_explicit(&transfer->slot->claim, 0, memory_order_relaxed);
}

void vmsg_joint_leave(struct msg_transfer *transfer)
{
    slot_shut(transfer);
    transfer->slot = NULL;
    msg_lock(&vmsg_engine.leaf);
    count(transfer->peer, -1);
    vmsg_board.free |= 1ull << transfer->slot_number;
    msg_unlock(&vmsg_engine.leaf);
}

void vmsg_joint_close(void)
{
    if (vmsg_board.nic)
        vi_dereg(&vmsg_board.region);
}

/* ---- both sides -------------------------------------------------------------------------------------------------- */

/* The next chunk, if there is one and the slot is still ours: from the start, but a sender who puts goes from the end. Then
 * of a buffer that is used again each processor copies the part that it has in its cache. */
static bool chunk_claim(struct msg_transfer *transfer)
{
    uint64_t chunks = chunks_of(transfer->upto), number, at_end;
    uint64_t claim = atomic_load_explicit(&transfer->slot->claim, memory_order_acquire);
    bool from_end = transfer->sender && !transfer->frames;
    do {
        number = claim & COUNT_MASK, at_end = claim >> COUNT_BITS & COUNT_MASK;
        if (word_generation(claim) != transfer->generation || number + at_end >= chunks)
            return false;
        if (from_end)
            number = chunks - 1 - at_end;
    } while (!atomic_compare_exchange_weak_explicit(&transfer->slot->claim, &claim,
                                                    claim + (from_end ? 1u << COUNT_BITS : 1), memory_order_acquire,
                                                    memory_order_acquire));
    transfer->moved = chunk_at(transfer, number);
    transfer->under_way = chunk_at(transfer, number + 1) - transfer->moved;
    transfer->mine++;
    return true;
}

/* Both sides together have moved all. A sender who finds the slot in other hands knows it, too. */
static bool all_moved(const struct msg_transfer *transfer)
{
    const struct msg_slot *slot = transfer->slot;
    uint64_t theirs = atomic_load_explicit(transfer->sender ? &slot->got : &slot->put, memory_order_acquire);
    if (word_generation(theirs) != transfer->generation)
        return transfer->sender || transfer->done == chunks_of(transfer->upto);
    return transfer->done + (theirs & COUNT_MASK) == chunks_of(transfer->upto);
}

/* The claimed chunk is moved, and the other side may see it: who sleeps is woken. */
static void chunk_tell(struct msg_transfer *transfer)
{
    struct msg_slot *slot = transfer->slot;
    __builtin_prefetch(transfer->sender ? &slot->got : &slot->put);
    transfer->under_way = 0;
    transfer->done++;
    atomic_store_explicit(transfer->sender ? &slot->put : &slot->got, slot_word(transfer->generation) + transfer->done,
                          memory_order_release);
    (void)vi_wake(transfer->peer->vi);
}

static int chunk_move(struct msg_transfer *transfer)
{
    struct iovec local[MSG_FETCHED];
    struct vi_transfer move = {.local = local, .region = transfer->region.nic ? &transfer->region : NULL, .key = transfer->key, .offset = transfer->moved, .cookie = transfer};
    (void)vmsg_transfer_pieces(transfer, transfer->under_way, local, &move.pieces); /* of a registered buffer: all */
    struct msg_peer *peer = transfer->peer;
    return transfer->sender ? vi_put(peer->vi, &move) : vi_get(peer->vi, &move);
}

/* FIRST: this side was ready before the other one. */
static void over(struct msg_transfer *transfer, bool first)
{
    struct msg_request *request = transfer->request;
    transfer->first = first;
    if (!transfer->sender) {
        vmsg_transfer_over(transfer, request->result.error);
        return;
    }
    vmsg_transfer_give(transfer);
    msg_complete(request, OK);
}

/* Where others wait either side may be ahead by several messages, and who was ready first says nothing. */
bool vmsg_joint_after(struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    transfer->overtook |= !transfer->frames && !transfer->mine; /* when we came to it, it was done */
    if (!transfer->frames && transfer->alone && transfer->mine == 1 && chunks_of(transfer->upto) == 2) {
        struct msg_choice *choice = &peer->choice[transfer->learned];
        msg_lock(&peer->lock);
        if (transfer->share == vmsg_choice_share(choice, transfer->upto, true))
            vmsg_choice_balance(choice, transfer->upto, transfer->first);
        msg_unlock(&peer->lock);
    }
    vmsg_transfer_judge(transfer, true);
    vmsg_transfer_give(transfer);
    return false;
}

/* ---- in frames, see above ----------------------------------------------------------------------------------------- */

/* So many bytes more are in place at the receiver. True: that was all; the transfer is over. */
static bool arrived(struct msg_transfer *transfer, uint64_t bytes)
{
    transfer->arrived += bytes;
    if (transfer->arrived == transfer->upto) {
        if (transfer->mine)
            vmsg_rendezvous_finish_tell(transfer->peer, transfer->remote);
        over(transfer, false);
        return true;
    }
    if (transfer->stranded && transfer->arrived + transfer->under_way == transfer->upto) {
        vmsg_joint_leave(transfer); /* all but the chunk that we claimed and could not get: the sender sends it */
        transfer->upto = transfer->moved + transfer->under_way;
        vmsg_rendezvous_ask(transfer);
        return true;
    }
    return false;
}

bool vmsg_joint_data(struct msg_transfer *transfer, uint64_t bytes)
{
    atomic_store_explicit(&transfer->peer->busy, clock_ticks(), memory_order_relaxed);
    return arrived(transfer, bytes);
}

/* The receiver's turn: the sender is at it, unless nothing came for long. */
static bool waits_for_sender(struct msg_transfer *transfer)
{
    if (transfer->stranded)
        return true;
    uint64_t busy = atomic_load_explicit(&transfer->peer->busy, memory_order_relaxed), now = clock_ticks();
    if (transfer->under_way || (now > busy && now - busy > vbase_clock_ticks_of_ns(PATIENCE_NS)))
        return false;
    vmsg_transfer_work(transfer);
    return true;
}

/* The sender's turn. */
static bool push_step(struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    uint64_t before;
    if (!transfer->under_way) {
        if (!chunk_claim(transfer)) {
            vmsg_transfer_pass(transfer);
            transfer->phase = MSG_TRANSFER_ANNOUNCED; /* the receiver took chunks, too, and will tell */
            return false;
        }
    }
    before = transfer->moved;
    if (transfer->cursor && transfer->cursor->position != before)
        vtype_cursor_seek(transfer->cursor, before);
    msg_lock(&peer->lock);
    int error = vmsg_rendezvous_push(transfer, before + transfer->under_way);
    transfer->under_way -= transfer->moved - before;
    bool went = transfer->moved != before;
    if (error && error != ERR_AGAIN)
        vmsg_rendezvous_sent(transfer, error);
    else if (!transfer->under_way && transfer->mine == chunks_of(transfer->upto))
        vmsg_rendezvous_sent(transfer, OK);
    else
        vmsg_transfer_work(transfer);
    msg_unlock(&peer->lock);
    return went;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------- */

/* A chunk was claimed and cannot be moved. */
static void chunk_failed(struct msg_transfer *transfer)
{
    vmsg_transfer_judge(transfer, false);
    if (transfer->frames) {
        transfer->stranded = true;
        arrived(transfer, 0);
        return;
    }
    transfer->under_way = 0;
    if (transfer->sender) {
        vmsg_transfer_pass(transfer);
        transfer->phase = MSG_TRANSFER_ANNOUNCED;
        struct msg_frame_withdraw body = {transfer->remote, vmsg_transfer_id(transfer)};
        vmsg_peer_control(transfer->peer, msg_header(MSG_FRAME_WITHDRAW, 0, 0, 0), &body, sizeof body);
    } else {
        slot_shut(transfer);
        transfer->moved = 0;
        vmsg_rendezvous_ask(transfer);
    }
}

static void chunk_moved(struct msg_transfer *transfer)
{
    if (transfer->frames) {
        uint64_t bytes = transfer->under_way;
        transfer->under_way = 0;
        if (!arrived(transfer, bytes))
            vmsg_transfer_work(transfer);
    } else {
        chunk_tell(transfer);
        if (all_moved(transfer))
            over(transfer, false);
        else
            vmsg_transfer_work(transfer);
    }
}

/* Nothing is left to claim: once more whether the other side is through. */
static bool look(struct msg_transfer *transfer)
{
    bool all = all_moved(transfer);
    if (all)
        over(transfer, true);
    else
        vmsg_transfer_work(transfer);
    return all;
}

/* A turn of a joint transfer, taken out of the work list: one chunk, or a look when nothing is left to claim. Of one in frames the
 * other side will tell. A chunk that found the provider busy stays claimed. */
bool vmsg_joint_step(struct msg_transfer *transfer)
{
    if (transfer->looking)
        return look(transfer);
    if (!vmsg_transfer_first(transfer)) {
        vmsg_transfer_work(transfer);
        return false;
    }
    if (transfer->frames && transfer->sender)
        return push_step(transfer);
    if (transfer->frames && waits_for_sender(transfer))
        return false;
    if (!transfer->under_way && !chunk_claim(transfer)) {
        vmsg_transfer_pass(transfer);
        transfer->looking = !transfer->frames;
        return transfer->looking && look(transfer);
    }
    int status = chunk_move(transfer);
    if (status == VI_COMPLETE) {
        chunk_moved(transfer);
    } else if (status == ERR_AGAIN) {
        vmsg_transfer_work(transfer);
        return false;
    } else if (status == OK) {
        transfer->told_later = true;
    } else {
        chunk_failed(transfer);
    }
    return true;
}

/* The sink heard the end of a put or get that was not complete at once. */
void vmsg_joint_told(struct msg_transfer *transfer, int status)
{
    transfer->told_later = false;
    if (transfer->phase == MSG_TRANSFER_SENDING) { /* CLEAR came meanwhile */
        transfer->under_way = 0;
        vmsg_transfer_work(transfer);
    } else if (transfer->withdrawn) {
        vmsg_joint_alone(transfer);
    } else if (status) {
        chunk_failed(transfer);
    } else {
        chunk_moved(transfer);
    }
}

/* ---- the receiver ------------------------------------------------------------------------------------------------ */

/* Peer lock held. */
static void board_tell(struct msg_peer *peer)
{
    struct msg_frame_board body = {vmsg_board.region.key};
    if (!peer->board_told)
        vmsg_peer_answer(peer, msg_header(MSG_FRAME_BOARD, 0, 0, 0), &body, sizeof body);
    peer->board_told = true;
}

/* It is worked on as soon as the sender is invited: its first chunk is claimed while nobody else knows the slot. Elsewhere the caller
 * may go and compute, and the sender should find everything unclaimed. */
static bool comes_next(struct msg_transfer *transfer)
{
    return !vmsg_engine.threads && vmsg_engine.progressing && vmsg_transfer_first(transfer);
}

/* A matched receive whose way is frames or joint; true: it goes that way. No lock held. */
bool vmsg_joint_begin(struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    transfer->frames = transfer->way == MSG_WAY_FRAMES;
    msg_lock(&vmsg_engine.leaf);
    bool alone = list_empty(&peer->turns[false]);
    msg_unlock(&vmsg_engine.leaf);
    msg_lock(&peer->lock);
    transfer->share = vmsg_choice_share(&peer->choice[transfer->learned], transfer->upto, alone);
    msg_unlock(&peer->lock);
    if (chunks_of(transfer->upto) > CHUNKS_MOST || !slot_take(transfer, !transfer->frames && comes_next(transfer)))
        return false;
    transfer->phase = MSG_TRANSFER_JOINT;
    struct msg_frame_join body = {transfer->remote,
                                  vmsg_transfer_id(transfer),
                                  transfer->upto,
                                  transfer->region.key,
                                  transfer->generation,
                                  transfer->slot_number,
                                  transfer->frames,
                                  transfer->share};
    atomic_store_explicit(&peer->busy, clock_ticks(), memory_order_relaxed);
    msg_lock(&peer->lock); /* the sink takes it, too: it does not see the end before the transfer is in the work list */
    board_tell(peer);
    vmsg_peer_answer(peer, msg_header(MSG_FRAME_JOIN, 0, 0, 0), &body, sizeof body);
    bool now = transfer->mine;
    if (!now)
        vmsg_transfer_work(transfer);
    msg_unlock(&peer->lock);
    if (now)
        (void)vmsg_joint_step(transfer);
    return true;
}

/* The sender withdrew: everything once more, by us alone. */
void vmsg_joint_alone(struct msg_transfer *transfer)
{
    vmsg_joint_leave(transfer);
    vmsg_transfer_judge(transfer, false);
    transfer->withdrawn = false;
    transfer->under_way = transfer->moved = 0;
    transfer->phase = MSG_TRANSFER_FETCHING;
    vmsg_transfer_work(transfer);
}

void vmsg_joint_withdrawn(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    (void)header;
    msg_lock(&peer->lock); /* see vmsg_joint_begin */
    struct msg_transfer *transfer = vmsg_transfer_find(peer, body->withdraw.answer);
    msg_unlock(&peer->lock);
    bool ended = !transfer || transfer->phase == MSG_TRANSFER_OVER;
    if (ended && body->withdraw.id)
        vmsg_rendezvous_finish_tell(peer, body->withdraw.id);
    if (ended || transfer->sender || transfer->phase != MSG_TRANSFER_JOINT)
        return; /* the latter: it crosses our CLEAR */
    if (transfer->told_later)
        transfer->withdrawn = true;
    else
        vmsg_joint_alone(transfer);
}

/* ---- the sender -------------------------------------------------------------------------------------------------- */

void vmsg_joint_board(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    void *memory;
    (void)header;
    if (vi_map(peer->vi, body->board.key, 0, SLOTS * sizeof(struct msg_slot), &memory) != OK)
        return;
    if ((uintptr_t)memory % _Alignof(struct msg_slot))
        vmsg_refused(peer, "a board that begins amid a slot");
    else
        peer->board = memory;
}

static bool may_put(struct msg_peer *peer)
{
    struct vi_state state;
    return vi_query(peer->vi, &state) == OK && state.put;
}

void vmsg_joint_invited(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    const struct msg_frame_join *join = &body->join;
    (void)header;
    if (peer->board && join->slot < SLOTS)
        __builtin_prefetch(peer->board + join->slot, 1); /* the receiver has just written it */
    msg_lock(&peer->lock);
    struct msg_transfer *transfer = vmsg_transfer_at(peer, join->id, MSG_TRANSFER_ANNOUNCED);
    bool sane = transfer && transfer->sender && transfer->region.nic && join->slot < SLOTS && join->upto > 0 &&
                join->upto <= transfer->request->total;
    bool able = sane && peer->board;
    if (sane) {
        msg_phase_set(transfer->request, MSG_PHASE_MOVING);
        transfer->way = join->frames ? MSG_WAY_FRAMES : MSG_WAY_JOINT;
        vmsg_choice_heard(&peer->choice[1], join->upto, (enum msg_way)transfer->way);
    }
    if (able) {
        transfer->frames = join->frames;
        transfer->phase = MSG_TRANSFER_JOINT;
        transfer->remote = join->answer;
        transfer->upto = join->upto;
        transfer->key = join->key;
        transfer->generation = join->generation;
        transfer->slot = peer->board + join->slot;
        transfer->share = join->share;
        transfer->under_way = transfer->mine = transfer->done = 0;
        transfer->looking = !join->frames && !may_put(peer);
    } else if (sane) { /* we see nothing of the slot */
        struct msg_frame_withdraw refusal = {join->answer, join->frames ? 0 : join->id};
        vmsg_peer_answer(peer, msg_header(MSG_FRAME_WITHDRAW, 0, 0, 0), &refusal, sizeof refusal);
    }
    msg_unlock(&peer->lock);
    if (able)
        (void)vmsg_joint_step(transfer); /* the receiver is at it already */
    if (!sane)
        vmsg_refused(peer, "an invitation to a message that is not announced");
}
