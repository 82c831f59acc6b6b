/* Our standard input, for a rank on another host: a piece at a time, the next when it was taken. */
#include "run/job.h"

/* The host by which we reach the rank that reads; NULL: it is here, or there is none. */
static struct run_host *input_reader(struct run_job *job)
{
    int rank = job->options.stdin_rank;
    if (rank < 0 || rank >= job->size || job->rank[rank].host == job->here)
        return NULL;
    return &job->options.host[job->options.host[job->rank[rank].host].via];
}

bool input_send(struct run_job *job, const char *data, size_t length)
{
    struct run_host *host = input_reader(job);
    if (!host || !host_is_away(host))
        return false;
    frame_send(job, &host->wire, FRAME_STDIN, data, length);
    return true;
}

static void input_ready(struct run_job *job, struct run_watch *watch)
{
    struct run_bytes part = {0};
    loop_remove(&job->loop, watch);
    bool more = bytes_read(&part, watch->fd);
    if (!more)
        watch->fd = -1;
    if (part.length == 0 && more)
        input_more(job);
    else
        (void)input_send(job, part.data, part.length); /* empty: the end */
    free(part.data);
}

void input_more(struct run_job *job)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &job->input};
    if (job->head.fd >= 0)
        frame_send(job, &job->sink[0], FRAME_MORE, NULL, 0);
    else if (job->input.fd >= 0 && epoll_ctl(job->loop.epoll, EPOLL_CTL_ADD, job->input.fd, &event) < 0 &&
             errno == EPERM)
        input_ready(job, &job->input); /* a file is always ready */
}

void input_start(struct run_job *job)
{
    job->input = (struct run_watch){input_ready, job->head.fd < 0 && input_reader(job) ? 0 : -1};
    if (job->input.fd >= 0)
        input_more(job);
}
