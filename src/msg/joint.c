/* Joint copy: both ends of an announced message work on it at once, where they share memory.
 *
 *   sender                                        receiver
 *     | ANNOUNCE total, id, key                     |
 *     |-------------------------------------------->|  matched; takes a slot of its board
 *     |   BOARD key (once), JOIN id, answer, key of  |
 *     |<--------------------------------------------|  the buffer, slot; begins to fetch at once
 *     |  both claim chunks from the slot's counter: the receiver gets, the sender puts
 *     |      FINISH id, if the last chunk to be      |
 *     |<--------------------------------------------|  ready was the receiver's,
 *     | DONE answer, if it was the sender's          |
 *     |-------------------------------------------->|
 *
 * The board is memory of the receiver that the sender maps: a line a slot, which counts the chunks that were claimed
 * and those that are ready. Up to 1 MiB there are two; how large the first one is the receiver learns from who is ready
 * first. Whoever counts the last one ready has the last word, so there is exactly one notice. A
 * sender who computes, or cannot put, claims nothing, and the receiver does it all. The counters carry a generation: a
 * sender who comes late finds the slot in other hands and changes nothing.
 *
 * In frames: below the size from which single copies pay on this machine, the sender does not put what he claims but sends
 * it in DATA frames, which the receiver copies out while the next ones are copied in: two copies, on two cores. The
 * receiver then begins to fetch only when he has heard nothing for a while: a sender who computes holds nobody up. He
 * counts the bytes himself, `ready` is not used, and says FINISH if he fetched any. A sender who claimed all is complete
 * with his last frame. A chunk that the receiver cannot get is asked for (CLEAR) when everything else is there.
 *
 * Without frames: a chunk that was claimed and could not be moved is never ready, so no notice can be given any more: the receiver then
 * asks for everything to be sent (CLEAR), the sender says WITHDRAW and the receiver begins again alone. Either way no
 * put lands after the receive is complete: CLEAR is answered when no put is under way. */
#include "msg/engine.h"

#define CHUNK_LEAST 16384u
#define PAGE        4096u
#define PATIENCE_NS 50000 /* with a sender in frames, before the receiver begins to fetch */

#define SLOTS 64
struct msg_slot {
    /* Changed by compare and swap of either side. */
    _Atomic uint64_t claim; /* generation, chunks claimed at the end, at the start; acquire, pairs with the release in slot_take */
    _Atomic uint64_t ready; /* generation, chunks moved; acq_rel: who counts the last one sees all that was put */
} ALIGNED(CACHE_LINE);
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
    struct msg_board *board = &vmsg_engine.board;
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
    struct msg_board *board = &vmsg_engine.board;
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
        atomic_store_explicit(&transfer->slot->ready, slot_word(transfer->generation), memory_order_relaxed);
        atomic_store_explicit(&transfer->slot->claim, slot_word(transfer->generation) + at_once, memory_order_release);
        transfer->moved = 0;
        transfer->under_way = at_once ? chunk_at(transfer, 1) : 0;
        transfer->mine = at_once;
    }
    return taken;
}

/* From now on no claim of the sender succeeds. */
void vmsg_joint_leave(struct msg_transfer *transfer)
{
    atomic_store_explicit(&transfer->slot->claim, 0, memory_order_relaxed);
    transfer->slot = NULL;
    msg_lock(&vmsg_engine.leaf);
    count(transfer->peer, -1);
    vmsg_engine.board.free |= 1ull << transfer->slot_number;
    msg_unlock(&vmsg_engine.leaf);
}

void vmsg_joint_close(void)
{
    if (vmsg_engine.board.nic)
        vi_dereg(&vmsg_engine.board.region);
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

/* The claimed chunk is ready; true: that was the last of all. */
static bool chunk_ready(struct msg_transfer *transfer)
{
    uint64_t ready = atomic_load_explicit(&transfer->slot->ready, memory_order_relaxed);
    transfer->under_way = 0;
    do {
        if (word_generation(ready) != transfer->generation)
            return false; /* the receiver has given the slot away: he asks for everything anew */
    } while (!atomic_compare_exchange_weak_explicit(&transfer->slot->ready, &ready, ready + 1, memory_order_acq_rel,
                                                    memory_order_relaxed));
    return (ready & COUNT_MASK) + 1 == chunks_of(transfer->upto);
}

static int chunk_move(struct msg_transfer *transfer)
{
    struct iovec local[MSG_FETCHED];
    struct vi_transfer move = {.local = local, .key = transfer->key, .offset = transfer->moved, .cookie = transfer};
    (void)vmsg_transfer_pieces(transfer, transfer->under_way, local, &move.pieces); /* of a registered buffer: all */
    struct msg_peer *peer = transfer->peer;
    return transfer->sender ? vi_put(peer->vi, &move) : vi_get(peer->vi, &move);
}

static void notice(struct msg_transfer *transfer, enum msg_frame frame)
{
    struct msg_frame_id body = {transfer->remote};
    vmsg_peer_control(transfer->peer, msg_header(frame, 0, 0, 0), &body, sizeof body);
}

/* Where others wait either side may be ahead by several messages, and who was ready first says nothing. */
static void balance(struct msg_transfer *transfer, bool first)
{
    struct msg_peer *peer = transfer->peer;
    vmsg_transfer_pass(transfer);
    msg_lock(&vmsg_engine.leaf);
    bool alone = list_empty(&peer->turns[false]);
    msg_unlock(&vmsg_engine.leaf);
    if (!alone)
        return;
    msg_lock(&peer->lock);
    vmsg_choice_balance(&peer->choice[transfer->learned], transfer->upto, first);
    msg_unlock(&peer->lock);
}

/* FIRST: this side was ready before the other one. */
static void over(struct msg_transfer *transfer, bool first)
{
    struct msg_request *request = transfer->request;
    int error = transfer->sender ? OK : request->result.error;
    if (!transfer->sender) {
        if (!transfer->frames && transfer->mine == 1 && chunks_of(transfer->upto) == 2)
            balance(transfer, first);
        vmsg_joint_leave(transfer);
        vmsg_transfer_judge(transfer, true);
    }
    vmsg_transfer_give(transfer);
    vmsg_complete(request, error);
}

/* ---- in frames, see above ----------------------------------------------------------------------------------------- */

/* So many bytes more are in place at the receiver. True: that was all; the transfer is over. */
static bool arrived(struct msg_transfer *transfer, uint64_t bytes)
{
    transfer->arrived += bytes;
    if (transfer->arrived == transfer->upto) {
        if (transfer->mine)
            notice(transfer, MSG_FRAME_FINISH);
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
        notice(transfer, MSG_FRAME_WITHDRAW);
    } else {
        vmsg_joint_leave(transfer);
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
    } else if (chunk_ready(transfer)) {
        notice(transfer, transfer->sender ? MSG_FRAME_DONE : MSG_FRAME_FINISH);
        over(transfer, false);
    } else {
        vmsg_transfer_work(transfer);
    }
}

/* A turn of a joint transfer, taken out of the work list: one chunk, or nothing is left to claim and the other side
 * will tell. A chunk that found the provider busy stays claimed. */
bool vmsg_joint_step(struct msg_transfer *transfer)
{
    if (!vmsg_transfer_first(transfer)) {
        vmsg_transfer_work(transfer);
        return false;
    }
    if (transfer->frames && transfer->sender)
        return push_step(transfer);
    if (transfer->frames && waits_for_sender(transfer))
        return false;
    if (!transfer->under_way) {
        if (!chunk_claim(transfer)) {
            vmsg_transfer_pass(transfer);
            if (transfer->sender)
                transfer->phase = MSG_TRANSFER_ANNOUNCED;
            return false;
        }
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
    struct msg_frame_board body = {vmsg_engine.board.region.key};
    if (!peer->board_told)
        vmsg_peer_answer(peer, msg_header(MSG_FRAME_BOARD, 0, 0, 0), &body, sizeof body);
    peer->board_told = true;
}

/* It will be worked on in this very round: its first chunk is claimed while nobody else knows the slot. Elsewhere the caller
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
    msg_lock(&peer->lock);
    transfer->share = vmsg_choice_share(&peer->choice[transfer->learned], transfer->upto);
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
    vmsg_transfer_work(transfer);
    msg_unlock(&peer->lock);
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

/* DONE and WITHDRAW. */
void vmsg_joint_ended(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    bool done = msg_header_kind(header) == MSG_FRAME_DONE;
    msg_lock(&peer->lock); /* see vmsg_joint_begin */
    struct msg_transfer *transfer = vmsg_transfer_at(peer, body->id.id, MSG_TRANSFER_JOINT);
    msg_unlock(&peer->lock);
    if (transfer && transfer->sender)
        transfer = NULL;
    if (transfer && !done && transfer->told_later)
        transfer->withdrawn = true;
    else if (transfer && !done)
        vmsg_joint_alone(transfer);
    else if (transfer && !transfer->under_way)
        over(transfer, true);
    else if (done) /* a withdrawal may cross our CLEAR */
        vmsg_refused(peer, "the end of a joint copy that is not under way");
}

/* ---- the sender -------------------------------------------------------------------------------------------------- */

void vmsg_joint_board(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    void *memory;
    (void)header;
    if (vi_map(peer->vi, body->board.key, 0, SLOTS * sizeof(struct msg_slot), &memory) != OK)
        return;
    if ((uintptr_t)memory % CACHE_LINE)
        vmsg_refused(peer, "a board that begins amid a line");
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
    bool able = sane && peer->board && (join->frames || may_put(peer));
    if (sane) {
        transfer->way = join->frames ? MSG_WAY_FRAMES : MSG_WAY_JOINT;
        vmsg_choice_heard(&peer->choice[1], join->upto, (enum msg_way)transfer->way);
    }
    if (able) {
        transfer->frames = join->frames;
        msg_phase_set(transfer->request, MSG_PHASE_MOVING);
        transfer->phase = MSG_TRANSFER_JOINT;
        transfer->remote = join->answer;
        transfer->upto = join->upto;
        transfer->key = join->key;
        transfer->generation = join->generation;
        transfer->slot = peer->board + join->slot;
        transfer->share = join->share;
        vmsg_transfer_work(transfer);
    } else if (sane && join->frames) { /* else he does it all and need not know */
        struct msg_frame_id refusal = {join->answer};
        vmsg_peer_answer(peer, msg_header(MSG_FRAME_WITHDRAW, 0, 0, 0), &refusal, sizeof refusal);
    }
    msg_unlock(&peer->lock);
    if (!sane)
        vmsg_refused(peer, "an invitation to a message that is not announced");
}
