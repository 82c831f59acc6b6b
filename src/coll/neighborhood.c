/* coll/neighborhood: the collectives along the edges of a topology. All messages go in one round: rounds of some of
 * them would let processes wait for each other in a circle, since every one has its edges in an order of its own. Empty
 * blocks travel as well, so that ends that disagree about a length get an error and do not wait for ever. */
#include "coll/make.h"

void vcoll_make_neighborhood(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    const struct coll_edges *edges = call->edges;
    bool gathers = call->kind == COLL_ALLGATHER || call->kind == COLL_ALLGATHERV;
    for (int i = 0; i < edges->ins; i++)
        vcoll_receive(schedule, edges->in[i].rank, coll_block(&call->receive, edges->in[i].block));
    for (int i = 0; i < edges->outs; i++)
        vcoll_send(schedule, edges->out[i].rank,
                   gathers ? coll_whole(&call->send) : coll_block(&call->send, edges->out[i].block));
}
