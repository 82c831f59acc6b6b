/* Four threads of each rank make communicators of some ranks at once, told apart by their tags, beside duplicates of
 * their own: every one of them has a number of its own, and its messages stay in it. Tags of two threads differ in one
 * bit or in two, each of the 31 in its turn, so they collide in every part. Make soak makes 10,000 for each rank.
 * ranks: 2 5 8 tcp: 5 mixed: 6 takes: 10 timeout: 300 presets: release tsan */
#include "two_threads.h"
#include <unistd.h>

#define THREADS 4
#define BITS 31
#define ROUNDS (getenv("CHECK_SEED") ? 2500 : 4 * BITS)

static pthread_barrier_t all; /* so that they really call at once, in an order that differs from rank to rank */

static int tag_of(int round, int thread)
{
    int one = round % BITS, other = (one + 1 + round / BITS % (BITS - 1)) % BITS;
    return (round & 1 ? 0 : 0x2AAAAAAA) ^ (thread & 1) << one ^ (thread >> 1) << other;
}

/* Those whose rank is no multiple of STEP, and rank 0, from the last on. */
static MPI_Group some(MPI_Group world, int step)
{
    MPI_Group group;
    int ranks[64], n = 0;
    for (int i = size - 1; i >= 0; i--)
        if (i == 0 || i % step)
            ranks[n++] = i;
    MPI_Group_incl(world, n, ranks, &group);
    return group;
}

static void *work(void *argument)
{
    int thread = *(int *)argument, sum, first;
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int round = 0, rounds = ROUNDS; round < rounds; round++) {
        MPI_Group group = some(world, 2 + round % 3);
        MPI_Comm comm = MPI_COMM_NULL, again;
        int me, n;
        MPI_Group_rank(group, &me);
        MPI_Group_size(group, &n);
        pthread_barrier_wait(&all);
        if ((round + thread + rank) % 2)
            usleep(20);
        if (me != MPI_UNDEFINED) {
            CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag_of(round, thread), &comm));
            MPI_Group_free(&group);
            int value = 10000 * thread + round;
            CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
            CHECK_EQUAL(sum, n * value);
            first = rank;
            CHECK_OK(MPI_Bcast(&first, 1, MPI_INT, n - 1, comm));
            CHECK_EQUAL(first, 0);
        } else {
            MPI_Group_free(&group);
        }
        if (round % 5 == 0) {
            CHECK_OK(MPI_Comm_dup(own[thread], &again));
            CHECK_OK(MPI_Comm_free(&again));
        }
        if (comm != MPI_COMM_NULL)
            CHECK_OK(MPI_Comm_free(&comm));
    }
    MPI_Group_free(&world);
    return NULL;
}

int main(void)
{
    pthread_barrier_init(&all, NULL, THREADS);
    return some_threads(THREADS, work);
}
