/* What MPICH's library for C++ (libmpichcxx.so.12) calls in libmpich besides MPI, and what MPICH adds to MPI. Keys,
 * operations and error handlers learn how their functions are called. */
#include "mpi/attribute.h"
#include "mpi/comm.h"
#include "mpi/not_yet.h"
#include "mpi/type.h"

VEXPORT void MPII_Keyval_set_proxy(int key, mpi_copy_across *copy, mpi_delete_across *drop);
void MPII_Keyval_set_proxy(int key, mpi_copy_across *copy, mpi_delete_across *drop)
{
    struct mpi_keyval *keyval = mpi_keyval_at(key, KIND_COMM);
    if (!keyval)
        keyval = mpi_keyval_at(key, KIND_TYPE);
    if (!keyval)
        return;
    keyval->copy_across = copy;
    keyval->delete_across = drop;
}

VEXPORT void MPII_Op_set_cxx(MPI_Op op, void (*across)(void));
VEXPORT void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, void (*across)(void));

void MPII_Op_set_cxx(MPI_Op op, void (*across)(void))
{
    struct mpi_op *found = mpi_op_at(op);
    if (found)
        found->across = (mpi_op_across *)across;
}
void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, void (*across)(void))
{
    struct mpi_errhandler *found = mpi_errhandler_at(errhandler);
    if (found)
        found->across = (__typeof__(found->across))across;
}

/* ---- what MPICH adds ---- */

#define ADDED(name, ...)                                                                                               \
    VEXPORT int P##name(__VA_ARGS__);                                                                                  \
    extern VEXPORT __typeof__(P##name) name __attribute__((weak, alias("P" #name)));                                   \
    int P##name(__VA_ARGS__)

/* No memory of devices is known here. */
ADDED(MPIX_Query_cuda_support, void) { return 0; }
ADDED(MPIX_Query_hip_support, void) { return 0; }
ADDED(MPIX_Query_ze_support, void) { return 0; }
ADDED(MPIX_GPU_query_support, int kind, int *is_supported)
{
    const char *call = "MPIX_GPU_query_support";
    if (kind < 0 || kind > 2)
        return mpi_error(NULL, call, MPI_ERR_ARG, "%d is no kind of device memory", kind);
    return mpi_arguments(call, ARGUMENTS(GIVEN(is_supported))) ?: mpi_tell(is_supported, 0);
}
ADDED(MPIX_Delete_error_class, int class) { return PMPI_Remove_error_class(class); }
ADDED(MPIX_Delete_error_code, int code) { return PMPI_Remove_error_code(code); }
ADDED(MPIX_Delete_error_string, int code) { return PMPI_Remove_error_string(code); }

/* Going on after a rank has died: not here, by the error handler of the communicator. */
ADDED(MPIX_Comm_agree, MPI_Comm comm, int *flag)
{
    (void)flag;
    return mpi_not_yet_of("MPIX_Comm_agree", (void *)(intptr_t)comm);
}
ADDED(MPIX_Comm_failure_ack, MPI_Comm comm)
    { return mpi_not_yet_of("MPIX_Comm_failure_ack", (void *)(intptr_t)comm); }
ADDED(MPIX_Comm_failure_get_acked, MPI_Comm comm, MPI_Group *group)
{
    (void)group;
    return mpi_not_yet_of("MPIX_Comm_failure_get_acked", (void *)(intptr_t)comm);
}
ADDED(MPIX_Comm_get_failed, MPI_Comm comm, MPI_Group *group)
{
    (void)group;
    return mpi_not_yet_of("MPIX_Comm_get_failed", (void *)(intptr_t)comm);
}
ADDED(MPIX_Comm_revoke, MPI_Comm comm) { return mpi_not_yet_of("MPIX_Comm_revoke", (void *)(intptr_t)comm); }
ADDED(MPIX_Comm_shrink, MPI_Comm comm, MPI_Comm *made)
{
    (void)made;
    return mpi_not_yet_of("MPIX_Comm_shrink", (void *)(intptr_t)comm);
}
