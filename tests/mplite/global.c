/* What all ranks do together, and what those of a mask do: against what every rank can compute alone. Grids. */
#include "msg/harness.h"
#include "mplite.h"

#define MOST 3001
static const long counts[] = {0, 1, 2, 17, MOST};
static double d[MOST * 8];
static int in[MOST * 8];
static float f[MOST * 8];

/* Small whole numbers, so that every order of adding gives the same. */
static int value(int rank, long i) { return (int)((rank * 31 + i * 7 + rank * i) % 101) - 50; }

static void fill_all(int rank, long count)
{
    for (long i = 0; i < count; i++)
        d[i] = in[i] = (int)(f[i] = (float)value(rank, i));
}

static bool all_are(long i, int want) { return d[i] == want && in[i] == want && f[i] == (float)want; }

enum what { SUM, MAX, MIN };

static int naive(enum what what, const int *mask, int n, long i)
{
    int result = what == SUM ? 0 : what == MAX ? -1000 : 1000;
    for (int rank = 0; rank < n; rank++)
        if (mask[rank]) {
            int v = value(rank, i);
            result = what == SUM ? result + v : what == MAX ? (v > result ? v : result) : v < result ? v : result;
        }
    return result;
}

static void reduce_all(enum what what, long count, const int *mask)
{
    if (what == SUM)
        mask ? MP_dSum_masked(d, count, mask) : MP_dSum(d, count);
    else if (what == MAX)
        mask ? MP_dMax_masked(d, count, mask) : MP_dMax(d, count);
    else
        mask ? MP_dMin_masked(d, count, mask) : MP_dMin(d, count);
    if (what == SUM)
        mask ? MP_iSum_masked(in, count, mask) : MP_iSum(in, count);
    else if (what == MAX)
        mask ? MP_iMax_masked(in, count, mask) : MP_iMax(in, count);
    else
        mask ? MP_iMin_masked(in, count, mask) : MP_iMin(in, count);
    if (what == SUM)
        mask ? MP_fSum_masked(f, count, mask) : MP_fSum(f, count);
    else if (what == MAX)
        mask ? MP_fMax_masked(f, count, mask) : MP_fMax(f, count);
    else
        mask ? MP_fMin_masked(f, count, mask) : MP_fMin(f, count);
}

static void check_reductions(int rank, int n, long count, const int *mask)
{
    int everybody[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (enum what what = SUM; what <= MIN; what++) {
        fill_all(rank, count + 1);
        reduce_all(what, count, mask);
        for (long i = 0; i < count; i++)
            CHECK(all_are(i, naive(what, mask ? mask : everybody, n, i)));
        CHECK(all_are(count, value(rank, count)));
    }
}

static void check_gathers(int rank, int n, long count, const int *mask)
{
    int place = 0, places = 0, rank_of[8];
    for (int r = 0; r < n; r++)
        if (!mask || mask[r]) {
            if (r == rank)
                place = places;
            rank_of[places++] = r;
        }
    memset(d, 0x33, sizeof d);
    for (long i = 0; i < count; i++)
        d[place * count + i] = in[place * count + i] = value(rank, i), f[place * count + i] = (float)value(rank, i);
    mask ? MP_dGather_masked(d, count, mask) : MP_dGather(d, count);
    mask ? MP_iGather_masked(in, count, mask) : MP_iGather(in, count);
    mask ? MP_fGather_masked(f, count, mask) : MP_fGather(f, count);
    for (int p = 0; p < places; p++)
        for (long i = 0; i < count; i++)
            CHECK(all_are(p * count + i, value(rank_of[p], i)));
    memset(d, rank, sizeof d);
    memset((char *)d + place * 3, 'a' + rank, 3);
    mask ? MP_Gather_masked(d, 3, mask) : MP_Gather(d, 3);
    for (int p = 0; p < places * 3; p++)
        CHECK_EQUAL(((char *)d)[p], 'a' + rank_of[p / 3]);
    CHECK_EQUAL(((char *)d)[places * 3], rank);
}

static void check_broadcasts(int rank, int root, long count, const int *mask)
{
    fill_all(rank, count + 1);
    mask ? MP_dBcast_masked(d, count, root, mask) : MP_dBcast(d, count, root);
    mask ? MP_iBcast_masked(in, count, root, mask) : MP_iBcast(in, count, root);
    mask ? MP_fBcast_masked(f, count, root, mask) : MP_fBcast(f, count, root);
    for (long i = 0; i < count; i++)
        CHECK(all_are(i, value(root, i)));
    CHECK(all_are(count, value(rank, count)));
    char text[8] = "none";
    if (rank == root)
        strcpy(text, "root");
    mask ? MP_Bcast_masked(text, 5, root, mask) : MP_Bcast(text, 5, root);
    CHECK_TEXT(text, "root");
}

static void all_together(int rank)
{
    int n;
    MP_Init(NULL, NULL);
    MP_Nprocs(&n);
    for (size_t c = 0; c < ARRAY_LENGTH(counts); c++) {
        check_reductions(rank, n, counts[c], NULL);
        check_gathers(rank, n, counts[c], NULL);
        for (int root = 0; root < n; root++)
            check_broadcasts(rank, root, counts[c], NULL);
        fill_all(rank, counts[c]);
        MP_dBroadcast(d, counts[c]);
        MP_iBroadcast(in, counts[c]);
        MP_fBroadcast(f, counts[c]);
        for (long i = 0; i < counts[c]; i++)
            CHECK(all_are(i, value(0, i)));
        MP_Sync();
    }
    /* every mask, one after the other, without a pause: only its members call */
    for (int bits = 1; bits < 1 << n; bits++) {
        int mask[8];
        for (int r = 0; r < n; r++)
            mask[r] = bits >> r & 1;
        if (!mask[rank])
            continue;
        long count = counts[bits % ARRAY_LENGTH(counts)];
        check_reductions(rank, n, count, mask);
        check_gathers(rank, n, count, mask);
        for (int root = 0; root < n; root++)
            if (mask[root])
                check_broadcasts(rank, root, count, mask);
    }
    MP_Finalize();
}

static void grid(int rank)
{
    int dims[3] = {0}, coords[3], own[3], back, source, dest, n;
    MP_Init(NULL, NULL);
    MP_Nprocs(&n);
    MP_Cart_Create(2, dims);
    CHECK_EQUAL(dims[0] * dims[1], n);
    CHECK(n != 6 || dims[0] + dims[1] == 5);
    MP_Cart_Create(3, (int[]){2, 1, n / 2});
    MP_Cart_Get(dims, own);
    CHECK(dims[0] == 2 && dims[1] == 1 && dims[2] == n / 2);
    CHECK(own[0] == rank % 2 && own[1] == 0 && own[2] == rank / 2);
    for (int r = 0; r < n; r++) {
        MP_Cart_Coords(r, coords);
        MP_Cart_Rank(coords, &back);
        CHECK_EQUAL(back, r);
    }
    for (int distance = -7; distance <= 7; distance++) {
        MP_Cart_Shift(2, distance, &source, &dest);
        CHECK_EQUAL(dest, own[0] + 2 * (((own[2] + distance) % dims[2] + dims[2]) % dims[2]));
        MP_Cart_Coords(dest, coords);
        CHECK(coords[0] == own[0] && coords[1] == own[1]);
        int from = -1;
        MP_SShift(&rank, dest, &from, source, sizeof from);
        CHECK_EQUAL(from, source);
    }
    MP_Cart_Shift(1, 1, &source, &dest);
    CHECK(source == rank && dest == rank);
    MP_Finalize();
}

int main(void)
{
    for (int ranks = 1; ranks <= 5; ranks += 1 + (ranks == 3))
        harness_run(ranks, all_together);
    harness_run(6, grid);
    return check_done();
}
