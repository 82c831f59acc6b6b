/* Neighborhood collectives in their six forms: on grids with dimensions of 1 and 2 ranks, round and not; on graphs that
 * all know, and on random ones that each knows its part of, with loops, repeated edges and ranks without any.
 * everywhere: 1 2 3 5 8
 * timeout: 120 */
#include "mpi_check.h"
static MPI_Comm where;
#define WHERE where
#include "six_forms.h"

#define COUNT 5
#define LONG 30000 /* beyond what travels at once */
static int ins, outs;          /* blocks of this rank */
static unsigned expected[MOST]; /* what an edge carries that comes in; 0: none does */
static unsigned carried[MOST];  /* what it carries that goes out */
static int sources[MOST];       /* where it comes from */
static unsigned in[MOST * LONG], out[MOST * LONG];
static int touched;

static void before_call(void)
{
    for (int i = 0; i < touched; i++)
        in[i] = 0xAAAAAAAA;
}
static void check_block(int place, int count, unsigned edge)
{
    for (int e = 0; e < count; e++)
        CHECK_EQUAL(in[place + e], edge ? edge + (unsigned)e : 0xAAAAAAAA);
}

/* Blocks of COUNT elements, and of lengths that both ends compute from what the edge carries. */
static int length_of(unsigned edge, int count) { return (int)(edge / 1000000 % 3) * count; }

static void all_calls(int count)
{
    struct blocks to = {.total = 0}, from = {.total = 0}, gathered = {.total = 0};
    MPI_Datatype types[MOST];
    for (int i = 0; i < MOST; i++)
        types[i] = MPI_UNSIGNED;
    touched = ((ins > outs ? ins : outs) + 1) * 2 * count;
    for (int e = 0; e < count; e++)
        out[e] = (unsigned)(rank + 1) * 1000 + (unsigned)e;
    CALL_BOTH(Neighbor_allgather, neighbor_allgather, out, count, MPI_UNSIGNED, in, count, MPI_UNSIGNED);
    for (int i = 0; i < ins; i++)
        check_block(i * count, count, expected[i] ? (unsigned)(sources[i] + 1) * 1000 : 0);
    for (int i = 0; i < ins; i++)
        block_add(&gathered, i, expected[i] ? count * (sources[i] % 2) : count);
    CALL(Neighbor_allgatherv, neighbor_allgatherv,
         (out, count * (rank % 2), MPI_UNSIGNED, in, NARROW(gathered), MPI_UNSIGNED),
         (out, count * (rank % 2), MPI_UNSIGNED, in, WIDE(gathered), MPI_UNSIGNED));
    for (int i = 0; i < ins; i++)
        check_block(gathered.places[i], gathered.counts[i], expected[i] ? (unsigned)(sources[i] + 1) * 1000 : 0);
    for (int i = 0; i < outs; i++)
        for (int e = 0; e < count; e++)
            out[i * count + e] = carried[i] + (unsigned)e;
    CALL_BOTH(Neighbor_alltoall, neighbor_alltoall, out, count, MPI_UNSIGNED, in, count, MPI_UNSIGNED);
    for (int i = 0; i < ins; i++)
        check_block(i * count, count, expected[i]);
    for (int i = 0; i < outs; i++)
        block_add(&to, i, length_of(carried[i], count));
    for (int i = 0; i < ins; i++)
        block_add(&from, i, length_of(expected[i], count));
    for (int i = 0; i < outs; i++)
        for (int e = 0; e < to.counts[i]; e++)
            out[to.places[i] + e] = carried[i] + (unsigned)e;
    CALL(Neighbor_alltoallv, neighbor_alltoallv, (out, NARROW(to), MPI_UNSIGNED, in, NARROW(from), MPI_UNSIGNED),
         (out, WIDE(to), MPI_UNSIGNED, in, WIDE(from), MPI_UNSIGNED));
    for (int i = 0; i < ins; i++)
        check_block(from.places[i], from.counts[i], expected[i]);
    struct blocks to_w = in_bytes(to, 1), from_w = in_bytes(from, 1);
    CALL(Neighbor_alltoallw, neighbor_alltoallw, (out, NARROW_FAR(to_w), types, in, NARROW_FAR(from_w), types),
         (out, WIDE(to_w), types, in, WIDE(from_w), types));
    for (int i = 0; i < ins; i++)
        check_block(from.places[i], from.counts[i], expected[i]);
}

static void six(void)
{
    for (int k = 0; k < 2 * FORMS; k++) {
        form = k % FORMS;
        wide = k / FORMS;
        all_calls(COUNT);
        all_calls(0);
    }
    form = RUN;
    all_calls(LONG / 2);
}

/* ---- grids ---- */

static void grid(int dimensions, const int *extent, const int *round)
{
    MPI_Comm cart;
    int ranks = 1;
    for (int i = 0; i < dimensions; i++)
        ranks *= extent[i];
    if (ranks > size)
        return;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, dimensions, extent, round, 0, &cart));
    if (cart == MPI_COMM_NULL)
        return;
    CHECK_OK(MPI_Comm_dup(cart, &where)); /* has the neighbours, too */
    MPI_Comm_free(&cart);
    ins = outs = 2 * dimensions;
    for (int i = 0; i < ins; i++) {
        int down, up;
        MPI_Cart_shift(where, i / 2, 1, &down, &up);
        sources[i] = i % 2 ? up : down;
        carried[i] = (unsigned)(rank + 1) * 100000000 + (unsigned)i * 1000000;
        expected[i] =
            sources[i] == MPI_PROC_NULL ? 0 : (unsigned)(sources[i] + 1) * 100000000 + (unsigned)(i ^ 1) * 1000000;
    }
    six();
    MPI_Comm_free(&where);
}

static void grids(void)
{
    for (int round = 0; round < 2; round++) {
        int all[3] = {round, round, round}, mixed[3] = {1, 0, 1};
        grid(1, (int[]){size}, all);
        grid(1, (int[]){1}, all);
        grid(1, (int[]){2}, all);
        grid(2, (int[]){1, 2}, all);
        grid(2, (int[]){2, 2}, all);
        grid(3, (int[]){2, 1, 3}, mixed);
        grid(3, (int[]){2, 2, 2}, round ? mixed : all);
        grid(0, all, all);
    }
}

/* ---- graphs ---- */

#define EDGES 200
static int edges, tail[EDGES], head[EDGES]; /* the whole graph; edge E carries carries(E) */

static unsigned seed;
static int random_below(int n)
{
    seed = seed * 1103515245 + 12345;
    return (int)(seed >> 16) % n;
}
static unsigned carries(int e) { return (unsigned)(e + 1) * 1000000; }

/* This rank's edges: out in the order of the graph, in by falling sources, those of one source in the order of the graph. */
static void own_edges(int *destinations)
{
    ins = outs = 0;
    for (int e = 0; e < edges; e++)
        if (tail[e] == rank) {
            destinations[outs] = head[e];
            carried[outs++] = carries(e);
        }
    for (int source = size - 1; source >= 0; source--)
        for (int e = 0; e < edges; e++)
            if (head[e] == rank && tail[e] == source) {
                sources[ins] = source;
                expected[ins++] = carries(e);
            }
}

static void random_graph(int most)
{
    edges = random_below(most + 1);
    for (int e = 0; e < edges; e++) {
        tail[e] = random_below(size);
        head[e] = random_below(3) ? random_below(size) : tail[e] / 2; /* some have many in, and loops */
        int twins_in = 0, twins_out = 0;
        for (int k = 0; k < e; k++) {
            twins_in += head[k] == head[e];
            twins_out += tail[k] == tail[e];
        }
        if (twins_in >= MOST / 2 || twins_out >= MOST / 2)
            edges = e;
    }
}

/* Those of rank 0 go to all others, twice to the last, and none comes back; and the other way round. */
static void one_sided_graph(int outwards)
{
    edges = 0;
    for (int i = 1; i < size + (size > 1); i++) {
        int other = i < size ? i : size - 1;
        tail[edges] = outwards ? 0 : other;
        head[edges++] = outwards ? other : 0;
    }
}

static void adjacent(void)
{
    int destinations[MOST], weights[MOST], in_degree, out_degree, weighted, got[2][MOST], got_weights[2][MOST], status;
    own_edges(destinations);
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, sources, MPI_UNWEIGHTED, outs, destinations,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &where));
    CHECK_OK(MPI_Topo_test(where, &status));
    CHECK_EQUAL(status, MPI_DIST_GRAPH);
    CHECK_OK(MPI_Dist_graph_neighbors_count(where, &in_degree, &out_degree, &weighted));
    CHECK(in_degree == ins && out_degree == outs && !weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(where, ins, got[0], MPI_UNWEIGHTED, outs, got[1], MPI_UNWEIGHTED));
    CHECK(memcmp(got[0], sources, (size_t)ins * sizeof(int)) == 0);
    CHECK(memcmp(got[1], destinations, (size_t)outs * sizeof(int)) == 0);
    six();
    MPI_Comm_free(&where);
    for (int i = 0; i < MOST; i++)
        weights[i] = 7 * i;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, sources, ins ? weights : MPI_WEIGHTS_EMPTY, outs,
                                            destinations, outs ? weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 1, &where));
    CHECK_OK(MPI_Dist_graph_neighbors_count(where, &in_degree, &out_degree, &weighted));
    CHECK(in_degree == ins && out_degree == outs && weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(where, ins, got[0], got_weights[0], outs, got[1], got_weights[1]));
    CHECK(memcmp(got_weights[0], weights, (size_t)ins * sizeof(int)) == 0);
    CHECK(memcmp(got_weights[1], weights, (size_t)outs * sizeof(int)) == 0);
    MPI_Comm_free(&where);
}

/* Each edge is given by some rank, which is neither of its ends; its number is its weight, by which we know the order. */
static void given_by_any(void)
{
    int from[EDGES], degree[EDGES], to[EDGES], weight[EDGES], n = 0, in_degree, out_degree, weighted, destinations[MOST];
    for (int e = 0; e < edges; e++)
        if ((e * 5 + 1) % size == rank) {
            from[n] = tail[e];
            to[n] = head[e];
            degree[n] = 1;
            weight[n++] = e;
        }
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, from, degree, to, n ? weight : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
                                   &where));
    own_edges(destinations);
    CHECK_OK(MPI_Dist_graph_neighbors_count(where, &in_degree, &out_degree, &weighted));
    CHECK(in_degree == ins && out_degree == outs && weighted);
    int in_edge[MOST], out_edge[MOST];
    CHECK_OK(MPI_Dist_graph_neighbors(where, ins, sources, in_edge, outs, destinations, out_edge));
    for (int i = 0; i < ins; i++) {
        CHECK(tail[in_edge[i]] == sources[i] && head[in_edge[i]] == rank);
        expected[i] = carries(in_edge[i]);
    }
    for (int i = 0; i < outs; i++) {
        CHECK(tail[out_edge[i]] == rank && head[out_edge[i]] == destinations[i]);
        carried[i] = carries(out_edge[i]);
    }
    six();
    MPI_Comm_free(&where);
}

/* A ring with a loop at each node and an edge twice to the next one, as all know it. */
static void known_to_all(void)
{
    int nodes = size > 1 ? size - 1 : 1, index[MOST], targets[EDGES], n = 0, status, node, got[MOST], dims[2];
    for (int i = 0; i < nodes; i++) {
        int next = (i + 1) % nodes, last = (i + nodes - 1) % nodes;
        targets[n++] = next;
        targets[n++] = i;
        targets[n++] = next;
        targets[n++] = last;
        targets[n++] = last;
        index[i] = n;
    }
    CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, index, targets, &node));
    CHECK_EQUAL(node, rank < nodes ? rank : MPI_UNDEFINED);
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, targets, 0, &where));
    CHECK((where == MPI_COMM_NULL) == (rank >= nodes));
    if (where == MPI_COMM_NULL)
        return;
    CHECK_OK(MPI_Topo_test(where, &status));
    CHECK_EQUAL(status, MPI_GRAPH);
    CHECK_OK(MPI_Graphdims_get(where, &dims[0], &dims[1]));
    CHECK(dims[0] == nodes && dims[1] == n);
    int index_got[MOST], targets_got[EDGES], neighbors;
    CHECK_OK(MPI_Graph_get(where, nodes, n, index_got, targets_got));
    CHECK(!memcmp(index, index_got, (size_t)nodes * sizeof(int)) && !memcmp(targets, targets_got, (size_t)n * sizeof(int)));
    CHECK_OK(MPI_Graph_neighbors_count(where, nodes - 1, &neighbors));
    CHECK_EQUAL(neighbors, 5);
    CHECK_OK(MPI_Graph_neighbors(where, nodes - 1, 5, got));
    CHECK(memcmp(got, targets + 5 * (nodes - 1), sizeof(int) * 5) == 0);
    ins = outs = 5;
    for (int i = 0; i < 5; i++) {
        int peer = sources[i] = targets[5 * rank + i], nth = 0, k = 0;
        for (int j = 0; j < i; j++)
            nth += targets[5 * rank + j] == peer;
        carried[i] = carries(5 * rank + i);
        while (targets[5 * peer + k] != rank || nth-- > 0)
            k++;
        expected[i] = carries(5 * peer + k);
    }
    six();
    MPI_Comm_free(&where);
}

/* Rank 0 has edges to all others, and no buffer for what comes in; the others have none for what goes out. */
static void one_side(void)
{
    int to[MOST], got = -1, zero = 0, degree = rank ? 0 : size - 1;
    for (int i = 0; i < MOST; i++)
        to[i] = i + 1;
    void *given = rank ? NULL : to, *place = rank ? &got : NULL;
    MPI_Comm graph;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank > 0, &zero, MPI_UNWEIGHTED, degree, to, MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &graph));
    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Neighbor_alltoall(given, 1, MPI_INT, place, 1, MPI_INT, graph));
    CHECK_EQUAL(got, rank ? rank : -1);
    CHECK_OK(MPI_Neighbor_allgather(given, 1, MPI_INT, place, 1, MPI_INT, graph));
    CHECK_EQUAL(got, rank ? 1 : -1);
    if (degree)
        CHECK_CLASS(MPI_Neighbor_allgather(NULL, 1, MPI_INT, NULL, 1, MPI_INT, graph), MPI_ERR_BUFFER);
    MPI_Comm_free(&graph);
}

/* ---- what is wrong ---- */

/* An edge to rank 1, and none back: nobody waits for it. */
static void lopsided(void)
{
    int data[2] = {0}, index[2] = {1, 1}, target = 1;
    MPI_Comm comm, same;
    MPI_Request request;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, 2, index, &target, 0, &comm));
    if (comm == MPI_COMM_NULL)
        return;
    CHECK_OK(MPI_Comm_dup(comm, &same));
    CHECK_CLASS(MPI_Neighbor_alltoall(data, 1, MPI_INT, data, 1, MPI_INT, comm), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Ineighbor_allgather(data, 1, MPI_INT, data, 1, MPI_INT, same, &request), MPI_ERR_TOPOLOGY);
    CHECK_OK(MPI_Barrier(same));
    MPI_Comm_free(&comm);
    MPI_Comm_free(&same);
}

static void wrong(void)
{
    int data[2] = {0}, two = 2, one = 1, big = size, falls[2] = {1, 0}, n;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (size > 1)
        lopsided();
    CHECK_CLASS(MPI_Neighbor_alltoall(data, 1, MPI_INT, data, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graphdims_get(MPI_COMM_WORLD, &n, &n), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &n, &n, &n), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, size + 1, &one, &one, 0, &comm), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, -1, &one, &one, 0, &comm), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, &one, &one, 0, &comm), MPI_ERR_ARG); /* edge to node 1 of 1 */
    if (size > 1)
        CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 2, falls, &one, 0, &comm), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, &one, NULL, 0, &comm), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &big, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                               MPI_INFO_NULL, 0, &comm), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, -1, &big, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                               MPI_INFO_NULL, 0, &comm), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, data, MPI_UNWEIGHTED, 1, data, &one, MPI_INFO_NULL, 0,
                                               &comm), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, data, NULL, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL,
                                               0, &comm), MPI_ERR_ARG);
    /* one rank is wrong: all are told */
    CHECK_CLASS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, rank ? data : &big, &one, data, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                      0, &comm), MPI_ERR_ARG);
    n = -1;
    CHECK_CLASS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, data, rank ? &one : &n, data, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                      0, &comm), MPI_ERR_ARG);
    if (size > 1)
        CHECK_CLASS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, data, &two, data, rank ? MPI_UNWEIGHTED : data,
                                          MPI_INFO_NULL, 0, &comm), MPI_ERR_ARG);
    CHECK(comm == MPI_COMM_NULL);
    /* nothing at all, with arrays that are not there */
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    CHECK_CLASS(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, data, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Neighbor_alltoallv(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, comm));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &comm));
    CHECK(comm == MPI_COMM_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(void)
{
    check_init();
    grids();
    known_to_all();
    for (int i = 0; i < 20; i++) {
        seed = (unsigned)i + 1;
        random_graph(i * 5);
        adjacent();
        given_by_any();
    }
    for (int outwards = 0; outwards < 2; outwards++) {
        one_sided_graph(outwards);
        adjacent();
        given_by_any();
    }
    one_side();
    wrong();
    return check_finalize();
}
