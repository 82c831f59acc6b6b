/* The event loop of the launcher. */
#include "run/loop.h"

int loop_open(struct run_loop *loop)
{
    list_init(&loop->paused);
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    return loop->epoll < 0 ? vbase_fail_errno(ERR_LIMIT, "epoll_create1") : OK;
}

int loop_add(struct run_loop *loop, struct run_watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, watch->fd, &event) < 0)
        return vbase_fail_errno(ERR_LIMIT, "epoll");
    return OK;
}

void loop_remove(struct run_loop *loop, struct run_watch *watch)
{
    epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
}

void loop_close(struct run_loop *loop, struct run_watch *watch)
{
    loop_remove(loop, watch);
    list_leave(&watch->paused);
    close(watch->fd);
    watch->fd = -1;
}

void loop_pause(struct run_loop *loop, struct run_watch *watch)
{
    loop_remove(loop, watch);
    list_append(&loop->paused, &watch->paused);
}

void loop_resume(struct run_loop *loop)
{
    list_for_each(node, &loop->paused)
        if (loop_add(loop, container_of(node, struct run_watch, paused), EPOLLIN) == OK)
            list_remove(node);
}

bool loop_due(struct run_loop *loop, uint64_t at_ns, uint64_t now_ns)
{
    if (at_ns && at_ns < loop->wake_ns)
        loop->wake_ns = at_ns;
    return at_ns && now_ns >= at_ns;
}

static int time_to_sleep_ms(const struct run_loop *loop)
{
    uint64_t now = vbase_clock_ns(), left = loop->wake_ns > now ? (loop->wake_ns - now + 999999) / 1000000 : 0;
    return left > 3600000 ? 3600000 : (int)left;
}

void loop_step(struct run_loop *loop, struct run_job *job, bool wait)
{
    struct epoll_event event[64];
    int count = epoll_wait(loop->epoll, event, ARRAY_LENGTH(event), wait ? time_to_sleep_ms(loop) : 0);
    for (int i = 0; i < count; i++) {
        struct run_watch *watch = event[i].data.ptr;
        if (watch->fd >= 0) /* else an earlier event of this round closed it */
            watch->ready(job, watch);
    }
}
