/* Memory that comes and goes: remap ROUNDS. Two threads of two ranks map memory, send or receive 96 KiB there and unmap it, so that the
 * same addresses have other pages each time, those of the other thread, too. Every word is compared. */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { WORDS = 12288, BYTES = 8 * WORDS };

static int rank, rounds;

static uint64_t value(int thread, int round, int word) { return (uint64_t)round << 32 | (uint64_t)thread << 24 | (uint64_t)word; }

static void *run(void *argument)
{
    int thread = *(int *)argument;
    for (int round = 0; round < rounds; round++) {
        uint64_t *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            abort();
        bool sends = (rank ^ round) & 1;
        for (int i = 0; i < WORDS; i++)
            at[i] = sends ? value(thread, round, i) : 0;
        if (sends)
            MPI_Send(at, WORDS, MPI_UINT64_T, 1 - rank, thread, MPI_COMM_WORLD);
        else
            MPI_Recv(at, WORDS, MPI_UINT64_T, 1 - rank, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < WORDS; i++)
            if (at[i] != value(thread, round, i)) {
                fprintf(stderr, "rank %d, thread %d, round %d: word %d is %#llx\n", rank, thread, round, i, (unsigned long long)at[i]);
                abort();
            }
        munmap(at, BYTES);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, number[2] = {0, 1};
    pthread_t other;
    rounds = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided != MPI_THREAD_MULTIPLE || pthread_create(&other, NULL, run, &number[1]))
        abort();
    run(&number[0]);
    pthread_join(other, NULL);
    if (rank == 0)
        printf("%d rounds of two threads\n", rounds);
    MPI_Finalize();
    return 0;
}
