/* What Open MPI adds to MPI: questions for memory of devices. None is known here. */
#include "mpi/removed/removed.h"

OLD(MPIX_Query_cuda_support, void) { return 0; }
OLD(MPIX_Query_rocm_support, void) { return 0; }
