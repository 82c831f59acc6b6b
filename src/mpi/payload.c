/* VIADUCT_CHECK: what a collective takes and gives, as far as it is the same on all ranks. check_call.c compares it. */
#include "mpi/check.h"
#include "mpi/collective.h"
#include "mpi/comm.h"
#include "mpi/type.h"

/* Of a side, for one partner, or for RANKS with counts of their own. Of any length: something is wrong with it,
 * which is told later. */
static void data_find(const struct mpi_collective *c, const struct mpi_side *side, int ranks,
                      struct mpi_check_data *data)
{
    const struct mpi_type *type = mpi_type_at(side->type);
    MPI_Count elements = side->count;
    data->bytes = MPI_CHECK_ANY_LENGTH;
    if (!type || side->buffer == MPI_IN_PLACE || elements < 0)
        return;
    for (int i = 0; side->counts && i < ranks; i++)
        elements += c->wide ? ((const MPI_Count *)side->counts)[i] : ((const int *)side->counts)[i];
    if (__builtin_mul_overflow(elements, (MPI_Count)type->size, &data->bytes) || data->bytes < 0)
        data->bytes = MPI_CHECK_ANY_LENGTH;
    else
        mpi_check_data_sign(data, type);
}

/* The side that has the length on which all ranks agree; NULL: there is none. */
static const struct mpi_side *side_agreed(const struct mpi_collective *c, bool is_root)
{
    switch (c->kind) {
    case COLL_BARRIER:
    case COLL_GATHERV:
    case COLL_SCATTERV:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        return NULL;
    case COLL_GATHER:
        return is_root ? &c->receive : &c->send;
    case COLL_SCATTER:
        return is_root ? &c->send : &c->receive;
    default:
        return &c->receive;
    }
}

struct mpi_payload mpi_payload_of(struct mpi_collective c, const struct mpi_comm *comm)
{
    struct mpi_payload payload = {.taken.bytes = MPI_CHECK_ANY_LENGTH, .operation = MPI_CHECK_NO_OPERATION};
    const struct mpi_side *side = side_agreed(&c, c.root == comm->thing.rank);
    if (mpi_comm_is_inter(comm) || c.neighbors || !side)
        return payload;
    data_find(&c, side, comm->size, &payload.taken);
    payload.given = payload.taken;
    if ((c.kind == COLL_ALLGATHER || c.kind == COLL_ALLTOALL) && c.send.buffer != MPI_IN_PLACE)
        data_find(&c, &c.send, comm->size, &payload.given);
    bool reduces = c.kind >= COLL_REDUCE && c.kind <= COLL_REDUCE_SCATTER_BLOCK;
    const struct mpi_op *op = reduces ? mpi_op_at(c.op) : NULL;
    if (op)
        payload.operation = (int32_t)op->operation;
    return payload;
}
