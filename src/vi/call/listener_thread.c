/* Runs the listener of a node when the launcher does not: a thread of the node's lowest rank. It sleeps until a
 * connection request comes, so that connections to other ranks are accepted while the lowest rank computes. It touches
 * the listener and nothing else of the process, takes no signals, and has ended when vi_listener_close returns. */
#include "vi/listener.h"
#include "vi/call/listener.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#define STACK (256u << 10)

struct vi_listener {
    struct call_listener *inner;
    pthread_t thread;
    int stop; /* readable: the thread ends */
};

static void *thread_run(void *argument)
{
    struct vi_listener *listener = argument;
    struct pollfd either[2] = {{.fd = call_listener_descriptor(listener->inner), .events = POLLIN},
                               {.fd = listener->stop, .events = POLLIN}};
    while (!either[1].revents)
        if (poll(either, 2, -1) > 0 && either[0].revents)
            call_listener_step(listener->inner, vbase_clock_ns());
    return NULL;
}

static int thread_start(struct vi_listener *listener)
{
    pthread_attr_t how;
    sigset_t all, old;
    sigfillset(&all);
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&listener->thread, &how, thread_run, listener);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&how);
    return failed ? vbase_fail(ERR_LIMIT, "no thread for the listener of this node") : OK;
}

int vi_listener_open(const struct vi_setup *setup, int *seat, struct vi_listener **out)
{
    struct vi_listener *listener = malloc(sizeof(*listener));
    if (!listener)
        return vbase_fail(ERR_MEMORY, "a listener");
    int error = call_listener_open(setup, &listener->inner);
    if (error)
        goto free_listener;
    listener->stop = eventfd(0, EFD_CLOEXEC);
    error = listener->stop < 0 ? vbase_fail_errno(ERR_LIMIT, "a descriptor for the thread of the listener")
                               : thread_start(listener);
    if (error)
        goto close_inner;
    for (uint32_t i = 0; i < setup->local_count; i++)
        seat[i] = call_listener_seat(listener->inner, (int)i);
    *out = listener;
    return OK;

close_inner:
    base_close(listener->stop);
    call_listener_close(listener->inner);
free_listener:
    free(listener);
    return error;
}

void vi_listener_close(struct vi_listener *listener)
{
    eventfd_write(listener->stop, 1);
    pthread_join(listener->thread, NULL);
    close(listener->stop);
    call_listener_close(listener->inner);
    free(listener);
}
