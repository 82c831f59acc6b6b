/* A script of verbs, played within one process between two devices:  events DEVICE DEVICE GID
 * It prints what completes, in order, as tests/verbs/events has it: on the double and on software RoCE, or the double lies. What is not
 * defined by verbs (fields of a completion with an error, times) is not printed. Links libibverbs, whichever is found. */
#include "pair.h"
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static unsigned sum(const struct side *side, uint32_t at, uint32_t length)
{
    unsigned all = length;
    for (uint32_t i = 0; i < length; i++)
        all = all * 31 + side->memory[at + i];
    return all;
}

/* ---- what completes ----------------------------------------------------------------------------------------------- */

static void completed(const struct side *side, struct ibv_cq *cq, int count)
{
    time_t end = time(NULL) + 30;
    for (int got = 0; got < count;) {
        struct ibv_wc wc;
        int polled = ibv_poll_cq(cq, 1, &wc);
        MUST(polled >= 0 && time(NULL) < end);
        if (polled == 0)
            continue;
        got++;
        if (wc.status == IBV_WC_LOC_QP_OP_ERR)
            wc.status = IBV_WC_LOC_PROT_ERR;
        printf("  %s %s %llu: status %d", side->name, cq == side->sent ? "sent" : "got", (unsigned long long)wc.wr_id, wc.status);
        if (!wc.status)
            printf(", opcode %d", wc.opcode);
        if (!wc.status && cq == side->got)
            printf(", %u bytes", wc.byte_len);
        if (!wc.status && cq == side->got && wc.wc_flags & IBV_WC_WITH_IMM)
            printf(", immediate %x", wc.imm_data);
        printf("\n");
    }
}

static void nothing_more(void)
{
    struct ibv_wc wc;
    usleep(50000);
    printf("  left: %d %d %d %d\n", ibv_poll_cq(a.sent, 1, &wc), ibv_poll_cq(a.got, 1, &wc), ibv_poll_cq(b.sent, 1, &wc),
           ibv_poll_cq(b.got, 1, &wc));
}

/* ---- the script --------------------------------------------------------------------------------------------------- */

static void sends(struct ibv_qp *from, struct ibv_qp *to)
{
    static const uint32_t length[] = {0, 1, 64, 1024, 1025, 10000};
    printf("sends\n");
    for (unsigned i = 0; i < sizeof length / sizeof *length; i++) {
        struct ibv_sge whole = piece(&a, 100 * i, length[i]);
        struct ibv_send_wr wr = request(i % 2 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, i + 1, &whole, 1, 0);
        receive(&b, to, 100 + i, 40000, 20000);
        if (length[i] <= 64)
            wr.send_flags |= IBV_SEND_INLINE;
        post(from, wr);
        completed(&b, b.got, 1);
        completed(&a, a.sent, 1);
        printf("  sum %x %x\n", sum(&a, 100 * i, length[i]), sum(&b, 40000, length[i]));
    }
    struct ibv_sge two[2] = {piece(&a, 5, 3000), piece(&a, 9000, 77)};
    receive(&b, to, 120, 30000, 3077);
    post(from, request(IBV_WR_SEND, 20, two, 2, 0));
    completed(&b, b.got, 1);
    completed(&a, a.sent, 1);
    printf("  sum %x %x\n", sum(&b, 30000, 3000), sum(&b, 33000, 77));
}

static void writes_and_reads(struct ibv_qp *from, struct ibv_qp *to)
{
    struct ibv_sge whole = piece(&a, 1, 9000), back = piece(&a, 50000, 9000);
    printf("writes and reads\n");
    post(from, request(IBV_WR_RDMA_WRITE, 1, &whole, 1, 20000));
    completed(&a, a.sent, 1);
    printf("  sum %x %x\n", sum(&a, 1, 9000), sum(&b, 20000, 9000));
    whole = piece(&a, 7, 500);
    receive(&b, to, 101, 0, 16);
    post(from, request(IBV_WR_RDMA_WRITE_WITH_IMM, 2, &whole, 1, 30000));
    completed(&b, b.got, 1);
    completed(&a, a.sent, 1);
    printf("  sum %x %x\n", sum(&a, 7, 500), sum(&b, 30000, 500));
    receive(&b, to, 102, 0, 16);
    post(from, request(IBV_WR_RDMA_WRITE_WITH_IMM, 3, NULL, 0, 0));
    completed(&b, b.got, 1);
    completed(&a, a.sent, 1);
    post(from, request(IBV_WR_RDMA_READ, 4, &back, 1, 20000));
    completed(&a, a.sent, 1);
    printf("  sum %x %x\n", sum(&a, 50000, 9000), sum(&b, 20000, 9000));
}

/* Some are not signalled; one that waits for a receive holds up those behind it. */
static void quiet_and_early(struct ibv_qp *from, struct ibv_qp *to)
{
    printf("not signalled, and too early\n");
    struct ibv_sge whole = piece(&a, 0, 300);
    for (uint64_t i = 1; i <= 40; i++) {
        struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, i, &whole, 1, 1000);
        wr.send_flags = i % 8 == 0 ? IBV_SEND_SIGNALED : 0;
        post(from, wr);
        if (i % 8 == 0)
            completed(&a, a.sent, 1);
    }
    post(from, request(IBV_WR_SEND, 50, &whole, 1, 0));
    post(from, request(IBV_WR_RDMA_WRITE, 51, &whole, 1, 2000));
    nothing_more();
    receive(&b, to, 150, 3000, 300);
    completed(&b, b.got, 1);
    completed(&a, a.sent, 2);
    nothing_more();
}

/* Two queue pairs take from one queue; arming tells of the next completion. */
static void shared(void)
{
    struct ibv_qp *from[2], *to[2];
    struct ibv_sge whole = piece(&a, 0, 2000);
    struct pollfd ready = {.fd = b.channel->fd, .events = POLLIN};
    struct ibv_cq *cq;
    void *own;
    printf("a shared queue, and events\n");
    for (int i = 0; i < 2; i++)
        pair_make(&from[i], &to[i], true);
    for (uint64_t i = 0; i < 4; i++)
        receive(&b, NULL, 200 + i, 4000 * (uint32_t)i, 4000);
    MUST(ibv_req_notify_cq(b.got, 0) == 0);
    printf("  ready: %d\n", poll(&ready, 1, 0));
    for (uint64_t i = 0; i < 4; i++) {
        post(from[i % 2], request(IBV_WR_SEND_WITH_IMM, i + 1, &whole, 1, 0));
        completed(&a, a.sent, 1);
        completed(&b, b.got, 1);
        printf("  ready: %d\n", poll(&ready, 1, i == 0 ? 20000 : 0));
    }
    MUST(ibv_get_cq_event(b.channel, &cq, &own) == 0 && cq == b.got && own == &b);
    ibv_ack_cq_events(cq, 1);
    printf("  ready: %d\n", poll(&ready, 1, 0));
    for (int i = 0; i < 2; i++)
        MUST(ibv_destroy_qp(from[i]) == 0 && ibv_destroy_qp(to[i]) == 0);
}

/* A shared queue tells once when fewer are left than were asked for. */
static void limit(void)
{
    struct ibv_qp *from, *to;
    struct ibv_async_event event;
    struct ibv_sge whole = piece(&a, 0, 200);
    struct pollfd ready = {.fd = b.context->async_fd, .events = POLLIN};
    printf("the limit of a shared queue\n");
    pair_make(&from, &to, true);
    for (uint64_t i = 0; i < 4; i++)
        receive(&b, NULL, 400 + i, 0, 4000);
    MUST(ibv_modify_srq(b.srq, &(struct ibv_srq_attr){.srq_limit = 3}, IBV_SRQ_LIMIT) == 0);
    for (uint64_t i = 0; i < 4; i++) {
        post(from, request(IBV_WR_SEND, i + 1, &whole, 1, 0));
        completed(&b, b.got, 1);
        completed(&a, a.sent, 1);
        printf("  ready: %d\n", poll(&ready, 1, i == 1 ? 20000 : 0));
    }
    MUST(ibv_get_async_event(b.context, &event) == 0 && event.element.srq == b.srq);
    printf("  event %d\n", event.event_type);
    ibv_ack_async_event(&event);
    printf("  ready: %d\n", poll(&ready, 1, 0));
    MUST(ibv_destroy_qp(from) == 0 && ibv_destroy_qp(to) == 0);
}

/* Memory by numbers that are not its addresses, and a longer queue of completions. */
static void renamed(void)
{
    struct ibv_qp *from, *to;
    struct ibv_sge whole = piece(&a, 3, 3000), back;
    struct ibv_mr *mr = ibv_reg_mr_iova2(b.pd, b.memory + 123, 5000, 123, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_mr *own = ibv_reg_mr_iova2(a.pd, a.memory + 77, 5000, 77, IBV_ACCESS_LOCAL_WRITE);
    printf("memory by another name\n");
    MUST(mr && own && ibv_resize_cq(a.sent, 300) == 0);
    pair_make(&from, &to, false);
    struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, 1, &whole, 1, 0);
    wr.wr.rdma.remote_addr = 123 + 10;
    wr.wr.rdma.rkey = mr->rkey;
    post(from, wr);
    completed(&a, a.sent, 1);
    printf("  sum %x %x\n", sum(&a, 3, 3000), sum(&b, 133, 3000));
    back = (struct ibv_sge){77 + 20, 1000, own->lkey};
    post(from, request(IBV_WR_RDMA_READ, 2, &back, 1, 133));
    completed(&a, a.sent, 1);
    printf("  sum %x %x\n", sum(&a, 97, 1000), sum(&b, 133, 1000));
    wr.wr.rdma.remote_addr = 122;
    post(from, wr);
    completed(&a, a.sent, 1);
    MUST(ibv_destroy_qp(from) == 0 && ibv_destroy_qp(to) == 0 && ibv_dereg_mr(mr) == 0 && ibv_dereg_mr(own) == 0);
}

static int state_of(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr made;
    MUST(ibv_query_qp(qp, &attr, IBV_QP_STATE, &made) == 0);
    return attr.qp_state;
}

static void faults(void)
{
    struct ibv_qp *from, *to;
    struct ibv_sge whole = piece(&a, 0, 100);
    struct ibv_send_wr wr;

    printf("a wrong remote key\n");
    pair_make(&from, &to, false);
    wr = request(IBV_WR_RDMA_WRITE, 1, &whole, 1, 0);
    wr.wr.rdma.rkey ^= 0x5a5a00;
    post(from, wr);
    completed(&a, a.sent, 1);
    post(from, request(IBV_WR_SEND, 2, &whole, 1, 0));
    completed(&a, a.sent, 1);
    printf("  state %d\n", state_of(from));
    MUST(ibv_destroy_qp(from) == 0 && ibv_destroy_qp(to) == 0);

    printf("beyond the end of the memory\n");
    pair_make(&from, &to, false);
    post(from, request(IBV_WR_RDMA_READ, 1, &whole, 1, SIZE - 99));
    completed(&a, a.sent, 1);
    printf("  state %d\n", state_of(from));
    MUST(ibv_destroy_qp(from) == 0 && ibv_destroy_qp(to) == 0);

    printf("a local key that is none\n");
    pair_make(&from, &to, false);
    receive(&b, to, 310, 0, 100);
    wr = request(IBV_WR_SEND, 1, &whole, 1, 0);
    whole.lkey ^= 0x5a5a00;
    post(from, wr);
    completed(&a, a.sent, 1); /* (which of two errors of its own, differs) */
    printf("  state %d\n", state_of(from));
    whole = piece(&a, 0, 100);
    MUST(ibv_destroy_qp(from) == 0 && ibv_destroy_qp(to) == 0);

    printf("ended from outside\n");
    pair_make(&from, &to, false);
    for (uint64_t i = 0; i < 3; i++)
        receive(&b, to, 300 + i, 0, 100);
    post(from, request(IBV_WR_SEND, 1, &whole, 1, 0));
    completed(&b, b.got, 1);
    completed(&a, a.sent, 1);
    MUST(ibv_modify_qp(to, &(struct ibv_qp_attr){.qp_state = IBV_QPS_ERR}, IBV_QP_STATE) == 0);
    completed(&b, b.got, 2); /* (what is posted from now on is flushed, too, but not by rxe of Linux 6.1) */
    nothing_more();
    MUST(ibv_destroy_qp(from) == 0 && ibv_destroy_qp(to) == 0);
}

int main(int count, char **arguments)
{
    struct ibv_qp *from, *to;
    MUST(count == 4);
    gid_index = atoi(arguments[3]);
    side_open(&a, arguments[1]);
    side_open(&b, arguments[2]);
    pair_make(&from, &to, false);
    sends(from, to);
    writes_and_reads(from, to);
    quiet_and_early(from, to);
    MUST(ibv_destroy_qp(from) == 0 && ibv_destroy_qp(to) == 0);
    shared();
    limit();
    renamed();
    faults();
    side_close(&a);
    side_close(&b);
    printf("the end\n");
    return 0;
}
