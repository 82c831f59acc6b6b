/* What we use of libibverbs.so.1, which is loaded at run time: no header of it is needed to build. Its structures are
 * the same in all versions that have the functions below; tests/verbs/same.sh compares them with the library's own
 * header. What is posted and polled goes by functions of the device (ibverbs_context.ops), not of the library. */
#pragma once

#include "base/base.h"
#include <pthread.h>

#define IBVERBS_LIBRARY "libibverbs.so.1"

enum { IBVERBS_LINK_INFINIBAND = 1, IBVERBS_LINK_ETHERNET };
enum { IBVERBS_TRANSPORT_IWARP = 1 };
enum { IBVERBS_GLOBAL = 1 }; /* a port that is addressed by GIDs alone */
enum { IBVERBS_QPT_RC = 2, IBVERBS_PORT_ACTIVE = 4, IBVERBS_GID_INFINIBAND = 0, IBVERBS_GID_ROCE_V2 = 2 };
enum ibverbs_qp_state { IBVERBS_QPS_RESET, IBVERBS_QPS_INIT, IBVERBS_QPS_RTR, IBVERBS_QPS_RTS, IBVERBS_QPS_ERR = 6 };
enum {
    IBVERBS_QP_STATE = 1 << 0,
    IBVERBS_QP_ACCESS_FLAGS = 1 << 3,
    IBVERBS_QP_PKEY_INDEX = 1 << 4,
    IBVERBS_QP_PORT = 1 << 5,
    IBVERBS_QP_AV = 1 << 7,
    IBVERBS_QP_PATH_MTU = 1 << 8,
    IBVERBS_QP_TIMEOUT = 1 << 9,
    IBVERBS_QP_RETRY_CNT = 1 << 10,
    IBVERBS_QP_RNR_RETRY = 1 << 11,
    IBVERBS_QP_RQ_PSN = 1 << 12,
    IBVERBS_QP_MAX_QP_RD_ATOMIC = 1 << 13,
    IBVERBS_QP_MIN_RNR_TIMER = 1 << 15,
    IBVERBS_QP_SQ_PSN = 1 << 16,
    IBVERBS_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
    IBVERBS_QP_DEST_QPN = 1 << 20
};
enum { IBVERBS_ACCESS_LOCAL_WRITE = 1, IBVERBS_ACCESS_REMOTE_WRITE = 2, IBVERBS_ACCESS_REMOTE_READ = 4 };
enum { IBVERBS_SEND_SIGNALED = 2, IBVERBS_SEND_INLINE = 8 };
enum { IBVERBS_WR_RDMA_WRITE, IBVERBS_WR_RDMA_WRITE_WITH_IMM, IBVERBS_WR_SEND, IBVERBS_WR_RDMA_READ = 4 };
enum { IBVERBS_WC_FLUSHED = 5, IBVERBS_WC_RECV = 128, IBVERBS_WC_RECV_RDMA_WITH_IMM };
enum {
    IBVERBS_EVENT_CQ_ERR,
    IBVERBS_EVENT_DEVICE_FATAL = 8,
    IBVERBS_EVENT_PORT_ERR = 10,
    IBVERBS_EVENT_SRQ_LIMIT_REACHED = 15,
    IBVERBS_EVENT_QP_LAST_WQE_REACHED
};

struct ibverbs_device {
    void *unused[2];
    int node_type, transport_type;
};
struct ibverbs_cq;
struct ibverbs_srq;
struct ibverbs_qp;
struct ibverbs_wc {
    uint64_t wr_id;
    uint32_t status, opcode, vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags;
    uint16_t pkey_index, slid;
    uint8_t sl, dlid_path_bits;
};
struct ibverbs_sge {
    uint64_t addr;
    uint32_t length, lkey;
};
struct ibverbs_send_wr {
    uint64_t wr_id;
    struct ibverbs_send_wr *next;
    struct ibverbs_sge *sg_list;
    int num_sge;
    uint32_t opcode;
    unsigned send_flags;
    uint32_t imm_data;
    uint64_t remote_addr;
    uint32_t rkey;
    uint64_t unused[9]; /* of other requests */
};
struct ibverbs_recv_wr {
    uint64_t wr_id;
    struct ibverbs_recv_wr *next;
    struct ibverbs_sge *sg_list;
    int num_sge;
};
struct ibverbs_context {
    struct ibverbs_device *device;
    struct {
        void *before_poll[11];
        int (*poll_cq)(struct ibverbs_cq *cq, int most, struct ibverbs_wc *wc);
        int (*req_notify_cq)(struct ibverbs_cq *cq, int solicited_only);
        void *before_srq[7];
        int (*post_srq_recv)(struct ibverbs_srq *srq, struct ibverbs_recv_wr *wr, struct ibverbs_recv_wr **bad);
        void *before_send[4];
        int (*post_send)(struct ibverbs_qp *qp, struct ibverbs_send_wr *wr, struct ibverbs_send_wr **bad);
        void *after_send[6];
    } ops;
    int cmd_fd, async_fd, num_comp_vectors;
};
struct ibverbs_pd {
    struct ibverbs_context *context;
    uint32_t handle;
};
struct ibverbs_mr {
    struct ibverbs_context *context;
    struct ibverbs_pd *pd;
    void *addr;
    size_t length;
    uint32_t handle, lkey, rkey;
};
struct ibverbs_channel {
    struct ibverbs_context *context;
    int fd, refcnt;
};
struct ibverbs_qp {
    struct ibverbs_context *context;
    void *qp_context;
    struct ibverbs_pd *pd;
    struct ibverbs_cq *send_cq, *recv_cq;
    struct ibverbs_srq *srq;
    uint32_t handle, qp_num;
};
struct ibverbs_qp_cap {
    uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
};
struct ibverbs_qp_init_attr {
    void *qp_context;
    struct ibverbs_cq *send_cq, *recv_cq;
    struct ibverbs_srq *srq;
    struct ibverbs_qp_cap cap;
    uint32_t qp_type;
    int sq_sig_all;
};
struct ibverbs_ah_attr {
    uint8_t dgid[16] ALIGNED(8);
    uint32_t flow_label;
    uint8_t sgid_index, hop_limit, traffic_class;
    uint16_t dlid ALIGNED(8);
    uint8_t sl, src_path_bits, static_rate, is_global, port_num;
};
struct ibverbs_qp_attr {
    uint32_t qp_state, cur_qp_state, path_mtu, path_mig_state, qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags;
    struct ibverbs_qp_cap cap;
    struct ibverbs_ah_attr ah_attr, alt_ah_attr;
    uint16_t pkey_index, alt_pkey_index;
    uint8_t en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic, min_rnr_timer, port_num, timeout,
        retry_cnt, rnr_retry, alt_port_num, alt_timeout;
    uint32_t rate_limit;
};
struct ibverbs_srq_init_attr {
    void *srq_context;
    uint32_t max_wr, max_sge, srq_limit;
};
struct ibverbs_srq_attr {
    uint32_t max_wr, max_sge, srq_limit;
};
#define IBVERBS_SRQ_LIMIT 2
struct ibverbs_port_attr {
    uint32_t state, max_mtu, active_mtu;
    int gid_tbl_len;
    uint32_t port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr;
    uint16_t pkey_tbl_len, lid, sm_lid;
    uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width, active_speed, phys_state, link_layer,
        flags;
    uint16_t port_cap_flags2;
};
struct ibverbs_device_attr {
    char fw_ver[64];
    uint64_t node_guid, sys_image_guid, max_mr_size, page_size_cap;
    uint32_t vendor_id, vendor_part_id, hw_ver;
    int max_qp, max_qp_wr;
    unsigned device_cap_flags;
    int max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd, max_qp_rd_atom, max_ee_rd_atom, max_res_rd_atom,
        max_qp_init_rd_atom, max_ee_init_rd_atom;
    uint32_t atomic_cap;
    int others[11], max_srq, max_srq_wr, max_srq_sge;
    uint16_t max_pkeys;
    uint8_t local_ca_ack_delay, phys_port_cnt;
};
struct ibverbs_async_event {
    union {
        struct ibverbs_qp *qp;
        int port_num;
    } element;
    uint32_t event_type;
};
struct ibverbs_gid_entry {
    uint8_t gid[16] ALIGNED(8);
    uint32_t gid_index, port_num, gid_type, ndev_ifindex;
};

/* name, version, result, parameters. The version is that since which the library has it as it is. */
#define IBVERBS_FUNCTIONS(F)                                                                                           \
    F(ibv_get_device_list, "1.1", struct ibverbs_device **, (int *))                                                   \
    F(ibv_free_device_list, "1.1", void, (struct ibverbs_device **))                                                   \
    F(ibv_get_device_name, "1.1", const char *, (struct ibverbs_device *))                                             \
    F(ibv_open_device, "1.1", struct ibverbs_context *, (struct ibverbs_device *))                                     \
    F(ibv_close_device, "1.1", int, (struct ibverbs_context *))                                                        \
    F(ibv_query_device, "1.1", int, (struct ibverbs_context *, struct ibverbs_device_attr *))                          \
    F(ibv_query_port, "1.1", int, (struct ibverbs_context *, uint8_t, struct ibverbs_port_attr *))                     \
    F(_ibv_query_gid_ex, "1.11", int,                                                                                  \
      (struct ibverbs_context *, uint32_t, uint32_t, struct ibverbs_gid_entry *, uint32_t, size_t))                    \
    F(ibv_query_pkey, "1.1", int, (struct ibverbs_context *, uint8_t, int, uint16_t *))                                \
    F(ibv_get_async_event, "1.1", int, (struct ibverbs_context *, struct ibverbs_async_event *))                       \
    F(ibv_ack_async_event, "1.1", void, (struct ibverbs_async_event *))                                                \
    F(ibv_fork_init, "1.1", int, (void))                                                                               \
    F(ibv_alloc_pd, "1.1", struct ibverbs_pd *, (struct ibverbs_context *))                                            \
    F(ibv_dealloc_pd, "1.1", int, (struct ibverbs_pd *))                                                               \
    F(ibv_reg_mr_iova2, "1.8", struct ibverbs_mr *, (struct ibverbs_pd *, void *, size_t, uint64_t, unsigned))         \
    F(ibv_dereg_mr, "1.1", int, (struct ibverbs_mr *))                                                                 \
    F(ibv_create_comp_channel, "1.0", struct ibverbs_channel *, (struct ibverbs_context *))                            \
    F(ibv_destroy_comp_channel, "1.0", int, (struct ibverbs_channel *))                                                \
    F(ibv_create_cq, "1.1", struct ibverbs_cq *,                                                                       \
      (struct ibverbs_context *, int, void *, struct ibverbs_channel *, int))                                          \
    F(ibv_resize_cq, "1.1", int, (struct ibverbs_cq *, int))                                                           \
    F(ibv_destroy_cq, "1.1", int, (struct ibverbs_cq *))                                                               \
    F(ibv_get_cq_event, "1.1", int, (struct ibverbs_channel *, struct ibverbs_cq **, void **))                         \
    F(ibv_ack_cq_events, "1.1", void, (struct ibverbs_cq *, unsigned))                                                 \
    F(ibv_create_srq, "1.1", struct ibverbs_srq *, (struct ibverbs_pd *, struct ibverbs_srq_init_attr *))              \
    F(ibv_modify_srq, "1.1", int, (struct ibverbs_srq *, struct ibverbs_srq_attr *, int))                              \
    F(ibv_destroy_srq, "1.1", int, (struct ibverbs_srq *))                                                             \
    F(ibv_create_qp, "1.1", struct ibverbs_qp *, (struct ibverbs_pd *, struct ibverbs_qp_init_attr *))                 \
    F(ibv_modify_qp, "1.1", int, (struct ibverbs_qp *, struct ibverbs_qp_attr *, int))                                 \
    F(ibv_destroy_qp, "1.1", int, (struct ibverbs_qp *))                                                               \
    F(ibv_wc_status_str, "1.1", const char *, (int))

struct ibverbs_library {
#define IBVERBS_MEMBER(name, version, result, parameters) result(*name) parameters;
    IBVERBS_FUNCTIONS(IBVERBS_MEMBER)
#undef IBVERBS_MEMBER
};

/* The library, loaded once and never unloaded. ERR_UNSUPPORTED: it is not here, or too old. */
int ibverbs_load(const struct ibverbs_library **library) MUST_CHECK;
