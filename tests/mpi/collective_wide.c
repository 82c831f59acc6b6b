/* Every _c form of a collective, blocking, non-blocking and persistent, gives what the blocking form with int gives.
 * While a request is under way its arrays hold other values: mpi4py frees them then.
 * ranks: 1 2 3 5 8 tcp: 3 mixed: 5 */
#include "mpi_check.h"

#define MOST 8
#define EACH 3
static int in[MOST * EACH * 2], out[MOST * EACH * 2], expected[MOST * EACH * 2];
static int counts[MOST], places[MOST], bytes[MOST];
static MPI_Count counts_c[MOST];
static MPI_Aint places_c[MOST], bytes_c[MOST];
static MPI_Datatype types[MOST];

static void arrays_fill(void)
{
    for (int i = 0; i < size; i++) {
        counts_c[i] = counts[i];
        places_c[i] = places[i];
        bytes_c[i] = bytes[i];
        types[i] = MPI_INT;
    }
}

static void arrays_forget(void)
{
    for (int i = 0; i < size; i++) {
        counts_c[i] = 1 << 20;
        places_c[i] = bytes_c[i] = (MPI_Aint)1 << 40;
        types[i] = MPI_DATATYPE_NULL;
    }
}

static void again(void) { memset(out, 0x11, sizeof out); }

static void keep(void)
{
    memcpy(expected, out, sizeof out);
    again();
}

static void finish(MPI_Request *request, int persistent, const char *what)
{
    if (request) {
        for (int time = 0; time < 1 + persistent; time++) {
            if (persistent)
                CHECK_OK(MPI_Start(request));
            CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
        }
        if (persistent)
            CHECK_OK(MPI_Request_free(request));
        arrays_fill();
    }
    if (memcmp(out, expected, sizeof out) != 0)
        fprintf(stderr, "%s gives something else\n", what);
    CHECK(memcmp(out, expected, sizeof out) == 0);
    again();
}

/* PLAIN is the call to compare with; the others are its forms and their arguments, the last without the info. */
#define FORMS(plain, wide, started, persistent, ...)                                                                   \
    do {                                                                                                                \
        MPI_Request request;                                                                                            \
        again();                                                                                                        \
        CHECK_OK(plain);                                                                                                \
        keep();                                                                                                         \
        CHECK_OK(wide(__VA_ARGS__));                                                                                    \
        finish(NULL, 0, #wide);                                                                                         \
        CHECK_OK(started(__VA_ARGS__, &request));                                                                       \
        arrays_forget();                                                                                                \
        finish(&request, 0, #started);                                                                                  \
        CHECK_OK(persistent(__VA_ARGS__, MPI_INFO_NULL, &request));                                                     \
        arrays_forget();                                                                                                \
        finish(&request, 1, #persistent);                                                                               \
    } while (0)

static void sum_wide(void *from, void *to, MPI_Count *length, MPI_Datatype *type)
{
    for (MPI_Count i = 0; i < *length && *type == MPI_INT; i++)
        ((int *)to)[i] += ((int *)from)[i];
}

int main(void)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Op sum;
    check_init();
    int root = size / 2;
    for (int i = 0; i < MOST * EACH * 2; i++)
        in[i] = rank * 1000 + i;
    for (int i = 0; i < size; i++) {
        counts[i] = EACH;
        places[i] = (size - 1 - i) * EACH;
        bytes[i] = places[i] * (int)sizeof(int);
    }
    arrays_fill();
    CHECK_OK(MPI_Op_create_c(sum_wide, 1, &sum));

    FORMS(MPI_Gather(in, EACH, MPI_INT, out, EACH, MPI_INT, root, comm), MPI_Gather_c, MPI_Igather_c, MPI_Gather_init_c, in,
          EACH, MPI_INT, out, EACH, MPI_INT, root, comm);
    FORMS(MPI_Gatherv(in, EACH, MPI_INT, out, counts, places, MPI_INT, root, comm), MPI_Gatherv_c, MPI_Igatherv_c,
          MPI_Gatherv_init_c, in, EACH, MPI_INT, out, counts_c, places_c, MPI_INT, root, comm);
    FORMS(MPI_Scatter(in, EACH, MPI_INT, out, EACH, MPI_INT, root, comm), MPI_Scatter_c, MPI_Iscatter_c, MPI_Scatter_init_c,
          in, EACH, MPI_INT, out, EACH, MPI_INT, root, comm);
    FORMS(MPI_Scatterv(in, counts, places, MPI_INT, out, EACH, MPI_INT, root, comm), MPI_Scatterv_c, MPI_Iscatterv_c,
          MPI_Scatterv_init_c, in, counts_c, places_c, MPI_INT, out, EACH, MPI_INT, root, comm);
    FORMS(MPI_Allgather(in, EACH, MPI_INT, out, EACH, MPI_INT, comm), MPI_Allgather_c, MPI_Iallgather_c,
          MPI_Allgather_init_c, in, EACH, MPI_INT, out, EACH, MPI_INT, comm);
    FORMS(MPI_Allgatherv(in, EACH, MPI_INT, out, counts, places, MPI_INT, comm), MPI_Allgatherv_c, MPI_Iallgatherv_c,
          MPI_Allgatherv_init_c, in, EACH, MPI_INT, out, counts_c, places_c, MPI_INT, comm);
    FORMS(MPI_Alltoall(in, EACH, MPI_INT, out, EACH, MPI_INT, comm), MPI_Alltoall_c, MPI_Ialltoall_c, MPI_Alltoall_init_c,
          in, EACH, MPI_INT, out, EACH, MPI_INT, comm);
    FORMS(MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm), MPI_Alltoallv_c,
          MPI_Ialltoallv_c, MPI_Alltoallv_init_c, in, counts_c, places_c, MPI_INT, out, counts_c, places_c, MPI_INT, comm);
    FORMS(MPI_Alltoallw(in, counts, bytes, types, out, counts, bytes, types, comm), MPI_Alltoallw_c, MPI_Ialltoallw_c,
          MPI_Alltoallw_init_c, in, counts_c, bytes_c, types, out, counts_c, bytes_c, types, comm);
    FORMS(MPI_Reduce(in, out, EACH, MPI_INT, sum, root, comm), MPI_Reduce_c, MPI_Ireduce_c, MPI_Reduce_init_c, in, out, EACH,
          MPI_INT, MPI_SUM, root, comm);
    FORMS(MPI_Allreduce(in, out, EACH, MPI_INT, MPI_SUM, comm), MPI_Allreduce_c, MPI_Iallreduce_c, MPI_Allreduce_init_c, in,
          out, EACH, MPI_INT, sum, comm);
    FORMS(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm), MPI_Reduce_scatter_c, MPI_Ireduce_scatter_c,
          MPI_Reduce_scatter_init_c, in, out, counts_c, MPI_INT, sum, comm);
    FORMS(MPI_Reduce_scatter_block(in, out, EACH, MPI_INT, MPI_SUM, comm), MPI_Reduce_scatter_block_c,
          MPI_Ireduce_scatter_block_c, MPI_Reduce_scatter_block_init_c, in, out, EACH, MPI_INT, sum, comm);
    FORMS(MPI_Scan(in, out, EACH, MPI_INT, MPI_SUM, comm), MPI_Scan_c, MPI_Iscan_c, MPI_Scan_init_c, in, out, EACH, MPI_INT,
          sum, comm);
    FORMS(MPI_Exscan(in, out, EACH, MPI_INT, MPI_SUM, comm), MPI_Exscan_c, MPI_Iexscan_c, MPI_Exscan_init_c, in, out, EACH,
          MPI_INT, sum, comm);
    /* Bcast is in place: the root's data are put there before each form. */
    MPI_Request request;
    memcpy(expected, in, sizeof in);
    MPI_Bcast(expected, MOST * EACH * 2, MPI_INT, root, comm);
    memcpy(out, in, sizeof in);
    CHECK_OK(MPI_Bcast_c(out, MOST * EACH * 2, MPI_INT, root, comm));
    finish(NULL, 0, "MPI_Bcast_c");
    memcpy(out, in, sizeof in);
    CHECK_OK(MPI_Ibcast_c(out, MOST * EACH * 2, MPI_INT, root, comm, &request));
    finish(&request, 0, "MPI_Ibcast_c");
    memcpy(out, in, sizeof in);
    CHECK_OK(MPI_Bcast_init_c(out, MOST * EACH * 2, MPI_INT, root, comm, MPI_INFO_NULL, &request));
    finish(&request, 1, "MPI_Bcast_init_c");

    again();
    CHECK_OK(MPI_Reduce_local(in, out, EACH, MPI_INT, MPI_SUM));
    keep();
    CHECK_OK(MPI_Reduce_local_c(in, out, EACH, MPI_INT, sum));
    finish(NULL, 0, "MPI_Reduce_local_c");
    CHECK_OK(MPI_Op_free(&sum));
    return check_finalize();
}
