/* VIADUCT_CHECK: what was never freed or received is told at MPI_Finalize (leftover.c), and a message that is received
 * as other types than it was sent as is told at once (signature.c). Without the setting it costs a look at a flag. */
#pragma once

#include "mpi/process.h"

#pragma GCC visibility push(hidden)

#define MPI_CHECK_MOST 20 /* warnings of a kind */
void mpi_check_open(void); /* reads the setting */
void *mpi_check_caller(void); /* the address in the program that the library was called from; NULL: unknown */
/* where that is: "file.c:12", else function and file */
const char *mpi_check_place(const void *caller, char text[400]);

/* Before an operation with COUNT of TYPE starts: what is sent is told along with the message, or what is expected is
 * kept. And when the operation is over: compares the two; harmless a second time. */
struct msg_request;
struct mpi_message;
struct mpi_target;
void mpi_check_starts(struct msg_request *operation, const struct mpi_message *message, const struct mpi_target *target,
                      bool sends) COLD;
void mpi_check_ends(struct msg_request *operation) COLD;
void mpi_check_leftovers(void); /* at MPI_Finalize */
/* All members of COMM are about to call the same: KIND, and ROOT if it is not negative. Before a blocking collective;
 * it waits for all members. */
struct mpi_comm;
int mpi_check_collective(struct mpi_comm *comm, const char *call, int kind, int root) COLD;

#pragma GCC visibility pop
