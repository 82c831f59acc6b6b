/* Messages: the arguments of any send or receive, their check, and their operations (operation.c). */
#pragma once

#include "mpi/comm.h"
#include "mpi/type.h"

struct mpi_message {
    const char *call;
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    int rank, tag;
    MPI_Comm comm;
};
/* What they stand for, once checked. */
struct mpi_target {
    struct mpi_comm *comm;
    struct mpi_type *type;
};

/* Raises what is wrong. By value: on the hot path the arguments then stay in registers. */
int mpi_message_wrong(struct mpi_message message, bool receive) COLD;
/* Enters the call and checks the message; 0, or the class that was raised. */
int mpi_message_check(const struct mpi_message *message, bool receives, struct mpi_target *target);

static inline int mpi_source(int rank) { return rank == MPI_ANY_SOURCE ? MSG_ANY_SOURCE : rank; }
static inline struct msg_where mpi_where(const struct mpi_comm *comm, int rank, int tag)
{
    return (struct msg_where){comm->context, mpi_source(rank), tag == MPI_ANY_TAG ? MSG_ANY_TAG : tag};
}

/* What becomes of a message. */
enum mpi_way { WAY_STANDARD = MSG_STANDARD, WAY_SYNCHRONOUS = MSG_SYNCHRONOUS, WAY_RECEIVE, WAY_BUFFERED };

/* Starts the operation of a checked message, which is not buffered; with MPI_PROC_NULL it is over then. DATA: what is
 * sent in the place of its own; NULL: that. An error of the engine. */
int mpi_operation_start(struct msg_request *operation, const struct mpi_message *message,
                        const struct mpi_target *target, enum mpi_way way, const struct type_buffer *data);

/* Waits for an operation whose memory is the caller's stack: does not return while the engine may still use it. Where
 * the job is lost and even cancelling does not end the operation, the process ends. The operation's error. */
int mpi_wait_here(struct msg_request *operation);

int mpi_receive_error(struct mpi_comm *comm, const char *call, int error, const struct msg_result *result) COLD;

/* The buffers of MPI_Bsend (buffer.c): copies the message and sends the copy. */
int mpi_buffered_send(const struct mpi_message *message, const struct mpi_target *target);
extern struct mpi_buffer mpi_process_buffer;
/* Waits until all copies of BUFFER are sent. Raises on THING. */
int mpi_buffer_flush(const char *call, struct mpi_thing *thing, struct mpi_buffer *buffer);
