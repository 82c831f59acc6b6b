/* VIADUCT_CHECK: what was never freed or received is told at MPI_Finalize (leftover.c), and a message that is received
 * as other types than it was sent as is told at once (signature.c). Collectives that differ between ranks are errors
 * (check_call.c), and so are two leaders that do not meet (check_leaders.c). Without the setting
 * it costs a look at a flag. */
#pragma once

#include "mpi/process.h"

#pragma GCC visibility push(hidden)

#define MPI_CHECK_MOST 20 /* warnings of a kind */
void mpi_check_open(void); /* reads the setting */
void *mpi_check_caller(void); /* the address in the program that the library was called from; NULL: unknown */
/* where that is: "file.c:12", else function and file */
const char *mpi_check_place(const void *caller, char text[400]);

/* The same as a number that stands for it in all ranks of one program; 0: unknown. In another program: NULL. */
uint64_t mpi_check_mark(const void *caller);
const void *mpi_check_marked(uint64_t mark);

/* Before an operation with COUNT of TYPE starts: what is sent is told along with the message, or what is expected is
 * kept. And when the operation is over: compares the two; harmless a second time. */
struct msg_request;
struct mpi_message;
struct mpi_target;
void mpi_check_starts(struct msg_request *operation, const struct mpi_message *message, const struct mpi_target *target,
                      bool sends) COLD;
void mpi_check_ends(struct msg_request *operation) COLD;
/* Before a collective of all of COMM: compares call, root and payload on all ranks (check_call.c). Raises what
 * differs. */
#define MPI_CHECK_NO_ROOT INT_MIN
#define MPI_CHECK_NO_OPERATION (-1)
#define MPI_CHECK_ANY_LENGTH (-1)
struct mpi_comm;
struct mpi_type;
struct coll_schedule;
struct mpi_check_data {
    int64_t bytes;      /* MPI_CHECK_ANY_LENGTH: unknown, or not the same on all ranks */
    uint64_t signature; /* of its types; 0: fits anything */
    char type[40];
};
void mpi_check_data_sign(struct mpi_check_data *data, const struct mpi_type *type) COLD; /* its bytes are of TYPE */
struct mpi_payload {
    struct mpi_check_data taken;
    struct mpi_check_data given; /* what each gives where it gets as much from each; else as TAKEN */
    int32_t operation;           /* enum type_operation: those of programs are one; MPI_CHECK_NO_OPERATION */
};
int mpi_check_call(struct mpi_comm *comm, const char *call, int root, const struct mpi_payload *payload) COLD;
/* The same of a call that does not block: prepared by all behind the call itself, THEN, which is launched when it has
 * passed. Done: that is over, too, or it has failed, which is raised by the caller. Drop it when it is done, or was not
 * launched. A rank without memory for it, or for the call itself (refuse), tells the others: it fails on all. */
struct mpi_call_check;
void mpi_check_call_refuse(struct mpi_comm *comm) COLD;
int mpi_check_call_prepare(struct mpi_comm *comm, const char *call, int root, const struct mpi_payload *payload,
                           struct mpi_call_check **out) COLD;
int mpi_check_call_launch(struct mpi_call_check *check, struct coll_schedule *then) COLD;
bool mpi_check_call_done(const struct mpi_call_check *check) COLD;
bool mpi_check_call_failed(const struct mpi_call_check *check) COLD;
int mpi_check_call_raise(const struct mpi_call_check *check, const char *call) COLD;
void mpi_check_call_drop(struct mpi_call_check *check) COLD;
/* Before the leaders of two groups talk over PEER (check_leaders.c): raises what differs. */
struct mpi_bridge;
int mpi_check_leaders(const struct mpi_bridge *bridge, const struct mpi_comm *peer) COLD;
void mpi_check_leftovers(void); /* at MPI_Finalize */

#pragma GCC visibility pop
