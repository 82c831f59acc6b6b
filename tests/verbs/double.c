/* The double: a libibverbs.so.1 of the tests, with two devices, double0 and double1, whose queue pairs reach each other within one
 * process. A request is carried out when it is posted, or when what it waits for comes: a receive of the other side. Reliable
 * connections only. events.c holds that it tells of what happens as software RoCE does; of time it says nothing.
 *
 * One lock guards everything. Memory is never given back before its object is destroyed. */
#include "double.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES 2
#define OBJECTS 4096
#define PIECES  16
#define INLINE  256

struct completion {
    struct ibv_wc wc;
    struct qp *qp;
    uint64_t number; /* of the request in its send queue; 0: of a receive */
};
struct cq {
    struct ibv_cq cq;
    bool armed;
    int first, count, room;
    struct completion *entry;
};
struct receive {
    struct receive *next;
    uint64_t id;
    int pieces;
    struct ibv_sge piece[PIECES];
};
struct receives { /* a queue of them, of a queue pair or shared */
    struct receive *first, **end;
    uint32_t count, most, limit; /* limit: an event is told when fewer are left; 0: not */
};
struct srq {
    struct ibv_srq srq;
    struct receives receives;
};
struct request {
    struct request *next;
    uint64_t number; /* from 1 */
    struct ibv_send_wr wr;
    struct ibv_sge piece[PIECES];
    uint8_t data[INLINE]; /* of an inline one */
};
struct qp {
    struct ibv_qp qp;
    struct ibv_qp_init_attr made;
    struct ibv_qp_attr attr;
    struct request *first, **end;
    uint64_t posted, over; /* requests, by number; over: that of the last completion that was polled. Only then there is room again */
    struct receives receives;
};
struct mr {
    struct ibv_mr mr;
    int access;
};
struct channel {
    struct ibv_comp_channel channel;
    int write;
};
struct context {
    struct ibv_context context;
    int write; /* of asynchronous events */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_device device[DEVICES];
static bool down[DEVICES];
static struct qp *qps[OBJECTS];
static struct mr *mrs[OBJECTS];
static struct double_counts counts;
static unsigned fail_at;
static enum ibv_wc_status fail_with;
static struct completion held[OBJECTS];
static struct context *contexts[64];
static int helds;
static bool holding;

struct double_counts *double_counted(void) { return &counts; }

/* ---- events ------------------------------------------------------------------------------------------------------- */

static void tell(struct ibv_context *context, struct ibv_async_event event)
{
    if (write(((struct context *)context)->write, &event, sizeof event) < 0)
        perror("double: an event");
}

static void cq_push(struct cq *cq, const struct completion *completion)
{
    if (cq->count == cq->room) {
        tell(cq->cq.context, (struct ibv_async_event){.element.cq = &cq->cq, .event_type = IBV_EVENT_CQ_ERR});
        return;
    }
    cq->entry[(cq->first + cq->count++) % cq->room] = *completion;
    struct ibv_cq *told = &cq->cq;
    if (cq->armed && cq->cq.channel && write(((struct channel *)cq->cq.channel)->write, &told, sizeof told) < 0)
        perror("double: an event");
    cq->armed = false;
}

static void send_over(struct qp *qp, const struct request *request, enum ibv_wc_status status)
{
    static const enum ibv_wc_opcode opcode[] = {[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE, [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
                                                [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE, [IBV_WR_SEND] = IBV_WC_SEND,
                                                [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND};
    struct completion end = {{.wr_id = request->wr.wr_id, .status = status, .qp_num = qp->qp.qp_num}, qp, request->number};
    if (!status && !qp->made.sq_sig_all && !(request->wr.send_flags & IBV_SEND_SIGNALED))
        return;
    if (!status)
        end.wc.opcode = opcode[request->wr.opcode];
    if (holding && helds < OBJECTS)
        held[helds++] = end;
    else
        cq_push((struct cq *)qp->qp.send_cq, &end);
}

static void receive_over(struct qp *qp, struct receive *receive, struct ibv_wc wc)
{
    wc.wr_id = receive->id;
    wc.qp_num = qp->qp.qp_num;
    cq_push((struct cq *)qp->qp.recv_cq, &(struct completion){wc, qp, 0});
    free(receive);
}

static struct receive *receive_take(struct qp *qp)
{
    struct receives *from = qp->qp.srq ? &((struct srq *)qp->qp.srq)->receives : &qp->receives;
    struct receive *receive = from->first;
    if (!receive)
        return NULL;
    from->first = receive->next;
    if (!from->first)
        from->end = &from->first;
    if (--from->count < from->limit && qp->qp.srq) {
        from->limit = 0;
        tell(qp->qp.context, (struct ibv_async_event){.element.srq = qp->qp.srq, .event_type = IBV_EVENT_SRQ_LIMIT_REACHED});
    }
    return receive;
}

/* Nothing of it goes on: what was posted ends as flushed. */
static void qp_break(struct qp *qp)
{
    if (qp->qp.state == IBV_QPS_ERR)
        return;
    qp->qp.state = IBV_QPS_ERR;
    while (qp->first) {
        struct request *request = qp->first;
        qp->first = request->next;
        send_over(qp, request, IBV_WC_WR_FLUSH_ERR);
        free(request);
    }
    qp->end = &qp->first;
    while (!qp->qp.srq && qp->receives.first)
        receive_over(qp, receive_take(qp), (struct ibv_wc){.status = IBV_WC_WR_FLUSH_ERR});
    if (qp->qp.srq)
        tell(qp->qp.context, (struct ibv_async_event){.element.qp = &qp->qp, .event_type = IBV_EVENT_QP_LAST_WQE_REACHED});
}

/* ---- carrying out ------------------------------------------------------------------------------------------------- */

static struct mr *mr_of(uint32_t key, const struct ibv_pd *pd, uint64_t address, uint64_t length, int access)
{
    struct mr *mr = key < OBJECTS ? mrs[key] : NULL;
    uint64_t start = mr ? (uintptr_t)mr->mr.addr : 0;
    return mr && mr->mr.pd == pd && (mr->access & access) == access && address >= start && length <= mr->mr.length &&
                   address - start <= mr->mr.length - length
               ? mr
               : NULL;
}

static uint64_t total_of(const struct ibv_sge *piece, int pieces)
{
    uint64_t length = 0;
    for (int i = 0; i < pieces; i++)
        length += piece[i].length;
    return length;
}

static bool pieces_good(const struct ibv_pd *pd, const struct ibv_sge *piece, int pieces, int access)
{
    for (int i = 0; i < pieces; i++)
        if (piece[i].length && !mr_of(piece[i].lkey, pd, piece[i].addr, piece[i].length, access))
            return false;
    return true;
}

/* Between pieces and bytes that lie in a row. */
static void pieces_copy(const struct ibv_sge *piece, int pieces, uint8_t *row, uint64_t length, bool out)
{
    for (int i = 0; i < pieces && length > 0; i++) {
        uint64_t take = piece[i].length < length ? piece[i].length : length;
        memcpy(out ? row : (void *)(uintptr_t)piece[i].addr, out ? (void *)(uintptr_t)piece[i].addr : row, take);
        row += take;
        length -= take;
    }
}

static int device_of(const struct qp *qp) { return (int)(qp->qp.context->device - device); }

static struct qp *peer_of(const struct qp *qp)
{
    struct qp *peer = qp->attr.dest_qp_num < OBJECTS ? qps[qp->attr.dest_qp_num] : NULL;
    bool reached = peer && peer->attr.dest_qp_num == qp->qp.qp_num && !down[device_of(qp)] && !down[device_of(peer)];
    return reached && (peer->qp.state == IBV_QPS_RTR || peer->qp.state == IBV_QPS_RTS) ? peer : NULL;
}

#define WAITS (-1)

/* A send, or the immediate of a write: what the other side has posted gets it. */
static int deliver(struct qp *peer, const struct ibv_send_wr *wr, uint8_t *data, uint64_t length)
{
    bool written = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    struct receive *receive = receive_take(peer);
    struct ibv_wc wc = {.opcode = written ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV, .byte_len = (uint32_t)length,
                        .src_qp = peer->attr.dest_qp_num};
    if (wr->opcode != IBV_WR_SEND) {
        wc.wc_flags = IBV_WC_WITH_IMM;
        wc.imm_data = wr->imm_data;
    }
    if (!written && total_of(receive->piece, receive->pieces) < length)
        wc = (struct ibv_wc){.status = IBV_WC_LOC_LEN_ERR};
    else if (!written && !pieces_good(peer->qp.pd, receive->piece, receive->pieces, IBV_ACCESS_LOCAL_WRITE))
        wc = (struct ibv_wc){.status = IBV_WC_LOC_PROT_ERR};
    else if (!written)
        pieces_copy(receive->piece, receive->pieces, data, length, false);
    receive_over(peer, receive, wc);
    if (!wc.status)
        return IBV_WC_SUCCESS;
    qp_break(peer);
    return wc.status == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR;
}

static int request_execute(struct qp *qp, const struct request *request)
{
    const struct ibv_send_wr *wr = &request->wr;
    struct qp *peer = peer_of(qp);
    bool is_inline = wr->send_flags & IBV_SEND_INLINE, reads = wr->opcode == IBV_WR_RDMA_READ;
    bool writes = wr->opcode == IBV_WR_RDMA_WRITE || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    uint64_t length = total_of(request->piece, wr->num_sge);
    if (fail_at && --fail_at == 0)
        return (int)fail_with;
    if (!is_inline && !pieces_good(qp->qp.pd, request->piece, wr->num_sge, reads ? IBV_ACCESS_LOCAL_WRITE : 0))
        return IBV_WC_LOC_PROT_ERR;
    if (!peer)
        return IBV_WC_RETRY_EXC_ERR;
    struct receives *there = peer->qp.srq ? &((struct srq *)peer->qp.srq)->receives : &peer->receives;
    if (wr->opcode != IBV_WR_RDMA_WRITE && !reads && !there->first)
        return qp->attr.rnr_retry == 7 ? WAITS : IBV_WC_RNR_RETRY_EXC_ERR;
    int needed = reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
    if ((reads || writes) && length > 0 &&
        (!(peer->attr.qp_access_flags & (unsigned)needed) ||
         !mr_of(wr->wr.rdma.rkey, peer->qp.pd, wr->wr.rdma.remote_addr, length, needed))) {
        qp_break(peer);
        return IBV_WC_REM_ACCESS_ERR;
    }
    uint8_t *row = malloc(length + 1), *remote = (uint8_t *)(uintptr_t)wr->wr.rdma.remote_addr;
    int status = IBV_WC_SUCCESS;
    if (reads) {
        memcpy(row, remote, length);
        pieces_copy(request->piece, wr->num_sge, row, length, false);
    } else if (is_inline) {
        memcpy(row, request->data, length);
    } else {
        pieces_copy(request->piece, wr->num_sge, row, length, true);
    }
    if (writes && length > 0)
        memcpy(remote, row, length);
    if (!reads && wr->opcode != IBV_WR_RDMA_WRITE)
        status = deliver(peer, wr, row, length);
    free(row);
    return status;
}

static void qp_run(struct qp *qp)
{
    while (qp->qp.state == IBV_QPS_RTS && qp->first) {
        struct request *request = qp->first;
        int status = request_execute(qp, request);
        if (status == WAITS)
            return;
        qp->first = request->next;
        if (!qp->first)
            qp->end = &qp->first;
        send_over(qp, request, (enum ibv_wc_status)status);
        free(request);
        if (status)
            qp_break(qp);
    }
}

static void all_run(void)
{
    for (int i = 0; i < OBJECTS; i++)
        if (qps[i])
            qp_run(qps[i]);
}

/* ---- posting and polling ------------------------------------------------------------------------------------------ */

static int post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct qp *qp = (struct qp *)base;
    int error = 0;
    pthread_mutex_lock(&lock);
    counts.send_doorbells++;
    for (; wr && !error; wr = wr->next) {
        uint64_t length = total_of(wr->sg_list, wr->num_sge);
        bool is_inline = wr->send_flags & IBV_SEND_INLINE;
        *bad = wr;
        if (base->state != IBV_QPS_RTS && base->state != IBV_QPS_ERR)
            error = EINVAL;
        else if (wr->num_sge > (int)qp->made.cap.max_send_sge || (is_inline && length > qp->made.cap.max_inline_data))
            error = EINVAL;
        else if (wr->opcode > IBV_WR_RDMA_READ)
            error = EINVAL;
        else if (qp->posted - qp->over == qp->made.cap.max_send_wr)
            error = ENOMEM;
        if (error)
            break;
        struct request *request = calloc(1, sizeof *request);
        request->wr = *wr;
        request->number = ++qp->posted;
        for (int i = 0; i < wr->num_sge; i++)
            request->piece[i] = wr->sg_list[i];
        if (is_inline)
            pieces_copy(request->piece, wr->num_sge, request->data, length, true);
        counts.sends++;
        if (base->state == IBV_QPS_ERR) {
            send_over(qp, request, IBV_WC_WR_FLUSH_ERR);
            free(request);
            continue;
        }
        *qp->end = request;
        qp->end = &request->next;
        qp_run(qp);
    }
    all_run();
    pthread_mutex_unlock(&lock);
    return error;
}

static int post_receives(struct receives *to, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    counts.receive_doorbells++;
    for (; wr; wr = wr->next) {
        *bad = wr;
        if (wr->num_sge > PIECES)
            return EINVAL;
        if (to->count == to->most)
            return ENOMEM;
        struct receive *receive = calloc(1, sizeof *receive);
        receive->id = wr->wr_id;
        receive->pieces = wr->num_sge;
        for (int i = 0; i < wr->num_sge; i++)
            receive->piece[i] = wr->sg_list[i];
        *to->end = receive;
        to->end = &receive->next;
        to->count++;
        counts.receives++;
    }
    return 0;
}

static int post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct qp *qp = (struct qp *)base;
    pthread_mutex_lock(&lock);
    int error = base->srq || base->state == IBV_QPS_RESET ? EINVAL : post_receives(&qp->receives, wr, bad);
    while (base->state == IBV_QPS_ERR && qp->receives.first)
        receive_over(qp, receive_take(qp), (struct ibv_wc){.status = IBV_WC_WR_FLUSH_ERR});
    all_run();
    pthread_mutex_unlock(&lock);
    return error;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    pthread_mutex_lock(&lock);
    int error = post_receives(&((struct srq *)srq)->receives, wr, bad);
    all_run();
    pthread_mutex_unlock(&lock);
    return error;
}

static int poll_cq(struct ibv_cq *base, int most, struct ibv_wc *wc)
{
    struct cq *cq = (struct cq *)base;
    int got = 0;
    pthread_mutex_lock(&lock);
    counts.polls++;
    for (; got < most && cq->count > 0; cq->count--) {
        const struct completion *end = &cq->entry[cq->first];
        wc[got++] = end->wc;
        end->qp->over = end->number ? end->number : end->qp->over;
        cq->first = (cq->first + 1) % cq->room;
    }
    pthread_mutex_unlock(&lock);
    return got;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
    (void)solicited;
    pthread_mutex_lock(&lock);
    ((struct cq *)cq)->armed = true;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- devices ------------------------------------------------------------------------------------------------------ */

struct ibv_device **ibv_get_device_list(int *count)
{
    struct ibv_device **list = calloc(DEVICES + 1, sizeof *list);
    for (int i = 0; i < DEVICES; i++) {
        device[i].node_type = IBV_NODE_CA;
        device[i].transport_type = IBV_TRANSPORT_IB;
        snprintf(device[i].name, sizeof device[i].name, "double%d", i);
        list[i] = &device[i];
    }
    if (count)
        *count = DEVICES;
    return list;
}
void ibv_free_device_list(struct ibv_device **list) { free(list); }
const char *ibv_get_device_name(struct ibv_device *of) { return of->name; }

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
    struct context *context = calloc(1, sizeof *context);
    int ends[2];
    if (pipe(ends) < 0)
        return NULL;
    context->context = (struct ibv_context){.device = of, .cmd_fd = -1, .async_fd = ends[0], .num_comp_vectors = 1};
    context->context.ops = (struct ibv_context_ops){.poll_cq = poll_cq, .req_notify_cq = req_notify_cq, .post_srq_recv = post_srq_recv,
                                                    .post_send = post_send, .post_recv = post_recv};
    context->write = ends[1];
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++)
        if (!contexts[i]) {
            contexts[i] = context;
            break;
        }
    pthread_mutex_unlock(&lock);
    return &context->context;
}

int ibv_close_device(struct ibv_context *context)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++)
        contexts[i] = contexts[i] == (struct context *)context ? NULL : contexts[i];
    pthread_mutex_unlock(&lock);
    close(context->async_fd);
    close(((struct context *)context)->write);
    free(context);
    return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    (void)context;
    *attr = (struct ibv_device_attr){.max_mr_size = UINT64_MAX, .max_qp = OBJECTS, .max_qp_wr = 16384, .max_sge = PIECES, .max_cq = OBJECTS,
                                     .max_cqe = 65536, .max_mr = OBJECTS, .max_pd = OBJECTS, .max_qp_rd_atom = 16, .max_srq = OBJECTS,
                                     .max_qp_init_rd_atom = 16, .max_srq_wr = 65536, .max_srq_sge = PIECES, .phys_port_cnt = 1};
    return 0;
}

int (ibv_query_port)(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *compat)
{
    bool is_down = down[context->device - device];
    if (port != 1)
        return EINVAL;
    *(struct ibv_port_attr *)(void *)compat =
        (struct ibv_port_attr){.state = is_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE, .max_mtu = IBV_MTU_4096, .active_mtu = IBV_MTU_4096,
                               .gid_tbl_len = 2, .max_msg_sz = 1u << 30, .pkey_tbl_len = 1, .active_width = 2, .active_speed = 32,
                               .phys_state = is_down ? 3 : 5, .link_layer = IBV_LINK_LAYER_ETHERNET};
    return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 192, [14] = 2};
    if (port != 1 || index < 0 || index > 1)
        return -1;
    memcpy(gid->raw, mapped, sizeof mapped);
    gid->raw[15] = (uint8_t)(1 + (context->device - device));
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
    (void)context;
    *pkey = 0xffff;
    return port == 1 && index == 0 ? 0 : -1;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    return read(context->async_fd, event, sizeof *event) == sizeof *event ? 0 : -1;
}
void ibv_ack_async_event(struct ibv_async_event *event) { (void)event; }
int ibv_fork_init(void) { return 0; }

/* ---- objects ------------------------------------------------------------------------------------------------------ */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd = calloc(1, sizeof *pd);
    pd->context = context;
    return pd;
}
int ibv_dealloc_pd(struct ibv_pd *pd)
{
    free(pd);
    return 0;
}

struct ibv_mr *(ibv_reg_mr)(struct ibv_pd *pd, void *address, size_t length, int access)
{
    struct mr *mr = calloc(1, sizeof *mr);
    uint32_t key = 1;
    pthread_mutex_lock(&lock);
    while (key < OBJECTS && mrs[key])
        key++;
    if (key < OBJECTS) {
        mr->mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = address, .length = length, .lkey = key, .rkey = key};
        mr->access = access;
        mrs[key] = mr;
        counts.registered++;
    }
    pthread_mutex_unlock(&lock);
    if (key < OBJECTS)
        return &mr->mr;
    free(mr);
    errno = ENOMEM;
    return NULL;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned access)
{
    if (iova == (uintptr_t)address)
        return (ibv_reg_mr)(pd, address, length, (int)access);
    errno = EOPNOTSUPP;
    return NULL;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    pthread_mutex_lock(&lock);
    mrs[mr->lkey] = NULL;
    counts.deregistered++;
    pthread_mutex_unlock(&lock);
    free(mr);
    return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct channel *channel = calloc(1, sizeof *channel);
    int ends[2];
    if (pipe(ends) < 0)
        return NULL;
    channel->channel = (struct ibv_comp_channel){.context = context, .fd = ends[0]};
    channel->write = ends[1];
    return &channel->channel;
}
int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    close(channel->fd);
    close(((struct channel *)channel)->write);
    free(channel);
    return 0;
}
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
    if (read(channel->fd, cq, sizeof *cq) != sizeof *cq)
        return -1;
    *context = (*cq)->cq_context;
    return 0;
}
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count) { (void)cq, (void)count; }

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int room, void *own, struct ibv_comp_channel *channel, int vector)
{
    struct cq *cq = calloc(1, sizeof *cq);
    (void)vector;
    cq->cq = (struct ibv_cq){.context = context, .channel = channel, .cq_context = own, .cqe = room};
    cq->room = room;
    cq->entry = calloc((size_t)room, sizeof *cq->entry);
    return &cq->cq;
}
int ibv_destroy_cq(struct ibv_cq *cq)
{
    free(((struct cq *)cq)->entry);
    free(cq);
    return 0;
}

static void receives_drop(struct receives *receives)
{
    while (receives->first) {
        struct receive *receive = receives->first;
        receives->first = receive->next;
        free(receive);
    }
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    struct srq *srq = calloc(1, sizeof *srq);
    srq->srq = (struct ibv_srq){.context = pd->context, .srq_context = attr->srq_context, .pd = pd};
    srq->receives.most = attr->attr.max_wr;
    srq->receives.end = &srq->receives.first;
    return &srq->srq;
}
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int what)
{
    pthread_mutex_lock(&lock);
    if (what & IBV_SRQ_LIMIT)
        ((struct srq *)srq)->receives.limit = attr->srq_limit;
    pthread_mutex_unlock(&lock);
    return what & ~IBV_SRQ_LIMIT ? EINVAL : 0;
}
int ibv_destroy_srq(struct ibv_srq *srq)
{
    receives_drop(&((struct srq *)srq)->receives);
    free(srq);
    return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *made)
{
    uint32_t number = 1;
    struct qp *qp = NULL;
    pthread_mutex_lock(&lock);
    while (number < OBJECTS && qps[number])
        number++;
    if (made->qp_type == IBV_QPT_RC && made->cap.max_inline_data <= INLINE && made->cap.max_send_sge <= PIECES && number < OBJECTS &&
        (qp = calloc(1, sizeof *qp))) {
        qp->qp = (struct ibv_qp){.context = pd->context, .qp_context = made->qp_context, .pd = pd, .send_cq = made->send_cq,
                                 .recv_cq = made->recv_cq, .srq = made->srq, .qp_num = number, .qp_type = IBV_QPT_RC};
        qp->made = *made;
        qp->end = &qp->first;
        qp->receives.most = made->cap.max_recv_wr;
        qp->receives.end = &qp->receives.first;
        qps[number] = qp;
    }
    pthread_mutex_unlock(&lock);
    if (!qp)
        errno = EINVAL;
    return qp ? &qp->qp : NULL;
}

int ibv_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int what)
{
    struct qp *qp = (struct qp *)base;
    int error = 0;
    pthread_mutex_lock(&lock);
    if (what & IBV_QP_STATE) {
        enum ibv_qp_state from = base->state, to = attr->qp_state;
        bool next = (from == IBV_QPS_RESET && to == IBV_QPS_INIT) || (from == IBV_QPS_INIT && to == IBV_QPS_INIT) ||
                    (from == IBV_QPS_INIT && to == IBV_QPS_RTR) || (from == IBV_QPS_RTR && to == IBV_QPS_RTS) || to == IBV_QPS_ERR;
        error = next ? 0 : EINVAL;
    }
    if (!error) {
        if (what & IBV_QP_ACCESS_FLAGS)
            qp->attr.qp_access_flags = attr->qp_access_flags;
        if (what & IBV_QP_DEST_QPN)
            qp->attr.dest_qp_num = attr->dest_qp_num;
        if (what & IBV_QP_RNR_RETRY)
            qp->attr.rnr_retry = attr->rnr_retry;
        if ((what & IBV_QP_STATE) && attr->qp_state == IBV_QPS_ERR)
            qp_break(qp);
        else if (what & IBV_QP_STATE)
            base->state = attr->qp_state;
        all_run();
    }
    pthread_mutex_unlock(&lock);
    return error;
}

int ibv_query_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int what, struct ibv_qp_init_attr *made)
{
    struct qp *qp = (struct qp *)base;
    (void)what;
    pthread_mutex_lock(&lock);
    *attr = qp->attr;
    attr->qp_state = attr->cur_qp_state = base->state;
    attr->cap = qp->made.cap;
    *made = qp->made;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* What was not polled of a queue pair that is destroyed is gone. */
static void cq_forget(struct cq *cq, const struct qp *qp)
{
    int left = 0;
    for (int i = 0; i < cq->count; i++)
        if (cq->entry[(cq->first + i) % cq->room].qp != qp)
            cq->entry[(cq->first + left++) % cq->room] = cq->entry[(cq->first + i) % cq->room];
    cq->count = left;
}

int ibv_destroy_qp(struct ibv_qp *base)
{
    struct qp *qp = (struct qp *)base;
    pthread_mutex_lock(&lock);
    qps[base->qp_num] = NULL;
    cq_forget((struct cq *)base->send_cq, qp);
    cq_forget((struct cq *)base->recv_cq, qp);
    int left = 0;
    for (int i = 0; i < helds; i++)
        if (held[i].qp != qp)
            held[left++] = held[i];
    helds = left;
    while (qp->first) {
        struct request *request = qp->first;
        qp->first = request->next;
        free(request);
    }
    receives_drop(&qp->receives);
    pthread_mutex_unlock(&lock);
    free(qp);
    return 0;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
    return status == IBV_WC_SUCCESS ? "success" : "an error of the double";
}

/* ---- what tests ask for ------------------------------------------------------------------------------------------- */

void double_fail(unsigned nth, enum ibv_wc_status status)
{
    pthread_mutex_lock(&lock);
    fail_at = nth;
    fail_with = status;
    pthread_mutex_unlock(&lock);
}

void double_hold(bool hold)
{
    pthread_mutex_lock(&lock);
    holding = hold;
    for (uint32_t number = OBJECTS; !hold && number-- > 0;)
        for (int i = 0; i < helds; i++)
            if (held[i].wc.qp_num == number)
                cq_push((struct cq *)held[i].qp->qp.send_cq, &held[i]);
    helds = hold ? helds : 0;
    pthread_mutex_unlock(&lock);
}

void double_port(const char *name, bool up)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < DEVICES; i++)
        if (strcmp(device[i].name, name) == 0)
            down[i] = !up;
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++)
        if (contexts[i] && strcmp(contexts[i]->context.device->name, name) == 0)
            tell(&contexts[i]->context, (struct ibv_async_event){.element.port_num = 1, .event_type = up ? IBV_EVENT_PORT_ACTIVE
                                                                                                       : IBV_EVENT_PORT_ERR});
    pthread_mutex_unlock(&lock);
}
