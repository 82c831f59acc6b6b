/* The class of a cache line between two processors: what it costs to read what the other one has just written. Called
 * by the poll.
 *
 * The receiver asks for a probe, in the word that the sender reads with each message. The sender lays a row of 2 KiB
 * behind its message, stored ordinarily, and the receiver times its own copy of it. A lane is so short that the lines
 * come straight from the caches of the processor that wrote them. Payload would not do: a program may send none that is
 * short enough, some is fetched ahead, and in class far it goes past the caches. A round trip would include polling and
 * the peer's computing. Probes are asked for when a page of the lane has been used, until the class is known; and when
 * the last one is old, because the scheduler, or that below a virtual machine, moves processes.
 *
 * A look is some probes in a row, of which the second least counts: an interrupt makes some dearer, the first one finds
 * the receiver's own code and stack out of its caches, and of some the processor may have fetched a part ahead. A look
 * must be clearly beyond the border to change the class; a change that follows soon after another must wait longer, so
 * that a line between two classes does not alternate. */
#include "vi/shm/shm.h"

_Atomic int shm_line_fixed = -1;

static enum base_class class_of(uint64_t ps)
{
    return ps < TUNED(LINE_NEAR) ? CLASS_NEAR : ps < TUNED(LINE_SLOW) ? CLASS_SLOW : CLASS_FAR;
}

/* Clearly beyond the border of the present class. */
static bool border_beyond(const struct shm_line *line, uint64_t ps)
{
    enum base_class least = class_of(ps * (100 + TUNED(LINE_BEYOND)) / 100);
    enum base_class most = class_of(ps * 100 / (100 + TUNED(LINE_BEYOND)));
    return least < line->class || most > line->class;
}

static void class_set(struct shm_line *line, uint64_t ps, uint64_t now)
{
    bool soon = line->known && now - line->changed_at < TUNED(LINE_SOON) * line->dwell;
    uint64_t first = vbase_clock_ticks_of_ns(TUNED_NS(LINE_DWELL)),
             most = vbase_clock_ticks_of_ns(TUNED_NS(LINE_DWELL_MOST));
    line->dwell = !soon ? first : 2 * line->dwell < most ? 2 * line->dwell : most;
    line->changed_at = now;
    line->class = class_of(ps);
    line->known = true;
}

/* A probe was copied in so many NS. */
void shm_line_sampled(struct shm_line *line, uint64_t ns, uint64_t now)
{
    uint64_t ps = ns * 1000 * CACHE_LINE / SHM_SAMPLE; /* a line */
    line->probed_at = now;
    line->asked = false;
    if (ps > TUNED(LINE_SANE)) /* an interrupt: not at once again, as all would be so where time passes otherwise */
        return;
    if (line->row == 0 || ps < line->least) {
        line->second = line->row == 0 ? ps : line->least;
        line->least = ps;
    } else if (line->row == 1 || ps < line->second) {
        line->second = ps;
    }
    if (++line->row == TUNED(LINE_SAMPLES)) {
        if (!line->known || (border_beyond(line, line->second) && now - line->changed_at >= line->dwell))
            class_set(line, line->second, now);
        line->row = 0;
    }
    line->asked = line->row != 0;
}

void shm_line_time(struct shm_line *line, const void *probe)
{
    char copy[SHM_SAMPLE];
    const volatile char *first = probe, *last = first + SHM_SAMPLE - 1;
    (void)(*first + *last); /* a page that is new to this process is not part of it */
    uint64_t start = clock_ticks_ordered();
    memcpy(copy, probe, SHM_SAMPLE);
    __asm__ volatile("" : : "r"(copy) : "memory"); /* it is not seen to be unused */
    uint64_t now = clock_ticks_ordered(), clock = clock_ticks_ordered() - now; /* what reading it takes */
    shm_line_sampled(line, vbase_clock_ns_of_ticks(now - start > clock ? now - start - clock : 0), now);
}
