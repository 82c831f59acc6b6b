/* The trace: a timed call tree of the engine, for work on it.
 *
 *     microseconds of this process, thread, > enter or < leave, words, time spent
 *          12.345 0 > send
 *          12.801 0   > lane
 *          13.002 0   < lane 0.201 us
 *
 * A line is one write to the end of the file: what was traced is there even if the process dies in the next
 * instruction, and several threads and processes may share the file. The time to write a line is not counted in the
 * call that it is about, but in those around it. A child after fork does not trace. */
#include "base/base.h"
#include <fcntl.h>
#include <pthread.h>

#define LINE_MAX_SIZE 256
#define DEPTH_MOST    40 /* that is shown */

bool vbase_trace_on;

static struct base_lock trace_lock; /* of what follows, until the trace is on */
static int trace_fd = -1;
static uint64_t trace_zero;
static _Atomic unsigned trace_threads;            /* relaxed: a count */
static _Thread_local unsigned own_number, depth;  /* of this thread, from 1; 0: it has none yet */

static void trace_stop(void) { vbase_trace_on = false; }

/* SPENT is NULL: on entering. */
static void line_write(const char *what, uint64_t now, const uint64_t *spent)
{
    char line[LINE_MAX_SIZE], time[40] = "";
    double at = (double)vbase_clock_ns_of_ticks(now - trace_zero) * 1e-3;
    if (!own_number)
        own_number = atomic_fetch_add_explicit(&trace_threads, 1, memory_order_relaxed) + 1;
    if (spent)
        snprintf(time, sizeof time, " %.3f us", (double)vbase_clock_ns_of_ticks(*spent) * 1e-3);
    int length = snprintf(line, sizeof line, "%12.3f %u %*s%c %.100s%s\n", at, own_number - 1,
                          (int)(depth < DEPTH_MOST ? depth : DEPTH_MOST) * 2, "", spent ? '<' : '>', what, time);
    if (write(trace_fd, line, (size_t)length) == length)
        return;
    vbase_trace_on = false;
    LOG_WARN("the trace stops: its file cannot grow");
}

struct base_trace vbase_trace_enter(const char *what)
{
    int saved = errno;
    line_write(what, clock_ticks(), NULL);
    depth++;
    errno = saved;
    return (struct base_trace){what, clock_ticks()};
}

void vbase_trace_leave(const struct base_trace *frame)
{
    uint64_t now = clock_ticks(), spent = now - frame->start;
    int saved = errno;
    depth--;
    if (vbase_trace_on)
        line_write(frame->what, now, &spent);
    errno = saved;
}

void vbase_trace_start(int rank)
{
    char path[1024];
    if (!vbase_settings.trace || vbase_trace_on || !vbase_log_path(path, sizeof(path), vbase_settings.trace, rank))
        return;
    base_lock(&trace_lock);
    if (trace_fd < 0) {
        trace_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (trace_fd < 0) {
            LOG_WARN("no trace: %s cannot be opened: %s", path, strerror(errno));
        } else {
            pthread_atfork(NULL, NULL, trace_stop);
            trace_zero = clock_ticks();
            vbase_trace_on = true;
        }
    }
    base_unlock(&trace_lock);
}
