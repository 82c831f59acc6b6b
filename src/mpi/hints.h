/* Hints of communicators (hints.c). */
#pragma once

#include "mpi/comm.h"
#include "mpi/info.h"

int mpi_hints_keep(struct mpi_comm *comm, MPI_Info info); /* those that are understood; a class, not raised */
/* The end of a call that has made a communicator with this INFO, or has failed with this ERROR. A class that was
 * raised. */
int mpi_hints_give(const char *call, int error, MPI_Comm *made, MPI_Info info);
/* Adds them to *INFO, which may be NULL, and is where there is no memory. */
void mpi_memory_kinds(struct mpi_info **info);
