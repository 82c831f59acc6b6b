/* VIADUCT_CHECK, collectives that differ: before a blocking collective its members tell each other which one they call,
 * and with which root. So those that differ end with an error that names both, where they would wait for ever, or
 * combine what does not belong together. What is non-blocking may be started in an order with messages in which nobody
 * could wait for that, so it is not looked at. */
#include "mpi/check.h"
#include "mpi/message.h"

struct said {
    int32_t kind, root;
    char call[40];
};

static const char *root_word(const struct said *said, char room[40])
{
    *room = 0;
    if (said->root >= 0)
        snprintf(room, 40, " with root %d", said->root);
    return room;
}

static int compare(struct mpi_comm *comm, const char *call, const struct said *all)
{
    char name[64], room[2][40];
    for (int i = 1; i < comm->size; i++)
        if (all[i].kind != all[0].kind || all[i].root != all[0].root)
            return mpi_error(comm, call, MPI_ERR_OTHER, "rank 0 calls %.39s%s, rank %d calls %.39s%s on %s",
                             all[0].call, root_word(&all[0], room[0]), i, all[i].call, root_word(&all[i], room[1]),
                             mpi_thing_name(comm, name));
    return MPI_SUCCESS;
}

int mpi_check_collective(struct mpi_comm *comm, const char *call, int kind, int root)
{
    struct said mine = {.kind = kind, .root = root}, *all = malloc((size_t)comm->size * sizeof *all);
    if (!all)
        return mpi_engine_error(comm, call, ERR_MEMORY);
    snprintf(mine.call, sizeof mine.call, "%s", call);
    struct coll_call tell = {.kind = COLL_ALLGATHER,
                             .group = &comm->coll,
                             .send = {.base = &mine, .count = sizeof mine},
                             .receive = {.base = all, .count = sizeof mine}};
    int error = vcoll_run(&tell);
    error = error ? mpi_engine_error(comm, call, error) : compare(comm, call, all);
    free(all);
    return error;
}
