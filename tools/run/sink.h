/* Bytes on their way to a descriptor whose reader may be slow: our stdout or stderr, a rank's stdin, another
 * launcher. */
#pragma once

#include "run/bytes.h"
#include "run/loop.h"

#define SINK_HIGH (1u << 18) /* bytes waiting: from here on nothing more is read for the sink */
#define SINK_LOW  (1u << 16) /* below this reading starts again */

struct run_sink {
    struct run_watch watch;
    bool never_blocks, watched, broken;
    int lost;                           /* errno of what made it broken; 0: nothing */
    struct run_bytes bytes;             /* not written yet */
    void (*wanted)(struct run_job *job); /* all is written, the owner may have more; NULL: it does not care */
    struct run_stream *open_line;       /* output.c: its line is not ended, so it has the floor */
    uint64_t open_ns;                   /* since when */
};

void sink_open(struct run_sink *sink, int fd); /* one that we inherited */
void sink_wire(struct run_sink *sink, int fd); /* a pipe or socket to another process of ours */
void sink_add(struct run_sink *sink, const void *data, size_t length);
bool sink_flush(struct run_job *job, struct run_sink *sink); /* writes what goes now; true: all */
void sink_pump(struct run_job *job, struct run_sink *sink);  /* the same, and the rest when there is room */
void sink_push(struct run_job *job, struct run_sink *sink, const void *data, size_t length); /* adds and pumps */
