/* What Open MPI adds to MPI: questions for memory of devices, none of which is known here; of Open MPI 5 going on after
 * a rank has died, and infos of sessions, which are not here yet. As in mpi/not_yet.c only a communicator is read of
 * the arguments. And the statuses that mpi_f08 ignores, see fortran/other/modules.c. */
#include "mpi/not_yet.h"
#include "mpi/removed/removed.h"

static int status_ignore[MPI_F_STATUS_SIZE];
extern VEXPORT MPI_Fint *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;
MPI_Fint *MPI_F08_STATUS_IGNORE = status_ignore;
MPI_Fint *MPI_F08_STATUSES_IGNORE = status_ignore;

OLD(MPIX_Query_cuda_support, void) { return 0; }
OLD(MPIX_Query_rocm_support, void) { return 0; }

OLD(MPIX_Comm_ack_failed, void *comm) { return mpi_not_yet_of("MPIX_Comm_ack_failed", comm); }
OLD(MPIX_Comm_agree, void *comm) { return mpi_not_yet_of("MPIX_Comm_agree", comm); }
OLD(MPIX_Comm_failure_ack, void *comm) { return mpi_not_yet_of("MPIX_Comm_failure_ack", comm); }
OLD(MPIX_Comm_failure_get_acked, void *comm) { return mpi_not_yet_of("MPIX_Comm_failure_get_acked", comm); }
OLD(MPIX_Comm_get_failed, void *comm) { return mpi_not_yet_of("MPIX_Comm_get_failed", comm); }
OLD(MPIX_Comm_iagree, void *comm) { return mpi_not_yet_of("MPIX_Comm_iagree", comm); }
OLD(MPIX_Comm_is_revoked, void *comm) { return mpi_not_yet_of("MPIX_Comm_is_revoked", comm); }
OLD(MPIX_Comm_revoke, void *comm) { return mpi_not_yet_of("MPIX_Comm_revoke", comm); }
OLD(MPIX_Comm_shrink, void *comm) { return mpi_not_yet_of("MPIX_Comm_shrink", comm); }

OLD(MPI_Session_set_info, void *session, void *info)
{
    (void)session, (void)info;
    return mpi_not_yet("MPI_Session_set_info");
}
