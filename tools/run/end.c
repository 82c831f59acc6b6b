/* The end of the job: the status that it will have, and signals to the ranks of this host (tree.c) and to the hosts
 * that we called. TERM comes first, KILL when the grace is over; a helper asks the head, which decides for all. */
#include "run/job.h"

#define ASKED_GRACE_NS (5 * SECOND_NS) /* after INT, TERM: ranks may tidy up */
#define TIMEOUT_GRACE_NS SECOND_NS
#define GONE_NS        (3 * SECOND_NS) /* after KILL: the agent is ended */

void end_status(struct run_job *job, int exit_status)
{
    if (!job->failed)
        job->exit_status = exit_status;
    job->failed = true;
}

static void hosts_signal(struct run_job *job, int number)
{
    for (int i = 0; i < job->options.hosts; i++) {
        struct run_host *host = &job->options.host[i];
        if (!host_is_away(host))
            continue;
        frame_send_number(job, &host->wire, FRAME_SIGNAL, number);
        if (host->state != HOST_UP)
            host->look_ns = vbase_clock_ns(); /* no helper hears it there yet: if it was the end, the agent is ended */
        else if (number == SIGKILL)
            host->look_ns = vbase_clock_ns() + GONE_NS;
    }
}

void end_signal(struct run_job *job, int number, bool from_terminal)
{
    hosts_signal(job, number);
    tree_signal(job, number, from_terminal);
}

void end_begin(struct run_job *job, int exit_status, uint64_t grace_ns)
{
    end_status(job, exit_status);
    if (job->ending != ENDING_NO)
        return;
    job->ending = ENDING_TERM;
    job->kill_ns = vbase_clock_ns() + grace_ns;
    if (job->head.fd >= 0)
        frame_send_number(job, &job->sink[0], FRAME_END, exit_status);
    end_signal(job, SIGTERM, false);
}

void end_at_once(struct run_job *job)
{
    job->ending = ENDING_KILL;
    job->kill_ns = 0;
    end_signal(job, SIGKILL, false);
}

void end_asked(struct run_job *job, int number, bool from_terminal)
{
    if (job->asked_signal) {
        end_at_once(job);
        return;
    }
    job->asked_signal = number;
    end_signal(job, number, from_terminal);
    if (job->ending == ENDING_NO) {
        job->ending = ENDING_TERM;
        job->kill_ns = vbase_clock_ns() + ASKED_GRACE_NS;
    }
}

void end_timeout(struct run_job *job) { end_begin(job, STATUS_TIMEOUT, TIMEOUT_GRACE_NS); }

/* The head decides how long the ranks may take. */
void end_signal_from_head(struct run_job *job, int number)
{
    bool ends = number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT;
    if (number == SIGKILL) {
        end_at_once(job);
        return;
    }
    if (ends && job->ending == ENDING_NO) {
        job->ending = ENDING_TERM;
        job->asked_signal = number;
    }
    end_signal(job, number, false);
}
