/* Entries: reductions. See collective.h; operations are in op.c. */
#include "mpi/collective.h"

/* ---- reduce ----------------------------------------------------------------------------------------------------- */

int PMPI_Reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Reduce", COLL_REDUCE, comm, .root = root, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Reduce");
    return mpi_collective_run(&c);
}
int PMPI_Reduce_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Reduce_c", COLL_REDUCE, comm, .root = root, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Reduce_c");
    return mpi_collective_run(&c);
}
int PMPI_Ireduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                 MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Ireduce", COLL_REDUCE, comm, .root = root, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Ireduce");
    return mpi_collective_start(&c, request);
}
int PMPI_Ireduce_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                   MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Ireduce_c", COLL_REDUCE, comm, .root = root, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Ireduce_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Reduce_init(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
                     MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Reduce_init", COLL_REDUCE, comm, .root = root, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Reduce_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Reduce_init_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Reduce_init_c", COLL_REDUCE, comm, .root = root, .op = op,
                               .send = {.buffer = send}, .receive = side_plain(receive, count, type)};
    DOING("MPI_Reduce_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- allreduce -------------------------------------------------------------------------------------------------- */

int PMPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Allreduce", COLL_ALLREDUCE, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Allreduce");
    return mpi_collective_run(&c);
}
int PMPI_Allreduce_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Allreduce_c", COLL_ALLREDUCE, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Allreduce_c");
    return mpi_collective_run(&c);
}
int PMPI_Iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                    MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iallreduce", COLL_ALLREDUCE, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Iallreduce");
    return mpi_collective_start(&c, request);
}
int PMPI_Iallreduce_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iallreduce_c", COLL_ALLREDUCE, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Iallreduce_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Allreduce_init(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                        MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Allreduce_init", COLL_ALLREDUCE, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Allreduce_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Allreduce_init_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Allreduce_init_c", COLL_ALLREDUCE, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Allreduce_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- scan ------------------------------------------------------------------------------------------------------- */

int PMPI_Scan(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Scan", COLL_SCAN, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Scan");
    return mpi_collective_run(&c);
}
int PMPI_Scan_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Scan_c", COLL_SCAN, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Scan_c");
    return mpi_collective_run(&c);
}
int PMPI_Iscan(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
               MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iscan", COLL_SCAN, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Iscan");
    return mpi_collective_start(&c, request);
}
int PMPI_Iscan_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                 MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iscan_c", COLL_SCAN, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Iscan_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Scan_init(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Scan_init", COLL_SCAN, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Scan_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Scan_init_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                     MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Scan_init_c", COLL_SCAN, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Scan_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- exscan ----------------------------------------------------------------------------------------------------- */

int PMPI_Exscan(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Exscan", COLL_EXSCAN, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Exscan");
    return mpi_collective_run(&c);
}
int PMPI_Exscan_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Exscan_c", COLL_EXSCAN, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Exscan_c");
    return mpi_collective_run(&c);
}
int PMPI_Iexscan(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                 MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iexscan", COLL_EXSCAN, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Iexscan");
    return mpi_collective_start(&c, request);
}
int PMPI_Iexscan_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iexscan_c", COLL_EXSCAN, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Iexscan_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Exscan_init(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                     MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Exscan_init", COLL_EXSCAN, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Exscan_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Exscan_init_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Exscan_init_c", COLL_EXSCAN, comm, .op = op, .send = {.buffer = send},
                               .receive = side_plain(receive, count, type)};
    DOING("MPI_Exscan_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- reduce_scatter --------------------------------------------------------------------------------------------- */

int PMPI_Reduce_scatter(const void *send, void *receive, const int counts[], MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Reduce_scatter", COLL_REDUCE_SCATTER, comm, .op = op, .send = {.buffer = send},
                               .receive = side_arrays(receive, type, counts, NULL)};
    DOING("MPI_Reduce_scatter");
    return mpi_collective_run(&c);
}
int PMPI_Reduce_scatter_c(const void *send, void *receive, const MPI_Count counts[], MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Reduce_scatter_c", COLL_REDUCE_SCATTER, comm, .op = op, .send = {.buffer = send},
                               .receive = side_arrays(receive, type, counts, NULL), .wide = true};
    DOING("MPI_Reduce_scatter_c");
    return mpi_collective_run(&c);
}
int PMPI_Ireduce_scatter(const void *send, void *receive, const int counts[], MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Ireduce_scatter", COLL_REDUCE_SCATTER, comm, .op = op, .send = {.buffer = send},
                               .receive = side_arrays(receive, type, counts, NULL)};
    DOING("MPI_Ireduce_scatter");
    return mpi_collective_start(&c, request);
}
int PMPI_Ireduce_scatter_c(const void *send, void *receive, const MPI_Count counts[], MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Ireduce_scatter_c", COLL_REDUCE_SCATTER, comm, .op = op, .send = {.buffer = send},
                               .receive = side_arrays(receive, type, counts, NULL), .wide = true};
    DOING("MPI_Ireduce_scatter_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Reduce_scatter_init(const void *send, void *receive, const int counts[], MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Reduce_scatter_init", COLL_REDUCE_SCATTER, comm, .op = op,
                               .send = {.buffer = send}, .receive = side_arrays(receive, type, counts, NULL)};
    DOING("MPI_Reduce_scatter_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Reduce_scatter_init_c(const void *send, void *receive, const MPI_Count counts[], MPI_Datatype type,
                               MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Reduce_scatter_init_c", COLL_REDUCE_SCATTER, comm, .op = op,
                               .send = {.buffer = send}, .receive = side_arrays(receive, type, counts, NULL),
                               .wide = true};
    DOING("MPI_Reduce_scatter_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- reduce_scatter_block --------------------------------------------------------------------------------------- */

int PMPI_Reduce_scatter_block(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Reduce_scatter_block", COLL_REDUCE_SCATTER_BLOCK, comm, .op = op,
                               .send = {.buffer = send}, .receive = side_plain(receive, count, type)};
    DOING("MPI_Reduce_scatter_block");
    return mpi_collective_run(&c);
}
int PMPI_Reduce_scatter_block_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Reduce_scatter_block_c", COLL_REDUCE_SCATTER_BLOCK, comm, .op = op,
                               .send = {.buffer = send}, .receive = side_plain(receive, count, type)};
    DOING("MPI_Reduce_scatter_block_c");
    return mpi_collective_run(&c);
}
int PMPI_Ireduce_scatter_block(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                               MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Ireduce_scatter_block", COLL_REDUCE_SCATTER_BLOCK, comm, .op = op,
                               .send = {.buffer = send}, .receive = side_plain(receive, count, type)};
    DOING("MPI_Ireduce_scatter_block");
    return mpi_collective_start(&c, request);
}
int PMPI_Ireduce_scatter_block_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                 MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Ireduce_scatter_block_c", COLL_REDUCE_SCATTER_BLOCK, comm, .op = op,
                               .send = {.buffer = send}, .receive = side_plain(receive, count, type)};
    DOING("MPI_Ireduce_scatter_block_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Reduce_scatter_block_init(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Reduce_scatter_block_init", COLL_REDUCE_SCATTER_BLOCK, comm, .op = op,
                               .send = {.buffer = send}, .receive = side_plain(receive, count, type)};
    DOING("MPI_Reduce_scatter_block_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Reduce_scatter_block_init_c(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                     MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Reduce_scatter_block_init_c", COLL_REDUCE_SCATTER_BLOCK, comm, .op = op,
                               .send = {.buffer = send}, .receive = side_plain(receive, count, type)};
    DOING("MPI_Reduce_scatter_block_init_c");
    return mpi_collective_prepare(&c, info, request);
}

ALIAS(MPI_Reduce);
ALIAS(MPI_Reduce_c);
ALIAS(MPI_Ireduce);
ALIAS(MPI_Ireduce_c);
ALIAS(MPI_Reduce_init);
ALIAS(MPI_Reduce_init_c);
ALIAS(MPI_Allreduce);
ALIAS(MPI_Allreduce_c);
ALIAS(MPI_Iallreduce);
ALIAS(MPI_Iallreduce_c);
ALIAS(MPI_Allreduce_init);
ALIAS(MPI_Allreduce_init_c);
ALIAS(MPI_Scan);
ALIAS(MPI_Scan_c);
ALIAS(MPI_Iscan);
ALIAS(MPI_Iscan_c);
ALIAS(MPI_Scan_init);
ALIAS(MPI_Scan_init_c);
ALIAS(MPI_Exscan);
ALIAS(MPI_Exscan_c);
ALIAS(MPI_Iexscan);
ALIAS(MPI_Iexscan_c);
ALIAS(MPI_Exscan_init);
ALIAS(MPI_Exscan_init_c);
ALIAS(MPI_Reduce_scatter);
ALIAS(MPI_Reduce_scatter_c);
ALIAS(MPI_Ireduce_scatter);
ALIAS(MPI_Ireduce_scatter_c);
ALIAS(MPI_Reduce_scatter_init);
ALIAS(MPI_Reduce_scatter_init_c);
ALIAS(MPI_Reduce_scatter_block);
ALIAS(MPI_Reduce_scatter_block_c);
ALIAS(MPI_Ireduce_scatter_block);
ALIAS(MPI_Ireduce_scatter_block_c);
ALIAS(MPI_Reduce_scatter_block_init);
ALIAS(MPI_Reduce_scatter_block_init_c);
