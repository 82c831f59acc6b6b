/* A test whose two threads, or more, the main one being 0, do the same: each has a communicator of all ranks of its
 * own. */
#ifndef TESTS_MPI_TWO_THREADS_H
#define TESTS_MPI_TWO_THREADS_H

#include "mpi_check.h"
#include <pthread.h>

#define MOST_THREADS 4
static MPI_Comm own[MOST_THREADS];

/* WORK gets the number of its thread, an int. */
static inline int some_threads(int threads, void *(*work)(void *))
{
    int provided = 0, ids[MOST_THREADS];
    pthread_t other[MOST_THREADS];
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < threads; i++) {
        ids[i] = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    }
    for (int i = 1; i < threads; i++)
        pthread_create(&other[i], NULL, work, &ids[i]);
    work(&ids[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(other[i], NULL);
    for (int i = 0; i < threads; i++)
        MPI_Comm_free(&own[i]);
    return check_finalize();
}

static inline int two_threads(void *(*work)(void *)) { return some_threads(2, work); }

#endif
