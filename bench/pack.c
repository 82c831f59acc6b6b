/* Packed messages beside the MPI of the same library: two ranks, both kinds in one process, rounds short and interleaved, for a machine
 * may change from one moment to the next. Ranks beyond two are there and silent.
 *
 *   mpicc -O2 -I ../src -o pack pack.c -lviaduct && mpiexec -n 2 ./pack [small|array|blocks|sizes]
 *
 * One line a figure; the last number is the ratio that the figure is about, the median of the rounds' ratios. `sizes` prints
 * microseconds a message for a length and one block of it: SIZE, then one way and streamed of each of: chosen, copied, alone;
 * at last for one way and streamed the worst that the chosen way is to any other. The last two are limits of connections that are set
 * from outside, which is no part of the interface; it is one channel for all, so that they use the same memory. */
#include "pack/pack.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <viaduct.h>

#define ROUNDS 45
#define BIG (1 << 20)
#define BLOCKS 64
#define BLOCK 200
#define WINDOW 16
#define APART 1000 /* from one block to the next */

static int rank;
static vd_channel *channel;
static char *out, *in;

static void check(int code)
{
    if (code == VD_OK)
        return;
    fprintf(stderr, "pack: %s\n", vd_error_text(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value)
{
    qsort(value, ROUNDS, sizeof *value, by_value);
    return value[ROUNDS / 2];
}

/* ---- one way of each -------------------------------------------------------------------------------------------- */

static void mpi_to(size_t bytes) { MPI_Send(out, (int)bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD); }
static void mpi_from(size_t bytes)
{
    MPI_Recv(in, (int)bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void block_to(size_t bytes)
{
    vd_connection *to = vd_begin_packing(channel, !rank);
    check(vd_pack(to, out, bytes, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS));
    check(vd_end_packing(to));
}
static void block_take(vd_connection *from, size_t bytes)
{
    check(vd_unpack(from, in, bytes, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS));
    check(vd_end_unpacking(from));
}
static void block_from(size_t bytes) { block_take(vd_begin_unpacking_from(channel, !rank), bytes); }
static void block_from_anyone(size_t bytes) { block_take(vd_begin_unpacking(channel), bytes); }

static void array_to(size_t bytes)
{
    vd_connection *to = vd_begin_packing(channel, !rank);
    check(vd_pack(to, &bytes, sizeof bytes, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS));
    check(vd_pack(to, out, bytes, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER));
    check(vd_end_packing(to));
}
static void array_from(size_t bytes)
{
    vd_connection *from = vd_begin_unpacking(channel);
    check(vd_unpack(from, &bytes, sizeof bytes, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS));
    check(vd_unpack(from, in, bytes, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER));
    check(vd_end_unpacking(from));
}

static void sends_to(size_t bytes)
{
    for (int i = 0; i < BLOCKS; i++)
        MPI_Send(out + i * APART, (int)bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD);
}
static void sends_from(size_t bytes)
{
    for (int i = 0; i < BLOCKS; i++)
        MPI_Recv(in + i * APART, (int)bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static char packed[BLOCKS * BLOCK];
static void mpi_pack_to(size_t bytes)
{
    int at = 0;
    for (int i = 0; i < BLOCKS; i++)
        MPI_Pack(out + i * APART, (int)bytes, MPI_BYTE, packed, sizeof packed, &at, MPI_COMM_WORLD);
    MPI_Send(packed, at, MPI_PACKED, !rank, 0, MPI_COMM_WORLD);
}
static void mpi_pack_from(size_t bytes)
{
    int at = 0;
    MPI_Recv(packed, sizeof packed, MPI_PACKED, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < BLOCKS; i++)
        MPI_Unpack(packed, sizeof packed, &at, in + i * APART, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void blocks_to(size_t bytes)
{
    vd_connection *to = vd_begin_packing(channel, !rank);
    for (int i = 0; i < BLOCKS; i++)
        check(vd_pack(to, out + i * APART, bytes, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER));
    check(vd_end_packing(to));
}
static void blocks_from(size_t bytes)
{
    vd_connection *from = vd_begin_unpacking(channel);
    for (int i = 0; i < BLOCKS; i++)
        check(vd_unpack(from, in + i * APART, bytes, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER));
    check(vd_end_unpacking(from));
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

struct kind {
    void (*to)(size_t bytes), (*from)(size_t bytes);
};

/* Microseconds one way. */
static double pingpong(struct kind kind, size_t bytes, int n)
{
    double start = 0;
    for (int i = -n / 10 - 1; i < n; i++) {
        if (i == 0)
            start = MPI_Wtime();
        if (rank == 0)
            kind.to(bytes);
        kind.from(bytes);
        if (rank == 1)
            kind.to(bytes);
    }
    return (MPI_Wtime() - start) / n / 2 * 1e6;
}

/* Microseconds a message, WINDOW of them between two answers. */
static double stream(struct kind kind, size_t bytes, int n)
{
    double start = 0;
    for (int i = -n / 10 - 1; i < n; i++) {
        if (i == 0)
            start = MPI_Wtime();
        for (int w = 0; w < WINDOW; w++)
            if (rank == 0)
                kind.to(bytes);
            else
                kind.from(bytes);
        char ack = 0;
        if (rank == 0)
            MPI_Recv(&ack, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&ack, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / n / WINDOW * 1e6;
}

typedef double pattern(struct kind kind, size_t bytes, int n);

/* OTHER beside PLAIN: the median of the rounds' ratios. */
static void beside(const char *what, pattern *measure, struct kind plain, struct kind other, size_t bytes, int n)
{
    double ratio[ROUNDS], a[ROUNDS], b[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        for (int turn = 0; turn < 2; turn++)
            if ((i + turn) % 2)
                b[i] = measure(other, bytes, n);
            else
                a[i] = measure(plain, bytes, n);
        ratio[i] = b[i] / a[i];
    }
    if (rank == 0)
        printf("%-34s %8zu bytes: %9.3f us, %9.3f us, ratio %.3f\n", what, bytes, median(a), median(b), median(ratio));
}

enum { CHOSEN, COPIED, ALONE, WAYS };

static double worst(double time[WAYS][ROUNDS])
{
    double most = 0, ratio[ROUNDS];
    for (int w = COPIED; w < WAYS; w++) {
        for (int i = 0; i < ROUNDS; i++)
            ratio[i] = time[CHOSEN][i] / time[w][i];
        double one = median(ratio);
        most = one > most ? one : most;
    }
    return most;
}

/* From now on every block goes this way, at both ends: what is longer goes alone. */
static void way_take(int way)
{
    static const size_t alone[WAYS] = {
        [CHOSEN] = PACK_ALONE,
        [COPIED] = PACK_FRAME - sizeof(size_t),
        [ALONE] = sizeof(size_t), /* but the length before it, as ever; blocks as short cannot be told from it */
    };
    channel->idle[0]->alone = channel->idle[1]->alone = alone[way];
}

static void sizes(struct kind array)
{
    pingpong(array, 1, 1); /* the first connections are there */
    for (size_t bytes = 1; bytes <= BIG; bytes *= 2) {
        double one[WAYS][ROUNDS], streamed[WAYS][ROUNDS];
        for (int i = 0; i < ROUNDS; i++)
            for (int w = 0; w < WAYS; w++) {
                int way = (w + i) % WAYS;
                way_take(way);
                one[way][i] = pingpong(array, bytes, bytes > 65536 ? 33 : 333);
                streamed[way][i] = stream(array, bytes, bytes > 65536 ? 4 : 33);
            }
        double worst_one = worst(one), worst_streamed = worst(streamed);
        if (rank == 0)
            printf("%zu", bytes);
        for (int w = 0; w < WAYS && rank == 0; w++)
            printf(" %.3f %.3f", median(one[w]), median(streamed[w]));
        if (rank == 0)
            printf(" %.3f %.3f\n", worst_one, worst_streamed);
    }
    way_take(CHOSEN);
}

int main(int argc, char **argv)
{
    struct kind mpi = {mpi_to, mpi_from}, block = {block_to, block_from}, anyone = {block_to, block_from_anyone},
                array = {array_to, array_from}, sends = {sends_to, sends_from}, mpi_pack = {mpi_pack_to, mpi_pack_from},
                blocks = {blocks_to, blocks_from};
    const char *what = argc > 1 ? argv[1] : "all";
    int size, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "pack: on two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    what = rank > 1 ? "" : what;
    all = !strcmp(what, "all");
    check(vd_init());
    check(vd_channel_open("bench", NULL, &channel));
    if (posix_memalign((void **)&out, 4096, BIG) || posix_memalign((void **)&in, 4096, BIG))
        MPI_Abort(MPI_COMM_WORLD, 3);
    memset(out, 1, BIG);
    memset(in, 2, BIG);
    if (all || !strcmp(what, "small")) {
        beside("MPI, packed", pingpong, mpi, block, 4, 6000);
        beside("MPI, packed and from anyone", pingpong, mpi, anyone, 4, 6000);
    }
    if (all || !strcmp(what, "array")) {
        beside("MPI, size and array", pingpong, mpi, array, BIG, 60);
        beside("MPI, size and array, stream", stream, mpi, array, BIG, 6);
    }
    if (all || !strcmp(what, "blocks")) {
        beside("packed, 64 sends, stream", stream, blocks, sends, BLOCK, 60);
        beside("packed, MPI_Pack, stream", stream, blocks, mpi_pack, BLOCK, 60);
    }
    if (!strcmp(what, "sizes"))
        sizes(array);
    free(out);
    free(in);
    check(vd_finalize());
    MPI_Finalize();
    return 0;
}
