/* Another host, as its caller sees it: an agent (ssh) whose pipes lead to a helper. See docs/wire.md. */
#pragma once

#include "run/frame.h"
#include "run/output.h"
#include <sys/types.h>

enum run_host_state { HOST_NOT_CALLED, HOST_CALLED, HOST_RESTING, HOST_UP, HOST_DONE }; /* RESTING: is called again */

struct run_host {
    const char *name;
    bool here;
    int number, ranks, most; /* ranks that it may have; 0: any number */
    int via;              /* the host that we call to reach it; itself: called by us */
    int *charge, charges; /* the hosts that it is to call, and those below them */
    enum run_host_state state;
    pid_t agent;
    struct run_watch in, complaints; /* the agent's stdout and stderr */
    struct run_sink wire;            /* its stdin */
    struct run_stream out[2];        /* lines of its ranks: stdout, stderr */
    struct run_bytes got;            /* the frame that is not whole yet */
    char said[256];                  /* the last line of the agent's own */
    uint64_t called_ns, look_ns, again_ns;
    bool in_fence, came; /* it is in one now; it was in one */
};

static inline bool host_is_away(const struct run_host *host)
{
    return host->state == HOST_CALLED || host->state == HOST_UP || host->state == HOST_RESTING;
}

#define AGENT_VARIABLE "VIADUCT_JOB_AGENT" /* is set for agents */

/* agent.c: fills agent, wire, in.fd, complaints.fd. */
int agent_start(struct run_job *job, struct run_host *host) MUST_CHECK;

/* remote.c: the hosts that we call. */
void remote_start(struct run_job *job);
void remote_tick(struct run_job *job, uint64_t now_ns);
/* How long a host may be silent, before its first frame and after; each side reports that it is alive so many times in
 * it. */
uint64_t remote_patience(const struct run_job *job);
#define ALIVE_PART 4
void remote_forget(struct run_job *job); /* hangs up on all */

/* head.c: the launcher that called us, if one did. */
int head_listen(struct run_job *job) MUST_CHECK;
void head_tick(struct run_job *job, uint64_t now_ns);

/* input.c: our standard input for a rank elsewhere, a piece at a time, the next when it was taken. */
void input_start(struct run_job *job);
bool input_send(struct run_job *job, const char *data, size_t length); /* false: its reader is not elsewhere */
void input_more(struct run_job *job);                                  /* the last piece was taken */

/* fence.c */
void fence_check(struct run_job *job); /* have all arrived? */
void fence_ended(struct run_job *job); /* one more rank has ended well */
void fence_release(struct run_job *job, const char *puts, size_t length);

/* death.c, --enable-recovery: ranks that died, for all launchers. A list begins with the status that the job will
 * have. */
void death_spread(struct run_job *job, const int *list, size_t count); /* new ones go on to all around us */
void death_spread_host(struct run_job *job, const struct run_host *host); /* it is lost, with those below it */
void death_send_all(struct run_job *job, struct run_sink *wire);          /* all that we know of */
