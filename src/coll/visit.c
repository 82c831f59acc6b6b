/* coll/visit: what is carried out in a hall, round by round. See hall.h for the picture.
 *
 * Called by hall.c for blocking calls and by schedule.c for all others: then from progress, by any thread, one at a
 * time for each visit.
 *
 * Small reductions are combined in one of two ways, chosen once for a hall:
 *   crowd   more ranks than processors: the last to arrive combines for all and publishes the result, so that each
 *           rank is scheduled once for a round.
 *   else    every rank has a processor: all read all blocks and combine alike. No line is written by two.
 * Operands are combined in the order of the ranks: the bits are the same on all of them. Scans are combined as by
 * messages, which carry them out in a crowd. */
#include "coll/hall.h"

size_t vcoll_hall_lay_out(struct coll_hall *hall, struct hall_memory *memory)
{
    size_t blocks = hall_place(hall->ranks, 0), each = CACHE_LINE + blocks * sizeof(struct hall_block);
    size_t tracks = sizeof *memory + (size_t)hall->ranks * sizeof *memory->taken;
    hall->memory = memory;
    for (size_t t = 0; t < HALL_TRACKS && memory; t++) {
        struct hall_track *track = &hall->track[t];
        track->arrived = (struct hall_line *)(void *)((char *)memory + tracks + t * each);
        track->block = (struct hall_block *)(void *)&track->arrived[1];
    }
    return tracks + HALL_TRACKS * each;
}

/* ---- epochs ---- */

/* All have arrived in the epoch of the round before. */
static inline __attribute__((always_inline)) bool track_is_settled(const struct coll_hall *hall,
                                                                   struct hall_track *track)
{
    uint64_t epoch = track->epoch;
    if (track->settled == epoch)
        return true;
    /* acquire: pairs with the release of the last to arrive; what all laid down before is seen */
    if (hall->crowd && atomic_load_explicit(&track->block[HALL_RESULT].epoch, memory_order_acquire) < epoch)
        return false;
    for (int r = track->seen; r < hall->ranks && !hall->crowd; r++)
        /* acquire: pairs with the release of that rank */
        if (atomic_load_explicit(&track->block[hall_place(r, epoch)].epoch, memory_order_acquire) < epoch) {
            track->seen = r;
            return false;
        }
    track->seen = 0;
    track->settled = epoch;
    return true;
}

static inline void bytes_copy(void *to, const void *from, size_t bytes)
{
    if (!hall_copy_word(to, from, bytes))
        memcpy(to, from, bytes);
}

/* The blocks of all ranks, in their order. The kernel puts its left operand first, so OUT, which holds the ranks
 * before, is the right place only for commutative kernels; the built-in ones all are. */
static inline void blocks_combine(const struct coll_visit *visit, type_kernel *kernel, void *out)
{
    const struct hall_track *track = visit->track;
    size_t bytes = visit->size * visit->count;
    const char *block = hall_data(track, hall_place(0, track->epoch), bytes),
               *second = hall_data(track, hall_place(1, track->epoch), bytes);
    ptrdiff_t stride = second - block;
    bytes_copy(out, block, bytes);
    for (int left = visit->hall->ranks - 1; left; left--)
        kernel(block += stride, out, visit->count);
}

static inline __attribute__((always_inline)) void visit_arrive(struct coll_visit *visit)
{
    struct hall_track *track = visit->track;
    uint64_t epoch = ++track->epoch;
    _Atomic uint64_t *word = &track->block[hall_place(visit->hall->rank, epoch)].epoch;
    if (visit->hall->crowd) {
        /* release: what this rank laid down is seen by the last comer; acquire: the last comer sees it */
        if (atomic_fetch_add_explicit(&track->arrived->count, 1, memory_order_acq_rel) + 1 !=
            epoch * (uint64_t)visit->hall->ranks)
            return;
        if (visit->kernel)
            blocks_combine(visit, visit->kernel, hall_data(track, HALL_RESULT, visit->size * visit->count));
        word = &track->block[HALL_RESULT].epoch;
    }
    /* release: pairs with the acquire in track_is_settled */
    atomic_store_explicit(word, epoch, memory_order_release);
    vmsg_share_wake_all(visit->hall->share);
}

/* ---- visits ---- */

/* A rank has withdrawn in this track: in the round that all have arrived in? */
static COLD void visit_look_for_all(struct coll_visit *visit)
{
    const struct hall_track *track = visit->track;
    if (atomic_load_explicit(&track->arrived->without[track->epoch & 1], memory_order_relaxed) == track->epoch)
        coll_visit_note(visit, vbase_fail(ERR_MEMORY, "another rank has no memory for its part of a collective"));
}

static inline bool visit_is_ready(struct coll_visit *visit)
{
    /* acquire: pairs with the release of the visit before */
    return atomic_load_explicit(&visit->track->serving, memory_order_acquire) == visit->ticket &&
           track_is_settled(visit->hall, visit->track);
}

bool vcoll_visit_ready(void *visit) { return visit_is_ready(visit); }

void vcoll_visit_start(struct coll_visit *visit)
{
    visit->here = false;
    visit->round = 0;
    visit->ticket = visit->track->tickets++;
}

/* A rank that needs nothing from the others waits for them when the next round begins. */
static inline __attribute__((always_inline)) bool visit_advance(struct coll_visit *visit)
{
    for (; visit->round < visit->rounds; visit->round++, visit->here = false) {
        if (!visit->here) {
            if (!visit_is_ready(visit))
                return false;
            if (visit->lay)
                visit->lay(visit);
            visit_arrive(visit);
            visit->here = true;
        }
        if (visit->round >= visit->takes)
            continue;
        if (!visit_is_ready(visit))
            return false;
        /* relaxed: the rank arrived after it wrote it */
        if (unlikely(atomic_load_explicit(&visit->track->arrived->withdrawn, memory_order_relaxed)))
            visit_look_for_all(visit);
        if (visit->take)
            visit->take(visit);
    }
    /* release: pairs with the acquire in vcoll_visit_ready of the next one */
    atomic_store_explicit(&visit->track->serving, visit->ticket + 1, memory_order_release);
    return true;
}

bool vcoll_visit_advance(struct coll_visit *visit) { return visit_advance(visit); }

int vcoll_visit_run(struct coll_visit *visit)
{
    int error = OK;
    vcoll_visit_start(visit);
    while (!error && !visit_advance(visit))
        error = vmsg_share_wait(visit->hall->share, vcoll_visit_ready, visit);
    if (unlikely(visit->memory))
        vcoll_visit_end(visit);
    return error ? error : visit->error;
}

/* All have arrived in the epoch before, so they have taken in the one that was told of here last. */
static void nothing_lay(struct coll_visit *visit)
{
    uint64_t epoch = visit->track->epoch + 1;
    /* relaxed: arriving releases both */
    atomic_store_explicit(&visit->track->arrived->without[epoch & 1], epoch, memory_order_relaxed);
    atomic_store_explicit(&visit->track->arrived->withdrawn, true, memory_order_relaxed);
}

void vcoll_visit_withdraw(struct coll_visit *visit)
{
    vcoll_visit_end(visit);
    visit->error = OK;
    visit->kernel = NULL;
    visit->lay = nothing_lay;
    visit->take = NULL;
    visit->takes = 0;
}

/* ---- what lies in blocks ---- */

static void value_lay(struct coll_visit *visit)
{
    struct hall_track *track = visit->track;
    size_t bytes = visit->size * visit->count;
    bytes_copy(hall_data(track, hall_place(visit->hall->rank, track->epoch + 1), bytes), visit->own, bytes);
}

static void result_take(struct coll_visit *visit)
{
    size_t bytes = visit->size * visit->count;
    if (visit->hall->crowd)
        bytes_copy(visit->out, hall_data(visit->track, HALL_RESULT, bytes), bytes);
    else
        blocks_combine(visit, visit->kernel, visit->out);
}

/* The sum of the COUNT ranks that end with RANK, or of as many as there are; without the last FIRST - 1 of them. In the
 * order of messages (`doubling` in reduce.c), so that it has the same bits whichever way a call goes. */
static void prefix_combine(const struct coll_visit *visit, int rank, int first, int count, void *out)
{
    const struct hall_track *track = visit->track;
    size_t bytes = visit->size * visit->count;
    char below[HALL_WIDE];
    bytes_copy(out, hall_data(track, hall_place(rank + 1 - first, track->epoch), bytes), bytes);
    for (int distance = first; distance < count && distance <= rank; distance *= 2) {
        prefix_combine(visit, rank - distance, 1, distance, below);
        visit->call->reduction.kernel(below, out, visit->count);
    }
}

static void prefix_take(struct coll_visit *visit)
{
    int first = visit->call->kind == COLL_SCAN ? 1 : 2;
    prefix_combine(visit, visit->hall->rank, first, visit->hall->ranks, visit->out);
}

void vcoll_visit_reduces(struct coll_visit *visit, bool waits)
{
    visit->rounds = 1;
    visit->takes = waits;
    visit->lay = visit->kernel ? value_lay : NULL;
    visit->take = visit->kernel ? result_take : NULL;
}

/* No kernel: each rank has another result, so nobody makes it for others. */
void vcoll_visit_scans(struct coll_visit *visit)
{
    visit->kernel = NULL;
    visit->operands = coll_operands(visit);
    visit->rounds = 1;
    visit->takes = visit->operands > 0;
    visit->lay = value_lay;
    visit->take = prefix_take;
}

void vcoll_hall_drop(struct coll_hall *hall)
{
    /* acq_rel: the last one frees what the others have used */
    if (atomic_fetch_sub_explicit(&hall->users, 1, memory_order_acq_rel) > 1)
        return;
    vmsg_share_forget(hall->wide.share); /* those that were not closed: others may still be there */
    vmsg_share_forget(hall->bodies.share);
    vmsg_share_forget(hall->desks.share);
    vmsg_share_forget(hall->share);
    free(hall);
}

void vcoll_hall_leave(struct coll_visit *visit)
{
    vcoll_visit_end(visit);
    if (visit->call->form == COLL_AGAIN)
        atomic_fetch_or_explicit(&visit->hall->given, 1u << (visit->track - visit->hall->track), memory_order_relaxed);
    vcoll_hall_drop(visit->hall);
}
