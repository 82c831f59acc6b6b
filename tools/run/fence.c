/* Fences of all hosts: each launcher waits for its own ranks and for the hosts below it, then tells its head. */
#include "run/job.h"

/* All have arrived: PUTS, as key and value in turn, is what they have put. */
void fence_release(struct run_job *job, const char *puts, size_t length)
{
    job->fence_told = false;
    for (int i = 0; i < job->options.hosts; i++) {
        struct run_host *host = &job->options.host[i];
        if (host_is_away(host))
            frame_send(job, &host->wire, FRAME_FENCE, puts, length);
        host->in_fence = false;
        host->came = true;
    }
    pmi_release(job, puts, length);
}

void fence_ended(struct run_job *job)
{
    job->ended++;
    vboot_handover_ended(&job->handover);
}

/* Have all ranks here and below arrived? Then a helper tells its head, and the head releases all. A host that came to a
 * fence and is done has ended well, or the job ends. After a death the fence fails: each launcher tells its own ranks
 * at once. */
void fence_check(struct run_job *job)
{
    if (job->deaths) {
        pmi_release(job, "", 0);
        return;
    }
    bool waiting = job->in_barrier > 0, missing = job->in_barrier + job->ended < job->local;
    const char *ended = missing && job->started && job->running == 0 ? job->host : NULL;
    for (int i = 0; i < job->options.hosts; i++) {
        const struct run_host *host = &job->options.host[i];
        waiting |= host->in_fence;
        missing |= host_is_away(host) && !host->in_fence;
        if (host->state == HOST_DONE && !host->in_fence && !host->came)
            ended = host->name;
    }
    if (!waiting)
        return;
    if (ended && job->ending == ENDING_NO) {
        output_line(job, "all ranks on %s have ended while other ranks are still in MPI: the job is ended", ended);
        end_begin(job, 1, SECOND_NS);
    }
    if (missing || ended || job->fence_told)
        return;
    struct run_bytes all = job->puts;
    job->puts = (struct run_bytes){0};
    if (job->head.fd >= 0) {
        job->fence_told = true;
        frame_send(job, &job->sink[0], FRAME_FENCE, all.data, all.length);
    } else
        fence_release(job, all.data, all.length);
    free(all.data);
}
