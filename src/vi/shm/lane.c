/* The sending half of a lane. Called by the thread that holds the peer's sending lock of msg.
 *
 * A message of up to 48 bytes is one line, its head included: one comparison, one line filled, one release store. No
 * read-modify-write, no fence, no call. A message of up to SHM_ROW bytes goes on in the lines behind, so that head and
 * payload form one row that the receiver's processor fetches ahead. Longer payload goes to a block of our own heap, and
 * the line says where.
 *
 * A line that was payload may hold anything where the word of a head would be. So before a head is published, the line
 * behind its message, which the receiver polls next, is cleaned if it was payload in the lap before. A row that does
 * not fit before the end of the ring begins at its start; the rest is skipped.
 *
 * Credits are read only when the lane seems full or blocks run out; then blocks come back, too. */
#include "vi/shm/shm.h"

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

/* ---- lines that were payload or skipped -------------------------------------------------------------------------- */

static inline bool line_is_stale(const struct shm_vi *vi, uint64_t number)
{
    return vi->stale[number % SHM_LINES / 64] >> number % 64 & 1;
}

static void line_mark(struct shm_vi *vi, uint64_t number, bool stale)
{
    if (line_is_stale(vi, number) == stale)
        return;
    vi->stale[number % SHM_LINES / 64] ^= 1ull << number % 64;
    vi->stale_lines += stale ? 1 : UINT32_MAX;
}

static COLD void line_clean(struct shm_vi *vi, uint64_t number)
{
    if (!line_is_stale(vi, number))
        return;
    /* relaxed: ordered before the head that is published next by its release */
    atomic_store_explicit(&vi->out[number % SHM_LINES].published, 0, memory_order_relaxed);
    line_mark(vi, number, false);
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

/* The head of message NUMBER, which takes LINES: what is the same of all. The caller has seen that there is room. */
static inline struct shm_cell *head_begin(struct shm_vi *vi, uint64_t number, uint32_t lines, enum shm_kind kind,
                                          uint64_t header)
{
    struct shm_cell *cell = &vi->out[number % SHM_LINES];
    cell->header = header;
    cell->kind = (uint16_t)(kind | vi->turns_out);
    vi->bundle.length = SHM_NO_BUNDLE;
    if (unlikely(vi->stale_lines))
        line_mark(vi, number, false);
    /* release: pairs with shm_lane_harvest, by which another thread may take the block of this message again. Before
     * the head is published, or it could see credit for a line it does not know */
    atomic_store_explicit(&vi->out_next, number + lines, memory_order_release);
    return cell;
}

/* The two take turns: the peer sent something since we did. Then it polls our next line already, and to prefetch that
 * line would only disturb it. */
static inline bool in_turns(struct shm_vi *vi)
{
    bool turns = atomic_load_explicit(&vi->answered, memory_order_relaxed);
    atomic_store_explicit(&vi->answered, false, memory_order_relaxed);
    return turns;
}

/* Lines that hold no message are filled. The message beside them tells the receiver. */
static void lines_publish(struct shm_vi *vi, struct shm_cell *cell, uint64_t number, uint64_t end)
{
    line_clean(vi, end);
    /* release: pairs with ready_here */
    atomic_store_explicit(&cell->published, shm_word(number) + 1, memory_order_release);
}

/* The lines of the message are filled, and END is the number of the next one; in a stream its head is prefetched. */
static inline void head_publish(struct shm_vi *vi, struct shm_cell *cell, uint64_t number, uint64_t end, bool turns)
{
    if (unlikely(vi->stale_lines))
        line_clean(vi, end);
    shm_publish(vi, cell, shm_word(number) + 1);
    if (!turns)
        cpu_prefetch_write(&vi->out[end % SHM_LINES]);
}

static inline bool has_room(struct shm_vi *vi, uint64_t number, uint32_t lines)
{
    /* relaxed: an old value only makes the lane look fuller */
    return number + lines - atomic_load_explicit(&vi->out_seen, memory_order_relaxed) <=
           atomic_load_explicit(&vi->limit, memory_order_relaxed);
}

void shm_lane_harvest(struct shm_vi *vi)
{
    struct shm_heap *heap = &shm_nic_of(vi->vi.nic)->heap;
    uint64_t seen = atomic_load_explicit(&vi->out_seen, memory_order_relaxed), upto = seen;
    /* acquire: pairs with the receiver's release: it has read the lines and blocks that it gives back */
    uint32_t told = atomic_load_explicit(&vi->credit->consumed, memory_order_acquire);
    /* acquire: pairs with head_begin; the thread that sends has filled the blocks. The credit says so by way of another
     * process, where thread sanitizers do not look */
    uint64_t sent = atomic_load_explicit(&vi->out_next, memory_order_acquire);
    int32_t more = (int32_t)(told - (uint32_t)seen * (SHM_BUNDLE + 1)) / (int32_t)(SHM_BUNDLE + 1);
    if (more > 0 && (uint64_t)more > sent - seen) {
        shm_break(vi, "more credit than lines");
        return;
    }
    if (more > 0)
        upto = seen + (uint32_t)more;
    for (uint64_t n = seen; vi->blocks_out > 0 && n < upto; n++) {
        uint8_t *slab = &vi->slab[n % SHM_LINES];
        if (*slab != SHM_NO_SLAB) {
            shm_heap_give(heap, *slab);
            *slab = SHM_NO_SLAB;
            vi->blocks_out--;
        }
    }
    atomic_store_explicit(&vi->out_seen, upto, memory_order_relaxed);
}

uint64_t shm_lane_in_flight(struct shm_vi *vi)
{
    struct shm_nic *nic = shm_nic_of(vi->vi.nic);
    shm_lock(nic, &nic->heap.lock);
    shm_lane_harvest(vi);
    shm_unlock(nic, &nic->heap.lock);
    return atomic_load_explicit(&vi->out_next, memory_order_relaxed) -
           atomic_load_explicit(&vi->out_seen, memory_order_relaxed);
}

/* The lane seems full, or is down: read the credits. */
static COLD int make_room(struct shm_vi *vi, uint64_t number, uint32_t lines)
{
    (void)shm_lane_in_flight(vi);
    if (has_room(vi, number, lines))
        return OK;
    if (atomic_load_explicit(&vi->limit, memory_order_relaxed) == 0)
        return ERR_LINK_DOWN;
    COUNT(lane_full);
    return ERR_AGAIN;
}

int shm_lane_room(struct shm_vi *vi)
{
    uint64_t number = atomic_load_explicit(&vi->out_next, memory_order_relaxed);
    return likely(has_room(vi, number, 1)) ? OK : make_room(vi, number, 1);
}

static void word_send(struct shm_vi *vi, enum shm_kind kind, uint64_t header)
{
    uint64_t number = atomic_load_explicit(&vi->out_next, memory_order_relaxed);
    struct shm_cell *cell = head_begin(vi, number, 1, kind, header);
    cell->length = 0;
    head_publish(vi, cell, number, number + 1, in_turns(vi));
}

int shm_send_word(struct shm_vi *vi, enum shm_kind kind, uint64_t header)
{
    int error = shm_lane_room(vi);
    if (!error)
        word_send(vi, kind, header);
    return error;
}

void shm_goodbye(struct shm_vi *vi) { word_send(vi, SHM_GOODBYE, 0); }

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static uint64_t row_most(const struct shm_vi *vi)
{
    unsigned told = shm_class_told(vi);
    return vbase_tuned(TUNABLE_SHM_ROW_MOST, told < CLASSES ? (enum base_class)told : CLASS_SLOW);
}

void shm_lines_ask(const char *at, uint32_t length)
{
    uint32_t most = length < TUNED(SHM_ASK_MOST) ? length : (uint32_t)TUNED(SHM_ASK_MOST);
    for (uint32_t i = 0; i < most; i += CACHE_LINE)
        cpu_prefetch_write(at + i);
}

/* Prefetches the lines of the next message. In a stream at once; where two ranks answer each other, when a poll finds
 * no answer yet: sooner it would delay what was just sent. */
static void lines_next(struct shm_vi *vi, char *at, uint32_t length, bool turns)
{
    if (!turns) {
        shm_lines_ask(at, length);
        return;
    }
    atomic_store_explicit(&vi->ahead_at, at, memory_order_relaxed);
    atomic_store_explicit(&vi->ahead, length, memory_order_relaxed);
}

COLD void shm_ahead_ask(struct shm_vi *vi)
{
    shm_lines_ask(atomic_load_explicit(&vi->ahead_at, memory_order_relaxed),
                  atomic_load_explicit(&vi->ahead, memory_order_relaxed));
    atomic_store_explicit(&vi->ahead, 0, memory_order_relaxed);
}

/* The rest of the ring is too short: the row begins with the next lap. What lies there may stay for as many laps as a
 * head can count, so it is not to be taken for a head. */
static COLD uint64_t ring_skip(struct shm_vi *vi, uint64_t number)
{
    uint32_t rest = SHM_LINES - (uint32_t)(number % SHM_LINES);
    struct shm_cell *cell = head_begin(vi, number, rest, SHM_SKIP, 0);
    for (uint32_t i = 1; i < rest; i++)
        line_mark(vi, number + i, true);
    cell->length = 0;
    lines_publish(vi, cell, number, number + rest);
    return number + rest;
}

/* Where a row of so many LINES begins, which *NUMBER then says. */
static inline int row_room(struct shm_vi *vi, uint32_t lines, uint64_t *number)
{
    uint64_t next = atomic_load_explicit(&vi->out_next, memory_order_relaxed);
    uint32_t rest = SHM_LINES - (uint32_t)(next % SHM_LINES), wanted = lines <= rest ? lines : rest + lines;
    if (unlikely(!has_room(vi, next, wanted))) {
        int error = make_room(vi, next, wanted);
        if (error)
            return error;
    }
    *number = likely(lines <= rest) ? next : ring_skip(vi, next);
    return OK;
}

static inline struct shm_cell *row_begin(struct shm_vi *vi, uint64_t number, uint32_t length, enum shm_kind kind,
                                         uint64_t header)
{
    uint32_t lines = shm_row_lines(length);
    struct shm_cell *cell = head_begin(vi, number, lines, kind, header);
    cell->length = (uint16_t)length;
    for (uint32_t i = 1; i < lines; i++)
        line_mark(vi, number + i, true);
    return cell;
}

static __attribute__((noinline)) int row_send(struct shm_vi *vi, uint64_t header, const struct iovec *piece, int pieces,
                                              uint32_t length, unsigned flags)
{
    uint64_t number;
    uint32_t lines = shm_row_lines(length);
    int error = row_room(vi, lines, &number);
    if (unlikely(error))
        return error;
    bool turns = in_turns(vi), past = shm_stores_past(vi, length);
    struct shm_cell *cell = row_begin(vi, number, length, SHM_ROWED, header);
    shm_store((char *)cell->data, piece, pieces, past, flags);
    head_publish(vi, cell, number, number + lines, turns);
    if (!past && (number + lines) % SHM_LINES + lines <= SHM_LINES)
        lines_next(vi, (char *)&vi->out[(number + lines) % SHM_LINES] + (turns ? CACHE_LINE : 0), length, turns);
    return OK;
}

/* One at a time: its credit comes as soon as it is taken. Stored ordinarily, whatever the class: what is timed is how
 * lines come from this processor. Where half of the ring is in flight, messages need the other half. */
COLD void shm_probe(struct shm_vi *vi)
{
    uint64_t number = atomic_load_explicit(&vi->out_next, memory_order_relaxed);
    uint32_t lines = shm_row_lines(SHM_SAMPLE), position = (uint32_t)number * (SHM_BUNDLE + 1);
    uint32_t told = atomic_load_explicit(&vi->credit->consumed, memory_order_relaxed);
    if ((int32_t)(told - vi->probed) < 0 || position - told > SHM_LINES / 2 * (SHM_BUNDLE + 1) ||
        row_room(vi, lines, &number))
        return;
    struct shm_cell *cell = row_begin(vi, number, SHM_SAMPLE, SHM_PROBE, 0);
    memset((char *)cell->data, 0, SHM_SAMPLE);
    vi->probed = (uint32_t)(number + lines) * (SHM_BUNDLE + 1);
    lines_publish(vi, cell, number, number + lines);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static __attribute__((noinline)) int block_send(struct shm_vi *vi, uint64_t header, const struct iovec *piece,
                                                int pieces, uint32_t length, unsigned flags)
{
    struct shm_nic *nic = shm_nic_of(vi->vi.nic);
    uint64_t number = atomic_load_explicit(&vi->out_next, memory_order_relaxed);
    int error = shm_lane_room(vi);
    if (unlikely(error))
        return error;
    bool turns = in_turns(vi), past = shm_stores_past(vi, length);
    shm_lock(nic, &nic->heap.lock);
    uint32_t offset = shm_heap_take(nic, vi, length), next = shm_heap_next(&nic->heap, length);
    if (likely(offset != SHM_NO_BLOCK)) {
        vi->slab[number % SHM_LINES] = (uint8_t)(offset / SHM_SLAB);
        vi->blocks_out++;
    }
    bool own = vi->blocks_out > 0;
    shm_unlock(nic, &nic->heap.lock);
    if (unlikely(offset == SHM_NO_BLOCK)) {
        COUNT(blocks_empty);
        return own ? ERR_AGAIN : VI_HELD;
    }
    if (!turns) /* now: the line comes while the block is filled, and a polling receiver has less time to take it
                 * back */
        cpu_prefetch_write(&vi->out[number % SHM_LINES]);
    shm_store(nic->heap.base + offset, piece, pieces, past, flags);
    struct shm_cell *cell = head_begin(vi, number, 1, SHM_BLOCK, header);
    cell->length = sizeof(cell->block);
    cell->block.offset = offset;
    cell->block.length = length;
    head_publish(vi, cell, number, number + 1, true);
    if (!past)
        lines_next(vi, nic->heap.base + next, length, turns);
    return OK;
}

/* ---- sends ------------------------------------------------------------------------------------------------------- */

/* In several pieces, or longer than a line. */
static __attribute__((noinline)) int send_long(struct shm_vi *vi, uint64_t header, const struct iovec *piece,
                                               int pieces, unsigned flags)
{
    uint64_t number = atomic_load_explicit(&vi->out_next, memory_order_relaxed), length = 0;
    for (int i = 0; i < pieces; i++)
        length += piece[i].iov_len;
    if (length > SHM_MAX_SEND)
        return vbase_fail(ERR_ARGUMENT, "a send of %llu bytes over shared memory; at most %u",
                          (unsigned long long)length, SHM_MAX_SEND);
    if (length > row_most(vi) || length > SHM_ROW)
        return block_send(vi, header, piece, pieces, (uint32_t)length, flags);
    if (length > SHM_INLINE)
        return row_send(vi, header, piece, pieces, (uint32_t)length, flags);
    int error = shm_lane_room(vi);
    if (error)
        return error;
    struct shm_cell *cell = head_begin(vi, number, 1, SHM_DATA, header);
    cell->length = (uint16_t)length;
    shm_store((char *)cell->data, piece, pieces, false, flags);
    head_publish(vi, cell, number, number + 1, in_turns(vi));
    return OK;
}

/* Adds a message to the bundle in the line that was written last. */
static inline int send_beside(struct shm_vi *vi, const void *data)
{
    uint32_t length = (uint32_t)vi->bundle.length, end = vi->bundle.at + length, word = vi->bundle.word + 1;
    copy_inline(vi->bundle.cell->data + vi->bundle.at, data, length);
    vi->bundle.at = end;
    vi->bundle.word = word;
    if (end + length > SHM_INLINE || word % (SHM_BUNDLE + 1) == SHM_BUNDLE)
        vi->bundle.length = SHM_NO_BUNDLE;
    shm_publish(vi, vi->bundle.cell, word);
    return OK;
}

/* By turn: the peer has read what we sent there last, and has answered; or this is the first turn. */
static inline int send_turn(struct shm_vi *vi, uint64_t turn, uint64_t header, const void *data, uint64_t length)
{
    struct shm_cell *cell = vi->turn;
    cell->header = header;
    cell->length = (uint16_t)length;
    copy_inline(cell->data, data, length);
    vi->turns_out += SHM_TURN;
    vi->bundle.length = SHM_NO_BUNDLE;
    /* relaxed: the poll sets it again when the next one is taken, and that comes after what is published now */
    atomic_store_explicit(&vi->turn_out, 0, memory_order_relaxed);
    atomic_store_explicit(&vi->answered, false, memory_order_relaxed);
    shm_publish(vi, cell, (uint32_t)turn);
    return OK;
}

/* In a line of its own, with its length up to SHM_INLINE. */
static __attribute__((noinline)) int send_line(struct shm_vi *vi, uint64_t header, const void *data, uint64_t length)
{
    uint64_t number = atomic_load_explicit(&vi->out_next, memory_order_relaxed);
    if (unlikely(!has_room(vi, number, 1))) {
        int error = make_room(vi, number, 1);
        if (error)
            return error;
    }
    bool turns = in_turns(vi);
    struct shm_cell *cell = head_begin(vi, number, 1, SHM_DATA, header);
    cell->length = (uint16_t)length;
    copy_inline(cell->data, data, length);
    if (length <= SHM_INLINE / 2) {
        vi->bundle.header = header;
        vi->bundle.length = vi->bundle.at = (uint32_t)length;
        vi->bundle.cell = cell;
        vi->bundle.word = shm_word(number) + 1;
    }
    head_publish(vi, cell, number, number + 1, turns);
    return OK;
}

int shm_send(struct vi *base, uint64_t header, const struct iovec *piece, int pieces, unsigned flags)
{
    struct shm_vi *vi = shm_vi_of(base);
    if (unlikely(pieces != 1 || (flags & VI_SOURCE) || piece->iov_len > SHM_INLINE))
        return send_long(vi, header, piece, pieces, flags);
    uint64_t length = piece->iov_len;
    /* acquire: pairs with turn_take; what lay there has been read */
    uint64_t turn = atomic_load_explicit(&vi->turn_out, memory_order_acquire);
    bool open = likely(atomic_load_explicit(&vi->limit, memory_order_relaxed) != 0);
    if (turn && open)
        return send_turn(vi, turn, header, piece->iov_base, length);
    if (header == vi->bundle.header && length == vi->bundle.length && open)
        return send_beside(vi, piece->iov_base);
    return send_line(vi, header, piece->iov_base, length);
}
