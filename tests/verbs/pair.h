/* Two devices, a and b, and connected queue pairs between them, within one process: what programs that try verbs begin with. */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE  65536
#define DEPTH 16

#define MUST(x)                                                                                                         \
    do {                                                                                                                \
        if (!(x)) {                                                                                                     \
            printf("line %d: %s failed\n", __LINE__, #x);                                                               \
            exit(1);                                                                                                    \
        }                                                                                                               \
    } while (0)

struct side {
    const char *name;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *sent, *got;
    struct ibv_srq *srq;
    struct ibv_mr *mr;
    uint8_t *memory;
    union ibv_gid gid;
};
static struct side a = {.name = "a"}, b = {.name = "b"};
static int gid_index; /* of an address of RoCE v2 */

static void side_open(struct side *side, const char *name)
{
    struct ibv_device **list = ibv_get_device_list(NULL), **found = list;
    struct ibv_port_attr port;
    MUST(list);
    while (*found && strcmp(ibv_get_device_name(*found), name) != 0)
        found++;
    MUST(*found && (side->context = ibv_open_device(*found)));
    ibv_free_device_list(list);
    MUST(ibv_query_port(side->context, 1, &port) == 0 && port.state == IBV_PORT_ACTIVE);
    MUST(ibv_query_gid(side->context, 1, gid_index, &side->gid) == 0);
    MUST(side->pd = ibv_alloc_pd(side->context));
    MUST(side->channel = ibv_create_comp_channel(side->context));
    MUST(side->sent = ibv_create_cq(side->context, 256, NULL, NULL, 0));
    MUST(side->got = ibv_create_cq(side->context, 256, side, side->channel, 0));
    MUST(side->srq = ibv_create_srq(side->pd, &(struct ibv_srq_init_attr){.attr = {.max_wr = 64, .max_sge = 2}}));
    MUST(side->memory = aligned_alloc(4096, SIZE));
    for (int i = 0; i < SIZE; i++)
        side->memory[i] = (uint8_t)(i * 7 + i / 251 + *side->name);
    MUST(side->mr = ibv_reg_mr(side->pd, side->memory, SIZE,
                               IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
}

static void side_close(struct side *side)
{
    MUST(ibv_dereg_mr(side->mr) == 0 && ibv_destroy_srq(side->srq) == 0 && ibv_destroy_cq(side->sent) == 0);
    MUST(ibv_destroy_cq(side->got) == 0 && ibv_destroy_comp_channel(side->channel) == 0 && ibv_dealloc_pd(side->pd) == 0);
    MUST(ibv_close_device(side->context) == 0);
    free(side->memory);
}

static struct ibv_qp *qp_make(struct side *side, bool shared)
{
    struct ibv_qp_init_attr made = {.send_cq = side->sent, .recv_cq = side->got, .srq = shared ? side->srq : NULL, .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 2, .max_recv_sge = 2,
                                            .max_inline_data = 64}};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
    struct ibv_qp *qp = ibv_create_qp(side->pd, &made);
    MUST(qp);
    MUST(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
    return qp;
}

static void qp_connect(struct ibv_qp *qp, const struct side *other, uint32_t number)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = number, .rq_psn = 77,
                               .max_dest_rd_atomic = 4, .min_rnr_timer = 1,
                               .ah_attr = {.is_global = 1, .port_num = 1,
                                           .grh = {.dgid = other->gid, .sgid_index = (uint8_t)gid_index, .hop_limit = 64}}};
    MUST(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .sq_psn = 77, .max_rd_atomic = 4};
    MUST(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                      IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

static void pair_make(struct ibv_qp **at_a, struct ibv_qp **at_b, bool shared)
{
    *at_a = qp_make(&a, shared);
    *at_b = qp_make(&b, shared);
    qp_connect(*at_a, &b, (*at_b)->qp_num);
    qp_connect(*at_b, &a, (*at_a)->qp_num);
}

/* ---- requests ----------------------------------------------------------------------------------------------------- */

static struct ibv_sge piece(const struct side *side, uint32_t at, uint32_t length)
{
    return (struct ibv_sge){(uintptr_t)side->memory + at, length, side->mr->lkey};
}

static void receive(struct side *side, struct ibv_qp *qp, uint64_t id, uint32_t at, uint32_t length)
{
    struct ibv_sge into = piece(side, at, length);
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &into, .num_sge = 1}, *bad;
    MUST((qp ? ibv_post_recv(qp, &wr, &bad) : ibv_post_srq_recv(side->srq, &wr, &bad)) == 0);
}

/* A request of A. TO: where in the memory of B, for writes and reads. */
static struct ibv_send_wr request(enum ibv_wr_opcode opcode, uint64_t id, struct ibv_sge *pieces, int count, uint32_t to)
{
    struct ibv_send_wr wr = {.wr_id = id, .opcode = opcode, .sg_list = pieces, .num_sge = count, .send_flags = IBV_SEND_SIGNALED,
                             .imm_data = (uint32_t)(0x01020304 * id)};
    wr.wr.rdma.remote_addr = (uintptr_t)b.memory + to;
    wr.wr.rdma.rkey = b.mr->rkey;
    return wr;
}

static void post(struct ibv_qp *qp, struct ibv_send_wr wr)
{
    struct ibv_send_wr *bad;
    MUST(ibv_post_send(qp, &wr, &bad) == 0);
}
