/* Run by mixed.sh: ranks whose MPIs have other numbers for everything exchange all kinds of messages, make
 * communicators, and get the same classes of errors. Six ranks, two of each program. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
static int rank, size, wrong;
#define CHECK(x) ((x) ? (void)0 : (void)(wrong++, printf("rank %d, line %d: %s\n", rank, __LINE__, #x)))
#define CLASS(call, name)                                                                                              \
    do {                                                                                                               \
        int class_ = -1;                                                                                               \
        MPI_Error_class(call, &class_);                                                                                \
        CHECK(class_ == name);                                                                                         \
    } while (0)

struct item {
    char c;
    double d;
    int i[3];
    short s;
};
static MPI_Datatype item_type(void)
{
    int lengths[4] = {1, 1, 3, 1};
    MPI_Aint at[4] = {offsetof(struct item, c), offsetof(struct item, d), offsetof(struct item, i),
                      offsetof(struct item, s)};
    MPI_Datatype types[4] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT}, packed, made;
    MPI_Type_create_struct(4, lengths, at, types, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(struct item), &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&packed);
    return made;
}
static struct item item_of(int k)
{
    struct item item;
    memset(&item, 0, sizeof item);
    item.c = (char)(k + 1), item.d = k + 0.5, item.i[0] = k, item.i[1] = 2 * k, item.i[2] = -k, item.s = (short)(k * 3);
    return item;
}

static void elements(int right, int left)
{
#define ONE(type, name, value)                                                                                         \
    do {                                                                                                               \
        type out = (type)(value + rank), in;                                                                           \
        memset(&in, 0, sizeof in);                                                                                     \
        MPI_Status s;                                                                                                  \
        int n, b;                                                                                                      \
        MPI_Sendrecv(&out, 1, name, right, 5, &in, 1, name, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);          \
        MPI_Get_count(&s, name, &n);                                                                                   \
        MPI_Type_size(name, &b);                                                                                       \
        CHECK(in == (type)(value + left) && n == 1 && s.MPI_SOURCE == left && s.MPI_TAG == 5 &&                        \
              b == (int)sizeof(type));                                                                                 \
        MPI_Barrier(MPI_COMM_WORLD);                                                                                   \
    } while (0)
    ONE(char, MPI_CHAR, 3);
    ONE(signed char, MPI_SIGNED_CHAR, 3);
    ONE(unsigned char, MPI_UNSIGNED_CHAR, 3);
    ONE(short, MPI_SHORT, 300);
    ONE(unsigned short, MPI_UNSIGNED_SHORT, 300);
    ONE(int, MPI_INT, 3);
    ONE(unsigned, MPI_UNSIGNED, 3);
    ONE(long, MPI_LONG, 3);
    ONE(unsigned long, MPI_UNSIGNED_LONG, 3);
    ONE(long long, MPI_LONG_LONG, 3);
    ONE(float, MPI_FLOAT, .5f);
    ONE(double, MPI_DOUBLE, .5);
    ONE(long double, MPI_LONG_DOUBLE, .5);
    ONE(wchar_t, MPI_WCHAR, 3);
    ONE(int, MPI_INTEGER, 3);
    ONE(float, MPI_REAL, 3);
    ONE(double, MPI_DOUBLE_PRECISION, 3);
    ONE(_Bool, MPI_C_BOOL, 1);
    ONE(MPI_Aint, MPI_AINT, 3);
    ONE(MPI_Offset, MPI_OFFSET, 3);
    ONE(MPI_Count, MPI_COUNT, 3);
    ONE(signed char, MPI_INT8_T, 3);
    ONE(double _Complex, MPI_C_DOUBLE_COMPLEX, 3);
    ONE(float _Complex, MPI_C_FLOAT_COMPLEX, 3);
    ONE(char, MPI_BYTE, 3);
    ONE(int, MPI_LOGICAL, 0);
    ONE(char, MPI_CHARACTER, 3);
    ONE(double, MPI_REAL8, 3);
    ONE(long, MPI_INTEGER8, 3);
    struct {
        double d;
        int i;
    } pair = {rank == 1 ? 9 : 2, rank}, best;
    MPI_Allreduce(&pair, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(best.d == 9 && best.i == 1);
    MPI_Sendrecv(&pair, 1, MPI_DOUBLE_INT, right, 5, &best, 1, MPI_DOUBLE_INT, left, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(best.i == left);
    struct {
        int v, i;
    } two = {rank == 2 ? -9 : 2, rank}, least;
    MPI_Allreduce(&two, &least, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
    CHECK(least.v == -9 && least.i == 2);
}

static void derived(int right, int left)
{
    MPI_Datatype item = item_type(), rows, columns, part, picked, mixed, dup;
    struct item out[4], in[4];
    MPI_Status status;
    int n;
    for (int i = 0; i < 4; i++)
        out[i] = item_of(10 * rank + i);
    memset(in, 0, sizeof in);
    MPI_Sendrecv(out, 3, item, right, 1, in, 4, item, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, item, &n);
    CHECK(n == 3 && status.MPI_SOURCE == left);
    MPI_Get_elements(&status, item, &n);
    CHECK(n == 18);
    for (int i = 0; i < 3; i++) {
        struct item want = item_of(10 * left + i);
        CHECK(in[i].c == want.c && in[i].d == want.d && !memcmp(in[i].i, want.i, sizeof want.i) && in[i].s == want.s);
    }
    CHECK(in[3].d == 0);
    /* columns to rows, small and large (above what is sent ahead) */
    for (int side = 6; side <= 600; side *= 100) {
        static double a[600 * 600], b[600 * 600];
        int sizes[2] = {side, side}, sub[2] = {side / 2, side / 3}, at[2] = {1, 2};
        MPI_Type_vector(side, 1, side, MPI_DOUBLE, &part);
        MPI_Type_create_resized(part, 0, sizeof(double), &columns);
        MPI_Type_contiguous(side * side, MPI_DOUBLE, &rows);
        MPI_Type_commit(&columns), MPI_Type_commit(&rows);
        for (int i = 0; i < side * side; i++)
            a[i] = rank * 1e6 + i, b[i] = -1;
        MPI_Sendrecv(a, side, columns, right, 2, b, 1, rows, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int bad = 0;
        for (int i = 0; i < side; i++)
            for (int j = 0; j < side; j++)
                bad += b[i * side + j] != left * 1e6 + j * side + i;
        CHECK(bad == 0);
        MPI_Type_free(&part), MPI_Type_free(&columns), MPI_Type_free(&rows);
        MPI_Type_create_subarray(2, sizes, sub, at, MPI_ORDER_FORTRAN, MPI_DOUBLE, &part);
        MPI_Type_commit(&part);
        for (int i = 0; i < side * side; i++)
            b[i] = -1;
        MPI_Request r[2];
        MPI_Irecv(b, 1, part, left, 3, MPI_COMM_WORLD, &r[0]);
        MPI_Issend(a, 1, part, right, 3, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK(r[0] == MPI_REQUEST_NULL);
        bad = 0;
        for (int j = 0; j < side; j++)
            for (int i = 0; i < side; i++) {
                int inside = i >= 1 && i < 1 + sub[0] && j >= 2 && j < 2 + sub[1];
                bad += b[j * side + i] != (inside ? left * 1e6 + j * side + i : -1);
            }
        CHECK(bad == 0);
        MPI_Type_free(&part);
    }
    int lengths[3] = {2, 1, 3}, places[3] = {5, 0, 9}, list[12], got[12];
    MPI_Type_indexed(3, lengths, places, MPI_INT, &picked);
    MPI_Type_dup(picked, &dup);
    MPI_Type_commit(&dup);
    for (int i = 0; i < 12; i++)
        list[i] = 100 * rank + i, got[i] = -1;
    MPI_Sendrecv(list, 1, dup, right, 4, got, 6, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got[0] == 100 * left + 5 && got[2] == 100 * left && got[5] == 100 * left + 11 && got[6] == -1);
    /* absolute addresses; packed; packed for all machines */
    int x = 7 + rank, lx[2] = {1, 1};
    double y = 0.25 * rank;
    MPI_Aint where[2];
    MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Get_address(&x, &where[0]), MPI_Get_address(&y, &where[1]);
    MPI_Type_create_struct(2, lx, where, kinds, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Sendrecv_replace(MPI_BOTTOM, 1, mixed, right, 6, left, 6, MPI_COMM_WORLD, &status);
    CHECK(x == 7 + left && y == 0.25 * left);
    char box[256];
    int end = 0, from = 0;
    MPI_Pack(&rank, 1, MPI_INT, box, sizeof box, &end, MPI_COMM_WORLD);
    MPI_Pack(out, 1, item, box, sizeof box, &end, MPI_COMM_WORLD);
    MPI_Sendrecv_replace(box, end, MPI_PACKED, right, 7, left, 7, MPI_COMM_WORLD, &status);
    MPI_Unpack(box, sizeof box, &from, &x, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(box, sizeof box, &from, in, 1, item, MPI_COMM_WORLD);
    CHECK(x == left && in[0].d == 10 * left + 0.5 && from == end);
    MPI_Aint far = 0, near = 0;
    MPI_Pack_external("external32", out, 2, item, box, sizeof box, &far);
    MPI_Sendrecv_replace(box, sizeof box, MPI_BYTE, right, 8, left, 8, MPI_COMM_WORLD, &status);
    MPI_Unpack_external("external32", box, far, &near, in, 2, item);
    CHECK(near == far && in[1].d == 10 * left + 1.5 && in[1].s == (10 * left + 1) * 3);
    MPI_Type_free(&item), MPI_Type_free(&picked), MPI_Type_free(&dup), MPI_Type_free(&mixed);
}

static void compose(void *in, void *out, int *n, MPI_Datatype *type)
{
    int *a = in, *b = out, bytes;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *n * bytes / 8; i++) { /* x -> ax + b: in, then out */
        int s = a[2 * i] * b[2 * i] % 10007, t = (b[2 * i] * a[2 * i + 1] + b[2 * i + 1]) % 10007;
        b[2 * i] = s, b[2 * i + 1] = t;
    }
}
static void collectives(void)
{
    int one = rank + 1, all[64], total = size * (size + 1) / 2, factorial = 1;
    for (int i = 2; i <= size; i++)
        factorial *= i;
#define RED(name, want)                                                                                                \
    do {                                                                                                               \
        int got_ = -1;                                                                                                 \
        MPI_Allreduce(&one, &got_, 1, MPI_INT, name, MPI_COMM_WORLD);                                                  \
        CHECK(got_ == (want));                                                                                         \
    } while (0)
    RED(MPI_SUM, total);
    RED(MPI_PROD, factorial);
    RED(MPI_MAX, size);
    RED(MPI_MIN, 1);
    RED(MPI_LAND, 1);
    RED(MPI_LOR, 1);
    RED(MPI_LXOR, size & 1);
    int band = 1, bor = 0, bxor = 0;
    for (int i = 1; i <= size; i++)
        band &= i, bor |= i, bxor ^= i;
    RED(MPI_BAND, band);
    RED(MPI_BOR, bor);
    RED(MPI_BXOR, bxor);
    MPI_Op own;
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair), MPI_Type_commit(&pair), MPI_Op_create(compose, 0, &own);
    int value[2] = {rank + 2, rank + 5}, result[2], want[2] = {2, 5};
    for (int i = 1; i < size; i++) {
        int next[2] = {i + 2, i + 5}, a = want[0] * next[0] % 10007;
        want[1] = (next[0] * want[1] + next[1]) % 10007, want[0] = a;
    }
    MPI_Allreduce(value, result, 1, pair, own, MPI_COMM_WORLD);
    CHECK(result[0] == want[0] && result[1] == want[1]);
    for (int root = 0; root < size; root++) {
        MPI_Reduce(rank == root ? MPI_IN_PLACE : (void *)value, rank == root ? (void *)value : NULL, 1, pair, own, root,
                   MPI_COMM_WORLD);
        if (rank == root)
            CHECK(value[0] == want[0] && value[1] == want[1]);
        value[0] = rank + 2, value[1] = rank + 5;
        struct item thing = item_of(root == rank ? 40 + root : 0);
        MPI_Datatype item = item_type();
        MPI_Bcast(&thing, 1, item, root, MPI_COMM_WORLD);
        CHECK(thing.d == 40.5 + root && thing.s == 3 * (40 + root));
        MPI_Type_free(&item);
    }
    for (int i = 0; i < size; i++)
        all[i] = i == rank ? 3 * rank : -1;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK(all[i] == 3 * i);
    MPI_Request r;
    int scan = 0;
    MPI_Iscan(&one, &scan, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(scan == one * (one + 1) / 2);
    MPI_Op_free(&own), MPI_Type_free(&pair);
}

static int keep(MPI_Comm c, int k, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)k, (void)extra;
    *(void **)out = (char *)in + 1, *flag = 1;
    return MPI_SUCCESS;
}
static void communicators(void)
{
    MPI_Comm half, none, node, copy, made, inter, merged, grid, sub;
    MPI_Group world, some;
    int n, r, kind, key, flag, *tag;
    char *value;
    /* one of each program in each half, keys backwards */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_size(half, &n), MPI_Comm_rank(half, &r);
    CHECK(n == (size + 1 - rank % 2) / 2 && r == n - 1 - rank / 2);
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    int expected = 0;
    for (int i = rank % 2; i < size; i += 2)
        expected += i;
    CHECK(sum == expected);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 3 ? MPI_UNDEFINED : 4, 0, &none);
    CHECK((none == MPI_COMM_NULL) == (rank == 3));
    if (none != MPI_COMM_NULL)
        MPI_Comm_size(none, &n), CHECK(n == size - 1), MPI_Comm_free(&none);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n), CHECK(n == size);
    MPI_Comm_compare(node, MPI_COMM_WORLD, &kind), CHECK(kind == MPI_CONGRUENT);
    MPI_Comm_create_keyval(keep, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(node, key, &key);
    MPI_Comm_dup(node, &copy);
    MPI_Comm_get_attr(copy, key, &value, &flag), CHECK(flag && value == (char *)&key + 1);
    MPI_Comm_get_attr(copy, MPI_TAG_UB, &tag, &flag), CHECK(!flag || *tag >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag, &flag), CHECK(flag && *tag >= 32767);
    int top = *tag, tops;
    MPI_Allreduce(&top, &tops, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD), CHECK(tops == top);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &tag, &flag), CHECK(flag && *tag == rank / 2);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int picked[3] = {size - 1, 0, 2};
    MPI_Group_incl(world, 3, picked, &some);
    MPI_Group_rank(some, &r), CHECK((r == MPI_UNDEFINED) == (rank != 0 && rank != 2 && rank != size - 1));
    if (r != MPI_UNDEFINED) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 77, &made);
        int got[3];
        MPI_Allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, made);
        CHECK(got[0] == size - 1 && got[1] == 0 && got[2] == 2);
        MPI_Comm_free(&made);
    }
    /* between the halves: each has ranks of every program */
    MPI_Intercomm_create(half, 0, copy, rank % 2 ? (size - 1) / 2 * 2 : (size / 2 - 1) * 2 + 1, 12, &inter);
    MPI_Comm_test_inter(inter, &flag), CHECK(flag);
    MPI_Comm_remote_size(inter, &n), CHECK(n == (size + rank % 2) / 2);
    MPI_Comm_rank(half, &r);
    for (int root = 0; root < 3; root++) {
        int text[2] = {-1, -1};
        if (rank % 2 == 0 && r == root)
            text[0] = 50 + root, text[1] = rank;
        MPI_Bcast(text, 2, MPI_INT, rank % 2 ? root : r == root ? MPI_ROOT : MPI_PROC_NULL, inter);
        if (rank % 2)
            CHECK(text[0] == 50 + root && text[1] == ((size - 1) / 2 - root) * 2);
    }
    int theirs = 0;
    MPI_Allreduce(&rank, &theirs, 1, MPI_INT, MPI_SUM, inter);
    CHECK(theirs == size * (size - 1) / 2 - expected);
    MPI_Status status;
    int who = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, r, 9, &who, 1, MPI_INT, MPI_ANY_SOURCE, 9, inter, &status);
    CHECK(status.MPI_SOURCE == r && who == (rank % 2 ? rank - 1 : rank + 1));
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    MPI_Comm_size(merged, &n), CHECK(n == size);
    MPI_Comm_compare(merged, MPI_COMM_WORLD, &kind), CHECK(kind == MPI_SIMILAR);
    MPI_Comm_compare(inter, MPI_COMM_WORLD, &kind), CHECK(kind == MPI_UNEQUAL);
    /* a grid, a graph */
    int dims[2] = {2, size / 2}, periods[2] = {0, 1}, keeps[2] = {0, 1}, up, down, near[4], seen[4];
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Topo_test(grid, &kind), CHECK(kind == MPI_CART);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    CHECK(rank < size / 2 ? up == MPI_PROC_NULL && down == rank + size / 2
                          : up == rank - size / 2 && down == MPI_PROC_NULL);
    memset(seen, -1, sizeof seen);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, seen, 1, MPI_INT, grid);
    MPI_Cart_shift(grid, 1, 1, &near[2], &near[3]), near[0] = up, near[1] = down;
    for (int i = 0; i < 4; i++)
        CHECK(seen[i] == (near[i] == MPI_PROC_NULL ? -1 : near[i]));
    MPI_Cart_sub(grid, keeps, &sub);
    MPI_Comm_size(sub, &n), CHECK(n == size / 2);
    MPI_Comm ring;
    int next = (rank + 1) % size, before = (rank + size - 1) % size, got = -1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &ring);
    MPI_Neighbor_alltoall(&rank, 1, MPI_INT, &got, 1, MPI_INT, ring), CHECK(got == before);
    MPI_Topo_test(ring, &kind), CHECK(kind == MPI_DIST_GRAPH);
    MPI_Topo_test(half, &kind), CHECK(kind == MPI_UNDEFINED);
    MPI_Comm_free(&ring), MPI_Comm_free(&grid), MPI_Comm_free(&sub);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, (int[]){1}, &next, (int[]){rank + 3}, MPI_INFO_NULL, 0, &ring);
    int ins, outs, weighted, source, w1, dest, w2;
    MPI_Dist_graph_neighbors_count(ring, &ins, &outs, &weighted), CHECK(ins == 1 && outs == 1 && weighted);
    MPI_Dist_graph_neighbors(ring, 1, &source, &w1, 1, &dest, &w2),
        CHECK(source == before && w1 == before + 3 && dest == next && w2 == rank + 3);
    MPI_Comm_free(&ring), MPI_Comm_free(&merged), MPI_Comm_free(&inter), MPI_Comm_free(&copy), MPI_Comm_free(&node),
        MPI_Comm_free(&half);
    MPI_Comm_free_keyval(&key);
    MPI_Group_free(&world), MPI_Group_free(&some);
}

static void errors(int right, int left)
{
    MPI_Comm comm;
    MPI_Status status, both[2];
    MPI_Request r[2];
    int small = -1, big[4] = {1, 2, 3, 4}, code, class, flag;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Irecv(&small, 1, MPI_INT, left, 1, comm, &r[0]);
    MPI_Irecv(&small, 1, MPI_INT, left, 2, comm, &r[1]);
    MPI_Send(big, 4, MPI_INT, right, 1, comm);
    MPI_Send(&rank, 1, MPI_INT, right, 2, comm);
    code = MPI_Waitall(2, r, both);
    MPI_Error_class(code, &class), CHECK(class == MPI_ERR_IN_STATUS);
    MPI_Error_class(both[0].MPI_ERROR, &class), CHECK(class == MPI_ERR_TRUNCATE && both[1].MPI_ERROR == MPI_SUCCESS);
    CHECK(small == left || small == 1);
    CLASS(MPI_Send(big, 1, MPI_INT, size, 1, comm), MPI_ERR_RANK);
    CLASS(MPI_Send(big, 1, MPI_INT, right, -77, comm), MPI_ERR_TAG);
    CLASS(MPI_Send(big, -1, MPI_INT, right, 1, comm), MPI_ERR_COUNT);
    CLASS(MPI_Send(big, 1, MPI_DATATYPE_NULL, right, 1, comm), MPI_ERR_TYPE);
    CLASS(MPI_Bcast(big, 1, MPI_INT, size, comm), MPI_ERR_ROOT);
    CLASS(MPI_Allreduce(big, big + 1, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    /* one rank is wrong, and all are told so */
    MPI_Comm graph;
    int degree = rank == 1 ? -1 : 1;
    CLASS(MPI_Dist_graph_create(comm, 1, &rank, &degree, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
          MPI_ERR_ARG);
    MPI_Send(big, 1, MPI_INT, MPI_PROC_NULL, 0, comm);
    MPI_Recv(&small, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status), CHECK(!flag);
    MPI_Irecv(&small, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[0]);
    MPI_Cancel(&r[0]), MPI_Wait(&r[0], &status), MPI_Test_cancelled(&status, &flag), CHECK(flag);
    MPI_Barrier(comm);
    MPI_Message message;
    MPI_Isend(&rank, 1, MPI_INT, right, 8, comm, &r[0]);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 8);
    MPI_Mrecv(&small, 1, MPI_INT, &message, &status), CHECK(small == left && message == MPI_MESSAGE_NULL);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n, given;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(text, &n);
    CHECK(strstr(text, "iaduct") && given == MPI_THREAD_MULTIPLE && size == 6);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    elements(right, left);
    derived(right, left);
    collectives();
    communicators();
    errors(right, left);
    int total;
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", total);
    MPI_Finalize();
}
