/* Graphs: topologies whose edges are listed, all of them by every process (MPI_Graph_create), the own ones by each
 * (MPI_Dist_graph_create_adjacent), or any by any (MPI_Dist_graph_create). Ranks are never reordered. */
#include "mpi/hints.h"
#include "mpi/comm.h"
#include "mpi/type.h"

static int numbers_wrong(struct mpi_comm *comm, const char *call, const char *name, int at, int value)
{
    return mpi_error(comm, call, MPI_ERR_ARG, "%s[%d] is %d", name, at, value);
}

/* COUNT numbers from LEAST on and below LIMIT. */
static int numbers_check(struct mpi_comm *comm, const char *call, const char *name, const int *list, int count,
                         int64_t limit)
{
    if (count < 0)
        return mpi_error(comm, call, MPI_ERR_ARG, "%s has %d numbers", name, count);
    if (count > 0 && !list)
        return mpi_null(comm, call, name);
    for (int i = 0; i < count; i++)
        if (list[i] < 0 || list[i] >= limit)
            return numbers_wrong(comm, call, name, i, list[i]);
    return MPI_SUCCESS;
}

static int memory_error(struct mpi_comm *comm, const char *call)
{
    return mpi_error(comm, call, MPI_ERR_NO_MEM, "no memory for a graph");
}

/* The communicator over GROUP with TOPOLOGY, which it takes; NULL: there was no memory for one of them. */
static int graph_deliver(const char *call, struct mpi_comm *parent, struct mpi_group *group,
                         struct mpi_topology *topology, MPI_Comm *out)
{
    bool unable = !group || !topology;
    return mpi_comm_make(&(struct mpi_child){call, parent, group, .topology = topology, .unable = unable}, out);
}

/* ---- graphs that every process knows ---- */

/* Raises what is wrong with a graph. */
static int graph_check(struct mpi_comm *comm, const char *call, int nodes, const int *index, const int *edges)
{
    if (nodes < 0 || nodes > comm->size)
        return mpi_error(comm, call, MPI_ERR_ARG, "a graph of %d nodes for %d ranks", nodes, comm->size);
    int error = numbers_check(comm, call, "index", index, nodes, INT64_MAX);
    for (int i = 1; i < nodes && !error; i++)
        if (index[i] < index[i - 1])
            error = mpi_error(comm, call, MPI_ERR_ARG, "index[%d] is %d, and falls to %d", i - 1, index[i - 1],
                              index[i]);
    return error ?: numbers_check(comm, call, "edges", edges, nodes ? index[nodes - 1] : 0, nodes);
}

static int node_begin(const struct mpi_topology *graph, int node) { return node ? graph->index[node - 1] : 0; }
static int node_degree(const struct mpi_topology *graph, int node)
{
    return graph->index[node] - node_begin(graph, node);
}

/* A number that looks like chance, for two nodes in either order. */
static uint64_t pair_number(int one, int other)
{
    uint64_t n = (uint64_t)(uint32_t)(one < other ? one : other) << 32 | (uint32_t)(one < other ? other : one);
    n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9u;
    n = (n ^ n >> 27) * 0x94D049BB133111EBu;
    return n ^ n >> 31;
}

/* Whether some edge has none back: what edges up and down add does not come to nothing then, but by a chance of 2^-64.
 * One look at each edge, as all processes look at all of them. */
static bool graph_is_lopsided(const struct mpi_topology *graph)
{
    uint64_t sum = 0;
    for (int node = 0; node < graph->length[0]; node++)
        for (int i = node_begin(graph, node); i < graph->index[node]; i++)
            if (graph->targets[i] != node)
                sum += graph->targets[i] < node ? pair_number(graph->targets[i], node)
                                                : -pair_number(node, graph->targets[i]);
    return sum != 0;
}

static int graph_make(const char *call, struct mpi_comm *parent, int nodes, const int *index, const int *edges,
                      MPI_Comm *out)
{
    int rank = parent->thing.rank, error = graph_check(parent, call, nodes, index, edges);
    if (error)
        return error;
    if (rank >= nodes)
        return mpi_comm_make(&(struct mpi_child){call, parent}, out);
    int begin = rank ? index[rank - 1] : 0, degree = index[rank] - begin, all = index[nodes - 1];
    struct mpi_topology *graph =
        mpi_topology_new(MPI_GRAPH, (int[TOPOLOGY_LISTS]){nodes, all}, degree, degree);
    struct mpi_group *group = graph ? mpi_group_make(nodes, parent->group->world, parent->group) : NULL;
    if (graph) {
        memcpy(graph->index, index, (size_t)nodes * sizeof(int));
        if (all > 0)
            memcpy(graph->targets, edges, (size_t)all * sizeof(int));
        graph->edges.ins = graph->edges.outs = degree;
        graph->lopsided = graph_is_lopsided(graph);
    }
    for (int i = 0; graph && i < degree; i++)
        graph->edges.in[i] = graph->edges.out[i] = (struct coll_edge){edges[begin + i], i};
    error = graph_deliver(call, parent, group, graph, out);
    mpi_drop(group);
    return error;
}
ENTRY(MPI_Graph_create)(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int reorder,
                        MPI_Comm *comm_graph)
{
    return CHECK_WAITS(PLAIN_OF(comm), GIVEN(comm_graph)) ?:
           ((void)reorder, graph_make(NAME, mpi_comm_at(comm), nnodes, indx, edges, comm_graph));
}

static int graph_map(const char *call, struct mpi_comm *comm, int nodes, const int *index, const int *edges, int *rank)
{
    int error = graph_check(comm, call, nodes, index, edges);
    return error ?: mpi_tell(rank, comm->thing.rank < nodes ? comm->thing.rank : MPI_UNDEFINED);
}
ENTRY(MPI_Graph_map)(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank)
{
    return CHECK(PLAIN_OF(comm), GIVEN(newrank)) ?:
           graph_map(NAME, mpi_comm_at(comm), nnodes, indx, edges, newrank);
}

#define GRAPH mpi_comm_at(comm)->topology
ENTRY(MPI_Graphdims_get)(MPI_Comm comm, int *nnodes, int *nedges)
{
    return CHECK(GRAPH_OF(comm), GIVEN(nnodes), GIVEN(nedges)) ?:
           mpi_tell(nnodes, GRAPH->length[0]) + mpi_tell(nedges, GRAPH->length[1]);
}

/* A list for the program, in an array of ROOM. */
static int list_tell(struct mpi_comm *comm, const char *call, const int *list, int count, int *array, int room)
{
    if (room < count || (count > 0 && !array))
        return mpi_error(comm, call, MPI_ERR_ARG, "an array of %d at %p for %d numbers", room, (void *)array, count);
    if (count > 0)
        memcpy(array, list, (size_t)count * sizeof(int));
    return MPI_SUCCESS;
}

ENTRY(MPI_Graph_get)(MPI_Comm handle, int maxindex, int maxedges, int indx[], int edges[])
{
    struct mpi_comm *comm;
    int error = CHECK(GRAPH_OF(handle, &comm));
    if (error)
        return error;
    const struct mpi_topology *graph = comm->topology;
    return list_tell(comm, NAME, graph->index, graph->length[0], indx, maxindex) ?:
           list_tell(comm, NAME, graph->targets, graph->length[1], edges, maxedges);
}

static int node_check(struct mpi_comm *comm, const char *call, int node)
{
    if (node >= 0 && node < comm->size)
        return MPI_SUCCESS;
    return mpi_error(comm, call, MPI_ERR_RANK, "rank %d is not in a graph of %d", node, comm->size);
}
ENTRY(MPI_Graph_neighbors_count)(MPI_Comm comm, int rank, int *nneighbors)
{
    return CHECK(GRAPH_OF(comm), GIVEN(nneighbors)) ?:
           node_check(mpi_comm_at(comm), NAME, rank) ?: mpi_tell(nneighbors, node_degree(GRAPH, rank));
}
ENTRY(MPI_Graph_neighbors)(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    return CHECK(GRAPH_OF(comm)) ?:
           node_check(mpi_comm_at(comm), NAME, rank) ?:
           list_tell(mpi_comm_at(comm), NAME, GRAPH->targets + node_begin(GRAPH, rank), node_degree(GRAPH, rank),
                     neighbors, maxneighbors);
}

/* ---- graphs of which each process knows its part ---- */

/* One direction of the edges of a process, as a program gives it. */
struct direction {
    int degree;
    const int *rank, *weight;
    const char *name, *weights; /* of the arguments */
};
/* Whether edges have weights: a process that gives none does not tell. */
enum weighting { UNWEIGHTED, WEIGHTED, ANY_WEIGHTING };
static enum weighting weighting_of(int edges, const int *weights)
{
    return weights == MPI_UNWEIGHTED ? UNWEIGHTED : edges == 0 ? ANY_WEIGHTING : WEIGHTED;
}

static int direction_check(struct mpi_comm *comm, const char *call, const struct direction *d)
{
    bool weighted = weighting_of(d->degree, d->weight) == WEIGHTED;
    if (weighted && d->weight == MPI_WEIGHTS_EMPTY)
        return mpi_error(comm, call, MPI_ERR_ARG, "%s is MPI_WEIGHTS_EMPTY for %d edges", d->weights, d->degree);
    return numbers_check(comm, call, d->name, d->rank, d->degree, comm->size) ?:
           weighted ? numbers_check(comm, call, d->weights, d->weight, d->degree, INT64_MAX) : MPI_SUCCESS;
}

/* Room for a graph; NULL: no memory. */
static struct mpi_topology *dist_graph_new(int indegree, int outdegree, bool weighted)
{
    struct mpi_topology *graph = mpi_topology_new(
        MPI_DIST_GRAPH, (int[TOPOLOGY_LISTS]){indegree, indegree, outdegree, outdegree}, indegree, outdegree);
    if (graph)
        graph->weighted = weighted;
    return graph;
}
static void edge_in(struct mpi_topology *graph, int source, int weight)
{
    int i = graph->edges.ins++;
    graph->edges.in[i] = (struct coll_edge){source, i};
    graph->source[i] = source;
    graph->source_weight[i] = weight;
}
static void edge_out(struct mpi_topology *graph, int destination, int weight)
{
    int i = graph->edges.outs++;
    graph->edges.out[i] = (struct coll_edge){destination, i};
    graph->destination[i] = destination;
    graph->destination_weight[i] = weight;
}

/* With VIADUCT_CHECK, as it takes a round of all: none, or all, give MPI_UNWEIGHTED. */
static int weightings_compare(struct mpi_comm *comm, const char *call, bool unweighted, bool weighted)
{
    int last[] = {unweighted ? comm->thing.rank + 1 : 0, weighted ? comm->thing.rank + 1 : 0};
    int error = mpi_greatest_find(call, comm, last, 2);
    if (error || !last[0] || !last[1])
        return error;
    return mpi_error(comm, call, MPI_ERR_ARG, "ranks differ about MPI_UNWEIGHTED: rank %d gives it, rank %d weights",
                     last[0] - 1, last[1] - 1);
}

static int adjacent_make(const char *call, struct mpi_comm *parent, const struct direction *in,
                         const struct direction *out, MPI_Comm *comm)
{
    int error = direction_check(parent, call, in) ?: direction_check(parent, call, out);
    if (error)
        return error;
    enum weighting ins = weighting_of(in->degree, in->weight), outs = weighting_of(out->degree, out->weight);
    if (ins + outs == UNWEIGHTED + WEIGHTED)
        return mpi_error(parent, call, MPI_ERR_ARG, "only one of %s and %s is MPI_UNWEIGHTED", in->weights,
                         out->weights);
    bool weighted = ins == WEIGHTED || outs == WEIGHTED;
    if (mpi_checking)
        error = weightings_compare(parent, call, ins == UNWEIGHTED || outs == UNWEIGHTED, weighted);
    if (error)
        return error;
    struct mpi_topology *graph = dist_graph_new(in->degree, out->degree, weighted || ins + outs == 2 * ANY_WEIGHTING);
    for (int i = 0; graph && i < in->degree; i++)
        edge_in(graph, in->rank[i], weighted ? in->weight[i] : 1);
    for (int i = 0; graph && i < out->degree; i++)
        edge_out(graph, out->rank[i], weighted ? out->weight[i] : 1);
    return graph_deliver(call, parent, parent->group, graph, comm);
}
ENTRY(MPI_Dist_graph_create_adjacent)(MPI_Comm comm, int indegree, const int sources[], const int *sourceweights,
                                      int outdegree, const int destinations[], const int *destweights, MPI_Info info,
                                      int reorder, MPI_Comm *comm_dist_graph)
{
    struct direction in = {indegree, sources, sourceweights, "sources", "sourceweights"},
                     out = {outdegree, destinations, destweights, "destinations", "destweights"};
    (void)reorder;
    return CHECK_WAITS(PLAIN_OF(comm), HINTS(info), GIVEN(comm_dist_graph)) ?:
           mpi_hints_give(NAME, adjacent_make(NAME, mpi_comm_at(comm), &in, &out, comm_dist_graph), comm_dist_graph,
                          info);
}

/* ---- any edges given by any process: each is told to both of its ends ---- */

struct given { /* what this process gives */
    int sources;
    const int *source, *degree, *destination, *weight;
    int edges; /* all degrees together */
};
struct notice { /* what each process tells each other one first */
    int parcels, weighting;
    uint32_t class; /* mpi_class_mark of an error that it has raised */
};
struct parcel { /* an end of an edge */
    int is_source, other, weight;
};

static int given_check(const char *call, struct mpi_comm *comm, struct given *g)
{
    int64_t edges = 0;
    int error = numbers_check(comm, call, "sources", g->source, g->sources, comm->size) ?:
                numbers_check(comm, call, "degrees", g->degree, g->sources, INT64_MAX);
    for (int i = 0; i < g->sources && !error; i++)
        edges += g->degree[i];
    if (edges > INT_MAX / 2)
        error = mpi_error(comm, call, MPI_ERR_ARG, "%lld edges are given", (long long)edges);
    g->edges = error ? 0 : (int)edges;
    if (error)
        return error;
    return direction_check(
        comm, call, &(struct direction){g->edges, g->destination, g->weight, "destinations", "weights"});
}

/* Runs DOES(parcel for rank) for both ends of each edge. */
static void parcels_make(const struct given *g, void (*does)(void *context, int rank, const struct parcel *parcel),
                         void *context)
{
    bool weighted = weighting_of(g->edges, g->weight) == WEIGHTED;
    for (int i = 0, edge = 0; i < g->sources && g->edges; i++)
        for (int end = edge + g->degree[i]; edge < end; edge++) {
            int weight = weighted ? g->weight[edge] : 1;
            does(context, g->source[i], &(struct parcel){true, g->destination[edge], weight});
            does(context, g->destination[edge], &(struct parcel){false, g->source[i], weight});
        }
}

/* Two steps of an exchange with all: notices, then parcels. One block of memory. */
struct exchange {
    const char *call;
    struct mpi_comm *comm;
    struct notice *told, *heard;     /* for each rank */
    int64_t *sends, *places, *receives, *landings; /* in parcels */
    struct parcel *out, *in;
};
static void parcel_count(void *context, int rank, const struct parcel *parcel)
{
    struct exchange *x = context;
    (void)parcel;
    x->told[rank].parcels++;
}
static void parcel_put(void *context, int rank, const struct parcel *parcel)
{
    struct exchange *x = context;
    x->out[x->places[rank] + x->sends[rank]++] = *parcel;
}

static bool exchange_open(struct exchange *x)
{
    size_t ranks = (size_t)x->comm->size;
    _Static_assert(4 * sizeof *x->sends + 2 * sizeof *x->told <= MPI_LIST_ITEM, "fits into the spare list");
    const size_t bytes = 4 * sizeof(int64_t) + 2 * sizeof(struct notice);
    x->sends = mpi_list_new(x->comm->size, bytes);
    if (x->sends)
        memset(x->sends, 0, ranks * bytes);
    x->places = x->sends + ranks;
    x->receives = x->places + ranks;
    x->landings = x->receives + ranks;
    x->told = (struct notice *)(x->landings + ranks);
    x->heard = x->told + ranks;
    return x->sends != NULL;
}

/* Every process learns whether all can go on. A class that was raised. */
static int notices_exchange(struct exchange *x, enum weighting own, int class, enum weighting *all)
{
    struct coll_call call = {.kind = COLL_ALLTOALL, .group = &x->comm->coll,
                             .send = {.base = x->told, .count = sizeof *x->told},
                             .receive = {.base = x->heard, .count = sizeof *x->heard}};
    int size = x->comm->size;
    for (int i = 0; i < size; i++)
        x->told[i] = (struct notice){class ? 0 : x->told[i].parcels, (int)own, mpi_class_mark(class)};
    int error = vcoll_run(&call);
    if (error)
        return mpi_engine_error(x->comm, x->call, error);
    *all = ANY_WEIGHTING;
    for (int i = 0; i < size; i++)
        if (x->heard[i].class)
            return class ?: mpi_error(x->comm, x->call, mpi_class_marked(x->heard[i].class),
                                      "rank %d gives what is wrong", i);
    for (int i = 0; i < size; i++)
        if (*all == ANY_WEIGHTING)
            *all = (enum weighting)x->heard[i].weighting;
        else if (x->heard[i].weighting != ANY_WEIGHTING && x->heard[i].weighting != (int)*all)
            return mpi_error(x->comm, x->call, MPI_ERR_ARG, "ranks differ about MPI_UNWEIGHTED: rank %d gives %s", i,
                             *all == UNWEIGHTED ? "weights" : "it");
    return MPI_SUCCESS;
}

/* Every process gets its ends of all edges, in the order of the ranks that give them. */
static int parcels_exchange(struct exchange *x, const struct given *g, int *count)
{
    static const uint64_t bytes = sizeof(struct parcel);
    int64_t out = 0, in = 0;
    for (int i = 0; i < x->comm->size; i++) {
        x->places[i] = out;
        x->landings[i] = in;
        x->receives[i] = x->heard[i].parcels;
        out += x->told[i].parcels;
        in += x->receives[i];
    }
    x->out = malloc((uint64_t)out * bytes + 1);
    x->in = malloc((uint64_t)in * bytes + 1);
    struct type_layout *layout = NULL;
    int error = x->out && x->in && in <= INT_MAX ? vtype_layout_bytes(bytes, 1, &layout) : ERR_MEMORY;
    int unable = error != 0, class = mpi_greatest_find(x->call, x->comm, &unable, 1); /* the others wait for ours */
    if (class || unable) {
        if (layout)
            vtype_layout_drop(layout);
        return class ?: memory_error(x->comm, x->call);
    }
    parcels_make(g, parcel_put, x);
    struct coll_call call = {
        .kind = COLL_ALLTOALLV, .group = &x->comm->coll,
        .send = {.base = x->out, .layout = layout, .counts = x->sends, .displacements = x->places},
        .receive = {.base = x->in, .layout = layout, .counts = x->receives, .displacements = x->landings}};
    error = vcoll_run(&call);
    vtype_layout_drop(layout);
    *count = (int)in;
    return error ? mpi_engine_error(x->comm, x->call, error) : MPI_SUCCESS;
}

static struct mpi_topology *parcels_unpack(const struct parcel *parcel, int count, bool weighted)
{
    int outs = 0;
    for (int i = 0; i < count; i++)
        outs += parcel[i].is_source;
    struct mpi_topology *graph = dist_graph_new(count - outs, outs, weighted);
    for (int i = 0; graph && i < count; i++)
        (parcel[i].is_source ? edge_out : edge_in)(graph, parcel[i].other, parcel[i].weight);
    return graph;
}

static int dist_graph_make(const char *call, struct mpi_comm *comm, struct given *g, MPI_Comm *out)
{
    struct exchange x = {.call = call, .comm = comm};
    enum weighting all = UNWEIGHTED;
    int count = 0, class = given_check(call, comm, g);
    if (!exchange_open(&x))
        return memory_error(comm, call);
    if (!class)
        parcels_make(g, parcel_count, &x);
    int error = notices_exchange(&x, class ? ANY_WEIGHTING : weighting_of(g->edges, g->weight), class, &all) ?:
                parcels_exchange(&x, g, &count);
    struct mpi_topology *graph = error ? NULL : parcels_unpack(x.in, count, all != UNWEIGHTED);
    mpi_list_free(x.sends);
    free(x.out);
    free(x.in);
    return error ?: graph_deliver(call, comm, comm->group, graph, out);
}
ENTRY(MPI_Dist_graph_create)(MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
                             const int *weights, MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
    struct given given = {n, sources, degrees, destinations, weights};
    (void)reorder;
    return CHECK_WAITS(PLAIN_OF(comm), HINTS(info), GIVEN(comm_dist_graph)) ?:
           mpi_hints_give(NAME, dist_graph_make(NAME, mpi_comm_at(comm), &given, comm_dist_graph), comm_dist_graph,
                          info);
}

/* ---- questions about these ---- */

ENTRY(MPI_Dist_graph_neighbors_count)(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    return CHECK(DIST_GRAPH_OF(comm), GIVEN(indegree), GIVEN(outdegree), GIVEN(weighted)) ?:
           mpi_tell(indegree, GRAPH->indegree) + mpi_tell(outdegree, GRAPH->outdegree) +
               mpi_tell(weighted, GRAPH->weighted);
}

/* As many as there is room for. */
static int neighbors_tell(struct mpi_comm *comm, const char *call, int room, const struct direction *known, int *ranks,
                          int *weights)
{
    int count = room < known->degree ? room : known->degree;
    bool wants_weights = known->weight && weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
    if (room < 0 || (count > 0 && (!ranks || (wants_weights && !weights))))
        return mpi_error(comm, call, MPI_ERR_ARG, "an array of %d for %s is wrong or NULL", room, known->name);
    for (int i = 0; i < count; i++) {
        ranks[i] = known->rank[i];
        if (wants_weights)
            weights[i] = known->weight[i];
    }
    return MPI_SUCCESS;
}
ENTRY(MPI_Dist_graph_neighbors)(MPI_Comm handle, int maxindegree, int sources[], int *sourceweights, int maxoutdegree,
                                int destinations[], int *destweights)
{
    struct mpi_comm *comm;
    int error = CHECK(DIST_GRAPH_OF(handle, &comm));
    if (error)
        return error;
    const struct mpi_topology *graph = comm->topology;
    struct direction in = {graph->indegree, graph->source, graph->weighted ? graph->source_weight : NULL, "sources"},
                     out = {graph->outdegree, graph->destination, graph->weighted ? graph->destination_weight : NULL,
                            "destinations"};
    return neighbors_tell(comm, NAME, maxindegree, &in, sources, sourceweights) ?:
           neighbors_tell(comm, NAME, maxoutdegree, &out, destinations, destweights);
}
