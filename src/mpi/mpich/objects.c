/* Constants of MPICH's ABI that are variables or a function: programs know their addresses. Of the variables only the
 * values matter. */
#include "mpi/status.h"

static int unweighted, weights_empty;
extern VEXPORT int *const MPI_UNWEIGHTED, *const MPI_WEIGHTS_EMPTY;
int *const MPI_UNWEIGHTED = &unweighted;
int *const MPI_WEIGHTS_EMPTY = &weights_empty;
extern VEXPORT const MPI_T_pvar_handle MPI_T_PVAR_ALL_HANDLES;
const MPI_T_pvar_handle MPI_T_PVAR_ALL_HANDLES = (MPI_T_pvar_handle)1;

VEXPORT int MPIR_Dup_fn(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
