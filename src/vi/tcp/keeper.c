/* Runs the listener of a node when the launcher does not: a thread of the node's lowest rank. It sleeps until a
 * connection request comes, so that connections to other ranks are accepted while the lowest rank computes. It touches
 * the listener and nothing else of the process, takes no signals, and has ended when vi_door_close returns. */
#include "vi/listener.h"
#include "vi/tcp/door.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#define STACK (256u << 10)

struct vi_door {
    struct tcp_door *door;
    pthread_t keeper;
    int stop; /* readable: the thread ends */
};

static void *keep(void *argument)
{
    struct vi_door *door = argument;
    struct pollfd either[2] = {{.fd = tcp_door_descriptor(door->door), .events = POLLIN},
                               {.fd = door->stop, .events = POLLIN}};
    while (!either[1].revents)
        if (poll(either, 2, -1) > 0 && either[0].revents)
            tcp_door_step(door->door, vbase_clock_ns());
    return NULL;
}

static int start_keeper(struct vi_door *door)
{
    pthread_attr_t how;
    sigset_t all, old;
    sigfillset(&all);
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&door->keeper, &how, keep, door);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&how);
    return failed ? vbase_fail(ERR_LIMIT, "no thread for the door of this node") : OK;
}

int vi_door_open(const struct vi_setup *setup, int *seat, struct vi_door **out)
{
    struct vi_door *door = malloc(sizeof(*door));
    if (!door)
        return vbase_fail(ERR_MEMORY, "a door");
    int error = tcp_door_open(setup, &door->door);
    if (error)
        goto free_door;
    door->stop = eventfd(0, EFD_CLOEXEC);
    error =
        door->stop < 0 ? vbase_fail_errno(ERR_LIMIT, "a descriptor for the keeper of the door") : start_keeper(door);
    if (error)
        goto close_door;
    for (uint32_t i = 0; i < setup->local_count; i++)
        seat[i] = tcp_door_seat(door->door, (int)i);
    *out = door;
    return OK;

close_door:
    base_close(door->stop);
    tcp_door_close(door->door);
free_door:
    free(door);
    return error;
}

void vi_door_close(struct vi_door *door)
{
    eventfd_write(door->stop, 1);
    pthread_join(door->keeper, NULL);
    close(door->stop);
    tcp_door_close(door->door);
    free(door);
}
