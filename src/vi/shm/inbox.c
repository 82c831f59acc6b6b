/* The receiving half: all lanes to this process. Called by the one thread that polls.
 *
 * Lanes in use are hot: they stand in a dense array, and polling one is one load. A lane becomes hot when its sender
 * sets its bit in our bitmap; with more than SHM_HOT_LANES of them, idle ones turn cold again. A lane told cold is
 * polled for one more tick, so that a message of a sender that read "hot" just before is still found; before a sleep
 * all lanes are swept.
 *
 * A message for a session that is not open here stays in its cell, and the lane behind it waits. */
#include "vi/shm/shm.h"

static inline uint32_t lane_position(const struct shm_vi *vi)
{
    return (uint32_t)vi->in_next * (SHM_BUNDLE + 1) + vi->in_bundle;
}

static void credit_tell(struct shm_vi *vi)
{
    vi->told = lane_position(vi);
    vi->owed_bytes = 0;
    /* release: pairs with shm_lane_harvest; what is given back has been read */
    atomic_store_explicit(&vi->told_line->consumed, vi->told, memory_order_release);
}

void shm_inbox_settle(struct shm_nic *nic)
{
    for (uint32_t i = 0; i < nic->hot_count; i++) {
        struct shm_vi *vi = nic->hot[i];
        if (vi && vi->told != lane_position(vi))
            credit_tell(vi);
    }
}

void shm_inbox_call(struct shm_nic *nic, uint32_t index)
{
    atomic_fetch_or_explicit(&nic->bits[index / 64], 1ull << index % 64, memory_order_release);
}

void shm_break(struct shm_vi *vi, const char *why)
{
    struct shm_nic *nic = shm_nic_of(vi->vi.nic);
    if (atomic_exchange_explicit(&vi->broken, true, memory_order_relaxed))
        return;
    COUNT(refused);
    (void)vbase_fail(ERR_PROTOCOL, "rank %u wrote invalid data into shared memory: %s", vi->vi.peer, why);
    atomic_store_explicit(&vi->limit, 0, memory_order_relaxed);
    atomic_store_explicit(&vi->deliver, false, memory_order_relaxed);
    shm_inbox_call(nic, vi->index);
}

/* ---- the array of hot lanes -------------------------------------------------------------------------------------- */

/* Whether the lane is polled, and the class of the line. relaxed: a sender that still reads the lane cold sets its bit
 * once more; one that reads an old class stores as it did. */
static void hot_tell(struct shm_vi *vi)
{
    int fixed = atomic_load_explicit(&shm_line_fixed, memory_order_relaxed);
    uint32_t class = fixed >= 0 ? (uint32_t)fixed + 1 : vi->line.known ? (uint32_t)vi->line.class + 1 : 0;
    uint32_t polled = vi->place != SHM_NOWHERE && !vi->cooling ? SHM_HOT : 0;
    uint32_t asked = polled && vi->line.asked && fixed < 0 ? SHM_ASKED : 0;
    atomic_store_explicit(&vi->told_line->hot, polled | asked | class << SHM_CLASS_SHIFT, memory_order_relaxed);
}

static void lane_add(struct shm_nic *nic, struct shm_vi *vi)
{
    vi->place = nic->hot_count++;
    nic->hot[vi->place] = vi;
    vi->cooling = false;
    vi->used = true;
    hot_tell(vi);
}

static void lane_remove(struct shm_nic *nic, struct shm_vi *vi)
{
    if (vi->place == SHM_NOWHERE)
        return;
    credit_tell(vi);
    nic->hot[vi->place] = NULL;
    vi->place = SHM_NOWHERE;
    nic->stale = true;
}

static void gaps_close(struct shm_nic *nic)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < nic->hot_count; i++) {
        if (!nic->hot[i])
            continue;
        nic->hot[kept] = nic->hot[i];
        nic->hot[kept]->place = kept;
        kept++;
    }
    nic->hot_count = kept;
    nic->stale = false;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* The next message, of so many lines, is done with. */
static inline void lines_end(struct shm_vi *vi, uint32_t lines)
{
    shm_in_begin(vi, vi->in_next + lines);
    if (unlikely(lane_position(vi) - vi->told >= TUNED(SHM_CREDIT_LINES) * (SHM_BUNDLE + 1) ||
                 vi->owed_bytes >= TUNED(SHM_CREDIT_BYTES)))
        credit_tell(vi);
}

/* Messages that lie in the cell of lane VI which is taken next, behind those that are taken. */
static inline __attribute__((always_inline)) uint32_t ready_here(const struct shm_vi *vi)
{
    /* acquire: pairs with shm_publish */
    uint32_t more = atomic_load_explicit(&vi->in_cell->published, memory_order_acquire) - vi->in_word;
    return likely(more <= SHM_BUNDLE - vi->in_bundle) ? more : 0; /* of the lap before: negative */
}

/* The sender has published the head behind the one that holds the bundle. */
static inline bool ready_beyond(const struct shm_vi *vi)
{
    /* acquire: pairs with shm_publish */
    uint32_t word = atomic_load_explicit(&vi->in[(vi->in_next + 1) % SHM_LINES].published, memory_order_acquire);
    return word - shm_word(vi->in_next + 1) <= SHM_BUNDLE;
}

/* Nothing new lies in the cell of the bundle. If the sender has published the next head, nothing is added to this cell
 * any more: one more load tells whether it is done with, then the next head counts. */
static __attribute__((noinline)) uint32_t ready_next(struct shm_vi *vi)
{
    if (!ready_beyond(vi))
        return 0;
    uint32_t more = ready_here(vi);
    if (more)
        return more;
    lines_end(vi, 1);
    return ready_here(vi);
}

static inline uint16_t head_kind(const struct shm_cell *cell) { return *(const volatile uint16_t *)&cell->kind; }
static inline bool head_is_silent(const struct shm_vi *vi) { return (uint8_t)head_kind(vi->in_cell) >= SHM_SKIP; }

/* Lines of a head that holds no message; 0: it makes no sense. */
static uint32_t silent_lines(const struct shm_vi *vi)
{
    uint32_t at = (uint32_t)(vi->in_next % SHM_LINES), probe = shm_row_lines(SHM_SAMPLE);
    uint8_t kind = (uint8_t)head_kind(vi->in_cell);
    if (kind == SHM_PROBE)
        return at + probe <= SHM_LINES ? probe : 0;
    return kind == SHM_SKIP && at ? SHM_LINES - at : 0;
}

static void probe_take(struct shm_vi *vi, const void *probe)
{
    shm_line_time(&vi->line, probe);
    credit_tell(vi); /* the next one waits for it */
    hot_tell(vi);
}

/* The rest of the ring is skipped, or a probe is taken: a probe may have to skip, and the row behind it, too. */
static COLD uint32_t ready_behind(struct shm_vi *vi)
{
    uint32_t more;
    for (int heads = 0; (more = ready_here(vi)) && head_is_silent(vi); heads++) {
        const struct shm_cell *head = vi->in_cell;
        bool probe = (uint8_t)head_kind(head) == SHM_PROBE;
        uint32_t lines = heads < 3 ? silent_lines(vi) : 0;
        if (lines == 0) {
            shm_break(vi, "a head without a message where none can be");
            return 0;
        }
        lines_end(vi, lines);
        if (probe)
            probe_take(vi, head->data);
    }
    return more;
}

/* Messages of the lane that may be taken, from vi->in_cell. */
static inline __attribute__((always_inline)) uint32_t ready_lane(struct shm_vi *vi)
{
    uint32_t more = ready_here(vi);
    if (unlikely(!more && vi->in_bundle))
        more = ready_next(vi);
    return unlikely(more && head_is_silent(vi)) ? ready_behind(vi) : more;
}

/* The next head counts all messages that have come by turn. */
static inline bool head_is_of_turn(const struct shm_vi *vi)
{
    return (head_kind(vi->in_cell) ^ vi->turns_in) < SHM_TURN;
}

/* No message of the lane is the next one, as far as one load tells: either none is there, or MORE that count another
 * turn. The message that came by turn is the next one, unless the lane holds some that were sent before it. */
#define READY_TURN UINT32_MAX
static inline uint32_t ready_turn(struct shm_vi *vi, uint32_t more)
{
    shm_hook("turn");
    /* acquire: pairs with shm_publish; what was sent before is seen, too */
    if (atomic_load_explicit(&vi->turn->published, memory_order_acquire) != (uint32_t)vi->turn_in) {
        if (unlikely(more))
            shm_break(vi, "a head of another turn");
        return 0;
    }
    if (!more && unlikely((more = ready_lane(vi)) && head_is_of_turn(vi)))
        return more;
    return READY_TURN;
}

/* Messages that may be taken from vi->in_cell; READY_TURN: the one that came by turn. */
static inline __attribute__((always_inline)) uint32_t line_ready(struct shm_vi *vi)
{
    uint32_t more = ready_lane(vi);
    return likely(more) && likely(head_is_of_turn(vi)) ? more : ready_turn(vi, more);
}

/* Where the block of a cell lies; NULL: outside its heap. */
static const char *block_at(const struct shm_nic *nic, const struct shm_vi *vi, const struct shm_cell *cell,
                            uint32_t *length)
{
    uint32_t offset = *(const volatile uint32_t *)&cell->block.offset;
    *length = *(const volatile uint32_t *)&cell->block.length;
    if (*length > SHM_MAX_SEND || offset > SHM_HEAP_SIZE || *length > SHM_HEAP_SIZE - offset)
        return NULL;
    return shm_heap_of(&nic->segment, vi->index) + offset;
}

/* In a stream the next row is there already: its payload comes while this one is copied. As long as this one, as far as
 * is known. A probe that was fetched ahead would tell nothing of the line. */
static inline void next_ask(struct shm_vi *vi, uint32_t lines)
{
    uint64_t behind = vi->in_next + lines;
    const struct shm_cell *next = &vi->in[behind % SHM_LINES];
    /* relaxed: a hint */
    uint32_t word = atomic_load_explicit(&next->published, memory_order_relaxed) - shm_word(behind);
    if (word - 1 >= SHM_BUNDLE || (uint8_t)head_kind(next) == SHM_PROBE)
        return;
    for (uint32_t i = 1; i < lines; i++)
        __builtin_prefetch(next + i);
}

static bool block_take(struct shm_nic *nic, struct shm_vi *vi, const struct shm_cell *cell)
{
    uint32_t length;
    const char *block = block_at(nic, vi, cell, &length);
    if (!block) {
        shm_break(vi, "a block outside its heap");
        return false;
    }
    nic->enough |= nic->nic.sink.received(&vi->vi, cell->header, block, length, 1);
    vi->owed_bytes += length;
    return true;
}

static bool goodbye_take(struct shm_nic *nic, struct shm_vi *vi)
{
    base_lock(&nic->lock);
    vi->behind--;
    shm_update_deliver(vi);
    atomic_store_explicit(&vi->limit, 0, memory_order_relaxed);
    base_unlock(&nic->lock);
    nic->told++;
    nic->nic.sink.down(&vi->vi, ERR_LINK_DOWN);
    return true;
}

static bool goodbye_answer(struct shm_vi *vi)
{
    bool room = shm_lane_in_flight(vi) <= SHM_DEPTH;
    if (room)
        shm_goodbye(vi);
    return room;
}

/* A cell that is not for an open vi: of a session that ended here, or of one that nobody opened yet. */
static COLD bool closed_take(struct shm_nic *nic, struct shm_vi *vi, uint16_t kind)
{
    bool taken = false, called = false, stop;
    base_lock(&nic->lock);
    if (vi->behind > 0) {
        vi->behind -= kind == SHM_GOODBYE;
        shm_update_deliver(vi);
        taken = true;
    } else if (vi->behind == 0 && !vi->open && kind == SHM_GOODBYE) {
        taken = goodbye_answer(vi);
    } else if (vi->behind == 0 && !vi->open) {
        called = !vi->waiting; /* told once, however often the sender sets its bit */
        vi->waiting = true;
    }
    stop = vi->waiting || vi->behind < 0;
    base_unlock(&nic->lock);
    if (stop)
        lane_remove(nic, vi);
    if (called) {
        nic->told++;
        nic->nic.sink.called(&nic->nic, vi->vi.peer);
    }
    return taken;
}

static bool odd_take(struct shm_nic *nic, struct shm_vi *vi, const struct shm_cell *cell, uint16_t kind,
                     uint32_t length, uint32_t lines)
{
    switch ((uint8_t)kind) {
    case SHM_ROWED:
        next_ask(vi, lines);
        nic->enough |= nic->nic.sink.received(&vi->vi, cell->header, cell->data, length, 1);
        return true;
    case SHM_BLOCK:
        return block_take(nic, vi, cell);
    case SHM_GOODBYE:
        return goodbye_take(nic, vi);
    case SHM_IMMEDIATE:
        nic->nic.sink.arrived(&vi->vi, (uint32_t)cell->header, 0);
        return true;
    default:
        shm_break(vi, "a head of no kind");
        return false;
    }
}

/* Lines of a message whose head is the next line; 0: it makes no sense. */
static inline uint32_t lines_of(const struct shm_vi *vi, uint16_t kind, uint32_t length)
{
    if (likely((uint8_t)kind != SHM_ROWED))
        return 1;
    uint32_t lines = shm_row_lines(length);
    return length <= SHM_INLINE || length > SHM_ROW || vi->in_next % SHM_LINES + lines > SHM_LINES ? 0 : lines;
}

/* Hands the message that came by turn to the sink; then the turn is ours. 0: it stays, or the lane is broken. */
static inline __attribute__((always_inline)) uint32_t turn_take(struct shm_nic *nic, struct shm_vi *vi)
{
    uint32_t length = *(const volatile uint16_t *)&vi->turn->length;
    if (unlikely(length > SHM_INLINE)) {
        shm_break(vi, "a turn that is longer than a line");
        return 0;
    }
    if (likely(atomic_load_explicit(&vi->deliver, memory_order_acquire)))
        nic->enough |= nic->nic.sink.received(&vi->vi, vi->turn->header, vi->turn->data, length, 1);
    else if (!closed_take(nic, vi, SHM_DATA))
        return 0;
    /* release: pairs with shm_send */
    atomic_store_explicit(&vi->turn_out, vi->turn_in + 1, memory_order_release);
    vi->turn_in += 2;
    vi->turns_in += SHM_TURN;
    atomic_store_explicit(&vi->answered, true, memory_order_relaxed);
    return 1;
}

/* BUNDLE messages of the next head, of this LENGTH each, have been taken. */
static inline void bundle_taken(struct shm_vi *vi, uint32_t count, uint32_t bundle, uint32_t length)
{
    vi->in_word += count;
    vi->in_bundle = bundle;
    if (unlikely((bundle + 1) * length > SHM_INLINE || bundle == SHM_BUNDLE))
        lines_end(vi, 1);
}

/* What is not a bundle of messages for an open vi. */
static __attribute__((noinline)) uint32_t rest_take(struct shm_nic *nic, struct shm_vi *vi, uint32_t count)
{
    const struct shm_cell *cell = vi->in_cell;
    uint16_t kind = head_kind(cell);
    uint32_t length = *(const volatile uint16_t *)&cell->length, lines = lines_of(vi, kind, length);
    if (unlikely(lines == 0)) {
        shm_break(vi, "a row that is no row");
        return 0;
    }
    if (!(atomic_load_explicit(&vi->deliver, memory_order_acquire) ? odd_take(nic, vi, cell, kind, length, lines)
                                                                  : closed_take(nic, vi, (uint8_t)kind)))
        return 0;
    if ((uint8_t)kind == SHM_DATA) {
        bundle_taken(vi, count, vi->in_bundle + count, length);
    } else {
        vi->in_word += count;
        vi->in_bundle += count;
        lines_end(vi, lines);
    }
    return count;
}

/* Hands COUNT messages of the next head to the sink; 0: they stay, or the lane is broken. Every field is read once. */
static inline __attribute__((always_inline)) uint32_t head_take(struct shm_nic *nic, struct shm_vi *vi, uint32_t count)
{
    const struct shm_cell *cell = vi->in_cell;
    uint16_t kind = head_kind(cell);
    uint32_t length = *(const volatile uint16_t *)&cell->length, bundle = vi->in_bundle;
    atomic_store_explicit(&vi->answered, true, memory_order_relaxed);
    if (unlikely((uint8_t)kind != SHM_DATA || (bundle + count) * length > SHM_INLINE ||
                 !atomic_load_explicit(&vi->deliver, memory_order_acquire)))
        return rest_take(nic, vi, count);
    nic->enough |= nic->nic.sink.received(&vi->vi, cell->header, cell->data + bundle * length, length, count);
    bundle_taken(vi, count, bundle + count, length);
    return count;
}

/* At most so many messages of the next head of a hot lane. Bits, ticks and events that are not messages wait for the
 * next poll of all. */
static inline __attribute__((always_inline)) int lane_poll(struct shm_nic *nic, struct shm_vi *vi, int budget)
{
    uint32_t count = line_ready(vi);
    if (!count) {
        if (unlikely(atomic_load_explicit(&vi->ahead, memory_order_relaxed)))
            shm_ahead_ask(vi);
        return 0;
    }
    count = count == READY_TURN ? turn_take(nic, vi)
                                : head_take(nic, vi, count < (uint32_t)budget ? count : (uint32_t)budget);
    if (unlikely(!count))
        return 0;
    vi->used = true;
    return (int)count;
}

/* The same, until nothing is left: of the lane in this PLACE. */
static int lane_drain(struct shm_nic *nic, uint32_t place, int budget)
{
    int taken = 0, more;
    while (taken < budget && !nic->enough && nic->hot[place] &&
           (more = lane_poll(nic, nic->hot[place], budget - taken)) > 0)
        taken += more;
    return taken;
}

/* ---- bitmap, ticks, poll ----------------------------------------------------------------------------------------- */

/* The bit of this peer is set: it has sent on a lane that is not hot, or its state is to be examined. */
static void lane_called(struct shm_nic *nic, uint32_t index)
{
    struct shm_vi *vi = NULL;
    bool tell_down = false;
    if (index >= nic->segment.ranks || index == nic->index) {
        COUNT(refused);
        return;
    }
    base_lock(&nic->lock);
    vi = shm_peer_make(nic, index);
    if (vi && atomic_load_explicit(&vi->broken, memory_order_relaxed)) {
        tell_down = vi->open && vi->behind >= 0;
        vi->behind = -1;
    }
    base_unlock(&nic->lock);
    if (!vi) {
        shm_inbox_call(nic, index); /* no memory now: once more at the next poll */
    } else if (atomic_load_explicit(&vi->broken, memory_order_relaxed)) {
        lane_remove(nic, vi);
        if (tell_down) {
            nic->told++;
            nic->nic.sink.down(&vi->vi, ERR_PROTOCOL);
        }
    } else if (vi->place == SHM_NOWHERE) {
        lane_add(nic, vi);
    }
}

static COLD void bits_take(struct shm_nic *nic, uint32_t word)
{
    /* acquire: pairs with the or of shm_ring */
    uint64_t bits = atomic_exchange_explicit(&nic->bits[word], 0, memory_order_acquire);
    while (bits) {
        uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(bits);
        bits &= bits - 1;
        lane_called(nic, index);
    }
}

/* Where the last probe is old, the class may have changed. Not in a lane of which one page is all that was used so far:
 * in a large job most pairs exchange a few messages, and probes would touch the other pages. */
static void probes_ask(struct shm_nic *nic, uint64_t now)
{
    uint64_t old = vbase_clock_ticks_of_ns(TUNED_NS(LINE_OLD));
    for (uint32_t i = 0; i < nic->hot_count; i++) {
        struct shm_vi *vi = nic->hot[i];
        if (vi && vi->in_next >= SHM_PAGE / CACHE_LINE && !vi->line.asked && now - vi->line.probed_at > old) {
            vi->line.asked = true;
            hot_tell(vi);
        }
    }
}

/* Lanes unused for a whole tick turn cold; those cold for a whole tick are removed. */
static void lanes_cool(struct shm_nic *nic)
{
    for (uint32_t i = 0; i < nic->hot_count; i++) {
        struct shm_vi *vi = nic->hot[i];
        if (!vi)
            continue;
        if (vi->used == vi->cooling) {
            vi->cooling = !vi->used;
            hot_tell(vi);
        } else if (!vi->used) {
            lane_remove(nic, vi);
        }
        vi->used = false;
    }
}

static COLD void lanes_tick(struct shm_nic *nic)
{
    uint64_t now = clock_ticks();
    shm_inbox_settle(nic);
    if (now - nic->tick_at < nic->tick_gap)
        return;
    nic->tick_at = now;
    probes_ask(nic, now);
    if (nic->hot_count > TUNED(SHM_HOT_LANES))
        lanes_cool(nic);
}

/* Relaxed loads only; what they find is loaded again, with order. */
static inline bool lane_has_news(const struct shm_vi *vi)
{
    uint32_t word = atomic_load_explicit(&vi->in_cell->published, memory_order_relaxed) - vi->in_word;
    uint32_t turn = atomic_load_explicit(&vi->turn->published, memory_order_relaxed) - (uint32_t)vi->turn_in;
    return word - 1 < SHM_BUNDLE || turn == 0 || (vi->in_bundle && ready_beyond(vi));
}

static inline void idle_count(struct shm_nic *nic)
{
    if (unlikely(++nic->idle == TUNED(SHM_IDLE_POLLS)))
        shm_inbox_settle(nic);
}

static __attribute__((noinline)) int lanes_poll(struct shm_nic *nic, int budget)
{
    int events = 0;
    for (uint32_t word = 0; word < nic->segment.words; word++)
        if (unlikely(atomic_load_explicit(&nic->bits[word], memory_order_relaxed) != 0))
            bits_take(nic, word);
    uint32_t count = nic->hot_count, at = nic->hot_first < count ? nic->hot_first : 0;
    for (uint32_t n = 0; n < count && events < budget && !nic->enough; n++) {
        if (likely(nic->hot[at]) && unlikely(lane_has_news(nic->hot[at])))
            events += lane_drain(nic, at, budget - events);
        at = at + 1 < count ? at + 1 : 0;
    }
    nic->hot_first = at; /* after a full round the place is the same, after a full budget the next lane's */
    events += nic->told;
    nic->told = 0;
    if (events > 0)
        nic->idle = 0;
    else
        idle_count(nic);
    if (unlikely(++nic->polls % TUNED(SHM_TICK_POLLS) == 0))
        lanes_tick(nic);
    if (unlikely(nic->stale))
        gaps_close(nic);
    return events;
}

int shm_poll(struct vi_nic *base, struct vi *only, int budget, unsigned flags)
{
    struct shm_nic *nic = shm_nic_of(base);
    (void)flags;
    nic->enough = false;
    if (!only)
        return lanes_poll(nic, budget);
    return likely(shm_vi_of(only)->place != SHM_NOWHERE) ? lane_poll(nic, shm_vi_of(only), budget) : 0;
}

/* ---- before sleeping --------------------------------------------------------------------------------------------- */

static bool lane_pending(struct shm_vi *vi)
{
    return !vi->waiting && vi->behind >= 0 && line_ready(vi) > 0;
}

bool shm_inbox_pending(struct shm_nic *nic)
{
    bool pending = false;
    for (uint32_t word = 0; word < nic->segment.words; word++)
        pending |= atomic_load_explicit(&nic->bits[word], memory_order_relaxed) != 0;
    base_lock(&nic->lock);
    for (uint32_t i = 0; i < nic->segment.ranks && !pending; i++) {
        struct shm_vi *vi = atomic_load_explicit(&nic->peers[i], memory_order_relaxed);
        if (vi && lane_pending(vi)) {
            pending = true;
            if (vi->place == SHM_NOWHERE)
                shm_inbox_call(nic, i);
        }
    }
    base_unlock(&nic->lock);
    return pending;
}
