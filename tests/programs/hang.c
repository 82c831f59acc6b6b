/* Ranks that wait for each other for ever, or talk, in the way that the first argument names; see tests/tools/stuck.sh
 * and top.sh. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <viaduct.h>

static int rank, size;

static void receive(int from, int tag, MPI_Comm comm)
{
    int word;
    MPI_Recv(&word, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
}

static void send(int to, int tag, MPI_Comm comm) { MPI_Send(&rank, 1, MPI_INT, to, tag, comm); }

/* Ranks 1 to 3 wait for each other, the others for rank 1. */
static void cycle(void) { receive(rank == 1 ? 2 : rank == 2 ? 3 : 1, 4, MPI_COMM_WORLD); }

/* The leaders of two groups of one rank each give different tags. */
static void leaders(void)
{
    MPI_Comm inter;
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, !rank, 20 + rank, &inter);
}

static void collectives(void)
{
    int word = 0;
    if (rank == 1)
        MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void tag(void)
{
    if (rank == 0)
        send(1, 6, MPI_COMM_WORLD);
    if (rank == 1)
        receive(0, 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void sender(void)
{
    if (rank == 0)
        send(1, 5, MPI_COMM_WORLD);
    if (rank == 1)
        receive(2, 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void communicator(void)
{
    MPI_Comm twin;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    if (rank == 0)
        send(1, 5, twin);
    if (rank == 1)
        receive(0, 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void *compute(void *nothing)
{
    static volatile unsigned long turns;
    for (;;)
        turns = turns + 1;
    return nothing;
}

static void loop(void)
{
    if (rank == size - 1)
        compute(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks wait, and another thread of one computes. */
static void thread(void)
{
    pthread_t other;
    if (rank == 0)
        pthread_create(&other, NULL, compute, NULL);
    cycle();
}

static long thread_us(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

/* The same where processors are short: it has one in fifty parts of one, in pieces of 5 ms. */
static void *compute_slowly(void *nothing)
{
    for (;;) {
        for (long until = thread_us() + 5000; thread_us() < until;)
            continue;
        usleep(250000);
    }
    return nothing;
}

static void slow_thread(void)
{
    pthread_t other;
    if (rank == 0)
        pthread_create(&other, NULL, compute_slowly, NULL);
    cycle();
}

static void *asleep(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

static void *waits(void *nothing)
{
    cycle();
    return nothing;
}

static void beside(void *(*does)(void *))
{
    pthread_t other;
    pthread_create(&other, NULL, does, NULL);
    cycle();
}

/* All ranks wait in MPI, where several threads may call it: one thread sleeps elsewhere; */
static void sleeper(void) { beside(asleep); }

/* or all of them wait; */
static void waiters(void) { beside(waits); }

/* or the others are the library's own, and have no call to handle. */
static void pool(void)
{
    if (vd_init() == VD_OK && vd_rpc_start(2) == VD_OK)
        cycle();
}

static void gone(void)
{
    if (rank == 1)
        receive(0, 5, MPI_COMM_WORLD);
}

static void large(void)
{
    static char much[1 << 20];
    if (rank == 0)
        MPI_Send(much, sizeof much, MPI_BYTE, 1, 8, MPI_COMM_WORLD);
    if (rank == 1)
        receive(0, 9, MPI_COMM_WORLD);
}

/* Two communicators with one number: in each three ranks wait in a collective, and one for a message of the fourth. */
static void halves(void)
{
    int word = 0, place;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &place);
    if (place == 2)
        receive(3, 4, half);
    else if (rank % 2)
        MPI_Bcast(&word, 1, MPI_INT, 2, half);
    else
        MPI_Barrier(half);
}

/* Members in no order that could be told shortly; one does not come. */
static void mixed(void)
{
    MPI_Comm all;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank * rank * rank % 61, &all);
    if (rank == 0)
        receive(1, 4, MPI_COMM_WORLD);
    MPI_Barrier(all);
}

/* Some make two communicators in one order, and rank 1 in the other. */
static void orders(void)
{
    MPI_Group all;
    MPI_Comm made[2];
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < 2; i++)
        MPI_Comm_create_group(MPI_COMM_WORLD, all, 11 + (i != (rank == 1)), &made[i]);
}

static void texts(void)
{
    MPI_Group all;
    MPI_Comm made;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_create_from_group(all, rank == 1 ? "ice" : "ocean", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
}

/* Two that answer each other for ever. */
/* Each waits for the other one for half of the time, and leaves the processor to others in the other half. */
static void talk(void)
{
    if (rank == 1)
        receive(0, 1, MPI_COMM_WORLD);
    for (;;) {
        usleep(1000);
        send(!rank, 1, MPI_COMM_WORLD);
        receive(!rank, 1, MPI_COMM_WORLD);
    }
}

static const struct way {
    const char *name;
    void (*hang)(void);
} ways[] = {{"cycle", cycle}, {"leaders", leaders}, {"collectives", collectives}, {"tag", tag},
            {"communicator", communicator}, {"sender", sender}, {"loop", loop}, {"thread", thread},
            {"slow_thread", slow_thread}, {"sleeper", sleeper}, {"waiters", waiters}, {"pool", pool},
            {"gone", gone}, {"large", large}, {"talk", talk}, {"halves", halves}, {"mixed", mixed}, {"orders", orders},
            {"texts", texts}};

int main(int argc, char **argv)
{
    const char *threads = getenv("THREADS");
    int level;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        fprintf(stderr, "there\n");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && strcmp(ways[i].name, argv[1]) == 0)
            ways[i].hang();
    MPI_Finalize();
    return 0;
}
