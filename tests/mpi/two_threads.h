/* A test whose two threads, the main one being 0, do the same: each has a communicator of all ranks of its own. */
#ifndef TESTS_MPI_TWO_THREADS_H
#define TESTS_MPI_TWO_THREADS_H

#include "mpi_check.h"
#include <pthread.h>

static MPI_Comm own[2];

/* WORK gets the number of its thread, an int. */
static inline int two_threads(void *(*work)(void *))
{
    int provided = 0, ids[2] = {0, 1};
    pthread_t second;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &own[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &own[1]);
    pthread_create(&second, NULL, work, &ids[1]);
    work(&ids[0]);
    pthread_join(second, NULL);
    MPI_Comm_free(&own[0]);
    MPI_Comm_free(&own[1]);
    return check_finalize();
}

#endif
