/* Statuses. They are the program's memory. MPI_internal holds the bytes received, as 64 bits, then whether the
 * operation was cancelled; in ABIs that have no room for a third one, in the lowest bit of the second. Others have a
 * field for each. */
#pragma once

#include "mpi/entry.h"

#ifdef MPI_INT_HANDLES

static inline uint64_t mpi_status_bytes(const MPI_Status *status)
{
    return (uint64_t)(uint32_t)status->MPI_internal[1] >> 1 << 32 | (uint32_t)status->MPI_internal[0];
}
static inline bool mpi_status_cancelled(const MPI_Status *status) { return status->MPI_internal[1] & 1; }
static inline void mpi_status_cancel(MPI_Status *status, bool cancelled)
{
    status->MPI_internal[1] = (status->MPI_internal[1] & ~1) | cancelled;
}
static inline void mpi_status_bytes_set(MPI_Status *status, uint64_t bytes) /* as they are, cancelled or not */
{
    status->MPI_internal[0] = (int)(uint32_t)bytes;
    status->MPI_internal[1] = (int)((uint32_t)(bytes >> 32) << 1) | mpi_status_cancelled(status);
}

#elif defined(MPI_ADDRESS_HANDLES)

static inline uint64_t mpi_status_bytes(const MPI_Status *status) { return status->bytes; }
static inline bool mpi_status_cancelled(const MPI_Status *status) { return status->cancelled; }
static inline void mpi_status_cancel(MPI_Status *status, bool cancelled) { status->cancelled = cancelled; }
static inline void mpi_status_bytes_set(MPI_Status *status, uint64_t bytes) { status->bytes = bytes; }

#else

static inline uint64_t mpi_status_bytes(const MPI_Status *status)
{
    uint64_t bytes;
    __builtin_memcpy(&bytes, status->MPI_internal, sizeof bytes);
    return bytes;
}
static inline bool mpi_status_cancelled(const MPI_Status *status) { return status->MPI_internal[2]; }
static inline void mpi_status_cancel(MPI_Status *status, bool cancelled) { status->MPI_internal[2] = cancelled; }
static inline void mpi_status_bytes_set(MPI_Status *status, uint64_t bytes) /* as they are, cancelled or not */
{
    __builtin_memcpy(status->MPI_internal, &bytes, sizeof bytes);
}

#endif

static inline void mpi_status_set(MPI_Status *status, int source, int tag, uint64_t bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    mpi_status_cancel(status, false);
    mpi_status_bytes_set(status, bytes);
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
