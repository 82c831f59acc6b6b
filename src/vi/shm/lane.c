/* The sending half of a lane. Called by whoever holds the peer's sending lock of msg.
 *
 * A send of one piece up to 48 bytes is: one comparison, one cell filled, one release store. No read-modify-write, no
 * fence, no call. Larger payload goes to a block of our own heap, and the cell says where.
 *
 * Credits are looked at only when the lane seems full or blocks run out; that is when blocks come back, too. */
#include "vi/shm/shm.h"
#include "base/clock.h"
#include "base/counters.h"

#include <string.h>

/* N is at most SHM_INLINE; source and target are not aligned, and nothing beyond N bytes is read. */
static inline void copy_inline(uint8_t *to, const void *from, size_t n)
{
    const uint8_t *f = from;
    if (n >= 16) {
        memcpy(to, f, 16);
        if (n > 32)
            memcpy(to + 16, f + 16, 16);
        memcpy(to + n - 16, f + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, f, 8);
        memcpy(to + n - 8, f + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, f, 4);
        memcpy(to + n - 4, f + n - 4, 4);
    } else if (n > 0) {
        to[0] = f[0];
        to[n / 2] = f[n / 2];
        to[n - 1] = f[n - 1];
    }
}

/* The cell of message NUMBER: what is the same of all. The caller has seen that there is room. */
static inline struct shm_cell *cell_begin(struct shm_vi *vi, uint64_t number, enum shm_kind kind, uint64_t header)
{
    struct shm_cell *cell = &vi->out[number % SHM_CELLS];
    cell->header = header;
    cell->kind = (uint16_t)kind;
    vi->run.length = SHM_NO_RUN;
    /* relaxed: ordered before the cell by its release; shm_lane_harvest must not see credit for a cell it does not know */
    atomic_store_explicit(&vi->out_next, number + 1, memory_order_relaxed);
    return cell;
}

/* The two take turns: the peer sent something since we did. Then it looks at our next lines already, and to ask for them
 * early only disturbs it. */
static inline bool in_turns(struct shm_vi *vi)
{
    bool turns = atomic_load_explicit(&vi->answered, memory_order_relaxed);
    atomic_store_explicit(&vi->answered, false, memory_order_relaxed);
    return turns;
}

/* The cell is filled; in a stream the lane's next one is asked for. */
static inline void cell_publish(struct shm_vi *vi, struct shm_cell *cell, uint64_t number, bool turns)
{
    shm_publish(vi, cell, shm_word(number) + 1);
    if (!turns)
        cpu_prefetch_write(&vi->out[(number + 1) % SHM_CELLS]);
}

static inline bool has_room(struct shm_vi *vi, uint64_t number)
{
    /* relaxed: an old value only makes the lane look fuller */
    return number - atomic_load_explicit(&vi->out_seen, memory_order_relaxed) <
           atomic_load_explicit(&vi->limit, memory_order_relaxed);
}

void shm_lane_harvest(struct shm_vi *vi)
{
    struct shm_heap *heap = &shm_nic_of(vi->vi.nic)->heap;
    uint64_t seen = atomic_load_explicit(&vi->out_seen, memory_order_relaxed), upto = seen;
    /* acquire: pairs with the receiver's release: he has read the cells and blocks that he gives back */
    uint32_t told = atomic_load_explicit(&vi->credit->consumed, memory_order_acquire);
    uint64_t sent = atomic_load_explicit(&vi->out_next, memory_order_relaxed);
    int32_t more = (int32_t)(told - (uint32_t)seen * (SHM_RUN + 1)) / (int32_t)(SHM_RUN + 1);
    if (more > 0 && (uint64_t)more > sent - seen) {
        shm_break(vi, "more credit than cells");
        return;
    }
    if (more > 0)
        upto = seen + (uint32_t)more;
    for (uint64_t n = seen; vi->blocks_out > 0 && n < upto; n++) {
        uint32_t *block = &vi->block[n % SHM_CELLS];
        if (*block != SHM_NO_BLOCK) {
            shm_heap_give(heap, *block);
            *block = SHM_NO_BLOCK;
            vi->blocks_out--;
        }
    }
    atomic_store_explicit(&vi->out_seen, upto, memory_order_relaxed);
}

/* The lane seems full, or is down: look at the credits. */
static COLD int make_room(struct shm_vi *vi, uint64_t number)
{
    struct shm_nic *nic = shm_nic_of(vi->vi.nic);
    shm_lock(nic, &nic->heap.lock);
    shm_lane_harvest(vi);
    shm_unlock(nic, &nic->heap.lock);
    if (has_room(vi, number))
        return OK;
    if (atomic_load_explicit(&vi->limit, memory_order_relaxed) == 0)
        return ERR_LINK_DOWN;
    COUNT(lane_full);
    return ERR_AGAIN;
}

int shm_lane_room(struct shm_vi *vi)
{
    uint64_t number = atomic_load_explicit(&vi->out_next, memory_order_relaxed);
    return likely(has_room(vi, number)) ? OK : make_room(vi, number);
}

int shm_send_word(struct shm_vi *vi, enum shm_kind kind, uint64_t header)
{
    uint64_t number = atomic_load_explicit(&vi->out_next, memory_order_relaxed);
    int error = shm_lane_room(vi);
    if (error)
        return error;
    bool turns = in_turns(vi);
    struct shm_cell *cell = cell_begin(vi, number, kind, header);
    cell->length = 0;
    cell_publish(vi, cell, number, turns);
    return OK;
}

void shm_goodbye(struct shm_vi *vi)
{
    uint64_t number = atomic_load_explicit(&vi->out_next, memory_order_relaxed);
    bool turns = in_turns(vi);
    struct shm_cell *cell = cell_begin(vi, number, SHM_GOODBYE, 0);
    cell->length = 0;
    cell_publish(vi, cell, number, turns);
}

/* LENGTH bytes that were timed. */
static COLD void store_told(struct shm_nic *nic, enum shm_store_way way, uint32_t length, uint64_t ns)
{
    shm_lock(nic, &nic->heap.lock);
    shm_store_told(&nic->heap.store[false], way, length, ns);
    shm_unlock(nic, &nic->heap.lock);
}

/* The round that was timed is over with a block of LENGTH bytes, unless that is not the like of what began it. Under
 * heap.lock. */
static COLD void round_over(struct shm_nic *nic, struct shm_vi *vi, uint32_t length, bool turns)
{
    struct shm_store *store = &nic->heap.store[true];
    if (turns && length == vi->round.length)
        shm_store_told(store, vi->round.way, length, vbase_clock_ns_of_ticks(clock_ticks() - vi->round.at));
    else
        shm_store_nothing(store);
    vi->round.at = 0;
}

static COLD enum shm_store_way round_begin(struct shm_vi *vi, enum shm_store_way way, uint32_t length)
{
    vi->round.at = clock_ticks();
    vi->round.length = length;
    vi->round.way = way;
    return way & SHM_STORE_PAST;
}

/* The pieces of a send, the last one without an address. */
static __attribute__((noinline)) void store_source(struct shm_vi *vi, enum shm_store_way way, char *to,
                                                   const struct iovec *piece, int pieces)
{
    uint32_t head = 0, length = (uint32_t)piece[pieces - 1].iov_len;
    for (int i = 0; i < pieces - 1; i++)
        head += (uint32_t)piece[i].iov_len;
    (void)shm_store(SHM_STORE_PLAIN, to, piece, pieces - 1);
    uint64_t ns = shm_store_source(way, to + head, piece[pieces - 1].iov_base, length);
    if (unlikely(way & SHM_STORE_TIMED))
        store_told(shm_nic_of(vi->vi.nic), way, length < SHM_STORE_ROW ? length : SHM_STORE_ROW, ns);
}

/* Asks for the lines of a block that comes next, as many as the one before took: the receiver has read them before. */
static void ask_for(const struct shm_nic *nic, uint32_t block, uint32_t length)
{
    const char *at = nic->heap.base + shm_heap_offset(block);
    uint32_t most = length < 128 * CACHE_LINE ? length : 128 * CACHE_LINE;
    for (uint32_t i = 0; i < most; i += CACHE_LINE)
        cpu_prefetch_write(at + i);
}

void shm_lane_ahead(struct shm_nic *nic)
{
    ask_for(nic, nic->ahead, nic->ahead_bytes);
    nic->ahead_bytes = 0;
}

static __attribute__((noinline)) int send_block(struct shm_vi *vi, uint64_t header, const struct iovec *piece, int pieces,
                                                uint32_t length, unsigned flags)
{
    struct shm_nic *nic = shm_nic_of(vi->vi.nic);
    uint64_t number = atomic_load_explicit(&vi->out_next, memory_order_relaxed);
    bool turns = in_turns(vi);
    uint32_t block, offset, next;
    shm_lock(nic, &nic->heap.lock);
    if (unlikely(vi->round.at))
        round_over(nic, vi, length, turns);
    block = shm_heap_take(nic, vi, length, turns);
    if (unlikely(block == SHM_NO_BLOCK)) {
        shm_unlock(nic, &nic->heap.lock);
        COUNT(blocks_empty);
        return vi->blocks_out > 0 ? ERR_AGAIN : VI_HELD;
    }
    vi->block[number % SHM_CELLS] = block;
    vi->blocks_out++;
    next = shm_heap_next(&nic->heap, block);
    enum shm_store_way way = shm_store_next(&nic->heap.store[turns], length);
    shm_unlock(nic, &nic->heap.lock);
    if (unlikely(way & SHM_STORE_TIMED) && turns)
        way = round_begin(vi, way, length);

    if (!turns) /* now: it comes while the block is filled, and a receiver who polls has less time to take it again */
        cpu_prefetch_write(&vi->out[number % SHM_CELLS]);
    offset = shm_heap_offset(block);
    if (unlikely(flags & VI_SOURCE))
        store_source(vi, way, nic->heap.base + offset, piece, pieces);
    else if (unlikely(way & SHM_STORE_TIMED))
        store_told(nic, way, length, shm_store(way, nic->heap.base + offset, piece, pieces));
    else if (likely(way == SHM_STORE_PLAIN && pieces == 1))
        memcpy(nic->heap.base + offset, piece->iov_base, length);
    else
        (void)shm_store(way, nic->heap.base + offset, piece, pieces);
    struct shm_cell *cell = cell_begin(vi, number, SHM_BLOCK, header);
    cell->length = sizeof(cell->block);
    cell->block.offset = offset;
    cell->block.length = length;
    shm_publish(vi, cell, shm_word(number) + 1);
    /* In a stream at once; where two take turns, when a poll finds no answer yet: sooner it would hold up what was just sent */
    if (!turns && likely(!(way & SHM_STORE_PAST)))
        ask_for(nic, next, length);
    if (likely(nic->nic.alone)) {
        nic->ahead = next;
        nic->ahead_bytes = turns && way != SHM_STORE_PAST ? length : 0;
    }
    return OK;
}

/* In several pieces, or larger than a block. */
static __attribute__((noinline)) int send_odd(struct shm_vi *vi, uint64_t header, const struct iovec *piece, int pieces,
                                              unsigned flags)
{
    uint64_t number = atomic_load_explicit(&vi->out_next, memory_order_relaxed), length = 0;
    for (int i = 0; i < pieces; i++)
        length += piece[i].iov_len;
    if (length > SHM_MAX_SEND)
        return vbase_fail(ERR_ARGUMENT, "a send of %llu bytes over shared memory; at most %u",
                          (unsigned long long)length, SHM_MAX_SEND);
    int error = shm_lane_room(vi);
    if (error)
        return error;
    if (length > SHM_INLINE)
        return send_block(vi, header, piece, pieces, (uint32_t)length, flags);
    bool turns = in_turns(vi);
    struct shm_cell *cell = cell_begin(vi, number, SHM_DATA, header);
    cell->length = (uint16_t)length;
    if (flags & VI_SOURCE)
        store_source(vi, SHM_STORE_PLAIN, (char *)cell->data, piece, pieces);
    else
        shm_store(SHM_STORE_PLAIN, (char *)cell->data, piece, pieces);
    cell_publish(vi, cell, number, turns);
    return OK;
}

/* Beside its like, in the cell that was written last. */
static inline int send_beside(struct shm_vi *vi, const void *data)
{
    struct shm_cell *cell = vi->run.cell;
    copy_inline(cell->data + vi->run.at, data, vi->run.length);
    shm_publish(vi, cell, ++vi->run.word);
    vi->run.at += (uint32_t)vi->run.length;
    if (vi->run.at + vi->run.length > SHM_INLINE || vi->run.word % (SHM_RUN + 1) == SHM_RUN)
        vi->run.length = SHM_NO_RUN;
    return OK;
}

int shm_send(struct vi *base, uint64_t header, const struct iovec *piece, int pieces, unsigned flags)
{
    struct shm_vi *vi = shm_vi_of(base);
    uint64_t number = atomic_load_explicit(&vi->out_next, memory_order_relaxed), length;
    if (unlikely(pieces != 1 || (flags & VI_SOURCE) || piece->iov_len > SHM_MAX_SEND))
        return send_odd(vi, header, piece, pieces, flags);
    length = piece->iov_len;
    if (header == vi->run.header && length == vi->run.length &&
        likely(atomic_load_explicit(&vi->limit, memory_order_relaxed) != 0))
        return send_beside(vi, piece->iov_base);
    if (unlikely(!has_room(vi, number))) {
        int error = make_room(vi, number);
        if (error)
            return error;
    }
    if (length > SHM_INLINE)
        return send_block(vi, header, piece, 1, (uint32_t)length, flags);
    bool turns = in_turns(vi);
    struct shm_cell *cell = cell_begin(vi, number, SHM_DATA, header);
    cell->length = (uint16_t)length;
    copy_inline(cell->data, piece->iov_base, length);
    cell_publish(vi, cell, number, turns);
    if (length <= SHM_INLINE / 2) {
        vi->run.header = header;
        vi->run.length = vi->run.at = (uint32_t)length;
        vi->run.cell = cell;
        vi->run.word = shm_word(number) + 1;
    }
    return OK;
}
