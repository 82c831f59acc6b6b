/* Two threads of a rank have no memory for what the others say, each in a call that makes a communicator: the one list that is kept
 * for that goes from one to the other, again and again, and both calls succeed. The program's own malloc refuses the lists.
 * ranks: 5 tcp: 5 presets: release */
#include "two_threads.h"
#include <stdatomic.h>

#define ROUNDS 300
#define LIST (5 * 12) /* color, key and rank of each of them */

void *__libc_malloc(size_t size);
static __thread int refuses, refused; /* refuses: 1 + the number of the thread */
static pthread_barrier_t both; /* no thread is a round ahead */
static atomic_int first; /* how often the first thread was refused */

/* The first thread has the list, or is about to take it, and needs it until the other ranks call: which they do now. */
static void first_waits(void)
{
    while (atomic_load(&first) < refused)
        continue;
    for (int to = 1; to < size; to++)
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, to, 0, own[1]));
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    if (refuses && bytes == LIST) {
        int thread = refuses - 1;
        refused++;
        refuses = 0;
        if (thread)
            first_waits();
        else
            atomic_fetch_add(&first, 1);
        return NULL;
    }
    return __libc_malloc(bytes);
}

static void *work(void *argument)
{
    int thread = *(int *)argument, sum;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm half = MPI_COMM_NULL;
        if (rank && !thread)
            CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, own[1], MPI_STATUS_IGNORE));
        refuses = rank == 0 ? 1 + thread : 0;
        CHECK_OK(MPI_Comm_split(own[thread], rank % 2, 0, &half));
        refuses = 0;
        CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half));
        CHECK_EQUAL(sum, rank % 2 ? 4 : 6);
        CHECK_OK(MPI_Comm_free(&half));
        pthread_barrier_wait(&both);
    }
    CHECK_EQUAL(refused, rank == 0 ? ROUNDS : 0);
    return NULL;
}

int main(void)
{
    pthread_barrier_init(&both, NULL, 2);
    return two_threads(work);
}
