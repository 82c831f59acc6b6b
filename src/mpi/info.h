/* Info objects: ordered lists of key and value. */
#pragma once

#include "mpi/arguments.h"

struct mpi_info_pair {
    char *key, *value;
};
struct mpi_info {
    struct mpi_object object;
    int pairs;
    struct mpi_info_pair *pair;
};

struct mpi_info *mpi_info_at(MPI_Info handle);
struct mpi_info *mpi_info_copy(const struct mpi_info *info); /* NULL: no memory */
struct mpi_info *mpi_info_of(const char *key, const char *value); /* a new one with that; NULL: no memory */
/* A new one becomes the program's; NULL: raises that there is no memory. */
int mpi_info_deliver(void *thing, const char *call, struct mpi_info *info, MPI_Info *out);
const char *mpi_info_value(const struct mpi_info *info, const char *key); /* NULL: not there */
int mpi_info_put(struct mpi_info *info, const char *key, const char *value); /* an MPI class, not raised */
void mpi_info_environment_open(int count, char **arguments);
