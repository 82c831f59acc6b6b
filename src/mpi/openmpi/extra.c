/* What Open MPI adds to MPI: questions for memory of devices, none of which is known here, and going on after a rank
 * has died (Open MPI 5), which is not here yet. As in mpi/not_yet.c only a communicator is read of the arguments. */
#include "mpi/not_yet.h"
#include "mpi/removed/removed.h"

OLD(MPIX_Query_cuda_support, void) { return 0; }
OLD(MPIX_Query_rocm_support, void) { return 0; }

#define LATER(name) OLD(name, void *comm) { return mpi_not_yet_of(#name, comm); }
LATER(MPIX_Comm_ack_failed)
LATER(MPIX_Comm_agree)
LATER(MPIX_Comm_failure_ack)
LATER(MPIX_Comm_failure_get_acked)
LATER(MPIX_Comm_get_failed)
LATER(MPIX_Comm_iagree)
LATER(MPIX_Comm_is_revoked)
LATER(MPIX_Comm_revoke)
LATER(MPIX_Comm_shrink)
