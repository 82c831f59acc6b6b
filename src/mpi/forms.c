/* The entries of the collectives, each in six forms: blocking, non-blocking and persistent, with int and with 64-bit
 * counts. What a collective takes is written in mpi.h (MPI_ONE_ONE_ and its like); its row tells what that is to
 * collective.c, by the entry's own name. */
#include "mpi/collective.h"

/* Whom it is about, what follows that, and what each way does with it. */
#define ALL MPI_Comm comm
#define ROOT int root, MPI_Comm comm
#define STARTED MPI_Request *request
#define PERSISTENT MPI_Info info, MPI_Request *request
#define RUN(...) mpi_collective_run(__VA_ARGS__)
#define START(...) mpi_collective_start(__VA_ARGS__, request)
#define PREPARE(...) mpi_collective_prepare(__VA_ARGS__, info, request)

/* The six forms of a collective. */
#define FORMS(run, run_c, start, start_c, prepare, prepare_c, takes, whom, ...)                                        \
    ENTERED(run, (takes(int, int), whom), RUN(__VA_ARGS__))                                                            \
    ENTERED(run_c, (takes(MPI_Count, MPI_Aint), whom), RUN(__VA_ARGS__))                                               \
    ENTERED(start, (takes(int, int), whom, STARTED), START(__VA_ARGS__))                                               \
    ENTERED(start_c, (takes(MPI_Count, MPI_Aint), whom, STARTED), START(__VA_ARGS__))                                  \
    ENTERED(prepare, (takes(int, int), whom, PERSISTENT), PREPARE(__VA_ARGS__))                                        \
    ENTERED(prepare_c, (takes(MPI_Count, MPI_Aint), whom, PERSISTENT), PREPARE(__VA_ARGS__))

#define IS(kind, ...) &(struct mpi_collective){NAME, kind, comm, __VA_ARGS__}
/* The sides: a count for all partners, an array with one for each (V), and datatypes for each, too (W). */
#define SENDS .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype}
#define SENDS_V .send = {.buffer = sendbuf, .counts = sendcounts, .displacements = sdispls, .type = sendtype}
#define SENDS_W .send = {.buffer = sendbuf, .counts = sendcounts, .displacements = sdispls, .types = sendtypes}
#define RECEIVES .receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype}
#define RECEIVES_V .receive = {.buffer = recvbuf, .counts = recvcounts, .displacements = rdispls, .type = recvtype}
#define RECEIVES_W .receive = {.buffer = recvbuf, .counts = recvcounts, .displacements = rdispls, .types = recvtypes}
#define WIDE_BY(counts) .wide = WIDE(counts)

ENTERED(MPI_Barrier, (ALL), RUN(IS(COLL_BARRIER, 0)))
ENTERED(MPI_Ibarrier, (ALL, STARTED), START(IS(COLL_BARRIER, 0)))
ENTERED(MPI_Barrier_init, (ALL, PERSISTENT), PREPARE(IS(COLL_BARRIER, 0)))

FORMS(MPI_Bcast, MPI_Bcast_c, MPI_Ibcast, MPI_Ibcast_c, MPI_Bcast_init, MPI_Bcast_init_c, MPI_BUFFER_, ROOT,
      IS(COLL_BCAST, root, .receive = {.buffer = buffer, .count = count, .type = datatype}))

FORMS(MPI_Gather, MPI_Gather_c, MPI_Igather, MPI_Igather_c, MPI_Gather_init, MPI_Gather_init_c, MPI_ONE_ONE_, ROOT,
      IS(COLL_GATHER, root, SENDS, RECEIVES))
FORMS(MPI_Gatherv, MPI_Gatherv_c, MPI_Igatherv, MPI_Igatherv_c, MPI_Gatherv_init, MPI_Gatherv_init_c, MPI_ONE_MANY_,
      ROOT, IS(COLL_GATHERV, root, WIDE_BY(recvcounts), SENDS, RECEIVES_V))
FORMS(MPI_Scatter, MPI_Scatter_c, MPI_Iscatter, MPI_Iscatter_c, MPI_Scatter_init, MPI_Scatter_init_c, MPI_ONE_ONE_,
      ROOT, IS(COLL_SCATTER, root, SENDS, RECEIVES))
FORMS(MPI_Scatterv, MPI_Scatterv_c, MPI_Iscatterv, MPI_Iscatterv_c, MPI_Scatterv_init, MPI_Scatterv_init_c,
      MPI_MANY_ONE_, ROOT, IS(COLL_SCATTERV, root, WIDE_BY(sendcounts), SENDS_V, RECEIVES))

FORMS(MPI_Allgather, MPI_Allgather_c, MPI_Iallgather, MPI_Iallgather_c, MPI_Allgather_init, MPI_Allgather_init_c,
      MPI_ONE_ONE_, ALL, IS(COLL_ALLGATHER, SENDS, RECEIVES))
FORMS(MPI_Allgatherv, MPI_Allgatherv_c, MPI_Iallgatherv, MPI_Iallgatherv_c, MPI_Allgatherv_init,
      MPI_Allgatherv_init_c, MPI_ONE_MANY_, ALL, IS(COLL_ALLGATHERV, WIDE_BY(recvcounts), SENDS, RECEIVES_V))
FORMS(MPI_Alltoall, MPI_Alltoall_c, MPI_Ialltoall, MPI_Ialltoall_c, MPI_Alltoall_init, MPI_Alltoall_init_c,
      MPI_ONE_ONE_, ALL, IS(COLL_ALLTOALL, SENDS, RECEIVES))
FORMS(MPI_Alltoallv, MPI_Alltoallv_c, MPI_Ialltoallv, MPI_Ialltoallv_c, MPI_Alltoallv_init, MPI_Alltoallv_init_c,
      MPI_MANY_MANY_, ALL, IS(COLL_ALLTOALLV, WIDE_BY(sendcounts), SENDS_V, RECEIVES_V))
FORMS(MPI_Alltoallw, MPI_Alltoallw_c, MPI_Ialltoallw, MPI_Ialltoallw_c, MPI_Alltoallw_init, MPI_Alltoallw_init_c,
      MPI_TYPED_, ALL, IS(COLL_ALLTOALLW, WIDE_BY(sendcounts), SENDS_W, RECEIVES_W))

#define OPERANDS .op = op, .send = {.buffer = sendbuf}, .receive = {.buffer = recvbuf, .count = count, .type = datatype}
FORMS(MPI_Reduce, MPI_Reduce_c, MPI_Ireduce, MPI_Ireduce_c, MPI_Reduce_init, MPI_Reduce_init_c, MPI_REDUCED_, ROOT,
      IS(COLL_REDUCE, root, OPERANDS))
FORMS(MPI_Allreduce, MPI_Allreduce_c, MPI_Iallreduce, MPI_Iallreduce_c, MPI_Allreduce_init, MPI_Allreduce_init_c,
      MPI_REDUCED_, ALL, IS(COLL_ALLREDUCE, OPERANDS))
FORMS(MPI_Scan, MPI_Scan_c, MPI_Iscan, MPI_Iscan_c, MPI_Scan_init, MPI_Scan_init_c, MPI_REDUCED_, ALL,
      IS(COLL_SCAN, OPERANDS))
FORMS(MPI_Exscan, MPI_Exscan_c, MPI_Iexscan, MPI_Iexscan_c, MPI_Exscan_init, MPI_Exscan_init_c, MPI_REDUCED_, ALL,
      IS(COLL_EXSCAN, OPERANDS))
FORMS(MPI_Reduce_scatter_block, MPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block, MPI_Ireduce_scatter_block_c,
      MPI_Reduce_scatter_block_init, MPI_Reduce_scatter_block_init_c, MPI_REDUCED_, ALL,
      IS(COLL_REDUCE_SCATTER_BLOCK, OPERANDS))
FORMS(MPI_Reduce_scatter, MPI_Reduce_scatter_c, MPI_Ireduce_scatter, MPI_Ireduce_scatter_c, MPI_Reduce_scatter_init,
      MPI_Reduce_scatter_init_c, MPI_SHARED_OUT_, ALL,
      IS(COLL_REDUCE_SCATTER, .op = op, WIDE_BY(recvcounts), .send = {.buffer = sendbuf},
         .receive = {.buffer = recvbuf, .counts = recvcounts, .type = datatype}))
