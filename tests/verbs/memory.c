/* The cache of registrations, on the double: what is registered again and what is not, its bounds, and that it never gives
 * what was registered for pages that are gone, with two threads at the same addresses. Run by memory.sh.
 *   memory ROUNDS   of the two threads
 *   memory --hit    instructions of a hit */
#include "check.h"
#include "verbs/double.h"
#include "vi/verbs/verbs.h"
#include <pthread.h>
#include <sched.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { PAGE = 4096, LENGTH = 16 * PAGE };

static struct verbs_nic home;
static struct verbs_adapter *adapter;

static void adapter_make(void)
{
    adapter = calloc(1, sizeof(*adapter));
    adapter->home = &home;
    CHECK_EQUAL(ibverbs_load(&home.library), OK);
    struct ibverbs_device **list = home.library->ibv_get_device_list(NULL);
    adapter->port.context = home.library->ibv_open_device(list[0]);
    home.library->ibv_free_device_list(list);
    adapter->pd = home.library->ibv_alloc_pd(adapter->port.context);
    verbs_cache_open(&adapter->cache);
}

static void adapter_drop(void)
{
    verbs_cache_close(adapter);
    CHECK_EQUAL(double_counted()->registered, double_counted()->deregistered);
    home.library->ibv_dealloc_pd(adapter->pd);
    home.library->ibv_close_device(adapter->port.context);
    free(adapter);
}

static char *pages_map(void *at, size_t length)
{
    int fixed = at ? MAP_FIXED : 0;
    char *memory = mmap(at, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

/* Takes and gives them once; returns how many registrations that needed. */
static int uses(const void *address, size_t length, unsigned access)
{
    struct verbs_memory *memory;
    uint64_t before = double_counted()->registered;
    CHECK_EQUAL(verbs_memory_take(adapter, address, length, access, &memory), OK);
    CHECK(double_good(memory->mr->lkey));
    CHECK(memory->mr->length >= length);
    verbs_memory_give(adapter, memory);
    return (int)(double_counted()->registered - before);
}

static void same_buffer(void)
{
    int registered = 0;
    char *memory = pages_map(NULL, 4 * LENGTH);
    for (int i = 0; i < 1000; i++)
        registered += uses(memory + 100, LENGTH, MEMORY_FULL);
    CHECK_EQUAL(registered, 1);
    CHECK_EQUAL(uses(memory, LENGTH / 2, 0), 0);
    CHECK_EQUAL(uses(memory, LENGTH * 2, 0), 1);
    CHECK_EQUAL(uses(memory + 10, LENGTH * 2 - 10, 0), 0);
    CHECK_EQUAL(uses(memory, LENGTH, MEMORY_ONCE), 1);
    munmap(memory, 4 * LENGTH);
}

static void changes(void)
{
    char *memory = pages_map(NULL, LENGTH), *other = pages_map(NULL, LENGTH);
    for (int way = 0; way < 5; way++) {
        CHECK_EQUAL(uses(memory, LENGTH, 0), way == 0);
        CHECK_EQUAL(uses(memory, LENGTH, 0), 0);
        if (way == 0) {
            munmap(memory, LENGTH);
            pages_map(memory, LENGTH);
        } else if (way == 1) {
            pages_map(memory + PAGE, PAGE);
        } else if (way == 2) {
            madvise(memory + LENGTH - PAGE, PAGE, MADV_DONTNEED);
        } else if (way == 3) {
            CHECK(mremap(memory, LENGTH, LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED, other) == other);
            pages_map(memory, LENGTH);
        } else {
            mremap(other, LENGTH, LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED, memory);
        }
        double_changed(memory, LENGTH);
        CHECK_EQUAL(uses(memory, LENGTH, 0), 1);
    }
    munmap(memory, LENGTH);
}

/* Their pages are exchanged without an event. */
static void not_watched(void)
{
    int file = memfd_create("shared", MFD_CLOEXEC);
    CHECK_EQUAL(ftruncate(file, LENGTH), 0);
    for (int i = 0; i < 2; i++) {
        char *memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, i ? MAP_PRIVATE : MAP_SHARED, file, 0);
        CHECK_EQUAL(uses(memory, LENGTH, 0), 1);
        CHECK_EQUAL(uses(memory, LENGTH, 0), 1);
        munmap(memory, LENGTH);
    }
    close(file);
}

static void bounds(void)
{
    char *memory = pages_map(NULL, 4 * LENGTH);
    struct verbs_memory *first;
    adapter->cache.most_bytes = 2 * LENGTH;
    CHECK_EQUAL(verbs_memory_take(adapter, memory, LENGTH, 0, &first), OK);
    for (int i = 1; i < 4; i++)
        CHECK_EQUAL(uses(memory + i * LENGTH, LENGTH, 0), 1);
    CHECK_EQUAL(uses(memory + 3 * LENGTH, LENGTH, 0), 0);
    CHECK_EQUAL(uses(memory + LENGTH, LENGTH, 0), 1); /* it was the oldest one */
    CHECK(double_good(first->mr->lkey));
    verbs_memory_give(adapter, first);

    double_lockable(3 * LENGTH); /* all that is kept goes if need be */
    CHECK_EQUAL(uses(memory, 3 * LENGTH, 0), 1);
    CHECK_EQUAL(verbs_memory_take(adapter, memory, 4 * LENGTH, 0, &first), ERR_LIMIT);
    CHECK_EQUAL(uses(memory, LENGTH, 0), 1);
    double_lockable(0);
    munmap(memory, 4 * LENGTH);
}

/* ---- two threads ------------------------------------------------------------------------------------------------- */

/* Each unmaps what the other one has mapped, at the same address, and sends of it: one may have the address again before
 * munmap of the other one has returned. */
static struct { char *at; _Atomic int turn; int rounds; } shared;

static void *thread_run(void *argument)
{
    int me = *(int *)argument;
    for (int round = me; round < shared.rounds; round += 2) {
        char *memory;
        struct verbs_memory *taken;
        while (atomic_load(&shared.turn) != round)
            sched_yield();
        while ((memory = mmap(shared.at, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                              -1, 0)) == MAP_FAILED && errno == EEXIST)
            sched_yield();
        CHECK(memory == shared.at);
        double_changed(memory, LENGTH);
        for (int i = 0; i < 2; i++) {
            CHECK_EQUAL(verbs_memory_take(adapter, memory, LENGTH, 0, &taken), OK);
            CHECK(double_good(taken->mr->lkey));
            verbs_memory_give(adapter, taken);
        }
        atomic_store(&shared.turn, round + 1); /* before it is unmapped: the other one waits for the address */
        munmap(memory, LENGTH);
    }
    return NULL;
}

static void two_threads(int rounds)
{
    pthread_t thread[2];
    int number[2] = {0, 1};
    shared.at = (char *)0x350000000000; /* far from where the kernel puts what others map without an address */
    shared.rounds = rounds;
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(pthread_create(&thread[i], NULL, thread_run, &number[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* Of a child between two stops of its own, one at a time. */
static long steps(pid_t child)
{
    int status, count = 0;
    for (ptrace(PTRACE_CONT, child, 0, 0); waitpid(child, &status, 0) == child && WSTOPSIG(status) != SIGSTOP;)
        ptrace(PTRACE_CONT, child, 0, 0);
    do {
        ptrace(PTRACE_SINGLESTEP, child, 0, 0);
        waitpid(child, &status, 0);
        count++;
    } while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
    return count;
}

enum { NOTHING, TAKE, BOTH, WAYS };

static void hit(void)
{
    int status;
    long count[WAYS];
    pid_t child = fork();
    if (child == 0) {
        struct verbs_memory *taken;
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        adapter_make();
        char *memory = pages_map(NULL, LENGTH);
        uses(memory, LENGTH, 0);
        for (int way = NOTHING; way < WAYS; way++) {
            raise(SIGSTOP);
            if (way != NOTHING && verbs_memory_take(adapter, memory, LENGTH, 0, &taken) == OK && way == BOTH)
                verbs_memory_give(adapter, taken);
            raise(SIGSTOP);
            if (way == TAKE)
                verbs_memory_give(adapter, taken);
        }
        _exit(double_counted()->registered != 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
    for (int way = NOTHING; way < WAYS; way++)
        count[way] = steps(child);
    ptrace(PTRACE_CONT, child, 0, 0);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    printf("a hit %ld\na hit and its end %ld\n", count[TAKE] - count[NOTHING], count[BOTH] - count[NOTHING]);
}

int main(int argc, char **argv)
{
    int watch = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1); /* for user mode alone */
    if (watch < 0)
        return 77; /* some containers refuse it */
    close(watch);
    if (argc > 1 && strcmp(argv[1], "--hit") == 0) {
        hit();
        return check_done();
    }
    adapter_make();
    same_buffer();
    changes();
    not_watched();
    two_threads(argc > 1 ? atoi(argv[1]) : 1000);
    bounds();
    adapter_drop();
    return check_done();
}
