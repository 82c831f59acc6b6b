/* coll/alltoall: everyone has a block for everyone. Directly, or tiny blocks of larger groups in company (Bruck's way):
 * log n messages, each block taking the hops that the bits of its distance say. */
#include "coll/make.h"

#define COMPANY_BLOCK 64   /* bytes of a block that rather waits for company ... */
#define COMPANY_MEMBERS 12 /* ... in groups from this size */

/* In place: what is sent is packed first, as the places are needed for what comes. */
static void directly_in_place(struct coll_schedule *schedule)
{
    const struct coll_side *side = &schedule->call.receive;
    struct coll_side packed;
    if (!vcoll_packed_side(schedule, side, schedule->rank, &packed))
        return;
    for (int i = 0; i < schedule->size; i++)
        if (i != schedule->rank)
            vcoll_copy(schedule, coll_block(side, i), coll_block(&packed, i));
    vcoll_piece_exchange(schedule, NULL, &packed, side);
}

/* ---- in company ---------------------------------------------------------------------------------------------------- */

struct company {
    char *block;      /* [i]: first what goes to the rank i above, in the end what came from the rank i below */
    char *out, *in;   /* a round's messages */
    uint64_t bytes;   /* of a block */
};

/* Copies the blocks whose number has BIT set between their places and a message; returns the message's bytes. */
static uint64_t pick(struct coll_schedule *schedule, const struct company *company, int bit, char *message, bool into)
{
    uint64_t at = 0;
    for (int64_t i = bit; i < schedule->size; i += 2 * (int64_t)bit) {
        int64_t run = schedule->size - i < bit ? schedule->size - i : bit;
        struct type_buffer blocks = coll_bytes(company->block + (uint64_t)i * company->bytes,
                                               (uint64_t)run * company->bytes);
        struct type_buffer travelling = coll_bytes(message + at, blocks.count);
        vcoll_copy(schedule, into ? blocks : travelling, into ? travelling : blocks);
        at += blocks.count;
    }
    return at;
}

static void in_company(struct coll_schedule *schedule, const struct coll_side *from, uint64_t bytes)
{
    int rank = schedule->rank, size = schedule->size;
    uint64_t all = (uint64_t)size * bytes;
    struct company company = {vcoll_memory(schedule, all), vcoll_memory(schedule, all), vcoll_memory(schedule, all), bytes};
    if (schedule->failure)
        return;
    for (int i = 1; i < size; i++)
        vcoll_copy(schedule, coll_block(from, coll_ring(schedule, rank, i)),
                   coll_bytes(company.block + (uint64_t)i * bytes, bytes));
    for (int64_t bit = 1; bit < size; bit *= 2) {
        uint64_t length = pick(schedule, &company, (int)bit, company.out, true);
        vcoll_receive(schedule, coll_ring(schedule, rank, -(int)bit), coll_bytes(company.in, length));
        vcoll_send(schedule, coll_ring(schedule, rank, (int)bit), coll_bytes(company.out, length));
        vcoll_round(schedule);
        pick(schedule, &company, (int)bit, company.in, false);
    }
    for (int i = 1; i < size; i++)
        vcoll_copy(schedule, coll_bytes(company.block + (uint64_t)i * bytes, bytes),
                   coll_block(&schedule->call.receive, coll_ring(schedule, rank, -i)));
}

/* ---- the call ------------------------------------------------------------------------------------------------------ */

void vcoll_make_alltoall(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    bool in_place = call->send.base == COLL_IN_PLACE;
    bool even = call->kind == COLL_ALLTOALL;
    uint64_t bytes = even ? coll_side_bytes(&call->receive) : 0;
    if (even && bytes == 0)
        return;
    if (even && bytes <= COMPANY_BLOCK && schedule->size >= COMPANY_MEMBERS)
        in_company(schedule, in_place ? &call->receive : &call->send, bytes);
    else if (in_place)
        directly_in_place(schedule);
    else
        vcoll_piece_exchange(schedule, NULL, &call->send, &call->receive);
    if (!in_place)
        vcoll_copy(schedule, coll_block(&call->send, schedule->rank), coll_block(&call->receive, schedule->rank));
}
