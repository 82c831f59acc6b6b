/* Log: one line a message, written with one write(2), to stderr or to the file named by VIADUCT_LOG_FILE.
 *
 * A line is "viaduct: [rank 3] warning: text". Nothing is printed at the default level (warn) when nothing is wrong.
 * Callable from any thread and from a child after fork; never from a signal handler. LOG_* evaluate their arguments
 * only when the level is on. The trace is a call tree with times, for work on the engine:
 * VIADUCT_TRACE=FILE turns it on, a function takes part with TRACE("words") at its head. */
#pragma once

#include "base/compiler.h"

enum base_log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

VEXPORT extern int vbase_log_level; /* set once at start from VIADUCT_LOG; read everywhere */

/* What came from outside must not make a second line or command a terminal: what is no letter becomes a blank. */
void vbase_plain(char *text, size_t length);

/* Within base. START: the settings are known; ERR_ARGUMENT for a level that does not exist. PATH: PATTERN with %r
 * replaced by the rank; false when it does not fit or the rank (-1) is not known but needed. */
int vbase_log_start(void) MUST_CHECK;
bool vbase_log_path(char *out, size_t size, const char *pattern, int rank);
void vbase_trace_start(int rank); /* the rank is known: turns the trace on if it is wanted and not on */

VEXPORT void vbase_log_rank(int rank); /* from now on lines carry this rank; -1: none */
VEXPORT void vbase_log_write(enum base_log_level level, const char *format, ...) PRINTF_LIKE(2, 3) COLD;

/* A gate for messages that could be many: true the first time, then at most once in SECONDS. The line ends
 * with MORE: how many were held back since the last one, " (7 more like this)", or nothing. */
struct base_log_gate {
    _Atomic uint64_t next_ns;
    _Atomic uint32_t held;
};
#define LOG_MORE 40
VEXPORT bool vbase_log_gate_open(struct base_log_gate *gate, unsigned seconds, char more[LOG_MORE]);

#define LOG_AT(level, ...)                                                                                             \
    do {                                                                                                               \
        if (unlikely(vbase_log_level >= (int)(level)))                                                                 \
            vbase_log_write(level, __VA_ARGS__);                                                                       \
    } while (0)
#define LOG_ERROR(...) LOG_AT(LOG_LEVEL_ERROR, __VA_ARGS__)
#define LOG_WARN(...) LOG_AT(LOG_LEVEL_WARN, __VA_ARGS__)
#define LOG_INFO(...) LOG_AT(LOG_LEVEL_INFO, __VA_ARGS__)
#define LOG_DEBUG(...) LOG_AT(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Once in the life of the process. */
#define LOG_WARN_ONCE(...)                                                                                             \
    do {                                                                                                               \
        static _Atomic bool said_;                                                                                     \
        if (!__atomic_exchange_n((bool *)&said_, true, __ATOMIC_RELAXED))                                              \
            LOG_WARN(__VA_ARGS__);                                                                                     \
    } while (0)

struct base_trace {
    const char *what;
    uint64_t start;
};
VEXPORT extern bool vbase_trace_on;
VEXPORT struct base_trace vbase_trace_enter(const char *what);
VEXPORT void vbase_trace_leave(const struct base_trace *frame);

static inline void trace_end(const struct base_trace *frame)
{
    if (unlikely(frame->what))
        vbase_trace_leave(frame);
}

/* At the head of a function: "enter" now, "leave" with the time spent when the scope ends. */
#define TRACE(what)                                                                                                    \
    struct base_trace trace_frame_ __attribute__((cleanup(trace_end), unused)) =                                       \
        unlikely(vbase_trace_on) ? vbase_trace_enter(what) : (struct base_trace){0}
