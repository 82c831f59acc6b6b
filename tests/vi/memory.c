/* What 64 ranks of one node cost each in shared memory: after a ring, after an all-to-all of small messages, after one
 * with 1 KiB. A page that several ranks see counts in parts, as the kernel tells them: it also shows a rank pages around
 * one that it reads, which only others have filled. Limits of the values in the table that are shipped.
 * timeout: 120 presets: release asan */
#include "inside.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define RANKS 64

static struct shared {
    _Atomic int arrived;
    long ring[RANKS], small[RANKS], large[RANKS];
} *shared;

static int barriers;

/* This process's share of shared memory, in KiB. */
static long share(void) { return inside_kib("/proc/self/smaps_rollup", "Pss_Shmem: %ld"); }

static void poll_once(int rank)
{
    if (vi_poll(inside.nic[rank], 16) == 0)
        sched_yield();
}

static void barrier(int rank)
{
    barriers++;
    atomic_fetch_add(&shared->arrived, 1);
    while (atomic_load(&shared->arrived) < barriers * RANKS)
        poll_once(rank);
}

static void send_to(int rank, struct vi *vi, size_t length)
{
    while (inside_send(vi, 0, length) == ERR_AGAIN)
        poll_once(rank);
}

static void run(int rank)
{
    struct vi *vi[RANKS];
    long start = share();

    inside_open(rank);
    for (int i = 0; i < RANKS; i++)
        vi[i] = i == rank ? NULL : inside_connect(rank, i);
    barrier(rank);
    for (int n = 0; n < 200; n++)
        send_to(rank, vi[(rank + 1) % RANKS], 8);
    while (inside.got[rank] < 200)
        poll_once(rank);
    barrier(rank);
    shared->ring[rank] = share() - start;
    for (int large = 0; large < 2; large++) {
        barrier(rank);
        for (int n = 0; n < 5; n++)
            for (int i = 1; i < RANKS; i++)
                send_to(rank, vi[(rank + i) % RANKS], large ? 1024 : 8);
        while (inside.got[rank] < 200 + 5u * (RANKS - 1) * (unsigned)(large + 1))
            poll_once(rank);
        barrier(rank);
        (large ? shared->large : shared->small)[rank] = share() - start;
    }
}

static long most(const char *what, const long *kib, long limit)
{
    long worst = 0;

    for (int i = 0; i < RANKS; i++)
        worst = kib[i] > worst ? kib[i] : worst;
    printf("%s: %ld KiB\n", what, worst);
    CHECK(worst <= limit);
    CHECK(worst > 0);
    return worst;
}

int main(void)
{
    pid_t pid[RANKS];
    int status;

    CHECK_EQUAL(vbase_settings_read(), OK);
    inside_start(RANKS);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < RANKS; i++)
        if ((pid[i] = fork()) == 0) {
            alarm(100);
            run(i);
            _exit(check_done());
        }
    for (int i = 0; i < RANKS; i++) {
        waitpid(pid[i], &status, 0);
        CHECK_EQUAL(status, 0);
    }
    most("ring", shared->ring, 60);
    most("all-to-all, 8 bytes", shared->small, 400);
    most("all-to-all, 1 KiB", shared->large, 8000);
    return check_done();
}
