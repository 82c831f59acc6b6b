/* --get-stack-traces: native stacks of the ranks of this host, by gdb. */
#pragma once

#include "run/bytes.h"
#include "run/loop.h"

struct run_stacks {
    pid_t pid; /* of gdb; 0: no round is under way */
    struct run_watch watch;
    struct run_bytes bytes;
    uint64_t until_ns; /* then gdb is ended */
    bool then_end;     /* the time allowed is over: the job ends after the stacks */
    bool any;          /* gdb has shown a frame */
};

struct state_job;
/* False: there are none to come, and it has been said why. THEN_END: end_timeout follows the last line. */
bool stacks_begin(struct run_job *job, const struct state_job *all, bool then_end) MUST_CHECK;
void stacks_tick(struct run_job *job, uint64_t now_ns);
void stacks_close(struct run_job *job);
