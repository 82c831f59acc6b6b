/* The class of a cache line between two processors: what it costs to read what the other one has just written. Called
 * by the poll.
 *
 * The receiver times its own copy of the last 2 KiB of payload that was stored ordinarily and has just come: of the
 * first ones the processor may have fetched some ahead. Of a short message it fetches all at times, so that one tells
 * only that the line is far. A round trip would include polling and the peer's computing, and a stream has none. Every
 * such payload is timed until the class is known, later only a few; never what this side asked for ahead. Of some
 * samples the second least counts: an interrupt makes some dearer. A change needs several samples in a
 * row beyond the border; one that follows soon after another must wait longer, so that a line between two classes
 * does not alternate. The sender reads the class with the word that says whether the lane is polled. The class may
 * change at any time, since the scheduler, or that below a virtual machine, moves processes. In class far nearly all
 * payload goes past the caches and cannot be timed; now and then one is stored ordinarily. */
#include "vi/shm/shm.h"

_Atomic int shm_line_fixed = -1;

/* Picoseconds a line, as for 2 KiB. With half as many lines each one costs more, because nothing hides the wait for the
 * first ones. */
static uint64_t line_cost(uint64_t ns, uint32_t bytes)
{
    uint64_t cost = ns * 1000 * CACHE_LINE / bytes;
    return bytes < SHM_SAMPLE ? cost * TUNED(LINE_SHORT) / 100 : cost;
}

static enum base_class class_of(uint64_t ps)
{
    return ps < TUNED(LINE_NEAR) ? CLASS_NEAR : ps < TUNED(LINE_SLOW) ? CLASS_SLOW : CLASS_FAR;
}

/* Beyond the border of the present class by a quarter. */
static bool beyond(const struct shm_line *line, uint64_t ps)
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
    line->row = 0;
}

void shm_line_sampled(struct shm_line *line, uint64_t ns, uint32_t bytes, uint64_t now)
{
    uint64_t ps = line_cost(ns, bytes);
    if (ps > TUNED(LINE_SANE)) /* an interrupt */
        return;
    bool tells = bytes >= SHM_SAMPLE || class_of(ps) == CLASS_FAR;
    if (!tells || (line->known && (!beyond(line, ps) || now - line->changed_at < line->dwell))) {
        line->row = 0;
        return;
    }
    if (line->row == 0 || ps < line->least) {
        line->second = line->row == 0 ? ps : line->least;
        line->least = ps;
    } else if (line->row == 1 || ps < line->second) {
        line->second = ps;
    }
    if (++line->row >= (line->known ? TUNED(LINE_AGAINST) : TUNED(LINE_SAMPLES)))
        class_set(line, line->second, now);
}

bool shm_line_time(struct shm_line *line, const void *data, uint32_t length)
{
    char copy[SHM_SAMPLE];
    uint32_t bytes = length < SHM_SAMPLE ? SHM_SAMPLE / 2 : SHM_SAMPLE;
    enum base_class before = line->class;
    bool known = line->known;
    const volatile char *first = (const char *)data + length - bytes, *last = first + bytes - 1;
    (void)(*first + *last); /* a page that is new to this process is not part of it */
    uint64_t start = clock_ticks_ordered();
    memcpy(copy, (const char *)first, bytes);
    __asm__ volatile("" : : "r"(copy) : "memory"); /* it is not seen to be unused */
    uint64_t now = clock_ticks_ordered();
    shm_line_sampled(line, vbase_clock_ns_of_ticks(now - start), bytes, now);
    bool sure = line->known || bytes < SHM_SAMPLE;
    line->left = sure && line->row == 0 ? (uint32_t)TUNED(LINE_PERIOD) : 1;
    return line->class != before || line->known != known;
}
