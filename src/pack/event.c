/* A descriptor for event loops. A thread of its own waits for messages like any other thread, and so handles remote
 * calls, too. When a message is there for the program, or something that was begun is over, it makes the descriptor
 * readable and rests until vd_arm. The program takes the messages as usual. The program's thread opens and closes the
 * descriptor.
 *
 * Replies, and parts of messages, are counted when their requests complete. A frame without a posted receive cannot be
 * counted; while an ended message waits for one the descriptor is readable once in a millisecond. */
#include "pack/pack.h"
#include <pthread.h>
#include <sys/eventfd.h>

static struct {
    pthread_t thread;
    int fd; /* 0: there is none */
    _Atomic bool closing;
    _Atomic uint32_t fired; /* 1: until vd_arm the thread rests */
    _Atomic uint32_t over;  /* so many replies and parts */
} event;

void (*_Atomic vpack_event_over)(struct msg_request *request);
_Atomic uint32_t vpack_event_frames;

static void request_over(struct msg_request *unused)
{
    (void)unused;
    /* release: pairs with event_is_due: a thread that this wakes finds that it is over */
    atomic_fetch_add_explicit(&event.over, 1, memory_order_release);
    vmsg_wake();
}

struct event_wait {
    uint32_t seen, deaths; /* the counts that the program knows of */
    bool briefly;
};

static bool event_is_due(void *context)
{
    const struct event_wait *wait = context;
    return atomic_load_explicit(&event.closing, memory_order_relaxed) ||
           atomic_load_explicit(&event.over, memory_order_acquire) != wait->seen || /* pairs with request_over */
           (!wait->briefly && atomic_load_explicit(&vpack_event_frames, memory_order_relaxed)) ||
           vmsg_deaths() != wait->deaths || vpack_any_message();
}

static int event_wait(struct event_wait *wait)
{
    wait->briefly = atomic_load_explicit(&vpack_event_frames, memory_order_relaxed) > 0;
    uint64_t limit = clock_ticks() + vbase_clock_ticks_of_ns(1000000);
    int error = wait->briefly ? vmsg_wait_until_ticks(event_is_due, wait, limit) : vmsg_wait_until(event_is_due, wait);
    wait->seen = atomic_load_explicit(&event.over, memory_order_acquire); /* pairs with request_over */
    wait->deaths = vmsg_deaths();
    return error == ERR_TIMEOUT ? OK : error;
}

static void *event_thread(void *unused)
{
    struct event_wait wait = {.seen = atomic_load_explicit(&event.over, memory_order_relaxed)};
    while (!atomic_load_explicit(&event.closing, memory_order_relaxed)) {
        bool lost = event_wait(&wait) != OK;
        /* release: pairs with vd_arm; first the mark, then the descriptor, which vd_arm empties before it takes back
         * the mark */
        atomic_store_explicit(&event.fired, 1, memory_order_release);
        (void)!write(event.fd, &(uint64_t){1}, sizeof(uint64_t));
        while (atomic_load_explicit(&event.fired, memory_order_acquire) || lost) {
            if (atomic_load_explicit(&event.closing, memory_order_relaxed))
                return unused;
            COUNT_TOGETHER(helpers, 1);
            vbase_futex_wait(&event.fired, 1, lost ? 10000000 : 0);
            COUNT_TOGETHER(helpers, -1);
        }
    }
    return unused;
}

VEXPORT int vd_get_fd(void)
{
    int error = vd_threads();
    if (error)
        return error;
    if (event.fd)
        return event.fd;
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (fd < 0)
        return vbase_fail_errno(ERR_LIMIT, "a descriptor for events (ulimit -n)");
    event.fd = fd;
    atomic_store_explicit(&event.closing, false, memory_order_relaxed); /* there is no thread yet */
    atomic_store_explicit(&event.fired, 0, memory_order_relaxed);
    if (pthread_create(&event.thread, NULL, event_thread, NULL)) {
        event.fd = 0;
        close(fd);
        return vbase_fail(ERR_LIMIT, "a thread for events cannot be made (ulimit -u)");
    }
    atomic_store_explicit(&vpack_event_over, request_over,
                          memory_order_relaxed); /* what is over already is checked anyhow */
    return fd;
}

VEXPORT int vd_arm(void)
{
    uint64_t count;
    if (!event.fd)
        return vbase_fail(ERR_STATE, "vd_arm: vd_get_fd must come before");
    (void)!read(event.fd, &count, sizeof count);
    atomic_store_explicit(&event.fired, 0, memory_order_release); /* pairs with event_thread */
    vbase_futex_wake(&event.fired, 1);
    return OK;
}

void vpack_event_close(void)
{
    if (!event.fd)
        return;
    atomic_store_explicit(&event.closing, true, memory_order_relaxed);
    (void)vd_arm();
    vmsg_wake();
    pthread_join(event.thread, NULL);
    close(event.fd);
    event.fd = 0;
    atomic_store_explicit(&vpack_event_over, NULL, memory_order_relaxed);
}
