/* Every collective over every rank as root, counts from nothing to large, in place where that is allowed, in its blocking,
 * non-blocking and persistent form: each element tells who sent it and to whom. ranks: 1 2 3 5 8 tcp: 3 mixed: 6
 * timeout: 120 */
#include "mpi_check.h"

#define MOST 20000
static int *out, *in, *expected;

/* What rank FROM sends to rank TO at place I in a call with root or salt K. */
static int item(int from, int to, int i, int k) { return from * 1000003 + to * 10007 + i * 31 + k; }

/* How the call runs: three forms of one thing. */
enum form { BLOCKING, STARTED, PERSISTENT, FORMS };
#define RUN(form, blocking, started, prepared)                                                                          \
    do {                                                                                                                \
        MPI_Request request;                                                                                            \
        if (form == BLOCKING) {                                                                                         \
            CHECK_OK(blocking);                                                                                         \
        } else {                                                                                                        \
            CHECK_OK(form == STARTED ? started : prepared);                                                             \
            if (form == PERSISTENT)                                                                                     \
                CHECK_OK(MPI_Start(&request));                                                                          \
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                            \
            if (form == PERSISTENT)                                                                                     \
                CHECK_OK(MPI_Request_free(&request));                                                                   \
        }                                                                                                               \
    } while (0)
#define ALL MPI_COMM_WORLD, MPI_INFO_NULL, &request

static void check_ints(const char *what, const int *got, const int *right_ones, int n)
{
    for (int i = 0; i < n; i++)
        if (got[i] != right_ones[i]) {
            fprintf(stderr, "%s: rank %d of %d: item %d of %d is %d, not %d\n", what, rank, size, i, n, got[i], right_ones[i]);
            CHECK(!"wrong item");
            return;
        }
}

static void bcast(enum form form, int n, int root)
{
    for (int i = 0; i < n; i++) {
        expected[i] = item(root, 0, i, 1);
        out[i] = rank == root ? expected[i] : -1;
    }
    RUN(form, MPI_Bcast(out, n, MPI_INT, root, MPI_COMM_WORLD),
        MPI_Ibcast(out, n, MPI_INT, root, MPI_COMM_WORLD, &request), MPI_Bcast_init(out, n, MPI_INT, root, ALL));
    check_ints("bcast", out, expected, n);
}

static void gather(enum form form, int n, int root, int in_place)
{
    for (int i = 0; i < n; i++)
        out[i] = item(rank, root, i, 2);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++) {
            expected[r * n + i] = item(r, root, i, 2);
            in[r * n + i] = in_place && r == rank ? out[i] : -1;
        }
    const void *from = in_place && rank == root ? MPI_IN_PLACE : out;
    RUN(form, MPI_Gather(from, n, MPI_INT, in, n, MPI_INT, root, MPI_COMM_WORLD),
        MPI_Igather(from, n, MPI_INT, in, n, MPI_INT, root, MPI_COMM_WORLD, &request),
        MPI_Gather_init(from, n, MPI_INT, in, n, MPI_INT, root, ALL));
    if (rank == root)
        check_ints("gather", in, expected, n * size);
}

static void scatter(enum form form, int n, int root, int in_place)
{
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++)
            out[r * n + i] = item(root, r, i, 3);
    for (int i = 0; i < n; i++) {
        expected[i] = item(root, rank, i, 3);
        in[i] = -1;
    }
    void *to = in_place && rank == root ? MPI_IN_PLACE : in;
    RUN(form, MPI_Scatter(out, n, MPI_INT, to, n, MPI_INT, root, MPI_COMM_WORLD),
        MPI_Iscatter(out, n, MPI_INT, to, n, MPI_INT, root, MPI_COMM_WORLD, &request),
        MPI_Scatter_init(out, n, MPI_INT, to, n, MPI_INT, root, ALL));
    check_ints("scatter", to == in ? in : out + root * n, expected, n);
}

static void allgather(enum form form, int n, int in_place)
{
    for (int i = 0; i < n; i++)
        out[i] = item(rank, 0, i, 4);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++) {
            expected[r * n + i] = item(r, 0, i, 4);
            in[r * n + i] = in_place && r == rank ? out[i] : -1;
        }
    const void *from = in_place ? MPI_IN_PLACE : out;
    RUN(form, MPI_Allgather(from, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD),
        MPI_Iallgather(from, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD, &request),
        MPI_Allgather_init(from, n, MPI_INT, in, n, MPI_INT, ALL));
    check_ints("allgather", in, expected, n * size);
}

static void alltoall(enum form form, int n, int in_place)
{
    int *from = in_place ? in : out;
    memset(in, 0xFF, (size_t)(n * size) * sizeof(int));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++) {
            from[r * n + i] = item(rank, r, i, 5);
            expected[r * n + i] = item(r, rank, i, 5);
        }
    from = in_place ? MPI_IN_PLACE : out;
    RUN(form, MPI_Alltoall(from, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD),
        MPI_Ialltoall(from, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD, &request),
        MPI_Alltoall_init(from, n, MPI_INT, in, n, MPI_INT, ALL));
    check_ints("alltoall", in, expected, n * size);
}

/* ---- with counts of their own: rank r has n + r elements, some none, laid out backwards with gaps --------------------- */

static int counts[16], places[16], byte_places[16];
static MPI_Datatype types[16];
static int count_for(int a, int b, int n) { return (a * 3 + b * 5) % 4 == 1 ? 0 : n + a + b; }

static void lay_out(int n, int mine)
{
    int at = 0;
    for (int r = size - 1; r >= 0; r--) {
        counts[r] = count_for(r, mine, n);
        places[r] = at;
        byte_places[r] = at * (int)sizeof(int);
        types[r] = MPI_INT;
        at += counts[r] + 2;
    }
}

static void gatherv(enum form form, int n, int root)
{
    lay_out(n, root);
    memset(in, 0xFF, (MOST + 100) * sizeof(int));
    memset(expected, 0xFF, (MOST + 100) * sizeof(int));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            expected[places[r] + i] = item(r, root, i, 6);
    int mine = counts[rank];
    for (int i = 0; i < mine; i++)
        out[i] = item(rank, root, i, 6);
    RUN(form, MPI_Gatherv(out, mine, MPI_INT, in, counts, places, MPI_INT, root, MPI_COMM_WORLD),
        MPI_Igatherv(out, mine, MPI_INT, in, counts, places, MPI_INT, root, MPI_COMM_WORLD, &request),
        MPI_Gatherv_init(out, mine, MPI_INT, in, counts, places, MPI_INT, root, ALL));
    if (rank == root)
        check_ints("gatherv", in, expected, MOST + 100);
}

static void scatterv(enum form form, int n, int root)
{
    lay_out(n, root);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            out[places[r] + i] = item(root, r, i, 7);
    int mine = counts[rank];
    memset(in, 0xFF, (MOST + 100) * sizeof(int));
    memset(expected, 0xFF, (MOST + 100) * sizeof(int));
    for (int i = 0; i < mine; i++)
        expected[i] = item(root, rank, i, 7);
    RUN(form, MPI_Scatterv(out, counts, places, MPI_INT, in, mine, MPI_INT, root, MPI_COMM_WORLD),
        MPI_Iscatterv(out, counts, places, MPI_INT, in, mine, MPI_INT, root, MPI_COMM_WORLD, &request),
        MPI_Scatterv_init(out, counts, places, MPI_INT, in, mine, MPI_INT, root, ALL));
    check_ints("scatterv", in, expected, MOST + 100);
}

static void allgatherv(enum form form, int n)
{
    lay_out(n, 0);
    memset(in, 0xFF, (MOST + 100) * sizeof(int));
    memset(expected, 0xFF, (MOST + 100) * sizeof(int));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            expected[places[r] + i] = item(r, 0, i, 8);
    for (int i = 0; i < counts[rank]; i++)
        out[i] = item(rank, 0, i, 8);
    RUN(form, MPI_Allgatherv(out, counts[rank], MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD),
        MPI_Iallgatherv(out, counts[rank], MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, &request),
        MPI_Allgatherv_init(out, counts[rank], MPI_INT, in, counts, places, MPI_INT, ALL));
    check_ints("allgatherv", in, expected, MOST + 100);
}

static void alltoallv(enum form form, int n, int with_types)
{
    int to_counts[16], to_places[16], to_bytes[16];
    lay_out(n, rank); /* count_for is not symmetric in its arguments: what r sends to me is count_for(me, r) */
    memset(in, 0xFF, (MOST + 100) * sizeof(int));
    memset(expected, 0xFF, (MOST + 100) * sizeof(int));
    for (int r = 0, at = 1; r < size; r++) {
        to_counts[r] = counts[r];
        to_places[r] = at;
        to_bytes[r] = at * (int)sizeof(int);
        for (int i = 0; i < counts[r]; i++)
            out[at + i] = item(rank, r, i, 9);
        at += counts[r] + 1;
    }
    for (int r = 0, at = 3; r < size; r++) {
        counts[r] = count_for(rank, r, n);
        places[r] = at;
        byte_places[r] = at * (int)sizeof(int);
        for (int i = 0; i < counts[r]; i++)
            expected[at + i] = item(r, rank, i, 9);
        at += counts[r] + 3;
    }
    if (with_types)
        RUN(form, MPI_Alltoallw(out, to_counts, to_bytes, types, in, counts, byte_places, types, MPI_COMM_WORLD),
            MPI_Ialltoallw(out, to_counts, to_bytes, types, in, counts, byte_places, types, MPI_COMM_WORLD, &request),
            MPI_Alltoallw_init(out, to_counts, to_bytes, types, in, counts, byte_places, types, ALL));
    else
        RUN(form, MPI_Alltoallv(out, to_counts, to_places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD),
            MPI_Ialltoallv(out, to_counts, to_places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, &request),
            MPI_Alltoallv_init(out, to_counts, to_places, MPI_INT, in, counts, places, MPI_INT, ALL));
    check_ints("alltoallv", in, expected, MOST + 100);
}

/* ---- reductions ------------------------------------------------------------------------------------------------------- */

static int sum_up_to(int last, int i, int k)
{
    unsigned sum = 0;
    for (int r = 0; r <= last; r++)
        sum += (unsigned)item(r, 0, i, k);
    return (int)sum;
}

static void reduce(enum form form, int n, int root, int in_place)
{
    for (int i = 0; i < n; i++) {
        out[i] = item(rank, 0, i, 10);
        expected[i] = sum_up_to(size - 1, i, 10);
        in[i] = in_place ? out[i] : -1;
    }
    const void *from = in_place && rank == root ? MPI_IN_PLACE : out;
    RUN(form, MPI_Reduce(from, in, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD),
        MPI_Ireduce(from, in, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &request),
        MPI_Reduce_init(from, in, n, MPI_INT, MPI_SUM, root, ALL));
    if (rank == root)
        check_ints("reduce", in, expected, n);
    from = in_place ? MPI_IN_PLACE : out;
    memcpy(in, out, (size_t)n * sizeof(int));
    RUN(form, MPI_Allreduce(from, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
        MPI_Iallreduce(from, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        MPI_Allreduce_init(from, in, n, MPI_INT, MPI_SUM, ALL));
    check_ints("allreduce", in, expected, n);
}

static void scan(enum form form, int n, int in_place)
{
    for (int i = 0; i < n; i++) {
        in[i] = out[i] = item(rank, 0, i, 11);
        expected[i] = sum_up_to(rank, i, 11);
    }
    const void *from = in_place ? MPI_IN_PLACE : out;
    RUN(form, MPI_Scan(from, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
        MPI_Iscan(from, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        MPI_Scan_init(from, in, n, MPI_INT, MPI_SUM, ALL));
    check_ints("scan", in, expected, n);
    for (int i = 0; i < n; i++) {
        in[i] = out[i];
        expected[i] = sum_up_to(rank - 1, i, 11);
    }
    RUN(form, MPI_Exscan(from, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
        MPI_Iexscan(from, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        MPI_Exscan_init(from, in, n, MPI_INT, MPI_SUM, ALL));
    if (rank > 0)
        check_ints("exscan", in, expected, n);
}

static void reduce_scatter(enum form form, int n, int in_place)
{
    int total = 0, mine = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = r % 3 == 1 ? 0 : n + r;
        if (r == rank)
            mine = total;
        total += counts[r];
    }
    for (int i = 0; i < total; i++)
        in[i] = out[i] = item(rank, 0, i, 12);
    for (int i = 0; i < counts[rank]; i++)
        expected[i] = sum_up_to(size - 1, mine + i, 12);
    const void *from = in_place ? MPI_IN_PLACE : out;
    RUN(form, MPI_Reduce_scatter(from, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
        MPI_Ireduce_scatter(from, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        MPI_Reduce_scatter_init(from, in, counts, MPI_INT, MPI_SUM, ALL));
    check_ints("reduce_scatter", in, expected, counts[rank]);
    for (int i = 0; i < n * size; i++)
        in[i] = out[i] = item(rank, 0, i, 13);
    for (int i = 0; i < n; i++)
        expected[i] = sum_up_to(size - 1, rank * n + i, 13);
    RUN(form, MPI_Reduce_scatter_block(from, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
        MPI_Ireduce_scatter_block(from, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
        MPI_Reduce_scatter_block_init(from, in, n, MPI_INT, MPI_SUM, ALL));
    check_ints("reduce_scatter_block", in, expected, n);
}

static void all_kinds(enum form form, int n, int root)
{
    RUN(form, MPI_Barrier(MPI_COMM_WORLD), MPI_Ibarrier(MPI_COMM_WORLD, &request), MPI_Barrier_init(ALL));
    bcast(form, n, root);
    gatherv(form, n, root);
    scatterv(form, n, root);
    allgatherv(form, n);
    alltoallv(form, n, 0);
    alltoallv(form, n, 1);
    for (int in_place = 0; in_place < 2; in_place++) {
        gather(form, n, root, in_place);
        scatter(form, n, root, in_place);
        allgather(form, n, in_place);
        alltoall(form, n, in_place);
        reduce(form, n, root, in_place);
        scan(form, n, in_place);
        reduce_scatter(form, n, in_place);
    }
}

int main(void)
{
    static const int sizes[] = {0, 1, 2, 7, 100, 2000};
    check_init();
    out = malloc((MOST + 100) * sizeof(int));
    in = malloc((MOST + 100) * sizeof(int));
    expected = malloc((MOST + 100) * sizeof(int));
    for (int form = 0; form < FORMS; form++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (int root = 0; root < size; root += sizes[k] > 100 ? size / 2 + 1 : 1)
                all_kinds((enum form)form, sizes[k], root);
    free(out);
    free(in);
    free(expected);
    return check_finalize();
}
