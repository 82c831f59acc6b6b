/* The entries of the collectives, each in six forms: blocking, non-blocking and persistent, with int and with 64-bit
 * counts. For a collective two macros tell what it takes (X, by the type of counts and displacements) and what
 * that is to collective.c (X_IS, by the entry's own name); its entries differ in nothing else. */
#include "mpi/collective.h"

/* What follows the communicator, and what each way does with it. */
#define STARTED MPI_Request *request
#define PERSISTENT MPI_Info info, MPI_Request *request
#define RUN(...) mpi_collective_run(__VA_ARGS__)
#define START(...) mpi_collective_start(__VA_ARGS__, request)
#define PREPARE(...) mpi_collective_prepare(__VA_ARGS__, info, request)

/* The six forms of a collective. */
#define FORMS_OF(run, run_c, start, start_c, prepare, prepare_c, takes, narrow, wide, ...)                             \
    ENTERED(run, (takes narrow), RUN(__VA_ARGS__))                                                                     \
    ENTERED(run_c, (takes wide), RUN(__VA_ARGS__))                                                                     \
    ENTERED(start, (takes narrow, STARTED), START(__VA_ARGS__))                                                        \
    ENTERED(start_c, (takes wide, STARTED), START(__VA_ARGS__))                                                        \
    ENTERED(prepare, (takes narrow, PERSISTENT), PREPARE(__VA_ARGS__))                                                 \
    ENTERED(prepare_c, (takes wide, PERSISTENT), PREPARE(__VA_ARGS__))
#define FORMS(run, run_c, start, start_c, prepare, prepare_c, takes, ...)                                              \
    FORMS_OF(run, run_c, start, start_c, prepare, prepare_c, takes, (int), (MPI_Count), __VA_ARGS__)

/* One side: a count for all partners, or an array with one for each. */
#define SIDE(c, side, number) c void *side, number side##_count, MPI_Datatype side##_type
#define SIDE_IS(side) {.buffer = side, .count = side##_count, .type = side##_type}
#define ARRAYS(c, side, number, offset)                                                                                \
    c void *side, const number side##_counts[], const offset side##_displacements[], MPI_Datatype side##_type
#define ARRAYS_ARE(side)                                                                                               \
    {.buffer = side, .counts = side##_counts, .displacements = side##_displacements, .type = side##_type}

/* ---- barrier and bcast ------------------------------------------------------------------------------------------ */

#define BARRIER_IS &(struct mpi_collective){NAME, COLL_BARRIER, comm}
ENTERED(MPI_Barrier, (MPI_Comm comm), RUN(BARRIER_IS))
ENTERED(MPI_Ibarrier, (MPI_Comm comm, STARTED), START(BARRIER_IS))
ENTERED(MPI_Barrier_init, (MPI_Comm comm, PERSISTENT), PREPARE(BARRIER_IS))

#define BCAST(number) void *buffer, number count, MPI_Datatype type, int root, MPI_Comm comm
#define BCAST_IS                                                                                                       \
    &(struct mpi_collective){NAME, COLL_BCAST, comm, root, .receive = {.buffer = buffer, .count = count, .type = type}}
FORMS(MPI_Bcast, MPI_Bcast_c, MPI_Ibcast, MPI_Ibcast_c, MPI_Bcast_init, MPI_Bcast_init_c, BCAST, BCAST_IS)

/* ---- gather and scatter ----------------------------------------------------------------------------------------- */

#define TWO(number) SIDE(const, send, number), SIDE(, receive, number)
#define TWO_ARE .send = SIDE_IS(send), .receive = SIDE_IS(receive)
#define ROOTED(number) TWO(number), int root, MPI_Comm comm
#define GATHER_IS &(struct mpi_collective){NAME, COLL_GATHER, comm, root, TWO_ARE}
FORMS(MPI_Gather, MPI_Gather_c, MPI_Igather, MPI_Igather_c, MPI_Gather_init, MPI_Gather_init_c, ROOTED, GATHER_IS)

#define GATHERV(number, offset)                                                                                  \
    SIDE(const, send, number), ARRAYS(, receive, number, offset), int root, MPI_Comm comm
#define GATHERV_IS                                                                                                     \
    &(struct mpi_collective){NAME, COLL_GATHERV, comm, root, .wide = WIDE(receive_counts),                             \
                             .send = SIDE_IS(send), .receive = ARRAYS_ARE(receive)}
FORMS_OF(MPI_Gatherv, MPI_Gatherv_c, MPI_Igatherv, MPI_Igatherv_c, MPI_Gatherv_init, MPI_Gatherv_init_c, GATHERV,
         (int, int), (MPI_Count, MPI_Aint), GATHERV_IS)

#define SCATTER_IS &(struct mpi_collective){NAME, COLL_SCATTER, comm, root, TWO_ARE}
FORMS(MPI_Scatter, MPI_Scatter_c, MPI_Iscatter, MPI_Iscatter_c, MPI_Scatter_init, MPI_Scatter_init_c, ROOTED,
      SCATTER_IS)

#define SCATTERV(number, offset)                                                                                 \
    ARRAYS(const, send, number, offset), SIDE(, receive, number), int root, MPI_Comm comm
#define SCATTERV_IS                                                                                                    \
    &(struct mpi_collective){NAME, COLL_SCATTERV, comm, root, .wide = WIDE(send_counts),                               \
                             .send = ARRAYS_ARE(send), .receive = SIDE_IS(receive)}
FORMS_OF(MPI_Scatterv, MPI_Scatterv_c, MPI_Iscatterv, MPI_Iscatterv_c, MPI_Scatterv_init, MPI_Scatterv_init_c,
         SCATTERV, (int, int), (MPI_Count, MPI_Aint), SCATTERV_IS)

/* ---- allgather and alltoall ------------------------------------------------------------------------------------- */

#define ALL(number) TWO(number), MPI_Comm comm
#define ALLGATHER_IS &(struct mpi_collective){NAME, COLL_ALLGATHER, comm, TWO_ARE}
FORMS(MPI_Allgather, MPI_Allgather_c, MPI_Iallgather, MPI_Iallgather_c, MPI_Allgather_init, MPI_Allgather_init_c, ALL,
      ALLGATHER_IS)

#define ALLGATHERV(number, offset) SIDE(const, send, number), ARRAYS(, receive, number, offset), MPI_Comm comm
#define ALLGATHERV_IS                                                                                                  \
    &(struct mpi_collective){NAME, COLL_ALLGATHERV, comm, .wide = WIDE(receive_counts),                                \
                             .send = SIDE_IS(send), .receive = ARRAYS_ARE(receive)}
FORMS_OF(MPI_Allgatherv, MPI_Allgatherv_c, MPI_Iallgatherv, MPI_Iallgatherv_c, MPI_Allgatherv_init,
         MPI_Allgatherv_init_c, ALLGATHERV, (int, int), (MPI_Count, MPI_Aint), ALLGATHERV_IS)

#define ALLTOALL_IS &(struct mpi_collective){NAME, COLL_ALLTOALL, comm, TWO_ARE}
FORMS(MPI_Alltoall, MPI_Alltoall_c, MPI_Ialltoall, MPI_Ialltoall_c, MPI_Alltoall_init, MPI_Alltoall_init_c, ALL,
      ALLTOALL_IS)

#define ALLTOALLV(number, offset)                                                                                \
    ARRAYS(const, send, number, offset), ARRAYS(, receive, number, offset), MPI_Comm comm
#define ALLTOALLV_IS                                                                                                   \
    &(struct mpi_collective){NAME, COLL_ALLTOALLV, comm, .wide = WIDE(send_counts),                                    \
                             .send = ARRAYS_ARE(send), .receive = ARRAYS_ARE(receive)}
FORMS_OF(MPI_Alltoallv, MPI_Alltoallv_c, MPI_Ialltoallv, MPI_Ialltoallv_c, MPI_Alltoallv_init, MPI_Alltoallv_init_c,
         ALLTOALLV, (int, int), (MPI_Count, MPI_Aint), ALLTOALLV_IS)

#define TYPED(c, side, number, offset)                                                                                 \
    c void *side, const number side##_counts[], const offset side##_displacements[], const MPI_Datatype side##_types[]
#define TYPED_IS(side)                                                                                                 \
    {.buffer = side, .counts = side##_counts, .displacements = side##_displacements, .types = side##_types}
#define ALLTOALLW(number, offset)                                                                                \
    TYPED(const, send, number, offset), TYPED(, receive, number, offset), MPI_Comm comm
#define ALLTOALLW_IS                                                                                                   \
    &(struct mpi_collective){NAME, COLL_ALLTOALLW, comm, .wide = WIDE(send_counts),                                    \
                             .send = TYPED_IS(send), .receive = TYPED_IS(receive)}
FORMS_OF(MPI_Alltoallw, MPI_Alltoallw_c, MPI_Ialltoallw, MPI_Ialltoallw_c, MPI_Alltoallw_init, MPI_Alltoallw_init_c,
         ALLTOALLW, (int, int), (MPI_Count, MPI_Aint), ALLTOALLW_IS)

/* ---- reductions ------------------------------------------------------------------------------------------------- */

#define OPERANDS(number) const void *send, void *receive, number count, MPI_Datatype type, MPI_Op op
#define OPERANDS_ARE .op = op, .send = {.buffer = send}, .receive = {.buffer = receive, .count = count, .type = type}
#define REDUCE(number) OPERANDS(number), int root, MPI_Comm comm
#define REDUCE_IS &(struct mpi_collective){NAME, COLL_REDUCE, comm, root, OPERANDS_ARE}
FORMS(MPI_Reduce, MPI_Reduce_c, MPI_Ireduce, MPI_Ireduce_c, MPI_Reduce_init, MPI_Reduce_init_c, REDUCE, REDUCE_IS)

#define REDUCTION(number) OPERANDS(number), MPI_Comm comm
#define ALLREDUCE_IS &(struct mpi_collective){NAME, COLL_ALLREDUCE, comm, OPERANDS_ARE}
FORMS(MPI_Allreduce, MPI_Allreduce_c, MPI_Iallreduce, MPI_Iallreduce_c, MPI_Allreduce_init, MPI_Allreduce_init_c,
      REDUCTION, ALLREDUCE_IS)

#define SCAN_IS &(struct mpi_collective){NAME, COLL_SCAN, comm, OPERANDS_ARE}
FORMS(MPI_Scan, MPI_Scan_c, MPI_Iscan, MPI_Iscan_c, MPI_Scan_init, MPI_Scan_init_c, REDUCTION, SCAN_IS)

#define EXSCAN_IS &(struct mpi_collective){NAME, COLL_EXSCAN, comm, OPERANDS_ARE}
FORMS(MPI_Exscan, MPI_Exscan_c, MPI_Iexscan, MPI_Iexscan_c, MPI_Exscan_init, MPI_Exscan_init_c, REDUCTION, EXSCAN_IS)

#define BLOCK_IS &(struct mpi_collective){NAME, COLL_REDUCE_SCATTER_BLOCK, comm, OPERANDS_ARE}
FORMS(MPI_Reduce_scatter_block, MPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block, MPI_Ireduce_scatter_block_c,
      MPI_Reduce_scatter_block_init, MPI_Reduce_scatter_block_init_c, REDUCTION, BLOCK_IS)

#define REDUCE_SCATTER(number)                                                                                   \
    const void *send, void *receive, const number counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define REDUCE_SCATTER_IS                                                                                              \
    &(struct mpi_collective){NAME, COLL_REDUCE_SCATTER, comm, .op = op, .wide = WIDE(counts), .send = {.buffer = send},\
                             .receive = {.buffer = receive, .counts = counts, .type = type}}
FORMS(MPI_Reduce_scatter, MPI_Reduce_scatter_c, MPI_Ireduce_scatter, MPI_Ireduce_scatter_c, MPI_Reduce_scatter_init,
      MPI_Reduce_scatter_init_c, REDUCE_SCATTER, REDUCE_SCATTER_IS)
