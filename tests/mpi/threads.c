/* MPI_THREAD_MULTIPLE: two threads of each rank exchange messages of all sizes, on one communicator with tags of their
 * own and on communicators of their own, with wildcards, probes and collectives, and make and free communicators.
 * everywhere: 1 2 3 5 8
 * timeout: 120 */
#include "two_threads.h"

#define ROUNDS 150
static const int sizes[] = {0, 1, 60, 3000, 17000, 150000};

static unsigned seed_of(int from, int thread, int round) { return (unsigned)(from * 1000003 + thread * 500 + round); }

static void exchange(int thread, int round)
{
    int bytes = sizes[round % 6], next = (rank + 1) % size, last = (rank + size - 1) % size;
    unsigned char *out = malloc((size_t)bytes + 1), *in = malloc((size_t)bytes + 1);
    MPI_Request request[2];
    MPI_Status status[2];
    MPI_Comm comm = round % 3 ? MPI_COMM_WORLD : own[thread];
    int tag = thread * 1000 + round;
    fill(out, (size_t)bytes, seed_of(rank, thread, round));
    MPI_Irecv(in, bytes, MPI_BYTE, round % 2 ? MPI_ANY_SOURCE : last, tag, comm, &request[0]);
    if (round % 4)
        MPI_Isend(out, bytes, MPI_BYTE, next, tag, comm, &request[1]);
    else
        MPI_Issend(out, bytes, MPI_BYTE, next, tag, comm, &request[1]);
    if (round % 5) {
        MPI_Waitall(2, request, status);
    } else {
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
        MPI_Wait(&request[0], &status[0]);
    }
    CHECK_EQUAL(count_of(&status[0], MPI_BYTE), bytes);
    CHECK_BYTES(in, (size_t)bytes, seed_of(last, thread, round));
    free(out);
    free(in);
}

static void probe(int thread, int round)
{
    int data = round, got = -1, tag = thread * 1000 + 500;
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    MPI_Isend(&data, 1, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, round);
}

static void collective(int thread)
{
    int one = 1, sum = 0;
    MPI_Comm comm;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, own[thread]);
    CHECK_EQUAL(sum, size);
    MPI_Comm_dup(own[thread], &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
}

static void *work(void *argument)
{
    int thread = *(int *)argument, is_main = -1;
    MPI_Is_thread_main(&is_main);
    CHECK_EQUAL(is_main, thread == 0);
    for (int round = 0; round < ROUNDS; round++) {
        exchange(thread, round);
        if (round % 7 == 0)
            probe(thread, round);
        if (round % 10 == 0)
            collective(thread);
    }
    return NULL;
}

int main(void) { return two_threads(work); }
