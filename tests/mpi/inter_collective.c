/* Every collective on intercommunicators of 1+1 to 5+3 ranks, in its six forms, with types in a row and with gaps, from
 * every root, against what a serial program says. everywhere: 1 2 3 5 8
 * timeout: 120 */
#include "two_groups.h"
#define WHERE inter
#include "six_forms.h"

#define GROUP 8 /* ranks at most */
static MPI_Datatype type; /* an int, and STRIDE - 1 ints of nothing */
static int stride, room;
static unsigned *out, *in;

/* Element E of what rank FROM of group S has for rank TO of the other one; -1: for all. */
static unsigned value(int s, int from, int to, int e)
{
    return (unsigned)((s * 16 + from) * 100003 + (to + 1) * 1009 + e);
}
static unsigned *at(unsigned *buffer, int e) { return buffer + (size_t)e * (size_t)stride; }

static void before_call(void)
{
    for (int i = 0; i < room; i++)
        in[i] = 0xAAAAAAAA;
}

/* COUNT elements from place E on, as rank FROM of the other group has them for TO. */
static int check_from(int e, int count, int from, int to)
{
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(*at(in, e + i), value(!side, from, to, i));
    return e + count;
}
/* Nothing but COUNT elements was written. */
static void check_rest(int count)
{
    for (int i = 0; i < room; i++)
        if (i / stride >= count || i % stride)
            CHECK_EQUAL(in[i], 0xAAAAAAAA);
}

/* What this rank passes as the root, where ROOT of group S is it. */
static int root_of(int s, int root) { return side != s ? root : me == root ? MPI_ROOT : MPI_PROC_NULL; }

static void rooted(int count)
{
    for (int s = 0; s < 2; s++)
        for (int r = 0; r < (s == side ? own : theirs); r++) {
            int root = root_of(s, r);
            struct blocks b = {.total = 0}; /* for the root, who has one for each of the others */
            for (int i = 0; i < theirs; i++)
                block_add(&b, i, count * (i % 3));
            int mine = count * (me % 3); /* elsewhere */
            for (int e = 0; e < count; e++)
                *at(out, e) = value(side, me, -1, e);
            if (root != MPI_ROOT && root >= 0)
                CALL_BOTH(Bcast, bcast, in, count, type, root);
            else
                CALL_BOTH(Bcast, bcast, out, count, type, root);
            check_rest(root >= 0 ? check_from(0, count, r, -1) : 0);

            CALL_BOTH(Gather, gather, out, count, type, in, count, type, root);
            for (int i = 0; root == MPI_ROOT && i < theirs; i++)
                check_from(i * count, count, i, -1);
            check_rest(root == MPI_ROOT ? theirs * count : 0);

            for (int e = 0; e < mine; e++)
                *at(out, e) = value(side, me, -1, e);
            CALL(Gatherv, gatherv, (out, mine, type, in, NARROW(b), type, root),
                 (out, mine, type, in, WIDE(b), type, root));
            for (int i = 0; root == MPI_ROOT && i < theirs; i++)
                check_from(b.places[i], b.counts[i], i, -1);
            check_rest(root == MPI_ROOT ? b.total : 0);

            for (int i = 0; i < theirs; i++)
                for (int e = 0; e < count; e++)
                    *at(out, i * count + e) = value(side, me, i, e);
            CALL_BOTH(Scatter, scatter, out, count, type, in, count, type, root);
            check_rest(root >= 0 ? check_from(0, count, r, me) : 0);
            for (int i = 0; i < theirs; i++)
                for (int e = 0; e < b.counts[i]; e++)
                    *at(out, b.places[i] + e) = value(side, me, i, e);
            CALL(Scatterv, scatterv, (out, NARROW(b), type, in, mine, type, root),
                 (out, WIDE(b), type, in, mine, type, root));
            check_rest(root >= 0 ? check_from(0, mine, r, me) : 0);
        }
}

/* What one group gives is not as long as what the other one gives; and nothing at all. */
static void each_to_each(int count)
{
    int gives = side ? count : 2 * count, takes = side ? 2 * count : count;
    struct blocks from = {.total = 0}, to = {.total = 0}, lengths = {.total = 0};
    MPI_Datatype types[MOST];
    for (int i = 0; i < MOST; i++)
        types[i] = type;
    for (int i = 0; i < theirs; i++) {
        block_add(&from, i, (i + 2 * me + side) % 3 * count);   /* to them */
        block_add(&to, i, (me + 2 * i + !side) % 3 * count);
        block_add(&lengths, i, (i + 1) * count);
    }
    for (int e = 0; e < (me + 2) * gives; e++)
        *at(out, e) = value(side, me, -1, e);
    CALL_BOTH(Allgather, allgather, out, gives, type, in, takes, type);
    for (int i = 0; i < theirs; i++)
        check_from(i * takes, takes, i, -1);
    check_rest(theirs * takes);
    CALL_BOTH(Allgather, allgather, out, side ? 0 : count, type, in, side ? count : 0, type);
    for (int i = 0; side && i < theirs; i++)
        check_from(i * count, count, i, -1);
    check_rest(side ? theirs * count : 0);
    CALL(Allgatherv, allgatherv, (out, (me + 1) * count, type, in, NARROW(lengths), type),
         (out, (me + 1) * count, type, in, WIDE(lengths), type));
    for (int i = 0; i < theirs; i++)
        check_from(lengths.places[i], lengths.counts[i], i, -1);
    check_rest(lengths.total);

    for (int i = 0; i < theirs; i++)
        for (int e = 0; e < gives; e++)
            *at(out, i * gives + e) = value(side, me, i, e);
    CALL_BOTH(Alltoall, alltoall, out, gives, type, in, takes, type);
    for (int i = 0; i < theirs; i++)
        check_from(i * takes, takes, i, me);
    check_rest(theirs * takes);
    for (int i = 0; i < theirs; i++)
        for (int e = 0; e < from.counts[i]; e++)
            *at(out, from.places[i] + e) = value(side, me, i, e);
    CALL(Alltoallv, alltoallv, (out, NARROW(from), type, in, NARROW(to), type),
         (out, WIDE(from), type, in, WIDE(to), type));
    for (int i = 0; i < theirs; i++)
        check_from(to.places[i], to.counts[i], i, me);
    check_rest(to.total);
    struct blocks from_w = in_bytes(from, stride), to_w = in_bytes(to, stride);
    CALL(Alltoallw, alltoallw, (out, NARROW(from_w), types, in, NARROW(to_w), types),
         (out, WIDE(from_w), types, in, WIDE(to_w), types));
    for (int i = 0; i < theirs; i++)
        check_from(to.places[i], to.counts[i], i, me);
    check_rest(to.total);
}

/* Not commutative: each operand is a map x -> a x + b of numbers modulo 2^16, and the first one comes first. */
static void compose(void *one, void *two, int *count, MPI_Datatype *unused)
{
    unsigned *left = one, *right = two;
    (void)unused;
    for (int i = 0; i < *count; i++) {
        unsigned *x = at(right, i), a = *at(left, i) & 0xFFFF, b = *at(left, i) >> 16, c = *x & 0xFFFF, d = *x >> 16;
        *x = (a * c & 0xFFFF) | (b * c + d) << 16;
    }
}

/* What the COUNT elements from E on of all of the other group come to. */
static void check_sum(MPI_Op op, MPI_Op composing, int e, int count, int from)
{
    int keep = stride;
    for (int i = 0; i < count; i++) {
        unsigned sum = value(!side, 0, -1, from + i), next;
        for (int r = 1; r < theirs; r++) {
            next = value(!side, r, -1, from + i);
            if (op == MPI_SUM) {
                sum += next;
            } else {
                stride = 1;
                compose(&sum, &next, &(int){1}, NULL);
                stride = keep;
                sum = next;
            }
        }
        CHECK_EQUAL(*at(in, e + i), sum);
    }
    (void)composing;
}

static void reductions(int count, MPI_Op op)
{
    for (int s = 0; s < 2; s++)
        for (int r = 0; r < (s == side ? own : theirs); r++) {
            int root = root_of(s, r);
            for (int e = 0; e < count; e++)
                *at(out, e) = value(side, me, -1, e);
            CALL_BOTH(Reduce, reduce, root == MPI_ROOT ? NULL : out, root == MPI_ROOT ? in : NULL, count, type, op, root);
            if (root == MPI_ROOT)
                check_sum(op, op, 0, count, 0);
            check_rest(root == MPI_ROOT ? count : 0);
        }
    CALL_BOTH(Allreduce, allreduce, out, in, count, type, op);
    check_sum(op, op, 0, count, 0);
    check_rest(count);
    int all = own * theirs * count, each = all / own, begin = 0;
    for (int e = 0; e < all; e++)
        *at(out, e) = value(side, me, -1, e);
    CALL_BOTH(Reduce_scatter_block, reduce_scatter_block, out, in, each, type, op);
    check_sum(op, op, 0, each, me * each);
    check_rest(each);
    struct blocks b = {.total = 0};
    for (int i = 0; i < own; i++) /* uneven: the first has nothing */
        block_add(&b, i, own == 1 ? each : i == 0 ? 0 : i == 1 ? 2 * each : each);
    begin = b.places[me];
    CALL(Reduce_scatter, reduce_scatter, (out, in, b.counts, type, op), (out, in, b.counts_c, type, op));
    check_sum(op, op, 0, b.counts[me], begin);
    check_rest(b.counts[me]);
}

static void all_of(int count)
{
    MPI_Op composing;
    MPI_Request request;
    MPI_Op_create(compose, 0, &composing);
    if (form == RUN)
        CHECK_OK(MPI_Barrier(inter));
    else if (form == START)
        CHECK_OK(MPI_Ibarrier(inter, &request) || MPI_Wait(&request, MPI_STATUS_IGNORE));
    else if (MPI_Barrier_init(inter, MPI_INFO_NULL, &request) == MPI_SUCCESS)
        again(&request);
    rooted(count);
    each_to_each(count);
    if (stride == 1)
        reductions(count, MPI_SUM);
    reductions(count, composing);
    MPI_Op_free(&composing);
}

/* Several at once, on both groups, on each of them and on all together, begun in one order and ended in another. */
static void many_at_once(void)
{
    MPI_Comm twin, all;
    MPI_Comm_dup(inter, &twin);
    MPI_Intercomm_merge(inter, side, &all);
    for (int round = 0; round < 100; round++) {
        MPI_Request request[6];
        int mine = me + round, to[GROUP], from[GROUP], sums[4], sent = round, n = 0;
        for (int i = 0; i < theirs; i++)
            to[i] = me * 10 + i + round;
        MPI_Iallreduce(&mine, &sums[0], 1, MPI_INT, MPI_SUM, inter, &request[n++]);
        MPI_Iallreduce(&mine, &sums[1], 1, MPI_INT, MPI_SUM, local, &request[n++]);
        MPI_Ialltoall(to, 1, MPI_INT, from, 1, MPI_INT, twin, &request[n++]);
        MPI_Iallreduce(&mine, &sums[2], 1, MPI_INT, MPI_SUM, all, &request[n++]);
        MPI_Ibcast(&sent, 1, MPI_INT, side == round % 2 ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter, &request[n++]);
        MPI_Iallreduce(&mine, &sums[3], 1, MPI_INT, MPI_SUM, twin, &request[n++]);
        while (n-- > 0)
            MPI_Wait(&request[(n + round) % 6], MPI_STATUS_IGNORE);
        int here = own * (own - 1) / 2 + own * round, there = theirs * (theirs - 1) / 2 + theirs * round;
        CHECK(sums[0] == there && sums[1] == here && sums[2] == here + there && sums[3] == there);
        CHECK_EQUAL(sent, round);
        for (int i = 0; i < theirs; i++)
            CHECK_EQUAL(from[i], i * 10 + me + round);
    }
    MPI_Comm_free(&twin);
    MPI_Comm_free(&all);
}

int main(void)
{
    static const int counts[] = {0, 1, 5, 700};
    MPI_Datatype gapped;
    check_init();
    MPI_Type_create_resized(MPI_UNSIGNED, 0, 2 * sizeof(unsigned), &gapped);
    MPI_Type_commit(&gapped);
    room = 2 * 700 * GROUP * GROUP;
    out = malloc((size_t)room * sizeof *out);
    in = malloc((size_t)room * sizeof *in);
    for (int i = 0; i < TWO_SIZES; i++) {
        if (two_groups_open(two_sizes[i][0], two_sizes[i][1])) {
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                for (int k = 0; k < 2 * 2 * FORMS; k++) {
                    form = k % FORMS;
                    wide = k / FORMS % 2;
                    stride = 1 + k / FORMS / 2;
                    type = stride == 2 ? gapped : MPI_UNSIGNED;
                    room = (counts[c] ? counts[c] : 1) * 2 * GROUP * GROUP;
                    all_of(counts[c]);
                }
            many_at_once();
            two_groups_close();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&gapped);
    free(out);
    free(in);
    return check_finalize();
}
