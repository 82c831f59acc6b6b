/* The entries of the collectives, each in six forms: blocking, non-blocking and persistent, with int and with 64-bit
 * counts. For a collective two macros tell what it takes (X, by the type of counts and displacements) and what
 * that is to collective.c (X_IS, by the entry's own name); its entries differ in nothing else. */
#include "mpi/collective.h"

/* What follows the communicator, and what each way does with it. */
#define STARTED MPI_Request *request
#define PERSISTENT MPI_Info info, MPI_Request *request
#define RUN(what) (HERE(), mpi_collective_run(what))
#define START(what) (HERE(), mpi_collective_start(what, request))
#define PREPARE(what) (HERE(), mpi_collective_prepare(what, info, request))

/* One side: a count for all partners, or an array with one for each. */
#define SIDE(c, side, number) c void *side, number side##_count, MPI_Datatype side##_type
#define SIDE_IS(side) {.buffer = side, .count = side##_count, .type = side##_type}
#define ARRAYS(c, side, number, offset)                                                                                \
    c void *side, const number side##_counts[], const offset side##_displacements[], MPI_Datatype side##_type
#define ARRAYS_ARE(side)                                                                                               \
    {.buffer = side, .counts = side##_counts, .displacements = side##_displacements, .type = side##_type}

/* ---- barrier and bcast ------------------------------------------------------------------------------------------ */

#define BARRIER_IS &(struct mpi_collective){NAME, COLL_BARRIER, comm}
ENTRY(MPI_Barrier)(MPI_Comm comm) { return RUN(BARRIER_IS); }
ENTRY(MPI_Ibarrier)(MPI_Comm comm, STARTED) { return START(BARRIER_IS); }
ENTRY(MPI_Barrier_init)(MPI_Comm comm, PERSISTENT) { return PREPARE(BARRIER_IS); }

#define BCAST(number) void *buffer, number count, MPI_Datatype type, int root, MPI_Comm comm
#define BCAST_IS                                                                                                       \
    &(struct mpi_collective){NAME, COLL_BCAST, comm, root, .receive = {.buffer = buffer, .count = count, .type = type}}
ENTRY(MPI_Bcast)(BCAST(int)) { return RUN(BCAST_IS); }
ENTRY(MPI_Bcast_c)(BCAST(MPI_Count)) { return RUN(BCAST_IS); }
ENTRY(MPI_Ibcast)(BCAST(int), STARTED) { return START(BCAST_IS); }
ENTRY(MPI_Ibcast_c)(BCAST(MPI_Count), STARTED) { return START(BCAST_IS); }
ENTRY(MPI_Bcast_init)(BCAST(int), PERSISTENT) { return PREPARE(BCAST_IS); }
ENTRY(MPI_Bcast_init_c)(BCAST(MPI_Count), PERSISTENT) { return PREPARE(BCAST_IS); }

/* ---- gather and scatter ----------------------------------------------------------------------------------------- */

#define TWO(number) SIDE(const, send, number), SIDE(, receive, number)
#define TWO_ARE .send = SIDE_IS(send), .receive = SIDE_IS(receive)
#define ROOTED(number) TWO(number), int root, MPI_Comm comm
#define GATHER_IS &(struct mpi_collective){NAME, COLL_GATHER, comm, root, TWO_ARE}
ENTRY(MPI_Gather)(ROOTED(int)) { return RUN(GATHER_IS); }
ENTRY(MPI_Gather_c)(ROOTED(MPI_Count)) { return RUN(GATHER_IS); }
ENTRY(MPI_Igather)(ROOTED(int), STARTED) { return START(GATHER_IS); }
ENTRY(MPI_Igather_c)(ROOTED(MPI_Count), STARTED) { return START(GATHER_IS); }
ENTRY(MPI_Gather_init)(ROOTED(int), PERSISTENT) { return PREPARE(GATHER_IS); }
ENTRY(MPI_Gather_init_c)(ROOTED(MPI_Count), PERSISTENT) { return PREPARE(GATHER_IS); }

#define GATHERV(number, offset)                                                                                  \
    SIDE(const, send, number), ARRAYS(, receive, number, offset), int root, MPI_Comm comm
#define GATHERV_IS                                                                                                     \
    &(struct mpi_collective){NAME, COLL_GATHERV, comm, root, .wide = WIDE(receive_counts),                             \
                             .send = SIDE_IS(send), .receive = ARRAYS_ARE(receive)}
ENTRY(MPI_Gatherv)(GATHERV(int, int)) { return RUN(GATHERV_IS); }
ENTRY(MPI_Gatherv_c)(GATHERV(MPI_Count, MPI_Aint)) { return RUN(GATHERV_IS); }
ENTRY(MPI_Igatherv)(GATHERV(int, int), STARTED) { return START(GATHERV_IS); }
ENTRY(MPI_Igatherv_c)(GATHERV(MPI_Count, MPI_Aint), STARTED) { return START(GATHERV_IS); }
ENTRY(MPI_Gatherv_init)(GATHERV(int, int), PERSISTENT) { return PREPARE(GATHERV_IS); }
ENTRY(MPI_Gatherv_init_c)(GATHERV(MPI_Count, MPI_Aint), PERSISTENT) { return PREPARE(GATHERV_IS); }

#define SCATTER_IS &(struct mpi_collective){NAME, COLL_SCATTER, comm, root, TWO_ARE}
ENTRY(MPI_Scatter)(ROOTED(int)) { return RUN(SCATTER_IS); }
ENTRY(MPI_Scatter_c)(ROOTED(MPI_Count)) { return RUN(SCATTER_IS); }
ENTRY(MPI_Iscatter)(ROOTED(int), STARTED) { return START(SCATTER_IS); }
ENTRY(MPI_Iscatter_c)(ROOTED(MPI_Count), STARTED) { return START(SCATTER_IS); }
ENTRY(MPI_Scatter_init)(ROOTED(int), PERSISTENT) { return PREPARE(SCATTER_IS); }
ENTRY(MPI_Scatter_init_c)(ROOTED(MPI_Count), PERSISTENT) { return PREPARE(SCATTER_IS); }

#define SCATTERV(number, offset)                                                                                 \
    ARRAYS(const, send, number, offset), SIDE(, receive, number), int root, MPI_Comm comm
#define SCATTERV_IS                                                                                                    \
    &(struct mpi_collective){NAME, COLL_SCATTERV, comm, root, .wide = WIDE(send_counts),                               \
                             .send = ARRAYS_ARE(send), .receive = SIDE_IS(receive)}
ENTRY(MPI_Scatterv)(SCATTERV(int, int)) { return RUN(SCATTERV_IS); }
ENTRY(MPI_Scatterv_c)(SCATTERV(MPI_Count, MPI_Aint)) { return RUN(SCATTERV_IS); }
ENTRY(MPI_Iscatterv)(SCATTERV(int, int), STARTED) { return START(SCATTERV_IS); }
ENTRY(MPI_Iscatterv_c)(SCATTERV(MPI_Count, MPI_Aint), STARTED) { return START(SCATTERV_IS); }
ENTRY(MPI_Scatterv_init)(SCATTERV(int, int), PERSISTENT) { return PREPARE(SCATTERV_IS); }
ENTRY(MPI_Scatterv_init_c)(SCATTERV(MPI_Count, MPI_Aint), PERSISTENT) { return PREPARE(SCATTERV_IS); }

/* ---- allgather and alltoall ------------------------------------------------------------------------------------- */

#define ALL(number) TWO(number), MPI_Comm comm
#define ALLGATHER_IS &(struct mpi_collective){NAME, COLL_ALLGATHER, comm, TWO_ARE}
ENTRY(MPI_Allgather)(ALL(int)) { return RUN(ALLGATHER_IS); }
ENTRY(MPI_Allgather_c)(ALL(MPI_Count)) { return RUN(ALLGATHER_IS); }
ENTRY(MPI_Iallgather)(ALL(int), STARTED) { return START(ALLGATHER_IS); }
ENTRY(MPI_Iallgather_c)(ALL(MPI_Count), STARTED) { return START(ALLGATHER_IS); }
ENTRY(MPI_Allgather_init)(ALL(int), PERSISTENT) { return PREPARE(ALLGATHER_IS); }
ENTRY(MPI_Allgather_init_c)(ALL(MPI_Count), PERSISTENT) { return PREPARE(ALLGATHER_IS); }

#define ALLGATHERV(number, offset) SIDE(const, send, number), ARRAYS(, receive, number, offset), MPI_Comm comm
#define ALLGATHERV_IS                                                                                                  \
    &(struct mpi_collective){NAME, COLL_ALLGATHERV, comm, .wide = WIDE(receive_counts),                                \
                             .send = SIDE_IS(send), .receive = ARRAYS_ARE(receive)}
ENTRY(MPI_Allgatherv)(ALLGATHERV(int, int)) { return RUN(ALLGATHERV_IS); }
ENTRY(MPI_Allgatherv_c)(ALLGATHERV(MPI_Count, MPI_Aint)) { return RUN(ALLGATHERV_IS); }
ENTRY(MPI_Iallgatherv)(ALLGATHERV(int, int), STARTED) { return START(ALLGATHERV_IS); }
ENTRY(MPI_Iallgatherv_c)(ALLGATHERV(MPI_Count, MPI_Aint), STARTED) { return START(ALLGATHERV_IS); }
ENTRY(MPI_Allgatherv_init)(ALLGATHERV(int, int), PERSISTENT) { return PREPARE(ALLGATHERV_IS); }
ENTRY(MPI_Allgatherv_init_c)(ALLGATHERV(MPI_Count, MPI_Aint), PERSISTENT) { return PREPARE(ALLGATHERV_IS); }

#define ALLTOALL_IS &(struct mpi_collective){NAME, COLL_ALLTOALL, comm, TWO_ARE}
ENTRY(MPI_Alltoall)(ALL(int)) { return RUN(ALLTOALL_IS); }
ENTRY(MPI_Alltoall_c)(ALL(MPI_Count)) { return RUN(ALLTOALL_IS); }
ENTRY(MPI_Ialltoall)(ALL(int), STARTED) { return START(ALLTOALL_IS); }
ENTRY(MPI_Ialltoall_c)(ALL(MPI_Count), STARTED) { return START(ALLTOALL_IS); }
ENTRY(MPI_Alltoall_init)(ALL(int), PERSISTENT) { return PREPARE(ALLTOALL_IS); }
ENTRY(MPI_Alltoall_init_c)(ALL(MPI_Count), PERSISTENT) { return PREPARE(ALLTOALL_IS); }

#define ALLTOALLV(number, offset)                                                                                \
    ARRAYS(const, send, number, offset), ARRAYS(, receive, number, offset), MPI_Comm comm
#define ALLTOALLV_IS                                                                                                   \
    &(struct mpi_collective){NAME, COLL_ALLTOALLV, comm, .wide = WIDE(send_counts),                                    \
                             .send = ARRAYS_ARE(send), .receive = ARRAYS_ARE(receive)}
ENTRY(MPI_Alltoallv)(ALLTOALLV(int, int)) { return RUN(ALLTOALLV_IS); }
ENTRY(MPI_Alltoallv_c)(ALLTOALLV(MPI_Count, MPI_Aint)) { return RUN(ALLTOALLV_IS); }
ENTRY(MPI_Ialltoallv)(ALLTOALLV(int, int), STARTED) { return START(ALLTOALLV_IS); }
ENTRY(MPI_Ialltoallv_c)(ALLTOALLV(MPI_Count, MPI_Aint), STARTED) { return START(ALLTOALLV_IS); }
ENTRY(MPI_Alltoallv_init)(ALLTOALLV(int, int), PERSISTENT) { return PREPARE(ALLTOALLV_IS); }
ENTRY(MPI_Alltoallv_init_c)(ALLTOALLV(MPI_Count, MPI_Aint), PERSISTENT) { return PREPARE(ALLTOALLV_IS); }

#define TYPED(c, side, number, offset)                                                                                 \
    c void *side, const number side##_counts[], const offset side##_displacements[], const MPI_Datatype side##_types[]
#define TYPED_IS(side)                                                                                                 \
    {.buffer = side, .counts = side##_counts, .displacements = side##_displacements, .types = side##_types}
#define ALLTOALLW(number, offset)                                                                                \
    TYPED(const, send, number, offset), TYPED(, receive, number, offset), MPI_Comm comm
#define ALLTOALLW_IS                                                                                                   \
    &(struct mpi_collective){NAME, COLL_ALLTOALLW, comm, .wide = WIDE(send_counts),                                    \
                             .send = TYPED_IS(send), .receive = TYPED_IS(receive)}
ENTRY(MPI_Alltoallw)(ALLTOALLW(int, int)) { return RUN(ALLTOALLW_IS); }
ENTRY(MPI_Alltoallw_c)(ALLTOALLW(MPI_Count, MPI_Aint)) { return RUN(ALLTOALLW_IS); }
ENTRY(MPI_Ialltoallw)(ALLTOALLW(int, int), STARTED) { return START(ALLTOALLW_IS); }
ENTRY(MPI_Ialltoallw_c)(ALLTOALLW(MPI_Count, MPI_Aint), STARTED) { return START(ALLTOALLW_IS); }
ENTRY(MPI_Alltoallw_init)(ALLTOALLW(int, int), PERSISTENT) { return PREPARE(ALLTOALLW_IS); }
ENTRY(MPI_Alltoallw_init_c)(ALLTOALLW(MPI_Count, MPI_Aint), PERSISTENT) { return PREPARE(ALLTOALLW_IS); }

/* ---- reductions ------------------------------------------------------------------------------------------------- */

#define OPERANDS(number) const void *send, void *receive, number count, MPI_Datatype type, MPI_Op op
#define OPERANDS_ARE .op = op, .send = {.buffer = send}, .receive = {.buffer = receive, .count = count, .type = type}
#define REDUCE(number) OPERANDS(number), int root, MPI_Comm comm
#define REDUCE_IS &(struct mpi_collective){NAME, COLL_REDUCE, comm, root, OPERANDS_ARE}
ENTRY(MPI_Reduce)(REDUCE(int)) { return RUN(REDUCE_IS); }
ENTRY(MPI_Reduce_c)(REDUCE(MPI_Count)) { return RUN(REDUCE_IS); }
ENTRY(MPI_Ireduce)(REDUCE(int), STARTED) { return START(REDUCE_IS); }
ENTRY(MPI_Ireduce_c)(REDUCE(MPI_Count), STARTED) { return START(REDUCE_IS); }
ENTRY(MPI_Reduce_init)(REDUCE(int), PERSISTENT) { return PREPARE(REDUCE_IS); }
ENTRY(MPI_Reduce_init_c)(REDUCE(MPI_Count), PERSISTENT) { return PREPARE(REDUCE_IS); }

#define REDUCTION(number) OPERANDS(number), MPI_Comm comm
#define ALLREDUCE_IS &(struct mpi_collective){NAME, COLL_ALLREDUCE, comm, OPERANDS_ARE}
ENTRY(MPI_Allreduce)(REDUCTION(int)) { return RUN(ALLREDUCE_IS); }
ENTRY(MPI_Allreduce_c)(REDUCTION(MPI_Count)) { return RUN(ALLREDUCE_IS); }
ENTRY(MPI_Iallreduce)(REDUCTION(int), STARTED) { return START(ALLREDUCE_IS); }
ENTRY(MPI_Iallreduce_c)(REDUCTION(MPI_Count), STARTED) { return START(ALLREDUCE_IS); }
ENTRY(MPI_Allreduce_init)(REDUCTION(int), PERSISTENT) { return PREPARE(ALLREDUCE_IS); }
ENTRY(MPI_Allreduce_init_c)(REDUCTION(MPI_Count), PERSISTENT) { return PREPARE(ALLREDUCE_IS); }

#define SCAN_IS &(struct mpi_collective){NAME, COLL_SCAN, comm, OPERANDS_ARE}
ENTRY(MPI_Scan)(REDUCTION(int)) { return RUN(SCAN_IS); }
ENTRY(MPI_Scan_c)(REDUCTION(MPI_Count)) { return RUN(SCAN_IS); }
ENTRY(MPI_Iscan)(REDUCTION(int), STARTED) { return START(SCAN_IS); }
ENTRY(MPI_Iscan_c)(REDUCTION(MPI_Count), STARTED) { return START(SCAN_IS); }
ENTRY(MPI_Scan_init)(REDUCTION(int), PERSISTENT) { return PREPARE(SCAN_IS); }
ENTRY(MPI_Scan_init_c)(REDUCTION(MPI_Count), PERSISTENT) { return PREPARE(SCAN_IS); }

#define EXSCAN_IS &(struct mpi_collective){NAME, COLL_EXSCAN, comm, OPERANDS_ARE}
ENTRY(MPI_Exscan)(REDUCTION(int)) { return RUN(EXSCAN_IS); }
ENTRY(MPI_Exscan_c)(REDUCTION(MPI_Count)) { return RUN(EXSCAN_IS); }
ENTRY(MPI_Iexscan)(REDUCTION(int), STARTED) { return START(EXSCAN_IS); }
ENTRY(MPI_Iexscan_c)(REDUCTION(MPI_Count), STARTED) { return START(EXSCAN_IS); }
ENTRY(MPI_Exscan_init)(REDUCTION(int), PERSISTENT) { return PREPARE(EXSCAN_IS); }
ENTRY(MPI_Exscan_init_c)(REDUCTION(MPI_Count), PERSISTENT) { return PREPARE(EXSCAN_IS); }

#define BLOCK_IS &(struct mpi_collective){NAME, COLL_REDUCE_SCATTER_BLOCK, comm, OPERANDS_ARE}
ENTRY(MPI_Reduce_scatter_block)(REDUCTION(int)) { return RUN(BLOCK_IS); }
ENTRY(MPI_Reduce_scatter_block_c)(REDUCTION(MPI_Count)) { return RUN(BLOCK_IS); }
ENTRY(MPI_Ireduce_scatter_block)(REDUCTION(int), STARTED) { return START(BLOCK_IS); }
ENTRY(MPI_Ireduce_scatter_block_c)(REDUCTION(MPI_Count), STARTED) { return START(BLOCK_IS); }
ENTRY(MPI_Reduce_scatter_block_init)(REDUCTION(int), PERSISTENT) { return PREPARE(BLOCK_IS); }
ENTRY(MPI_Reduce_scatter_block_init_c)(REDUCTION(MPI_Count), PERSISTENT) { return PREPARE(BLOCK_IS); }

#define REDUCE_SCATTER(number)                                                                                   \
    const void *send, void *receive, const number counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define REDUCE_SCATTER_IS                                                                                              \
    &(struct mpi_collective){NAME, COLL_REDUCE_SCATTER, comm, .op = op, .wide = WIDE(counts), .send = {.buffer = send},\
                             .receive = {.buffer = receive, .counts = counts, .type = type}}
ENTRY(MPI_Reduce_scatter)(REDUCE_SCATTER(int)) { return RUN(REDUCE_SCATTER_IS); }
ENTRY(MPI_Reduce_scatter_c)(REDUCE_SCATTER(MPI_Count)) { return RUN(REDUCE_SCATTER_IS); }
ENTRY(MPI_Ireduce_scatter)(REDUCE_SCATTER(int), STARTED) { return START(REDUCE_SCATTER_IS); }
ENTRY(MPI_Ireduce_scatter_c)(REDUCE_SCATTER(MPI_Count), STARTED) { return START(REDUCE_SCATTER_IS); }
ENTRY(MPI_Reduce_scatter_init)(REDUCE_SCATTER(int), PERSISTENT) { return PREPARE(REDUCE_SCATTER_IS); }
ENTRY(MPI_Reduce_scatter_init_c)(REDUCE_SCATTER(MPI_Count), PERSISTENT) { return PREPARE(REDUCE_SCATTER_IS); }
