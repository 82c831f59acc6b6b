/* Entries: barrier, bcast, and the ones that gather at a root or scatter from it. See collective.h. */
#include "mpi/collective.h"

/* ---- barrier ---------------------------------------------------------------------------------------------------- */

int PMPI_Barrier(MPI_Comm comm)
{
    struct mpi_collective c = {.call = "MPI_Barrier", .kind = COLL_BARRIER, .comm = comm};
    DOING("MPI_Barrier");
    return mpi_collective_run(&c);
}
int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {.call = "MPI_Ibarrier", .kind = COLL_BARRIER, .comm = comm};
    DOING("MPI_Ibarrier");
    return mpi_collective_start(&c, request);
}
int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {.call = "MPI_Barrier_init", .kind = COLL_BARRIER, .comm = comm};
    DOING("MPI_Barrier_init");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- bcast ------------------------------------------------------------------------------------------------------ */

int PMPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Bcast", COLL_BCAST, comm, .root = root,
                               .receive = side_plain(buffer, count, type)};
    DOING("MPI_Bcast");
    return mpi_collective_run(&c);
}
int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Bcast_c", COLL_BCAST, comm, .root = root,
                               .receive = side_plain(buffer, count, type)};
    DOING("MPI_Bcast_c");
    return mpi_collective_run(&c);
}
int PMPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Ibcast", COLL_BCAST, comm, .root = root,
                               .receive = side_plain(buffer, count, type)};
    DOING("MPI_Ibcast");
    return mpi_collective_start(&c, request);
}
int PMPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Ibcast_c", COLL_BCAST, comm, .root = root,
                               .receive = side_plain(buffer, count, type)};
    DOING("MPI_Ibcast_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Bcast_init(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info,
                    MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Bcast_init", COLL_BCAST, comm, .root = root,
                               .receive = side_plain(buffer, count, type)};
    DOING("MPI_Bcast_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Bcast_init_c", COLL_BCAST, comm, .root = root,
                               .receive = side_plain(buffer, count, type)};
    DOING("MPI_Bcast_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- gather ----------------------------------------------------------------------------------------------------- */

int PMPI_Gather(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Gather", COLL_GATHER, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Gather");
    return mpi_collective_run(&c);
}
int PMPI_Gather_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                  MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Gather_c", COLL_GATHER, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Gather_c");
    return mpi_collective_run(&c);
}
int PMPI_Igather(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                 MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Igather", COLL_GATHER, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Igather");
    return mpi_collective_start(&c, request);
}
int PMPI_Igather_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                   MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Igather_c", COLL_GATHER, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Igather_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Gather_init(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                     MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Gather_init", COLL_GATHER, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Gather_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Gather_init_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                       MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Gather_init_c", COLL_GATHER, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Gather_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- gatherv ---------------------------------------------------------------------------------------------------- */

int PMPI_Gatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive, const int counts[],
                 const int displacements[], MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Gatherv", COLL_GATHERV, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_arrays(receive, receive_type, counts, displacements)};
    DOING("MPI_Gatherv");
    return mpi_collective_run(&c);
}
int PMPI_Gatherv_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                   const MPI_Count counts[], const MPI_Aint displacements[], MPI_Datatype receive_type, int root,
                   MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Gatherv_c", COLL_GATHERV, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_arrays(receive, receive_type, counts, displacements), .wide = true};
    DOING("MPI_Gatherv_c");
    return mpi_collective_run(&c);
}
int PMPI_Igatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive, const int counts[],
                  const int displacements[], MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Igatherv", COLL_GATHERV, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_arrays(receive, receive_type, counts, displacements)};
    DOING("MPI_Igatherv");
    return mpi_collective_start(&c, request);
}
int PMPI_Igatherv_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                    const MPI_Count counts[], const MPI_Aint displacements[], MPI_Datatype receive_type, int root,
                    MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Igatherv_c", COLL_GATHERV, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_arrays(receive, receive_type, counts, displacements), .wide = true};
    DOING("MPI_Igatherv_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Gatherv_init(const void *send, int send_count, MPI_Datatype send_type, void *receive, const int counts[],
                      const int displacements[], MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Gatherv_init", COLL_GATHERV, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_arrays(receive, receive_type, counts, displacements)};
    DOING("MPI_Gatherv_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Gatherv_init_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                        const MPI_Count counts[], const MPI_Aint displacements[], MPI_Datatype receive_type, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Gatherv_init_c", COLL_GATHERV, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_arrays(receive, receive_type, counts, displacements), .wide = true};
    DOING("MPI_Gatherv_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- scatter ---------------------------------------------------------------------------------------------------- */

int PMPI_Scatter(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                 MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Scatter", COLL_SCATTER, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Scatter");
    return mpi_collective_run(&c);
}
int PMPI_Scatter_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                   MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Scatter_c", COLL_SCATTER, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Scatter_c");
    return mpi_collective_run(&c);
}
int PMPI_Iscatter(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                  MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iscatter", COLL_SCATTER, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Iscatter");
    return mpi_collective_start(&c, request);
}
int PMPI_Iscatter_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                    MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iscatter_c", COLL_SCATTER, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Iscatter_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Scatter_init(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                      MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Scatter_init", COLL_SCATTER, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Scatter_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Scatter_init_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                        MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Scatter_init_c", COLL_SCATTER, comm, .root = root,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Scatter_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- scatterv --------------------------------------------------------------------------------------------------- */

int PMPI_Scatterv(const void *send, const int counts[], const int displacements[], MPI_Datatype send_type,
                  void *receive, int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Scatterv", COLL_SCATTERV, comm, .root = root,
                               .send = side_arrays(send, send_type, counts, displacements),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Scatterv");
    return mpi_collective_run(&c);
}
int PMPI_Scatterv_c(const void *send, const MPI_Count counts[], const MPI_Aint displacements[],
                    MPI_Datatype send_type, void *receive, MPI_Count receive_count, MPI_Datatype receive_type,
                    int root, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Scatterv_c", COLL_SCATTERV, comm, .root = root,
                               .send = side_arrays(send, send_type, counts, displacements),
                               .receive = side_plain(receive, receive_count, receive_type), .wide = true};
    DOING("MPI_Scatterv_c");
    return mpi_collective_run(&c);
}
int PMPI_Iscatterv(const void *send, const int counts[], const int displacements[], MPI_Datatype send_type,
                   void *receive, int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iscatterv", COLL_SCATTERV, comm, .root = root,
                               .send = side_arrays(send, send_type, counts, displacements),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Iscatterv");
    return mpi_collective_start(&c, request);
}
int PMPI_Iscatterv_c(const void *send, const MPI_Count counts[], const MPI_Aint displacements[],
                     MPI_Datatype send_type, void *receive, MPI_Count receive_count, MPI_Datatype receive_type,
                     int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iscatterv_c", COLL_SCATTERV, comm, .root = root,
                               .send = side_arrays(send, send_type, counts, displacements),
                               .receive = side_plain(receive, receive_count, receive_type), .wide = true};
    DOING("MPI_Iscatterv_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Scatterv_init(const void *send, const int counts[], const int displacements[], MPI_Datatype send_type,
                       void *receive, int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Scatterv_init", COLL_SCATTERV, comm, .root = root,
                               .send = side_arrays(send, send_type, counts, displacements),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Scatterv_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Scatterv_init_c(const void *send, const MPI_Count counts[], const MPI_Aint displacements[],
                         MPI_Datatype send_type, void *receive, MPI_Count receive_count, MPI_Datatype receive_type,
                         int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Scatterv_init_c", COLL_SCATTERV, comm, .root = root,
                               .send = side_arrays(send, send_type, counts, displacements),
                               .receive = side_plain(receive, receive_count, receive_type), .wide = true};
    DOING("MPI_Scatterv_init_c");
    return mpi_collective_prepare(&c, info, request);
}

ALIAS(MPI_Barrier);
ALIAS(MPI_Ibarrier);
ALIAS(MPI_Barrier_init);
ALIAS(MPI_Bcast);
ALIAS(MPI_Bcast_c);
ALIAS(MPI_Ibcast);
ALIAS(MPI_Ibcast_c);
ALIAS(MPI_Bcast_init);
ALIAS(MPI_Bcast_init_c);
ALIAS(MPI_Gather);
ALIAS(MPI_Gather_c);
ALIAS(MPI_Igather);
ALIAS(MPI_Igather_c);
ALIAS(MPI_Gather_init);
ALIAS(MPI_Gather_init_c);
ALIAS(MPI_Gatherv);
ALIAS(MPI_Gatherv_c);
ALIAS(MPI_Igatherv);
ALIAS(MPI_Igatherv_c);
ALIAS(MPI_Gatherv_init);
ALIAS(MPI_Gatherv_init_c);
ALIAS(MPI_Scatter);
ALIAS(MPI_Scatter_c);
ALIAS(MPI_Iscatter);
ALIAS(MPI_Iscatter_c);
ALIAS(MPI_Scatter_init);
ALIAS(MPI_Scatter_init_c);
ALIAS(MPI_Scatterv);
ALIAS(MPI_Scatterv_c);
ALIAS(MPI_Iscatterv);
ALIAS(MPI_Iscatterv_c);
ALIAS(MPI_Scatterv_init);
ALIAS(MPI_Scatterv_init_c);
