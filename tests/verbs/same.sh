# Our declarations of libibverbs and librdmacm (vi/verbs/ibverbs.h, rdmacm.h) beside those of their own headers, and a
# library that is missing or too old.
# timeout: 120
source "$VIADUCT_SOURCE/tests/lib/shell"
cat >$work/same.c <<'C'
#include <infiniband/verbs.h>
#define ALIGNED(n) __attribute__((aligned(n)))
#include "vi/verbs/ibverbs.h"
#undef ibv_query_port /* a macro of the header, as is the next */
#undef ibv_reg_mr
#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #theirs)
#define SIZE(name, theirs) SAME(sizeof(struct ibverbs_##name), sizeof(struct theirs))
#define PLACE(name, one, theirs, other)                                                                                 \
    SAME(offsetof(struct ibverbs_##name, one), offsetof(struct theirs, other));                                          \
    SAME(sizeof(((struct ibverbs_##name *)0)->one), sizeof(((struct theirs *)0)->other))
#define AT(name, member) PLACE(name, member, ibv_##name, member)
SIZE(wc, ibv_wc);
AT(wc, wr_id); AT(wc, status); AT(wc, opcode); AT(wc, vendor_err); AT(wc, byte_len); AT(wc, imm_data); AT(wc, qp_num);
AT(wc, src_qp); AT(wc, wc_flags); AT(wc, pkey_index); AT(wc, slid); AT(wc, sl); AT(wc, dlid_path_bits);
SIZE(sge, ibv_sge);
AT(sge, addr); AT(sge, length); AT(sge, lkey);
_Static_assert(sizeof(struct ibverbs_send_wr) >= sizeof(struct ibv_send_wr), "requests are not in arrays");
AT(send_wr, wr_id); AT(send_wr, next); AT(send_wr, sg_list); AT(send_wr, num_sge); AT(send_wr, opcode); AT(send_wr, send_flags);
AT(send_wr, imm_data); PLACE(send_wr, remote_addr, ibv_send_wr, wr.rdma.remote_addr); PLACE(send_wr, rkey, ibv_send_wr, wr.rdma.rkey);
SIZE(recv_wr, ibv_recv_wr);
AT(recv_wr, wr_id); AT(recv_wr, next); AT(recv_wr, sg_list); AT(recv_wr, num_sge);
AT(context, device); AT(context, ops); AT(context, ops.poll_cq); AT(context, ops.req_notify_cq); AT(context, ops.post_srq_recv);
AT(context, ops.post_send); AT(context, cmd_fd); AT(context, async_fd); AT(context, num_comp_vectors);
SIZE(pd, ibv_pd);
SIZE(mr, ibv_mr);
AT(mr, context); AT(mr, pd); AT(mr, addr); AT(mr, length); AT(mr, lkey); AT(mr, rkey);
PLACE(channel, fd, ibv_comp_channel, fd);
AT(device, transport_type);
AT(qp, context); AT(qp, qp_context); AT(qp, send_cq); AT(qp, srq); AT(qp, qp_num);
SIZE(qp_cap, ibv_qp_cap);
AT(qp_cap, max_send_wr); AT(qp_cap, max_recv_wr); AT(qp_cap, max_send_sge); AT(qp_cap, max_recv_sge); AT(qp_cap, max_inline_data);
SIZE(qp_init_attr, ibv_qp_init_attr);
AT(qp_init_attr, qp_context); AT(qp_init_attr, send_cq); AT(qp_init_attr, recv_cq); AT(qp_init_attr, srq); AT(qp_init_attr, cap);
AT(qp_init_attr, qp_type); AT(qp_init_attr, sq_sig_all);
SIZE(ah_attr, ibv_ah_attr);
PLACE(ah_attr, dgid, ibv_ah_attr, grh.dgid); PLACE(ah_attr, sgid_index, ibv_ah_attr, grh.sgid_index);
PLACE(ah_attr, hop_limit, ibv_ah_attr, grh.hop_limit); PLACE(ah_attr, traffic_class, ibv_ah_attr, grh.traffic_class);
AT(ah_attr, sl); AT(ah_attr, dlid); AT(ah_attr, is_global); AT(ah_attr, port_num);
SIZE(qp_attr, ibv_qp_attr);
AT(qp_attr, qp_state); AT(qp_attr, path_mtu); AT(qp_attr, rq_psn); AT(qp_attr, sq_psn); AT(qp_attr, dest_qp_num);
AT(qp_attr, qp_access_flags); AT(qp_attr, cap); AT(qp_attr, ah_attr); AT(qp_attr, alt_ah_attr); AT(qp_attr, pkey_index);
AT(qp_attr, max_rd_atomic); AT(qp_attr, max_dest_rd_atomic); AT(qp_attr, min_rnr_timer); AT(qp_attr, port_num); AT(qp_attr, timeout);
AT(qp_attr, retry_cnt); AT(qp_attr, rnr_retry); AT(qp_attr, rate_limit);
SIZE(srq_init_attr, ibv_srq_init_attr);
PLACE(srq_init_attr, max_wr, ibv_srq_init_attr, attr.max_wr); PLACE(srq_init_attr, max_sge, ibv_srq_init_attr, attr.max_sge);
SIZE(srq_attr, ibv_srq_attr);
AT(srq_attr, max_wr); AT(srq_attr, max_sge); AT(srq_attr, srq_limit);
SIZE(port_attr, ibv_port_attr);
AT(port_attr, state); AT(port_attr, active_mtu); AT(port_attr, gid_tbl_len); AT(port_attr, max_msg_sz); AT(port_attr, lid);
AT(port_attr, link_layer); AT(port_attr, pkey_tbl_len); AT(port_attr, active_width); AT(port_attr, active_speed);
SIZE(device_attr, ibv_device_attr);
AT(device_attr, max_qp_rd_atom); AT(device_attr, max_srq); AT(device_attr, max_srq_wr); AT(device_attr, max_qp_init_rd_atom); AT(device_attr, phys_port_cnt);
SIZE(async_event, ibv_async_event);
AT(async_event, element.qp); AT(async_event, element.port_num); AT(async_event, event_type);
SIZE(gid_entry, ibv_gid_entry);
PLACE(gid_entry, gid, ibv_gid_entry, gid); AT(gid_entry, gid_index); AT(gid_entry, gid_type);
#define IS(name) SAME(IBVERBS_##name, IBV_##name)
IS(QPT_RC); IS(PORT_ACTIVE); IS(QPS_INIT); IS(QPS_RTR); IS(QPS_RTS); IS(QPS_ERR); IS(QP_STATE); IS(QP_ACCESS_FLAGS); IS(QP_PKEY_INDEX);
IS(QP_PORT); IS(QP_AV); IS(QP_PATH_MTU); IS(QP_TIMEOUT); IS(QP_RETRY_CNT); IS(QP_RNR_RETRY); IS(QP_RQ_PSN);
IS(QP_MAX_QP_RD_ATOMIC); IS(QP_MIN_RNR_TIMER); IS(QP_SQ_PSN); IS(QP_MAX_DEST_RD_ATOMIC); IS(QP_DEST_QPN);
IS(ACCESS_LOCAL_WRITE); IS(ACCESS_REMOTE_WRITE); IS(ACCESS_REMOTE_READ); IS(SEND_SIGNALED); IS(SEND_INLINE);
IS(WR_RDMA_WRITE); IS(WR_RDMA_WRITE_WITH_IMM); IS(WR_SEND); IS(WR_RDMA_READ); IS(WC_RECV); IS(WC_RECV_RDMA_WITH_IMM);
IS(SRQ_LIMIT); IS(EVENT_SRQ_LIMIT_REACHED); IS(EVENT_DEVICE_FATAL); IS(EVENT_PORT_ERR); IS(EVENT_QP_LAST_WQE_REACHED);
SAME(IBVERBS_TRANSPORT_IWARP, IBV_TRANSPORT_IWARP); SAME(IBVERBS_LINK_ETHERNET, IBV_LINK_LAYER_ETHERNET); SAME(IBVERBS_LINK_INFINIBAND, IBV_LINK_LAYER_INFINIBAND); SAME(IBVERBS_GID_ROCE_V2, IBV_GID_TYPE_ROCE_V2);
#define F(name, version, result, parameters) _Static_assert(sizeof(&name) == sizeof(result(*) parameters), #name);
IBVERBS_FUNCTIONS(F)
#if __has_include(<rdma/rdma_cma.h>)
#include <rdma/rdma_cma.h>
#include "vi/verbs/rdmacm.h"
#undef PLACE
#define PLACE(name, one, theirs, other)                                                                                 \
    SAME(offsetof(struct rdmacm_##name, one), offsetof(struct theirs, other));                                           \
    SAME(sizeof(((struct rdmacm_##name *)0)->one), sizeof(((struct theirs *)0)->other))
PLACE(channel, fd, rdma_event_channel, fd);
#define OF(name, member) PLACE(name, member, rdma_cm_##name, member)
OF(id, verbs); OF(id, context); OF(id, port_num); OF(event, id); OF(event, listen_id); OF(event, event); OF(event, status);
PLACE(event, conn, rdma_cm_event, param.conn);
#undef OF
#define OF(member) PLACE(parameters, member, rdma_conn_param, member)
OF(private_data); OF(private_data_len); OF(responder_resources); OF(initiator_depth); OF(qp_num);
SAME(RDMACM_TCP, RDMA_PS_TCP); SAME(RDMACM_ADDR_RESOLVED, RDMA_CM_EVENT_ADDR_RESOLVED);
SAME(RDMACM_ROUTE_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED); SAME(RDMACM_CONNECT_REQUEST, RDMA_CM_EVENT_CONNECT_REQUEST);
SAME(RDMACM_ESTABLISHED, RDMA_CM_EVENT_ESTABLISHED);
RDMACM_FUNCTIONS(F)
#endif
C
includes="-I$VIADUCT_SOURCE/src"
if echo '#include <infiniband/verbs.h>' | cc -E - >/dev/null 2>&1; then
    expect 0 "" "" cc $includes -D_GNU_SOURCE -fsyntax-only $work/same.c
    # The check can fail.
    sed -i 's/AT(qp, qp_num)/SAME(offsetof(struct ibverbs_qp, qp_num), 1)/' $work/same.c
    cc $includes -D_GNU_SOURCE -fsyntax-only $work/same.c 2>/dev/null && fail "a structure that differs is not noticed"
else
    skip "libibverbs-dev is not installed"
fi

open() { # PATTERN: why the transport is not used, with the libibverbs.so.1 of $work/lib
    expect 1 "" "~$1" env LD_LIBRARY_PATH=$work/lib VIADUCT_TRANSPORTS=verbs VIADUCT_LOG=info "$VIADUCT_BIN/mpiexec" -n 2 \
        "$VIADUCT_BUILD/tests/programs/meet"
}
mkdir $work/lib && : >$work/lib/libibverbs.so.1
open 'transport verbs is not used: .*libibverbs.so.1.*install the package libibverbs1'
echo 'void *ibv_get_device_list(int *n) { return n; }' | cc -shared -fPIC -o $work/lib/libibverbs.so.1 -xc -
open 'transport verbs is not used: .*libibverbs.so.1 has no ibv_[a-z_]* of version IBVERBS_1.1'
[ "$failed" -gt 0 ] || echo '#include <rdma/rdma_cma.h>' | cc -E - >/dev/null 2>&1 ||
    skip "librdmacm-dev is not installed, so its structures were not compared"
finish
