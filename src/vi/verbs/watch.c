/* Watches memory by userfaultfd, see watch.h. Pages that were watched once stay watched for the kernel: that costs
 * nothing but the wait in munmap. */
#include "vi/verbs/watch.h"
#include "base/lasting.h"
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#define EVENTS (UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE)

struct base_lock verbs_watch_lock;
uint64_t verbs_watch_changes;

static struct {
    struct base_lock opening; /* guards the next four; never taken under verbs_watch_lock, nor by the reader */
    int users;
    bool tried;
    pthread_t reader;
    int stop;

    int memory;               /* userfaultfd; -1: there is none */
    struct list all;          /* under verbs_watch_lock */
} watch = {.memory = -1, .all = {{&watch.all.head, &watch.all.head}}};

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static void change_note(uint64_t start, uint64_t end)
{
    verbs_watch_changes++;
    list_for_each(node, &watch.all) {
        struct verbs_watched *watched = container_of(node, struct verbs_watched, node);
        watched->changed |= watched->start < end && start < watched->end;
    }
}

/* The lock is taken before the event: a lookup that finds no event under way must find what the last one said, too. */
static void events_read(void)
{
    struct uffd_msg event;
    base_lock(&verbs_watch_lock);
    while (read(watch.memory, &event, sizeof(event)) == sizeof(event)) {
        if (event.event == UFFD_EVENT_UNMAP || event.event == UFFD_EVENT_REMOVE)
            change_note(event.arg.remove.start, event.arg.remove.end);
        else if (event.event == UFFD_EVENT_REMAP)
            change_note(event.arg.remap.from, event.arg.remap.from + event.arg.remap.len);
    }
    base_unlock(&verbs_watch_lock);
}

static void *reader_run(void *unused)
{
    struct pollfd told[2] = {{.fd = watch.memory, .events = POLLIN}, {.fd = watch.stop, .events = POLLIN}};
    while (!told[1].revents)
        if (poll(told, ARRAY_LENGTH(told), -1) > 0 && told[0].revents)
            events_read();
    return unused;
}

/* Of memory that the library gave out. */
static void lasting_note(uint64_t start, uint64_t end)
{
    base_lock(&verbs_watch_lock);
    change_note(start, end);
    base_unlock(&verbs_watch_lock);
}

bool verbs_watch_quiet(void)
{
    if (watch.memory < 0) /* what is kept is told of by the thread that gives it back */
        return true;
    /* Of a range that makes no sense; but before that the kernel looks whether an event is under way. */
    struct uffdio_writeprotect nothing = {.range = {1, 1}};
    return ioctl(watch.memory, UFFDIO_WRITEPROTECT, &nothing) == -1 && errno == EINVAL;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

static int userfaultfd_open(void)
{
    struct uffdio_api api = {.api = UFFD_API, .features = EVENTS};
    int flags = O_CLOEXEC | O_NONBLOCK;
    int memory = (int)syscall(SYS_userfaultfd, flags | UFFD_USER_MODE_ONLY); /* needs no right, since Linux 5.11 */
    if (memory < 0)
        memory = (int)syscall(SYS_userfaultfd, flags);
    if (memory >= 0 && ioctl(memory, UFFDIO_API, &api)) {
        close(memory);
        memory = -1;
    }
    return memory;
}

bool verbs_watch_possible(void)
{
    int memory = userfaultfd_open();
    base_close(memory);
    return memory >= 0;
}

static bool reader_start(void)
{
    sigset_t all, old;
    watch.stop = eventfd(0, EFD_CLOEXEC);
    if (watch.stop < 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = pthread_create(&watch.reader, NULL, reader_run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!started)
        close(watch.stop);
    COUNT_TOGETHER(helpers, started);
    return started;
}

/* Under watch.opening. */
static void watch_begin(void)
{
    watch.tried = true;
    watch.memory = userfaultfd_open();
    if (watch.memory < 0) {
        LOG_INFO("memory that is not from MPI_Alloc_mem is registered for each transfer: userfaultfd, by which "
                 "changes of it are seen, says: %s", strerror(errno));
        /* release: pairs with the acquire in lasting.c */
        atomic_store_explicit(&vbase_lasting_ends, lasting_note, memory_order_release);
    } else if (!reader_start()) {
        close(watch.memory);
        watch.memory = -1;
    }
}

void verbs_watch_open(void)
{
    base_lock(&watch.opening);
    watch.users++;
    base_unlock(&watch.opening);
}

void verbs_watch_close(void)
{
    base_lock(&watch.opening);
    if (--watch.users == 0 && watch.memory >= 0) {
        uint64_t one = 1;
        (void)!write(watch.stop, &one, sizeof(one));
        pthread_join(watch.reader, NULL);
        COUNT_TOGETHER(helpers, -1);
        close(watch.stop);
        close(watch.memory); /* a munmap that waits returns */
        watch.memory = -1;
    }
    watch.tried &= watch.users > 0;
    base_unlock(&watch.opening);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* Is all of it private and of no file? Pages of others are exchanged by way of the file, too, and no event tells. */
static bool is_private(uint64_t start, uint64_t end)
{
    char line[256];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && start < end && fgets(line, sizeof(line), maps)) {
        unsigned long from, to, file;
        char rights[5];
        if (sscanf(line, "%lx-%lx %4s %*x %*x:%*x %lu", &from, &to, rights, &file) != 4 || to <= start)
            continue; /* the rest of a long name, or below */
        if (from > start || rights[3] != 'p' || file)
            break;
        start = to;
    }
    if (maps)
        fclose(maps);
    return start >= end;
}

bool verbs_watch_start(struct verbs_watched *watched)
{
    base_lock(&watch.opening);
    if (!watch.tried)
        watch_begin();
    base_unlock(&watch.opening);
    base_lock(&verbs_watch_lock);
    watched->changed = false;
    list_append(&watch.all, &watched->node);
    base_unlock(&verbs_watch_lock);
    if (watch.memory < 0 && vbase_lasting_has(watched->start, watched->end))
        return true;
    struct uffdio_register range = {.range = {watched->start, watched->end - watched->start},
                                    .mode = UFFDIO_REGISTER_MODE_WP};
    /* What changes from here on is told, so what is_private sees stays true or is noted. */
    if (watch.memory >= 0 && ioctl(watch.memory, UFFDIO_REGISTER, &range) == 0 &&
        is_private(watched->start, watched->end))
        return true;
    base_lock(&verbs_watch_lock);
    verbs_watch_stop(watched);
    base_unlock(&verbs_watch_lock);
    return false;
}

void verbs_watch_stop(struct verbs_watched *watched) { list_leave(&watched->node); }
