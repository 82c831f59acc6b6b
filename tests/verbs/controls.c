/* What tests ask of the double: counts, a queue that is full, a request that fails, completions out of order, a port that is lost, a
 * completion queue that overflows. */
#include "pair.h"
#include "double.h"
#include <errno.h>

static struct ibv_qp *from, *to;
static struct ibv_wc wc[64];

static void again(void)
{
    if (from)
        MUST(ibv_destroy_qp(from) == 0 && ibv_destroy_qp(to) == 0);
    pair_make(&from, &to, false);
    MUST(ibv_poll_cq(a.sent, 64, wc) == 0);
}

static struct ibv_send_wr write_of(uint64_t id, struct ibv_sge *whole, unsigned flags)
{
    struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, id, whole, 1, 0);
    wr.send_flags = flags;
    return wr;
}

int main(void)
{
    struct ibv_sge whole;
    struct ibv_send_wr wr[20], *bad;
    struct ibv_qp *second[2];
    struct ibv_async_event event;
    struct double_counts *counts = double_counted();

    side_open(&a, "double0");
    side_open(&b, "double1");
    MUST(counts->registered == 2);
    whole = piece(&a, 0, 100);

    again();
    for (int i = 0; i < 3; i++) {
        wr[i] = write_of((uint64_t)i, &whole, IBV_SEND_SIGNALED);
        wr[i].next = i < 2 ? &wr[i + 1] : NULL;
    }
    uint64_t sends = counts->sends, doorbells = counts->send_doorbells;
    post(from, wr[0]);
    MUST(counts->sends == sends + 3 && counts->send_doorbells == doorbells + 1);
    MUST(ibv_poll_cq(a.sent, 64, wc) == 3);

    again(); /* room comes back with a completion that is polled, not before */
    for (int i = 0; i < DEPTH; i++)
        post(from, write_of((uint64_t)i, &whole, i == DEPTH - 1 ? IBV_SEND_SIGNALED : 0));
    wr[0] = write_of(99, &whole, 0);
    MUST(ibv_post_send(from, &wr[0], &bad) == ENOMEM && bad == &wr[0]);
    MUST(ibv_poll_cq(a.sent, 64, wc) == 1 && wc[0].wr_id == DEPTH - 1);
    MUST(ibv_post_send(from, &wr[0], &bad) == 0);

    again();
    double_fail(2, IBV_WC_RETRY_EXC_ERR);
    for (uint64_t i = 1; i <= 3; i++)
        post(from, write_of(i, &whole, IBV_SEND_SIGNALED));
    MUST(ibv_poll_cq(a.sent, 64, wc) == 3 && !wc[0].status && wc[1].status == IBV_WC_RETRY_EXC_ERR);
    MUST(wc[2].status == IBV_WC_WR_FLUSH_ERR);

    again(); /* the younger one first, each in order */
    pair_make(&second[0], &second[1], false);
    double_hold(true);
    for (uint64_t i = 1; i <= 4; i++)
        post(i % 2 ? from : second[0], write_of(i, &whole, IBV_SEND_SIGNALED));
    MUST(ibv_poll_cq(a.sent, 64, wc) == 0);
    double_hold(false);
    MUST(ibv_poll_cq(a.sent, 64, wc) == 4 && wc[0].wr_id == 2 && wc[1].wr_id == 4 && wc[2].wr_id == 1 && wc[3].wr_id == 3);
    MUST(ibv_destroy_qp(second[0]) == 0 && ibv_destroy_qp(second[1]) == 0);

    again();
    double_port("double1", false);
    post(from, write_of(1, &whole, IBV_SEND_SIGNALED));
    MUST(ibv_poll_cq(a.sent, 64, wc) == 1 && wc[0].status == IBV_WC_RETRY_EXC_ERR);
    MUST(ibv_get_async_event(b.context, &event) == 0 && event.event_type == IBV_EVENT_PORT_ERR);
    double_port("double1", true);
    MUST(ibv_get_async_event(b.context, &event) == 0 && event.event_type == IBV_EVENT_PORT_ACTIVE);

    again();
    for (int i = 0; i <= 256; i++) {
        receive(&b, to, (uint64_t)i, 0, 100);
        wr[0] = request(IBV_WR_SEND, (uint64_t)i, &whole, 1, 0);
        post(from, wr[0]);
        MUST(ibv_poll_cq(a.sent, 64, wc) == 1 && !wc[0].status);
    }
    MUST(ibv_get_async_event(b.context, &event) == 0 && event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == b.got);

    MUST(ibv_destroy_qp(from) == 0 && ibv_destroy_qp(to) == 0);
    side_close(&a);
    side_close(&b);
    MUST(counts->deregistered == 2);
    return 0;
}
