/* What sends and receives share: waiting for an operation on the stack, and what is wrong with arguments. The checks at
 * the door (inside.h) only say that something is; this finds out what, in the order of the arguments a person would
 * look at, and makes the sentence. */
#include "mpi/inside.h"

static int wrong_rank(struct mpi_comm *comm, const struct mpi_message *m)
{
    char name[64];
    return mpi_error(comm, m->call, MPI_ERR_RANK, "rank %d is not in %s of %d ranks", m->rank,
                     mpi_comm_name(comm, name), comm->size);
}

static int wrong_tag(struct mpi_comm *comm, const struct mpi_message *m, bool receive)
{
    return mpi_error(comm, m->call, MPI_ERR_TAG, "tag %d is negative%s", m->tag,
                     receive                    ? " and not MPI_ANY_TAG"
                     : m->tag == MPI_ANY_TAG    ? ": MPI_ANY_TAG is for receiving"
                                                : "");
}

int mpi_message_wrong(struct mpi_message message, bool receive)
{
    const struct mpi_message *m = &message;
    struct mpi_comm *comm = mpi_comm_at(m->comm);
    if (!comm)
        return mpi_comm_wrong(m->call, m->comm);
    const struct mpi_type *type = mpi_type_at(m->type);
    if (m->count < 0)
        return mpi_error(comm, m->call, MPI_ERR_COUNT, "count %lld is negative", (long long)m->count);
    if (!type)
        return mpi_type_wrong(comm, m->call, m->type);
    if (!type->committed)
        return mpi_error(comm, m->call, MPI_ERR_TYPE, "%s is not committed: call MPI_Type_commit", mpi_type_text(type));
    bool wildcard = receive && m->rank == MPI_ANY_SOURCE;
    if (m->rank != MPI_PROC_NULL && !wildcard && (unsigned)m->rank >= (unsigned)comm->size)
        return wrong_rank(comm, m);
    if (m->tag < 0 && !(receive && m->tag == MPI_ANY_TAG))
        return wrong_tag(comm, m, receive);
    uint64_t bytes;
    if (__builtin_mul_overflow((uint64_t)m->count, type->size, &bytes))
        return mpi_error(comm, m->call, MPI_ERR_COUNT, "%lld of %s do not fit into 64 bits", (long long)m->count,
                         mpi_type_text(type));
    return mpi_error(comm, m->call, MPI_ERR_BUFFER, "the buffer of %llu bytes is NULL", (unsigned long long)bytes);
}

int mpi_wait_here(struct msg_request *operation)
{
    int error = vmsg_wait(operation);
    if (likely(vmsg_request_done(operation))) {
        if (unlikely(mpi_checking))
            mpi_check_ends(operation);
        return error;
    }
    vmsg_cancel(operation);
    if (!vmsg_request_done(operation))
        vmsg_wait(operation);
    if (!vmsg_request_done(operation))
        vmsg_abort(1, vbase_error_sentence(error));
    return error;
}
