/* Ranks that share one processor and test for messages in a loop give it to each other: a rank whose tests find nothing
 * yields. Without it each message waits for the end of a time slice.
 * ranks: 2 5 */
#include "mpi_check.h"
#include "base/counters.h"
#include <sched.h>

enum { ROUNDS = 100 };

static void receive(int how, int *value, int source)
{
    int flag = 0;
    MPI_Request request;
    MPI_Status status;
    if (how == 2)
        while (!flag)
            MPI_Iprobe(source, 3, MPI_COMM_WORLD, &flag, &status);
    MPI_Irecv(value, 1, MPI_INT, source, 3, MPI_COMM_WORLD, &request);
    for (flag = 0; how == 0 && !flag;)
        MPI_Request_get_status(request, &flag, &status);
    for (flag = 0; !flag;)
        MPI_Test(&request, &flag, &status);
}

int main(void)
{
    cpu_set_t all, one;
    int first = 0;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    check_init();
    for (int how = 0; how < 3; how++) {
        MPI_Barrier(MPI_COMM_WORLD);
        uint64_t yields = vbase_counters->yields;
        for (int i = 0; i < ROUNDS; i++) {
            int value = i;
            if (rank == 0)
                MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
            receive(how, &value, (rank + size - 1) % size);
            if (rank)
                MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD);
            CHECK(value == i);
        }
        yields = vbase_counters->yields - yields;
        if (yields < ROUNDS / 2)
            fprintf(stderr, "rank %d, way %d: %lu yields in %d rounds\n", rank, how, (unsigned long)yields, ROUNDS);
        CHECK(yields >= ROUNDS / 2);
    }
    return check_finalize();
}
