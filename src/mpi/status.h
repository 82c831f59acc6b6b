/* Statuses. They are the program's memory. MPI_internal holds the bytes received, as 64 bits, then whether the
 * operation was cancelled. */
#pragma once

#include "mpi/entry.h"

#define MPI_STATUS_BYTES 0 /* of MPI_internal: [0..1] */
#define MPI_STATUS_CANCELLED 2

static inline void mpi_status_set(MPI_Status *status, int source, int tag, uint64_t bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    __builtin_memcpy(&status->MPI_internal[MPI_STATUS_BYTES], &bytes, sizeof bytes);
    status->MPI_internal[MPI_STATUS_CANCELLED] = 0;
}
/* The empty status of the standard: its error is set, too, unlike that of a status with a result. */
static inline void mpi_status_empty(MPI_Status *status)
{
    mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = MPI_SUCCESS;
}
static inline void mpi_status_proc_null(MPI_Status *status) { mpi_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0); }
static inline void mpi_status_result(MPI_Status *status, const struct msg_result *result)
{
    mpi_status_set(status, result->source, result->tag, result->bytes);
}
