/* Two threads of each rank make communicators of some ranks at once, told apart by their tags, beside duplicates of their own:
 * every one of them has a number of its own, and its messages stay in it. Tags differ in one bit, each of the 31 in its turn.
 * ranks: 2 5 tcp: 5 mixed: 6 presets: release tsan */
#include "two_threads.h"
#include <unistd.h>

#define ROUNDS (4 * 31)

static pthread_barrier_t both; /* so that they really call at once, in an order that differs from rank to rank */

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
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Group group = some(world, 2 + round % 3);
        MPI_Comm comm = MPI_COMM_NULL, again;
        int me, n;
        MPI_Group_rank(group, &me);
        MPI_Group_size(group, &n);
        pthread_barrier_wait(&both);
        if ((round + thread + rank) % 2)
            usleep(20);
        if (me != MPI_UNDEFINED) {
            int tag = (round & 1 ? 0 : 0x2AAAAAAA) ^ thread << round % 31;
            CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm));
            MPI_Group_free(&group);
            int value = 1000 * thread + round;
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
    pthread_barrier_init(&both, NULL, 2);
    return two_threads(work);
}
