/* The lock excludes, and those that sleep for it get it; the futex sleeps, wakes, times out, and works between processes. */
#include "base/atomic.h"
#include "base/clock.h"
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct base_lock lock;
static struct {
    uint64_t count, mirror; /* not atomic: the lock protects them */
} guarded;

enum { THREADS = 4, ROUNDS = 20000 };
static void *pound(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        base_lock(&lock);
        CHECK(guarded.count == guarded.mirror);
        guarded.count++;
        if (i % 500 == 0)
            sched_yield(); /* held while others run: they must sleep and be woken */
        guarded.mirror++;
        base_unlock(&lock);
        if (i % 7 == 0 && base_lock_try(&lock)) {
            guarded.count++;
            guarded.mirror++;
            base_unlock(&lock);
            base_lock(&lock);
            guarded.count--;
            guarded.mirror--;
            base_unlock(&lock);
        }
    }
    return NULL;
}

static void lock_excludes(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, pound, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK_EQUAL(guarded.count, (uint64_t)THREADS * ROUNDS);
    CHECK_EQUAL(lock.word, 0);
}

static void try_says_no(void)
{
    CHECK(base_lock_try(&lock));
    CHECK(!base_lock_try(&lock));
    base_unlock(&lock);
    CHECK(base_lock_try(&lock));
    base_unlock(&lock);
}

static void *wait_for_lock(void *waits)
{
    errno = EXDEV;
    atomic_store((_Atomic bool *)waits, true);
    base_lock(&lock);
    CHECK_EQUAL(errno, EXDEV);
    base_unlock(&lock);
    return NULL;
}

/* A thread that finds the lock held for long sleeps, and has it in the end: the join ends. */
static void sleeper_gets_it(void)
{
    pthread_t thread;
    _Atomic bool waits = false;
    base_lock(&lock);
    pthread_create(&thread, NULL, wait_for_lock, &waits);
    while (!atomic_load(&waits))
        usleep(100);
    usleep(2000);
    base_unlock(&lock);
    pthread_join(thread, NULL);
}

static void waits_end(void)
{
    _Atomic uint32_t word = 5;
    uint64_t start = vbase_clock_ns();
    errno = EXDEV;
    vbase_futex_wait(&word, 4, 0); /* another value: at once */
    vbase_futex_wait(&word, 5, 20000000);
    CHECK_EQUAL(errno, EXDEV);
    uint64_t slept = vbase_clock_ns() - start;
    CHECK(slept >= 15000000); /* and it ends: else so does the time of this test */
    vbase_futex_wake(&word, 1); /* nobody there */
}

static void between_processes(void)
{
    _Atomic uint32_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(word != MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        for (uint32_t turn = 0; turn < 1000; turn++) {
            while (atomic_load(word) == 2 * turn)
                vbase_futex_wait(word, 2 * turn, 0);
            atomic_fetch_add(word, 1);
            vbase_futex_wake(word, 1);
        }
        _exit(0);
    }
    for (uint32_t turn = 0; turn < 1000; turn++) {
        atomic_fetch_add(word, 1);
        vbase_futex_wake(word, 1);
        while (atomic_load(word) == 2 * turn + 1)
            vbase_futex_wait(word, 2 * turn + 1, 0);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(*word, 2000);
    munmap((void *)word, 4096);
}

int main(void)
{
    lock_excludes();
    try_says_no();
    sleeper_gets_it();
    waits_end();
    between_processes();
    return check_done();
}
