/* Sessions, and sets of processes by their names. */
#pragma once

#include "mpi/comm.h"
#include "mpi/info.h"

struct mpi_session {
    struct mpi_thing thing;
    int thread_level;
    struct mpi_buffer buffer;
    struct mpi_session *next; /* the next older one that is open */
};

static inline struct mpi_session *mpi_session_at(MPI_Session handle)
{
    return mpi_object_at(KIND_SESSION, handle, sizeof(struct mpi_session));
}

/* Sets that this process is in, by number: the name of one. False: there are not so many. */
bool mpi_process_set(int number, char name[MPI_MAX_PSET_NAME_LEN]);
/* The world ranks of any set, to be freed, and how many. NULL: no such set (*size is -1), or no memory. */
int *mpi_process_set_ranks(const char *name, int *size);
