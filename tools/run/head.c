/* A helper listens to the launcher that called it. When that one is gone, or silent for too long, all ends here. */
#include "run/job.h"

static void head_obey(struct run_job *job, const struct run_frame_header *header, const char *body)
{
    job->head_silent = 0;
    job->head_rests = header->kind == FRAME_SIGNAL && frame_number(header, body) == SIGTSTP; /* by the terminal */
    if (header->kind == FRAME_SIGNAL)
        end_signal_from_head(job, frame_number(header, body));
    else if (header->kind == FRAME_FENCE)
        fence_release(job, body, header->length);
    else if (header->kind == FRAME_STATE)
        gather_begin(job, GATHER_HEAD);
    else if (header->kind == FRAME_DEATH)
        death_spread(job, (const int *)(const void *)body, header->length / sizeof(int));
    else if (header->kind != FRAME_STDIN || input_send(job, body, header->length))
        return;
    else if (header->length > 0)
        sink_push(job, &job->rank_input, body, header->length);
    else if (job->rank_input.watch.fd >= 0) {
        job->rank_input.broken = true;
        loop_close(&job->loop, &job->rank_input.watch);
    }
}

/* False: what came is no frame. */
static bool head_obey_all(struct run_job *job)
{
    struct run_frame_header header;
    bool broken = false;
    for (const char *body; (body = frame_next(&job->heard, &header, &broken));) {
        head_obey(job, &header, body);
        bytes_drop(&job->heard, sizeof header + header.length);
    }
    return !broken;
}

static void head_lost(struct run_job *job)
{
    loop_remove(&job->loop, &job->head);
    job->sink[0].broken = true; /* its reader is gone */
    end_signal_from_head(job, SIGKILL);
    remote_forget(job); /* their helpers see the end of the stream, as we did */
}

static void head_ready(struct run_job *job, struct run_watch *watch)
{
    bool more = bytes_read(&job->heard, watch->fd);
    if (!head_obey_all(job) || !more)
        head_lost(job);
}

int head_listen(struct run_job *job)
{
    job->head.ready = head_ready;
    int error = loop_add(&job->loop, &job->head, EPOLLIN);
    if (error == OK && !head_obey_all(job)) /* what came together with the job */
        error = vbase_fail(ERR_PROTOCOL,
                           "the frame that the first launcher sent is invalid: install the same Viaduct on all hosts");
    return error;
}

/* We report that we are alive to the hosts that we called and to our head: each side ends when it hears nothing more.
 * The head's silence is counted in turns of our own, so that time in which this process was stopped does not count. */
void head_tick(struct run_job *job, uint64_t now_ns)
{
    if ((job->head.fd < 0 && job->away == 0) || !loop_due(&job->loop, job->alive_ns, now_ns))
        return;
    job->alive_ns = now_ns + remote_patience(job) / ALIVE_PART;
    for (int i = 0; i < job->options.hosts; i++)
        if (job->options.host[i].state == HOST_UP)
            frame_send(job, &job->options.host[i].wire, FRAME_ALIVE, NULL, 0);
    if (job->head.fd < 0)
        return;
    frame_send(job, &job->sink[0], FRAME_ALIVE, NULL, 0);
    if (!job->head_rests && job->head_silent++ == ALIVE_PART)
        head_lost(job);
}
