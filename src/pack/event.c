/* A descriptor for event loops. A thread of its own waits for messages like any other, which handles remote calls on the way;
 * when one is there for the program it makes the descriptor readable and rests until vd_arm. The thread that takes the
 * messages does so in the usual ways. The program's thread opens and closes it. */
#include "pack/pack.h"
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct {
    pthread_t thread;
    int fd; /* 0: there is none */
    _Atomic bool closing;
    _Atomic uint32_t fired; /* 1: until vd_arm the thread rests */
} event;

static bool something(void *unused)
{
    (void)unused;
    return atomic_load_explicit(&event.closing, memory_order_relaxed) || vpack_any_message();
}

static void *listen(void *unused)
{
    while (!atomic_load_explicit(&event.closing, memory_order_relaxed)) {
        bool lost = vmsg_wait_until(something, NULL) != OK;
        /* release: pairs with vd_arm; first the mark, then the descriptor, which vd_arm empties before it takes back the mark */
        atomic_store_explicit(&event.fired, 1, memory_order_release);
        (void)!write(event.fd, &(uint64_t){1}, sizeof(uint64_t));
        while (atomic_load_explicit(&event.fired, memory_order_acquire) || lost) {
            if (atomic_load_explicit(&event.closing, memory_order_relaxed))
                return unused;
            vbase_futex_wait(&event.fired, 1, lost ? 10000000 : 0);
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
    if (pthread_create(&event.thread, NULL, listen, NULL)) {
        event.fd = 0;
        close(fd);
        return vbase_fail(ERR_LIMIT, "a thread for events cannot be made (ulimit -u)");
    }
    return fd;
}

VEXPORT int vd_arm(void)
{
    uint64_t count;
    if (!event.fd)
        return vbase_fail(ERR_STATE, "vd_arm: vd_get_fd must come before");
    (void)!read(event.fd, &count, sizeof count);
    atomic_store_explicit(&event.fired, 0, memory_order_release); /* pairs with listen */
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
}
