/* What MPICH and Open MPI add to the standard, for Fortran; libmpich.so.12 and libmpi.so.40 have it in C. Whether a
 * kind of device is supported is told where other calls tell their error. */
#define SECTIONS(size, ...)
#include "fortran/entry.h"

#define ADDED(Name, name, ...)                               \
    extern int MPIX_##Name C_PARAMETERS(SMALL, __VA_ARGS__);  \
    extern int PMPIX_##Name C_PARAMETERS(SMALL, __VA_ARGS__); \
    ENTRY(MPIX_##Name, mpix_##name##_, SMALL, __VA_ARGS__)    \
    ENTRY(PMPIX_##Name, pmpix_##name##_, SMALL, __VA_ARGS__)
ADDED(Comm_failure_ack, comm_failure_ack, (COMM, comm))
ADDED(Comm_failure_get_acked, comm_failure_get_acked, (COMM, comm), (GROUP, failedgrp, OUT))
ADDED(Comm_revoke, comm_revoke, (COMM, comm))
ADDED(Comm_shrink, comm_shrink, (COMM, comm), (COMM, newcomm, OUT))
#ifdef MPI_ADDRESS_HANDLES /* Open MPI */
ADDED(Comm_ack_failed, comm_ack_failed, (COMM, comm), (INT, num_to_ack), (INT, num_acked, OUT))
ADDED(Comm_agree, comm_agree, (COMM, comm), (INT, flag, IO))
ADDED(Comm_get_failed, comm_get_failed, (COMM, comm), (GROUP, failedgrp, OUT))
ADDED(Comm_iagree, comm_iagree, (COMM, comm), (INT, flag, IO), (REQUEST, request, OUT))
ADDED(Comm_is_revoked, comm_is_revoked, (COMM, comm), (LOGICAL, flag, OUT))
#else
ADDED(Comm_agree, comm_agree, (COMM, comm), (LOGICAL, flag, IO))
ADDED(GPU_query_support, gpu_query_support, (INT, gpu_type), (LOGICAL, is_supported, OUT))
ADDED(Query_cuda_support, query_cuda_support, (NONE, none))
ADDED(Query_hip_support, query_hip_support, (NONE, none))
ADDED(Query_ze_support, query_ze_support, (NONE, none))
#endif
