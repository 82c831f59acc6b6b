/* The floor of this machine, without any library: what every figure of the comparison may be held against.
 * Two processes over shared memory, pinned to two processors; medians of 7 rounds, interleaved.
 *
 *   floor [ROUNDS]   one line a figure: "name size value unit"; the last line, a comment, is the class of the line
 *   floor class      only the class and what it was judged by: "far 27.10", in nanoseconds a line
 *
 * The class says what a line costs that the other processor has just written: near, slow or far. It is timed as the
 * receiver's own copy out of a fresh, plainly stored block, not as a round trip: a round trip contains the polling and
 * the computing of both sides, and it orders machines wrongly. The processor fetches long blocks further ahead, so the
 * cost of a line falls with the length (bench/results/blocks.md): a class is told by blocks of 2 KiB alone. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 7
#define BIG (8 << 20)

#define BLOCK        2048
#define BLOCKS       128  /* in rotation: a block is not in the receiver's first cache from its last turn */
#define LINE         64
#define SAMPLES      256
#define NEAR_BELOW   5.0  /* ns a line */
#define SLOW_BELOW   19.0
#define INTERRUPTED  200.0

struct shared {
    _Alignas(128) _Atomic unsigned one;        /* both write the same line */
    _Alignas(128) _Atomic unsigned here;       /* own lines */
    _Alignas(128) _Atomic unsigned there;
    _Alignas(128) _Atomic unsigned turn;       /* the slow ones */
};
static struct shared *shared;
static char *source, *target, *ring;
static double *cost; /* of the receiver's copies, ns a line; shared */
static pid_t child;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *share(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED) {
        perror("floor: mmap");
        exit(1);
    }
    return p;
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void pause_once(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void await(_Atomic unsigned *word, unsigned value)
{
    while (atomic_load_explicit(word, memory_order_acquire) != value)
        pause_once();
}

static void same_line(int side, int n)
{
    for (int i = 0; i < n; i++) {
        await(&shared->one, (unsigned)(2 * i + side));
        atomic_store_explicit(&shared->one, (unsigned)(2 * i + side + 1), memory_order_release);
    }
    if (side == 0)
        await(&shared->one, (unsigned)(2 * n));
}

static void own_lines(int side, int n)
{
    for (int i = 1; i <= n; i++) {
        if (side == 0) {
            atomic_store_explicit(&shared->here, (unsigned)i, memory_order_release);
            await(&shared->there, (unsigned)i);
        } else {
            await(&shared->here, (unsigned)i);
            atomic_store_explicit(&shared->there, (unsigned)i, memory_order_release);
        }
    }
}

static void by_yield(int side, int n)
{
    for (int i = 0; i < n; i++) {
        while (atomic_load(&shared->turn) != (unsigned)(2 * i + side))
            sched_yield();
        atomic_store(&shared->turn, (unsigned)(2 * i + side + 1));
    }
    while (side == 0 && atomic_load(&shared->turn) != (unsigned)(2 * n))
        sched_yield();
}

static void by_futex(int side, int n)
{
    for (int i = 0; i < n + !side; i++) {
        unsigned seen;
        while ((seen = atomic_load(&shared->turn)) != (unsigned)(2 * i + side))
            syscall(SYS_futex, &shared->turn, FUTEX_WAIT, seen, NULL, NULL, 0);
        if (i == n)
            break;
        atomic_store(&shared->turn, (unsigned)(2 * i + side + 1));
        syscall(SYS_futex, &shared->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

/* Runs BODY on two processors (or on one, for hand-overs); returns nanoseconds one way. */
static double pair(void (*body)(int, int), int n, int other_cpu)
{
    memset(shared, 0, sizeof *shared);
    pid_t peer = fork();
    if (peer == 0) {
        pin(other_cpu);
        body(1, n);
        _exit(0);
    }
    double start = now();
    body(0, n);
    double spent = now() - start;
    waitpid(peer, NULL, 0);
    return spent / n / 2 * 1e9;
}

static double copy_memory(size_t size)
{
    int n = (int)(200e6 / (double)size) + 1;
    double start = now();
    for (int i = 0; i < n; i++) {
        memcpy(target, source, size);
        __asm__ volatile("" ::: "memory");
    }
    return (double)size * n / (now() - start) / 1e9;
}

static double copy_process(size_t size)
{
    int n = (int)(200e6 / (double)size) + 1;
    struct iovec local = {target, size}, remote = {source, size};
    double start = now();
    for (int i = 0; i < n; i++)
        if (process_vm_readv(child, &local, 1, &remote, 1, 0) != (ssize_t)size)
            return 0;
    return (double)size * n / (now() - start) / 1e9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Side 1 stores a block plainly and publishes it; side 0 copies it at once and times nothing else. */
static void fresh_blocks(int side, int n)
{
    static char private[BLOCK];
    for (int i = 1; i <= n; i++) {
        char *block = ring + (size_t)(i % BLOCKS) * BLOCK;
        if (side == 1) {
            memset(private, i, sizeof private);
            memcpy(block, private, BLOCK);
            atomic_store_explicit(&shared->there, (unsigned)i, memory_order_release);
            await(&shared->here, (unsigned)i);
        } else {
            await(&shared->there, (unsigned)i);
            double start = now();
            memcpy(private, block, BLOCK);
            __asm__ volatile("" ::"r"(private) : "memory");
            double end = now(), clock = now() - end;
            cost[i - 1] = (end - start - clock) * 1e9 / (BLOCK / LINE);
            atomic_store_explicit(&shared->here, (unsigned)i, memory_order_release);
        }
    }
}

/* Nanoseconds a line: the median of what was not interrupted. */
static double fresh_line(void)
{
    pair(fresh_blocks, SAMPLES, 1);
    qsort(cost, SAMPLES, sizeof *cost, by_value);
    int n = SAMPLES;
    while (n > 1 && cost[n - 1] > INTERRUPTED)
        n--;
    return cost[n / 2];
}

static const char *class_of(double ns) { return ns < NEAR_BELOW ? "near" : ns < SLOW_BELOW ? "slow" : "far"; }

/* Median of three, for the processors may be elsewhere for some milliseconds. */
static double class_cost(void)
{
    double ns[3] = {fresh_line(), fresh_line(), fresh_line()};
    qsort(ns, 3, sizeof *ns, by_value);
    return ns[1];
}

static double figure(int which)
{
    switch (which) {
    case 0: return pair(same_line, 100000, 1);
    case 1: return pair(own_lines, 100000, 1);
    case 2: return pair(by_yield, 20000, 0);
    case 3: return pair(by_futex, 10000, 0);
    case 4: return pair(by_futex, 2000, 1);
    case 5: return copy_memory(64 << 10);
    case 6: return copy_memory(1 << 20);
    case 7: return copy_memory(4 << 20);
    case 8: return copy_process(64 << 10);
    case 9: return copy_process(1 << 20);
    case 10: return copy_process(4 << 20);
    default: return fresh_line();
    }
}

int main(int argc, char **argv)
{
    static const char *const name[] = {
        "floor_same_line 8", "floor_own_lines 8", "floor_yield 1", "floor_futex 1", "floor_wake 1",
        "floor_memcpy 65536", "floor_memcpy 1048576", "floor_memcpy 4194304", "floor_process_vm 65536",
        "floor_process_vm 1048576", "floor_process_vm 4194304", "floor_fresh_line 2048"};
    enum { FIGURES = sizeof name / sizeof *name };
    double value[FIGURES][ROUNDS];
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    rounds = rounds < 1 || rounds > ROUNDS ? ROUNDS : rounds;
    shared = share(sizeof *shared);
    cost = share(SAMPLES * sizeof *cost);
    ring = share(BLOCKS * BLOCK);
    pin(0);
    if (argc > 1 && !strcmp(argv[1], "class")) {
        double ns = class_cost();
        printf("%s %.2f\n", class_of(ns), ns);
        return 0;
    }
    source = aligned_alloc(4096, BIG);
    target = aligned_alloc(4096, BIG);
    memset(source, 1, BIG);
    memset(target, 1, BIG);
    if ((child = fork()) == 0) {
        memset(source, 2, BIG);
        pause();
        _exit(0);
    }
    for (int r = 0; r < rounds; r++)
        for (int f = 0; f < FIGURES; f++)
            value[f][r] = figure(f);
    for (int f = 0; f < FIGURES; f++) {
        qsort(value[f], (size_t)rounds, sizeof value[f][0], by_value);
        printf("%s %.3f %s\n", name[f], value[f][rounds / 2], f < 5 || f == FIGURES - 1 ? "ns" : "GB/s");
    }
    double line = value[FIGURES - 1][rounds / 2];
    printf("# class %s: a fresh line costs %.2f ns (near below %.1f, slow below %.0f, else far)\n", class_of(line),
           line, NEAR_BELOW, SLOW_BELOW);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
