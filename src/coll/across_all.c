/* coll/across_all: allgather and alltoall of a group on several nodes, see across.c.
 *
 *   allgather, masters   blocks to the master of each node; the masters double what they have; from each to its node
 *   allgather, slices    each rank exchanges its block with its likes; then on each node each gives the others what it
 *                        has got
 *   alltoall, slices     on each node each rank serves some of the nodes. It gets from the others what goes to these,
 *                        sends it in one message a node, and deals out what comes back. So a node sends one message to
 *                        each other one, and the copies are shared by all its ranks
 *
 * Blocks of an alltoall are bytes on their way; they are packed at the beginning, which is why it may be in place. */
#include "coll/make.h"
#include "coll/nodes.h"

static const struct coll_nodes *nodes_of(const struct coll_schedule *schedule) { return schedule->call.group->nodes; }

/* ---- allgather by masters ---- */

/* The nodes in the order of a ring from the own one on: where the blocks of the node DISTANCE away begin. */
static uint64_t ring_begin(const struct coll_schedule *schedule, int distance)
{
    const struct coll_nodes *nodes = nodes_of(schedule);
    int node = nodes->own + distance, members = schedule->call.group->size;
    int begin = node < nodes->count ? nodes->begin[node] : members + nodes->begin[node - nodes->count];
    return (uint64_t)(begin - nodes->begin[nodes->own]);
}

static struct type_buffer ring_part(const struct coll_schedule *schedule, char *ring, uint64_t block, int from, int to)
{
    uint64_t begin = ring_begin(schedule, from) * block;
    return coll_bytes(ring + begin, ring_begin(schedule, to) * block - begin);
}

/* Among masters: with each round a node has the blocks of twice as many. */
static void ring_double(struct coll_schedule *schedule, char *ring, uint64_t block)
{
    int count = schedule->size;
    for (int64_t width = 1; width < count; width *= 2) {
        int had = (int)width, more = count - had < had ? count - had : had;
        vcoll_receive(schedule, coll_ring(schedule, schedule->rank, had),
                      ring_part(schedule, ring, block, had, had + more));
        vcoll_send(schedule, coll_ring(schedule, schedule->rank, -had), ring_part(schedule, ring, block, 0, more));
        vcoll_round(schedule);
    }
}

/* Of one node between the blocks of SIDE and PACKED, where they lie one behind the other. */
static void node_copy(struct coll_schedule *schedule, int node, const struct coll_side *side, char *packed, bool pack)
{
    const struct coll_nodes *nodes = nodes_of(schedule);
    const int *member = nodes->member + nodes->begin[node];
    int members = nodes->begin[node + 1] - nodes->begin[node], run = nodes->ordered ? members : 1;
    uint64_t bytes = coll_side_bytes(side) * (uint64_t)run;
    for (int i = 0; i < members; i += run, packed += bytes) {
        struct type_buffer blocks = coll_block(side, member[i]), there = coll_bytes(packed, bytes);
        blocks.count *= (uint64_t)run;
        vcoll_copy(schedule, pack ? blocks : there, pack ? there : blocks);
    }
}

void vcoll_allgather_by_masters(struct coll_schedule *schedule)
{
    const struct coll_side *side = &schedule->call.receive;
    const struct coll_nodes *nodes = nodes_of(schedule);
    uint64_t block = coll_side_bytes(side), members = (uint64_t)schedule->call.group->size;
    vcoll_enter_node(schedule);
    bool master = schedule->rank == 0;
    char *ring = master ? vcoll_memory(schedule, members * block) : NULL;
    if (schedule->failure)
        return;
    vcoll_piece_gather(schedule, 0, coll_own_block(&schedule->call), &(struct coll_side){.base = ring, .count = block});
    if (master) {
        vcoll_enter_likes(schedule);
        ring_double(schedule, ring, block);
        for (int i = 0; i < nodes->count; i++)
            node_copy(schedule, (nodes->own + i) % nodes->count, side, ring + ring_begin(schedule, i) * block, false);
        vcoll_round(schedule);
    }
    vcoll_enter_node(schedule);
    if (schedule->size > 1)
        vcoll_piece_cast(schedule, 0, (struct type_buffer){side->base, side->count * members, side->layout});
}

/* ---- allgather by slices ---- */

/* The blocks of the members of the scope alone: one for each of them. */
static bool side_of_scope(struct coll_schedule *schedule, struct coll_side *blocks)
{
    const struct coll_side *side = &schedule->call.receive;
    int64_t *numbers = vcoll_memory(schedule, 2 * (uint64_t)schedule->size * sizeof *numbers);
    if (!numbers)
        return false;
    *blocks = (struct coll_side){.base = side->base, .layout = side->layout, .counts = numbers,
                                 .displacements = numbers + schedule->size};
    for (int i = 0; i < schedule->size; i++) {
        numbers[i] = (int64_t)side->count;
        numbers[schedule->size + i] = vcoll_member(schedule, i) * (int64_t)side->count;
    }
    return true;
}

void vcoll_allgather_by_slices(struct coll_schedule *schedule)
{
    const struct coll_nodes *nodes = nodes_of(schedule);
    struct coll_side blocks;
    vcoll_enter_likes(schedule);
    if (!side_of_scope(schedule, &blocks))
        return;
    vcoll_piece_allgather(schedule, coll_own_block(&schedule->call), &blocks);
    vcoll_enter_node(schedule);
    int place = schedule->rank, places = schedule->size;
    for (int node = 0; node < nodes->count; node++) { /* the blocks that are there thanks to one of this node */
        vcoll_scope(schedule, nodes->member + nodes->begin[node], place, places);
        if (!side_of_scope(schedule, &blocks))
            return;
        vcoll_enter_node(schedule);
        vcoll_piece_spread(schedule, -1, &blocks);
    }
}

/* ---- alltoall by slices ---- */

/* The rank at PLACE serves the nodes PLACE, PLACE + places, ... A row is a rank's blocks for one node. */
struct service {
    int places, nodes, own;
    uint64_t row;
};

static int served(const struct service *service, int place)
{
    return (service->nodes - place + service->places - 1) / service->places;
}

/* Where the rows of the nodes that PLACE serves begin, the nodes being in the order of who serves them. */
static uint64_t served_begin(const struct service *service, int place)
{
    int rows = 0;
    for (int i = 0; i < place; i++)
        rows += served(service, i);
    return (uint64_t)rows * service->row;
}

/* Between SIDE and ALL, the rows in the order of who serves them. */
static void rows_copy(struct coll_schedule *schedule, const struct service *service, const struct coll_side *side,
                      char *all, bool pack)
{
    for (int place = 0; place < service->places; place++)
        for (int node = place; node < service->nodes; node += service->places, all += service->row)
            node_copy(schedule, node, side, all, pack);
}

/* On the node: OUT has rows for each rank by whom they are served, IN from each those that this one serves; BACK: the
 * other way. */
static void rows_exchange(struct coll_schedule *schedule, const struct service *service, char *out, char *in, bool back)
{
    vcoll_enter_node(schedule);
    uint64_t own = (uint64_t)served(service, schedule->rank) * service->row;
    for (int i = 0; i < service->places; i++) {
        int place = coll_ring(schedule, schedule->rank, i);
        struct type_buffer of_place = coll_bytes(out + served_begin(service, place),
                                                 (uint64_t)served(service, place) * service->row),
                           of_own = coll_bytes(in + (uint64_t)place * own, own);
        struct type_buffer from = back ? of_own : of_place, to = back ? of_place : of_own;
        if (i == 0) {
            vcoll_copy(schedule, from, to);
            continue;
        }
        if (to.count)
            vcoll_receive(schedule, place, to);
        if (from.count)
            vcoll_send(schedule, place, from);
        vcoll_window(schedule);
    }
    vcoll_round(schedule);
}

/* IN has of each rank its rows for the nodes that this one serves; a message to a node has its rows of all ranks. */
static void parcels_exchange(struct coll_schedule *schedule, const struct service *service, int place, const char *in,
                             char *out, char *back)
{
    const struct coll_nodes *nodes = nodes_of(schedule);
    int rows = served(service, place);
    uint64_t parcel = (uint64_t)service->places * service->row;
    for (int i = 0; i < rows; i++)
        for (int p = 0; p < service->places; p++)
            vcoll_copy(schedule, coll_bytes((char *)in + (uint64_t)(p * rows + i) * service->row, service->row),
                       coll_bytes(out + (uint64_t)i * parcel + (uint64_t)p * service->row, service->row));
    vcoll_enter_all(schedule);
    for (int i = 0; i < rows; i++) {
        int node = place + i * service->places;
        int partner = nodes->member[nodes->begin[node] + service->own % service->places];
        struct type_buffer sent = coll_bytes(out + (uint64_t)i * parcel, parcel),
                           comes = coll_bytes(back + (uint64_t)i * parcel, parcel);
        if (node == service->own) {
            vcoll_copy(schedule, sent, comes);
            continue;
        }
        vcoll_receive(schedule, partner, comes);
        vcoll_send(schedule, partner, sent);
        vcoll_window(schedule);
    }
    vcoll_round(schedule);
}

/* What came from a node is in the order of its ranks and, for each, of those here; a rank here gets rows of what the
 * ranks of a node have for it. */
static void parcels_deal(struct coll_schedule *schedule, const struct service *service, int place, const char *parcel,
                         char *rows)
{
    int count = served(service, place), places = service->places;
    uint64_t block = service->row / (uint64_t)places;
    for (int i = 0; i < count; i++)
        for (int from = 0; from < places; from++)
            for (int to = 0; to < places; to++, parcel += block)
                vcoll_copy(schedule, coll_bytes((char *)parcel, block),
                           coll_bytes(rows + (uint64_t)(to * count + i) * service->row + (uint64_t)from * block,
                                      block));
}

void vcoll_alltoall_by_slices(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    const struct coll_nodes *nodes = nodes_of(schedule);
    const struct coll_side *from = call->send.base == COLL_IN_PLACE ? &call->receive : &call->send;
    int place = nodes->place[call->group->rank];
    struct service service = {.places = nodes->begin[1], .nodes = nodes->count, .own = nodes->own,
                              .row = (uint64_t)nodes->begin[1] * coll_side_bytes(&call->receive)};
    uint64_t mine = (uint64_t)(served(&service, place) * service.places) * service.row;
    char *all = vcoll_memory(schedule, (uint64_t)service.nodes * service.row), *rows = vcoll_memory(schedule, mine),
         *out = vcoll_memory(schedule, mine), *back = vcoll_memory(schedule, mine);
    if (schedule->failure)
        return;
    rows_copy(schedule, &service, from, all, true);
    rows_exchange(schedule, &service, all, rows, false);
    parcels_exchange(schedule, &service, place, rows, out, back);
    parcels_deal(schedule, &service, place, back, rows);
    rows_exchange(schedule, &service, all, rows, true);
    rows_copy(schedule, &service, &call->receive, all, false);
}
