/* Operations of messages, below the calls that make them: the check of their arguments, their start, and waiting for
 * one that lies on the caller's stack. */
#include "mpi/message.h"
#include "mpi/check.h"
#include "mpi/tool.h"

/* Whose argument it is, in a call that takes them for both sides. */
static const char *side_name(const char *call, bool receive)
{
    return !strstr(call, "endrecv") ? "" : receive ? "receive " : "send ";
}

/* What is wrong, in the order of the arguments a person would look at. */
int mpi_message_wrong(struct mpi_message message, bool receive)
{
    const struct mpi_message *m = &message;
    const char *side = side_name(m->call, receive);
    struct mpi_comm *comm = mpi_comm_at(m->comm);
    uint64_t bytes;
    char name[64];
    if (!comm)
        return mpi_wrong(NULL, m->call, &mpi_kind_comm, m->comm);
    const struct mpi_type *type = mpi_type_at(m->type);
    if (m->count < 0)
        return mpi_error(comm, m->call, MPI_ERR_COUNT, "%scount %lld is negative", side, (long long)m->count);
    if (!type || !type->committed)
        return mpi_wrong_type(comm, m->call, m->type, side);
    bool wildcard = receive && m->rank == MPI_ANY_SOURCE;
    if (m->rank != MPI_PROC_NULL && !wildcard && (unsigned)m->rank >= (unsigned)comm->peers)
        return mpi_error(comm, m->call, MPI_ERR_RANK, "%srank %d is not in %s of %d ranks",
                         strstr(m->call, "Intercomm") ? "remote leader: " : side, m->rank,
                         mpi_thing_name(comm, name), comm->peers);
    if (m->tag < 0 && !(receive && m->tag == MPI_ANY_TAG))
        return mpi_error(comm, m->call, MPI_ERR_TAG, "%stag %d is negative%s", side, m->tag,
                         receive                 ? " and not MPI_ANY_TAG"
                         : m->tag == MPI_ANY_TAG ? ": MPI_ANY_TAG is for receiving"
                                                 : "");
    if (__builtin_mul_overflow((uint64_t)m->count, type->size, &bytes))
        return mpi_error(comm, m->call, MPI_ERR_COUNT, "%lld of %s do not fit into 64 bits", (long long)m->count,
                         mpi_type_text(type));
    return mpi_error(comm, m->call, MPI_ERR_BUFFER, "the %sbuffer of %llu bytes is NULL", side,
                     (unsigned long long)bytes);
}

int mpi_message_check(const struct mpi_message *m, bool receives, struct mpi_target *target)
{
    mpi_enter(m->call);
    TRACE(m->call);
    struct mpi_comm *comm = mpi_comm_at(m->comm);
    struct mpi_type *type = mpi_type_at(m->type);
    *target = (struct mpi_target){comm, type};
    if (unlikely(!comm || !type || !mpi_data_fits(m->buffer, m->count, type) ||
                 (m->tag < 0 && !(receives && m->tag == MPI_ANY_TAG)) ||
                 ((unsigned)m->rank >= (unsigned)comm->peers && m->rank != MPI_PROC_NULL &&
                  !(receives && m->rank == MPI_ANY_SOURCE))))
        return mpi_message_wrong(*m, receives);
    return MPI_SUCCESS;
}

/* ---- operations ---- */

static COLD void operation_watch(struct msg_request *operation, const struct mpi_message *m,
                                 const struct mpi_target *target, bool sends, uint64_t bytes)
{
    if (mpi_checking)
        mpi_check_starts(operation, m, target, sends);
    if (mpi_tool_counting && sends)
        mpi_tool_count(target->comm, m->rank, bytes);
}

int mpi_operation_start(struct msg_request *operation, const struct mpi_message *m, const struct mpi_target *target,
                        enum mpi_way way, const struct type_buffer *data)
{
    struct type_buffer buffer = data ? *data : mpi_buffer((void *)m->buffer, (uint64_t)m->count, target->type);
    struct msg_where where = mpi_where(target->comm, m->rank, m->tag);
    operation->completed = NULL;
    operation->owner = NULL;
    if (unlikely(m->rank == MPI_PROC_NULL)) {
        operation->note = NULL;
        vmsg_request_settle(operation, &(struct msg_result){.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG});
        return OK;
    }
    if (unlikely(mpi_watching))
        operation_watch(operation, m, target, way != WAY_RECEIVE, type_buffer_bytes(&buffer));
    return way == WAY_RECEIVE ? vmsg_recv_start(operation, &where, &buffer)
                              : vmsg_send_start(operation, &where, &buffer, (enum msg_mode)way);
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

int mpi_receive_error(struct mpi_comm *comm, const char *call, int error, const struct msg_result *result)
{
    if (error != ERR_TRUNCATED)
        return mpi_engine_error(comm, call, error);
    return mpi_error(comm, call, MPI_ERR_TRUNCATE,
                     "the message from rank %d with tag %d is longer than the buffer of its receive (%llu bytes)",
                     result->source, result->tag, (unsigned long long)result->bytes);
}
