/* Slots: words in shared memory from which both sides of a large message claim chunks.
 *
 * They are memory of the receiver that the sender maps. A slot counts the chunks that were claimed at the start and at
 * the end, and has a word of each side with the chunks that it moved, which it alone writes. Both words together tell
 * either side that all is there; no frame says so. All carry a generation: a sender that comes late finds another one,
 * so all is there. For that the receiver keeps the slot until its receive is complete. Hostile peers may write
 * anything: numbers are bounded before use. */
#include "msg/transfer.h"

struct msg_slots vmsg_slots;

#define SLOTS 64
struct msg_slot {
    /* Generation, chunks claimed at the end, at the start; changed by compare and swap of either side; acquire, pairs
     * with the release in vmsg_slot_take. */
    _Atomic uint64_t claim;
    /* Generation, chunks moved; release and acquire: a side that sees that all are there sees their bytes. Of `got`
     * also in vmsg_slot_take: a sender that comes late takes a new generation for the end. */
    _Atomic uint64_t got; /* by the receiver */
    _Atomic uint64_t put ALIGNED(2 * CACHE_LINE); /* by the sender; a processor may fetch lines in pairs */
} ALIGNED(4 * CACHE_LINE);
_Static_assert(sizeof(struct msg_slot) == 256 && offsetof(struct msg_slot, put) == 128, "wire");

#define COUNT_BITS  16u /* of either count */
#define COUNT_MASK  ((1u << COUNT_BITS) - 1)
#define CHUNKS_MOST COUNT_MASK
#define PAGE        4096u
#define PAGES_MOST  UINT16_MAX
static uint64_t slot_word(uint32_t generation) { return (uint64_t)generation << (2 * COUNT_BITS); }
static uint32_t word_generation(uint64_t word) { return (uint32_t)(word >> (2 * COUNT_BITS)); }

/* What is claimed at a time, a multiple of a page; 0: such a message has too many chunks. Of two parts the receiver's
 * is larger by a page: it begins while the sender does not know it yet. In PUSH_SLOT one side alone moves a chunk, and
 * a call of the kernel costs the receiver much, so up to the longest chunk there is one. With several threads a copy
 * keeps the others out of progress. */
static uint64_t chunk_of(uint64_t want, enum msg_mover mover)
{
    uint64_t most = vmsg_engine.threads ? TUNED(CHUNK_THREADS) : TUNED(CHUNK), chunk = most;
    if (want <= (mover == MSG_PUSH_SLOT ? most : TUNED(CHUNK_LEAST)))
        return (want + PAGE - 1) / PAGE * PAGE;
    if (want <= 2 * most)
        return (want / 2 / PAGE + 1) * PAGE;
    while ((want + chunk - 1) / chunk > CHUNKS_MOST)
        chunk *= 2;
    return chunk / PAGE <= PAGES_MOST ? chunk : 0;
}

uint64_t vmsg_slot_chunks(const struct msg_transfer *transfer)
{
    return (transfer->want + transfer->chunk - 1) / transfer->chunk;
}

/* Of the chunk that begins there. */
static uint64_t bytes_from(const struct msg_transfer *transfer, uint64_t from)
{
    return transfer->want - from < transfer->chunk ? transfer->want - from : transfer->chunk;
}

/* ---- the receiver's ---------------------------------------------------------------------------------------------- */

/* Under leaf. */
static bool slots_ready(struct vi_nic *nic)
{
    struct msg_slots *slots = &vmsg_slots;
    if (!slots->tried && vi_reg(nic, NULL, SLOTS * sizeof(struct msg_slot), &slots->region) == OK) {
        slots->nic = nic;
        slots->free = UINT64_MAX;
    }
    slots->tried = true;
    return slots->nic == nic;
}

bool vmsg_slot_take(struct msg_transfer *transfer, bool at_once)
{
    struct msg_slots *slots = &vmsg_slots;
    struct vi *vi = transfer->peer->vi;
    transfer->chunk = chunk_of(transfer->want, (enum msg_mover)transfer->mover);
    if (!transfer->chunk || transfer->chunk > vi_caps(vi)->max_put)
        return false;
    msg_lock(&vmsg_engine.leaf);
    bool taken = slots_ready(vi->nic) && slots->free;
    if (taken) {
        transfer->slot_number = (uint16_t)__builtin_ctzll(slots->free);
        slots->free &= slots->free - 1;
        slots->generation = slots->generation == UINT32_MAX ? 1 : slots->generation + 1; /* never 0 */
        transfer->generation = slots->generation;
    }
    msg_unlock(&vmsg_engine.leaf);
    if (taken) {
        transfer->slot = (struct msg_slot *)slots->region.address + transfer->slot_number;
        atomic_store_explicit(&transfer->slot->got, slot_word(transfer->generation), memory_order_release);
        atomic_store_explicit(&transfer->slot->claim, slot_word(transfer->generation) + at_once, memory_order_release);
        transfer->mine = transfer->claimed = at_once;
        if (at_once)
            transfer->part[0] = (struct msg_chunk){0, bytes_from(transfer, 0), MSG_NOT_BEGUN};
    }
    return taken;
}

void vmsg_slot_tell(const struct msg_transfer *transfer, struct msg_frame_grant *grant)
{
    grant->generation = transfer->generation;
    grant->pages = (uint16_t)(transfer->chunk / PAGE);
    grant->slot = (uint8_t)transfer->slot_number;
}

void vmsg_slot_close(struct msg_transfer *transfer)
{
    atomic_store_explicit(&transfer->slot->claim, 0, memory_order_relaxed);
}

void vmsg_slot_give(struct msg_transfer *transfer)
{
    vmsg_slot_close(transfer);
    transfer->slot = NULL;
    msg_lock(&vmsg_engine.leaf);
    vmsg_slots.free |= 1ull << transfer->slot_number;
    msg_unlock(&vmsg_engine.leaf);
}

void vmsg_slots_close(void)
{
    if (vmsg_slots.nic)
        vi_dereg(&vmsg_slots.region);
    memset(&vmsg_slots, 0, sizeof vmsg_slots);
}

/* ---- the sender's ------------------------------------------------------------------------------------------------ */

void vmsg_slots_map(struct msg_peer *peer, const struct vi_key *key)
{
    void *memory;
    if (vi_map(peer->vi, *key, 0, SLOTS * sizeof(struct msg_slot), &memory) != OK)
        return;
    if ((uintptr_t)memory % _Alignof(struct msg_slot))
        vmsg_refused(peer, "slots that begin inside a cache line");
    else
        peer->slots = memory;
}

bool vmsg_slot_find(struct msg_transfer *transfer, const struct msg_frame_grant *grant)
{
    uint64_t chunk = (uint64_t)grant->pages * PAGE;
    if (grant->slot >= SLOTS || !chunk || (grant->upto + chunk - 1) / chunk > CHUNKS_MOST ||
        chunk > vi_caps(transfer->peer->vi)->max_put)
        return false;
    if (transfer->peer->slots) {
        transfer->slot = transfer->peer->slots + grant->slot;
        __builtin_prefetch(transfer->slot, 1); /* the receiver has just written it */
    }
    transfer->chunk = chunk;
    transfer->generation = grant->generation;
    transfer->mine = transfer->done = 0;
    return true;
}

/* ---- both sides' ------------------------------------------------------------------------------------------------- */

/* From the start, but a sender that puts goes from the end: then of a buffer that is used again each processor copies
 * the part that it has in its cache. False: nothing is left, or the slot is another one's. */
bool vmsg_slot_claim(struct msg_transfer *transfer, uint64_t *from, uint64_t *bytes)
{
    uint64_t chunks = vmsg_slot_chunks(transfer), number, at_end;
    uint64_t claim = atomic_load_explicit(&transfer->slot->claim, memory_order_acquire);
    bool from_end = transfer->sender && transfer->mover == MSG_SHARE;
    do {
        number = claim & COUNT_MASK, at_end = claim >> COUNT_BITS & COUNT_MASK;
        if (word_generation(claim) != transfer->generation || number + at_end >= chunks)
            return false;
        if (from_end)
            number = chunks - 1 - at_end;
    } while (!atomic_compare_exchange_weak_explicit(&transfer->slot->claim, &claim,
                                                    claim + (from_end ? 1u << COUNT_BITS : 1), memory_order_acquire,
                                                    memory_order_acquire));
    *from = number * transfer->chunk;
    *bytes = bytes_from(transfer, *from);
    transfer->mine++;
    return true;
}

void vmsg_slot_count(struct msg_transfer *transfer)
{
    struct msg_slot *slot = transfer->slot;
    __builtin_prefetch(transfer->sender ? &slot->got : &slot->put);
    transfer->done++;
    atomic_store_explicit(transfer->sender ? &slot->put : &slot->got, slot_word(transfer->generation) + transfer->done,
                          memory_order_release);
    (void)vi_wake(transfer->peer->vi);
}

/* A sender that finds another generation knows that all is there, too. */
bool vmsg_slot_all(const struct msg_transfer *transfer)
{
    const struct msg_slot *slot = transfer->slot;
    uint64_t theirs = atomic_load_explicit(transfer->sender ? &slot->got : &slot->put, memory_order_acquire);
    uint64_t chunks = vmsg_slot_chunks(transfer);
    if (word_generation(theirs) != transfer->generation)
        return transfer->sender || transfer->done == chunks;
    return transfer->done + (theirs & COUNT_MASK) == chunks;
}

/* Of what this side has not claimed: a hostile count is no more than that. */
uint64_t vmsg_slot_put(const struct msg_transfer *transfer)
{
    uint64_t put = atomic_load_explicit(&transfer->slot->put, memory_order_acquire);
    uint64_t chunks = vmsg_slot_chunks(transfer);
    uint64_t most = transfer->mine < chunks ? chunks - transfer->mine : 0;
    uint64_t count = word_generation(put) == transfer->generation ? put & COUNT_MASK : 0;
    uint64_t at = (chunks - (count < most ? count : most)) * transfer->chunk;
    return at < transfer->want ? at : transfer->want;
}
