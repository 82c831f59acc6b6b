/* Entries: allgather and alltoall in all their forms. See collective.h. */
#include "mpi/collective.h"

/* ---- allgather -------------------------------------------------------------------------------------------------- */

int PMPI_Allgather(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Allgather", COLL_ALLGATHER, comm, .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Allgather");
    return mpi_collective_run(&c);
}
int PMPI_Allgather_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                     MPI_Count receive_count, MPI_Datatype receive_type, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Allgather_c", COLL_ALLGATHER, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Allgather_c");
    return mpi_collective_run(&c);
}
int PMPI_Iallgather(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                    MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iallgather", COLL_ALLGATHER, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Iallgather");
    return mpi_collective_start(&c, request);
}
int PMPI_Iallgather_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                      MPI_Count receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iallgather_c", COLL_ALLGATHER, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Iallgather_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Allgather_init(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                        MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Allgather_init", COLL_ALLGATHER, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Allgather_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Allgather_init_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                          MPI_Count receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Allgather_init_c", COLL_ALLGATHER, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Allgather_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- allgatherv ------------------------------------------------------------------------------------------------- */

int PMPI_Allgatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive, const int counts[],
                    const int displacements[], MPI_Datatype receive_type, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Allgatherv", COLL_ALLGATHERV, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_arrays(receive, receive_type, counts, displacements)};
    DOING("MPI_Allgatherv");
    return mpi_collective_run(&c);
}
int PMPI_Allgatherv_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                      const MPI_Count counts[], const MPI_Aint displacements[], MPI_Datatype receive_type,
                      MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Allgatherv_c", COLL_ALLGATHERV, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_arrays(receive, receive_type, counts, displacements), .wide = true};
    DOING("MPI_Allgatherv_c");
    return mpi_collective_run(&c);
}
int PMPI_Iallgatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive, const int counts[],
                     const int displacements[], MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iallgatherv", COLL_ALLGATHERV, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_arrays(receive, receive_type, counts, displacements)};
    DOING("MPI_Iallgatherv");
    return mpi_collective_start(&c, request);
}
int PMPI_Iallgatherv_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                       const MPI_Count counts[], const MPI_Aint displacements[], MPI_Datatype receive_type,
                       MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Iallgatherv_c", COLL_ALLGATHERV, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_arrays(receive, receive_type, counts, displacements), .wide = true};
    DOING("MPI_Iallgatherv_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Allgatherv_init(const void *send, int send_count, MPI_Datatype send_type, void *receive, const int counts[],
                         const int displacements[], MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Allgatherv_init", COLL_ALLGATHERV, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_arrays(receive, receive_type, counts, displacements)};
    DOING("MPI_Allgatherv_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Allgatherv_init_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                           const MPI_Count counts[], const MPI_Aint displacements[], MPI_Datatype receive_type,
                           MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Allgatherv_init_c", COLL_ALLGATHERV, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_arrays(receive, receive_type, counts, displacements), .wide = true};
    DOING("MPI_Allgatherv_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- alltoall --------------------------------------------------------------------------------------------------- */

int PMPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Alltoall", COLL_ALLTOALL, comm, .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Alltoall");
    return mpi_collective_run(&c);
}
int PMPI_Alltoall_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                    MPI_Count receive_count, MPI_Datatype receive_type, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Alltoall_c", COLL_ALLTOALL, comm, .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Alltoall_c");
    return mpi_collective_run(&c);
}
int PMPI_Ialltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Ialltoall", COLL_ALLTOALL, comm, .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Ialltoall");
    return mpi_collective_start(&c, request);
}
int PMPI_Ialltoall_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                     MPI_Count receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Ialltoall_c", COLL_ALLTOALL, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Ialltoall_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Alltoall_init(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                       MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Alltoall_init", COLL_ALLTOALL, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Alltoall_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Alltoall_init_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                         MPI_Count receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Alltoall_init_c", COLL_ALLTOALL, comm,
                               .send = side_plain(send, send_count, send_type),
                               .receive = side_plain(receive, receive_count, receive_type)};
    DOING("MPI_Alltoall_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- alltoallv -------------------------------------------------------------------------------------------------- */

int PMPI_Alltoallv(const void *send, const int send_counts[], const int send_displacements[], MPI_Datatype send_type,
                   void *receive, const int receive_counts[], const int receive_displacements[],
                   MPI_Datatype receive_type, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Alltoallv", COLL_ALLTOALLV, comm,
                               .send = side_arrays(send, send_type, send_counts, send_displacements),
                               .receive = side_arrays(receive, receive_type, receive_counts, receive_displacements)};
    DOING("MPI_Alltoallv");
    return mpi_collective_run(&c);
}
int PMPI_Alltoallv_c(const void *send, const MPI_Count send_counts[], const MPI_Aint send_displacements[],
                     MPI_Datatype send_type, void *receive, const MPI_Count receive_counts[],
                     const MPI_Aint receive_displacements[], MPI_Datatype receive_type, MPI_Comm comm)
{
    struct mpi_collective c = {"MPI_Alltoallv_c", COLL_ALLTOALLV, comm,
                               .send = side_arrays(send, send_type, send_counts, send_displacements),
                               .receive = side_arrays(receive, receive_type, receive_counts, receive_displacements),
                               .wide = true};
    DOING("MPI_Alltoallv_c");
    return mpi_collective_run(&c);
}
int PMPI_Ialltoallv(const void *send, const int send_counts[], const int send_displacements[], MPI_Datatype send_type,
                    void *receive, const int receive_counts[], const int receive_displacements[],
                    MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Ialltoallv", COLL_ALLTOALLV, comm,
                               .send = side_arrays(send, send_type, send_counts, send_displacements),
                               .receive = side_arrays(receive, receive_type, receive_counts, receive_displacements)};
    DOING("MPI_Ialltoallv");
    return mpi_collective_start(&c, request);
}
int PMPI_Ialltoallv_c(const void *send, const MPI_Count send_counts[], const MPI_Aint send_displacements[],
                      MPI_Datatype send_type, void *receive, const MPI_Count receive_counts[],
                      const MPI_Aint receive_displacements[], MPI_Datatype receive_type, MPI_Comm comm,
                      MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Ialltoallv_c", COLL_ALLTOALLV, comm,
                               .send = side_arrays(send, send_type, send_counts, send_displacements),
                               .receive = side_arrays(receive, receive_type, receive_counts, receive_displacements),
                               .wide = true};
    DOING("MPI_Ialltoallv_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Alltoallv_init(const void *send, const int send_counts[], const int send_displacements[],
                        MPI_Datatype send_type, void *receive, const int receive_counts[],
                        const int receive_displacements[], MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Alltoallv_init", COLL_ALLTOALLV, comm,
                               .send = side_arrays(send, send_type, send_counts, send_displacements),
                               .receive = side_arrays(receive, receive_type, receive_counts, receive_displacements)};
    DOING("MPI_Alltoallv_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Alltoallv_init_c(const void *send, const MPI_Count send_counts[], const MPI_Aint send_displacements[],
                          MPI_Datatype send_type, void *receive, const MPI_Count receive_counts[],
                          const MPI_Aint receive_displacements[], MPI_Datatype receive_type, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {"MPI_Alltoallv_init_c", COLL_ALLTOALLV, comm,
                               .send = side_arrays(send, send_type, send_counts, send_displacements),
                               .receive = side_arrays(receive, receive_type, receive_counts, receive_displacements),
                               .wide = true};
    DOING("MPI_Alltoallv_init_c");
    return mpi_collective_prepare(&c, info, request);
}

/* ---- alltoallw -------------------------------------------------------------------------------------------------- */

int PMPI_Alltoallw(const void *send, const int send_counts[], const int send_displacements[],
                   const MPI_Datatype send_types[], void *receive, const int receive_counts[],
                   const int receive_displacements[], const MPI_Datatype receive_types[], MPI_Comm comm)
{
    struct mpi_collective c = {
        "MPI_Alltoallw", COLL_ALLTOALLW, comm,
        .send = {.buffer = send, .counts = send_counts, .displacements = send_displacements, .types = send_types},
        .receive = {.buffer = receive,
                    .counts = receive_counts,
                    .displacements = receive_displacements,
                    .types = receive_types}};
    DOING("MPI_Alltoallw");
    return mpi_collective_run(&c);
}
int PMPI_Alltoallw_c(const void *send, const MPI_Count send_counts[], const MPI_Aint send_displacements[],
                     const MPI_Datatype send_types[], void *receive, const MPI_Count receive_counts[],
                     const MPI_Aint receive_displacements[], const MPI_Datatype receive_types[], MPI_Comm comm)
{
    struct mpi_collective c = {
        "MPI_Alltoallw_c",
        COLL_ALLTOALLW,
        comm,
        .send = {.buffer = send, .counts = send_counts, .displacements = send_displacements, .types = send_types},
        .receive = {.buffer = receive,
                    .counts = receive_counts,
                    .displacements = receive_displacements,
                    .types = receive_types},
        .wide = true};
    DOING("MPI_Alltoallw_c");
    return mpi_collective_run(&c);
}
int PMPI_Ialltoallw(const void *send, const int send_counts[], const int send_displacements[],
                    const MPI_Datatype send_types[], void *receive, const int receive_counts[],
                    const int receive_displacements[], const MPI_Datatype receive_types[], MPI_Comm comm,
                    MPI_Request *request)
{
    struct mpi_collective c = {
        "MPI_Ialltoallw", COLL_ALLTOALLW, comm,
        .send = {.buffer = send, .counts = send_counts, .displacements = send_displacements, .types = send_types},
        .receive = {.buffer = receive,
                    .counts = receive_counts,
                    .displacements = receive_displacements,
                    .types = receive_types}};
    DOING("MPI_Ialltoallw");
    return mpi_collective_start(&c, request);
}
int PMPI_Ialltoallw_c(const void *send, const MPI_Count send_counts[], const MPI_Aint send_displacements[],
                      const MPI_Datatype send_types[], void *receive, const MPI_Count receive_counts[],
                      const MPI_Aint receive_displacements[], const MPI_Datatype receive_types[], MPI_Comm comm,
                      MPI_Request *request)
{
    struct mpi_collective c = {
        "MPI_Ialltoallw_c",
        COLL_ALLTOALLW,
        comm,
        .send = {.buffer = send, .counts = send_counts, .displacements = send_displacements, .types = send_types},
        .receive = {.buffer = receive,
                    .counts = receive_counts,
                    .displacements = receive_displacements,
                    .types = receive_types},
        .wide = true};
    DOING("MPI_Ialltoallw_c");
    return mpi_collective_start(&c, request);
}
int PMPI_Alltoallw_init(const void *send, const int send_counts[], const int send_displacements[],
                        const MPI_Datatype send_types[], void *receive, const int receive_counts[],
                        const int receive_displacements[], const MPI_Datatype receive_types[], MPI_Comm comm,
                        MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {
        "MPI_Alltoallw_init", COLL_ALLTOALLW, comm,
        .send = {.buffer = send, .counts = send_counts, .displacements = send_displacements, .types = send_types},
        .receive = {.buffer = receive,
                    .counts = receive_counts,
                    .displacements = receive_displacements,
                    .types = receive_types}};
    DOING("MPI_Alltoallw_init");
    return mpi_collective_prepare(&c, info, request);
}
int PMPI_Alltoallw_init_c(const void *send, const MPI_Count send_counts[], const MPI_Aint send_displacements[],
                          const MPI_Datatype send_types[], void *receive, const MPI_Count receive_counts[],
                          const MPI_Aint receive_displacements[], const MPI_Datatype receive_types[], MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
    struct mpi_collective c = {
        "MPI_Alltoallw_init_c",
        COLL_ALLTOALLW,
        comm,
        .send = {.buffer = send, .counts = send_counts, .displacements = send_displacements, .types = send_types},
        .receive = {.buffer = receive,
                    .counts = receive_counts,
                    .displacements = receive_displacements,
                    .types = receive_types},
        .wide = true};
    DOING("MPI_Alltoallw_init_c");
    return mpi_collective_prepare(&c, info, request);
}

ALIAS(MPI_Allgather);
ALIAS(MPI_Allgather_c);
ALIAS(MPI_Iallgather);
ALIAS(MPI_Iallgather_c);
ALIAS(MPI_Allgather_init);
ALIAS(MPI_Allgather_init_c);
ALIAS(MPI_Allgatherv);
ALIAS(MPI_Allgatherv_c);
ALIAS(MPI_Iallgatherv);
ALIAS(MPI_Iallgatherv_c);
ALIAS(MPI_Allgatherv_init);
ALIAS(MPI_Allgatherv_init_c);
ALIAS(MPI_Alltoall);
ALIAS(MPI_Alltoall_c);
ALIAS(MPI_Ialltoall);
ALIAS(MPI_Ialltoall_c);
ALIAS(MPI_Alltoall_init);
ALIAS(MPI_Alltoall_init_c);
ALIAS(MPI_Alltoallv);
ALIAS(MPI_Alltoallv_c);
ALIAS(MPI_Ialltoallv);
ALIAS(MPI_Ialltoallv_c);
ALIAS(MPI_Alltoallv_init);
ALIAS(MPI_Alltoallv_init_c);
ALIAS(MPI_Alltoallw);
ALIAS(MPI_Alltoallw_c);
ALIAS(MPI_Ialltoallw);
ALIAS(MPI_Ialltoallw_c);
ALIAS(MPI_Alltoallw_init);
ALIAS(MPI_Alltoallw_init_c);
