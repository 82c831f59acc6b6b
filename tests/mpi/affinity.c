/* Two threads of each rank wait for messages where ranks and threads outnumber the processors: no call of the library sets the
 * affinity of a thread. sched_setaffinity and its sister stand here, so the library would call these.
 * ranks: 3 tcp: 2 presets: release */
#include "two_threads.h"
#include <errno.h>
#include <sched.h>

#define SECONDS 0.2

static _Atomic int set;

__attribute__((visibility("default"))) int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *mask)
{
    (void)pid, (void)bytes, (void)mask;
    set++;
    errno = EPERM;
    return -1;
}

__attribute__((visibility("default"))) int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *mask)
{
    (void)thread, (void)bytes, (void)mask;
    set++;
    return EPERM;
}

static void *work(void *argument)
{
    MPI_Comm comm = own[*(int *)argument];
    int go = 1, sum = size;
    for (double end = MPI_Wtime() + SECONDS; sum == size;) {
        go = MPI_Wtime() < end;
        MPI_Allreduce(&go, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Sendrecv(&go, 1, MPI_INT, (rank + 1) % size, 1, &go, 1, MPI_INT, (rank + size - 1) % size, 1, comm,
                     MPI_STATUS_IGNORE);
    }
    return NULL;
}

int main(void)
{
    int error = two_threads(work);
    CHECK_EQUAL(set, 0);
    return error ? error : check_done();
}
