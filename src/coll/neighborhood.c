/* coll/neighborhood: the collectives along the edges of a topology. All messages go in one round: rounds of some of
 * them would let processes wait for each other in a circle, since every one has its edges in an order of its own. */
#include "coll/make.h"

static bool has_bytes(struct type_buffer buffer) { return type_buffer_bytes(&buffer) > 0; }

void vcoll_make_neighborhood(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    const struct coll_edges *edges = call->edges;
    bool gathers = call->kind == COLL_ALLGATHER || call->kind == COLL_ALLGATHERV;
    for (int i = 0; i < edges->ins; i++) {
        struct type_buffer block = coll_block(&call->receive, edges->in[i].block);
        if (has_bytes(block))
            vcoll_receive(schedule, edges->in[i].rank, block);
    }
    for (int i = 0; i < edges->outs; i++) {
        struct type_buffer block =
            gathers ? coll_whole(&call->send) : coll_block(&call->send, edges->out[i].block);
        if (has_bytes(block))
            vcoll_send(schedule, edges->out[i].rank, block);
    }
}
