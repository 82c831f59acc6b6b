/* What the MPI tests share: patterns in buffers, classes of errors, and who am I. */
#ifndef TESTS_MPI_CHECK_H
#define TESTS_MPI_CHECK_H

#include "check.h"
#include <mpi.h>

static int rank, size;

static inline void check_init(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* For a test of two ranks: the ranks in pairs, each of which runs it in a WORLD of its own. Who is left over is alone there. */
static inline MPI_Comm check_init_pairs(void)
{
    MPI_Comm world;
    check_init();
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &world);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    return world;
}

static inline int check_finalize(void)
{
    MPI_Finalize();
    return check_done();
}

static inline void fill(void *buffer, size_t bytes, unsigned message)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)buffer)[i] = check_byte(message, i);
}

/* The number of leading bytes that are right: BYTES when all are. */
static inline size_t right(const void *buffer, size_t bytes, unsigned message)
{
    size_t i = 0;
    while (i < bytes && ((const unsigned char *)buffer)[i] == check_byte(message, i))
        i++;
    return i;
}
#define CHECK_BYTES(buffer, bytes, message) CHECK_EQUAL(right(buffer, bytes, message), bytes)

static inline int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}
#define CHECK_CLASS(call, class) CHECK_EQUAL(class_of(call), class)
#define CHECK_OK(call) CHECK_EQUAL(call, MPI_SUCCESS)

static inline int count_of(const MPI_Status *status, MPI_Datatype type)
{
    int count = -1;
    MPI_Get_count(status, type, &count);
    return count;
}

#endif
