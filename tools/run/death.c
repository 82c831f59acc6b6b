/* Deaths that do not end the job (--enable-recovery): launchers tell each other, and their ranks, of all dead ranks. */
#include "run/job.h"

#define STATUS_LOST 255

/* Sends all deaths that we know of, and the status that the job will have. */
void death_send_all(struct run_job *job, struct run_sink *wire)
{
    struct run_bytes body = {0};
    bytes_add(&body, &job->exit_status, sizeof job->exit_status);
    for (int i = 0; i < job->size; i++)
        if (job->rank[i].death_known)
            bytes_add(&body, &i, sizeof i);
    frame_send(job, wire, FRAME_DEATH, body.data, body.length);
    free(body.data);
}

void death_spread(struct run_job *job, const int *said, size_t count)
{
    int known = job->deaths;
    for (size_t i = 1; i < count; i++) {
        int rank = said[i];
        if (rank < 0 || rank >= job->size || job->rank[rank].death_known)
            continue;
        job->rank[rank].death_known = true;
        job->deaths++;
        vboot_handover_dead(&job->handover, rank);
    }
    if (job->deaths == known)
        return; /* nothing new */
    if (job->ending == ENDING_NO)
        end_status(job, said[0]);
    for (int i = 0; i < job->options.hosts; i++)
        if (host_is_away(&job->options.host[i]))
            death_send_all(job, &job->options.host[i].wire);
    if (job->head.fd >= 0)
        death_send_all(job, &job->sink[0]);
    fence_check(job);
}

/* The ranks of HOST, and of the hosts below it, whose launchers end with it. */
void death_spread_host(struct run_job *job, const struct run_host *host)
{
    int *dead = run_zeros((size_t)job->size + 1, sizeof *dead);
    size_t count = 0;
    dead[count++] = STATUS_LOST;
    for (int i = 0; i < job->size; i++)
        if (job->options.host[job->rank[i].host].via == host->number)
            dead[count++] = i;
    death_spread(job, dead, count);
    free(dead);
}
