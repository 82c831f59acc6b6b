/* The trace: a timed call tree of the engine, for people who look into it.
 *
 *     microseconds of this process, thread, > enter or < leave, words, time spent
 *          12.345 0 > send
 *          12.801 0   > lane
 *          13.002 0   < lane 0.201 us
 *
 * Each thread writes into a piece of the file that is mapped into memory: no system call an event, and what was written
 * is in the file even if the process dies in the next instruction. Pieces are appended under a lock of the file, so
 * that several processes may share one; they begin as empty lines, so that an unfinished piece is still text. A child
 * after fork does not trace: the pieces are its parent's. */
#include "base/trace.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE (64 * 1024) /* a multiple of every page size there is */
#define LINE_MAX_SIZE 256

struct trace_piece {
    char *at; /* the mapping, NULL: none yet */
    off_t place;
    size_t used;
    unsigned thread, depth;
};

bool vbase_trace_on;

static struct base_lock trace_lock; /* protects what follows, and the file against our own threads */
static int trace_fd = -1;
static uint64_t trace_zero;
static unsigned trace_threads;
static pthread_key_t trace_key;
static _Thread_local struct trace_piece piece;

static void stop_in_child(void)
{
    vbase_trace_on = false;
    piece.at = NULL; /* so that the end of this thread does not cut the parent's piece off */
}

/* The piece is full or its thread ends. If it is the last of the file the empty rest is cut off. */
static void leave_piece(void *unused)
{
    (void)unused;
    if (!piece.at)
        return;
    munmap(piece.at, PIECE);
    piece.at = NULL;
    base_lock(&trace_lock);
    if (flock(trace_fd, LOCK_EX) == 0) {
        if (lseek(trace_fd, 0, SEEK_END) == piece.place + PIECE &&
            ftruncate(trace_fd, (piece.place + (off_t)piece.used)) != 0)
            errno = 0; /* the file keeps its empty lines */
        flock(trace_fd, LOCK_UN);
    }
    base_unlock(&trace_lock);
}

/* The main thread's key destructor does not run at exit. */
__attribute__((destructor)) static void trace_stop(void)
{
    if (vbase_trace_on)
        leave_piece(NULL);
    vbase_trace_on = false;
}

static bool claim_piece(void)
{
    bool got = false;
    base_lock(&trace_lock);
    if (flock(trace_fd, LOCK_EX) == 0) {
        /* mappings begin on a page; a file that was cut is filled up with empty lines */
        off_t end = lseek(trace_fd, 0, SEEK_END), place = (end + PIECE - 1) / PIECE * PIECE;
        off_t first = end / PIECE * PIECE;
        if (end >= 0 && posix_fallocate(trace_fd, end, place + PIECE - end) == 0) {
            char *from = mmap(NULL, (size_t)(place + PIECE - first), PROT_READ | PROT_WRITE, MAP_SHARED, trace_fd, first);
            if (from != MAP_FAILED) {
                memset(from + (end - first), '\n', (size_t)(place + PIECE - end));
                if (place > first)
                    munmap(from, (size_t)(place - first));
                piece.at = from + (place - first);
                piece.place = place;
                piece.used = 0;
                got = true;
            }
        }
        flock(trace_fd, LOCK_UN);
    }
    if (got && piece.thread == 0)
        piece.thread = ++trace_threads;
    base_unlock(&trace_lock);
    if (got)
        pthread_setspecific(trace_key, &piece);
    return got;
}

static void write_line(const char *what, uint64_t now, bool enter, uint64_t spent)
{
    if (piece.at && piece.used + LINE_MAX_SIZE > PIECE)
        leave_piece(NULL);
    if (!piece.at && !claim_piece()) {
        vbase_trace_on = false;
        LOG_WARN("the trace stops: its file cannot grow");
        return;
    }
    char *line = piece.at + piece.used;
    double at = (double)vbase_clock_ns_of_ticks(now - trace_zero) * 1e-3;
    int indent = (int)(piece.depth < 40 ? piece.depth : 40) * 2, n;
    if (enter)
        n = snprintf(line, LINE_MAX_SIZE, "%12.3f %u %*s> %.100s\n", at, piece.thread - 1, indent, "", what);
    else
        n = snprintf(line, LINE_MAX_SIZE, "%12.3f %u %*s< %.100s %.3f us\n", at, piece.thread - 1, indent, "", what,
                     (double)vbase_clock_ns_of_ticks(spent) * 1e-3);
    line[n] = '\n'; /* over the NUL: the piece stays text */
    piece.used += (size_t)n;
}

struct base_trace vbase_trace_enter(const char *what)
{
    struct base_trace frame = {what, clock_ticks()};
    int saved = errno;
    write_line(what, frame.start, true, 0);
    piece.depth++;
    errno = saved;
    return frame;
}

void vbase_trace_leave(const struct base_trace *frame)
{
    uint64_t now = clock_ticks();
    int saved = errno;
    piece.depth--;
    if (vbase_trace_on)
        write_line(frame->what, now, false, now - frame->start);
    errno = saved;
}

void vbase_trace_start(int rank)
{
    char path[1024];
    if (!vbase_settings.trace || vbase_trace_on || !vbase_log_path(path, sizeof(path), vbase_settings.trace, rank))
        return;
    base_lock(&trace_lock);
    if (trace_fd < 0) {
        trace_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (trace_fd < 0) {
            LOG_WARN("no trace: %s cannot be opened: %s", path, strerror(errno));
        } else if (pthread_key_create(&trace_key, leave_piece) == 0) {
            pthread_atfork(NULL, NULL, stop_in_child);
            trace_zero = clock_ticks();
            vbase_trace_on = true;
        }
    }
    base_unlock(&trace_lock);
}
