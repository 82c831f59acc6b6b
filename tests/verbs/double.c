/* The double: a libibverbs.so.1 of the tests, with two devices, double0 and double1, whose queue pairs reach each other within one
 * process, and between processes that share its memory (arena.h). A request is carried out when it is posted, or when what it waits
 * for comes: a receive of the other side; by the process that does so. Reliable connections only. events.c holds that it tells of
 * what happens as software RoCE does; of time it says nothing.
 *
 * DOUBLE_GIDS: addresses of IPv4 with commas, which the devices have as GIDs of RoCE v2; 127.0.0.1 and 192.0.2.2.
 * DOUBLE_SUBNET: they are of InfiniBand, in the subnet of this number; see ipoib.c. Not set: RoCE v2.
 * DOUBLE_DOWN: the device whose port is down.
 * DOUBLE_MTU: of the ports, as verbs count it; 5: 4096 bytes.
 * DOUBLE_LOCKABLE: bytes that the process may register; any number.
 * DOUBLE_CQES: entries that a completion queue may have; 65536.
 * DOUBLE_COUNTS: a file to which each process adds a line at its end: what it has counted, a name before each number.
 *
 * One lock guards everything. Memory is never given back before its object is destroyed. */
#include "arena.h"
#include "double.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEVICES 2
#define LID(device) ((uint16_t)(7 + (device)))
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
    bool armed, lost;
    pid_t pid;
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
    uint64_t iova; /* its first address, as requests count */
    pid_t pid;
    int access;
    bool old; /* its pages are not those of the process any more */
};
struct told { /* what a descriptor tells of: rung when the first comes, silenced when the last is taken */
    struct arena_bell bell;
    uint32_t first, count;
    struct ibv_async_event event[1024];
};
struct channel {
    struct ibv_comp_channel channel;
    struct told told;
};
struct context {
    struct ibv_context context;
    pid_t pid;
    bool gone;
    struct told told;
};

static struct everything {
    struct ibv_device device[DEVICES];
    bool down[DEVICES];
    struct qp *qps[OBJECTS];
    struct mr *mrs[OBJECTS];
    unsigned fail_at;
    enum ibv_wc_status fail_with;
    struct completion held[OBJECTS];
    struct context *contexts[64];
    int helds;
    bool holding, late;
    uint32_t key; /* of the latest region */
    uint32_t requests; /* that wait */
    uint64_t locked, lockable; /* bytes */
} *const all = (void *)((char *)ARENA_ADDRESS + 4096);
_Static_assert(sizeof(struct everything) <= ARENA_FIRST, "it fits");
static struct double_counts counts; /* of this process */

struct double_counts *double_counted(void) { return &counts; }

__attribute__((destructor)) static void counts_write(void)
{
    const char *path = getenv("DOUBLE_COUNTS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "sends %lu doorbells %lu receives %lu registered %lu polls %lu connected %lu levels %lu classes %lu global %lu lids %lu "
            "entries %lu overruns %lu mtus %lu empties %lu held %lu\n",
            counts.sends, counts.send_doorbells, counts.receives, counts.registered, counts.polls, counts.connected, counts.levels,
            counts.classes, counts.global, counts.lids, counts.entries, counts.overruns,
            counts.mtus, counts.empties, counts.held);
    fclose(file);
}

/* ---- events ------------------------------------------------------------------------------------------------------- */

static void told_add(struct told *told, struct ibv_async_event event)
{
    if (told->count == sizeof told->event / sizeof *told->event)
        abort();
    told->event[(told->first + told->count) % 1024] = event;
    if (told->count++ == 0)
        arena_bell_ring(&told->bell);
}

/* Waits for one, unless the descriptor is not to block; false: there is none. */
static bool told_take(struct told *told, int fd, struct ibv_async_event *event)
{
    bool waits = !(fcntl(fd, F_GETFL) & O_NONBLOCK);
    for (;;) {
        char byte;
        arena_lock();
        bool there = told->count > 0;
        if (there) {
            *event = told->event[told->first];
            told->first = (told->first + 1) % 1024;
            if (--told->count == 0)
                (void)!recv(fd, &byte, 1, MSG_DONTWAIT);
        }
        arena_unlock();
        if (there || !waits)
            return there;
        (void)!recv(fd, &byte, 1, MSG_PEEK);
    }
}

static void tell(struct ibv_context *context, struct ibv_async_event event) { told_add(&((struct context *)context)->told, event); }

static void cq_lose(struct cq *cq)
{
    cq->lost = true;
    tell(cq->cq.context, (struct ibv_async_event){.element.cq = &cq->cq, .event_type = IBV_EVENT_CQ_ERR});
}

static void cq_push(struct cq *cq, const struct completion *completion)
{
    if (cq->count == cq->room && !cq->lost) {
        counts.overruns++;
        cq_lose(cq);
    }
    if (cq->lost)
        return;
    cq->entry[(cq->first + cq->count++) % cq->room] = *completion;
    if (cq->armed && cq->cq.channel)
        told_add(&((struct channel *)cq->cq.channel)->told, (struct ibv_async_event){.element.cq = &cq->cq});
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
    if (all->holding && all->helds < OBJECTS)
        all->held[all->helds++] = end;
    else
        cq_push((struct cq *)qp->qp.send_cq, &end);
}

static void receive_over(struct qp *qp, struct receive *receive, struct ibv_wc wc)
{
    wc.wr_id = receive->id;
    wc.qp_num = qp->qp.qp_num;
    cq_push((struct cq *)qp->qp.recv_cq, &(struct completion){wc, qp, 0});
    arena_give(receive);
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
        all->requests--;
        send_over(qp, request, IBV_WC_WR_FLUSH_ERR);
        arena_give(request);
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
    struct mr *mr = key < OBJECTS ? all->mrs[key] : NULL;
    uint64_t start = mr ? mr->iova : 0;
    return mr && !mr->old && mr->mr.pd == pd && (mr->access & access) == access && address >= start && length <= mr->mr.length &&
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

/* Between bytes at ADDRESS of a region and some that lie in a row; false: the process is gone. */
static bool region_copy(const struct mr *mr, uint64_t address, uint8_t *row, uint64_t length, bool out)
{
    uint8_t *there = (uint8_t *)mr->mr.addr + (address - mr->iova);
    return out ? arena_read(mr->pid, there, row, length) : arena_write(mr->pid, there, row, length);
}

static bool pieces_copy(const struct ibv_sge *piece, int pieces, uint8_t *row, uint64_t length, bool out)
{
    bool good = true;
    for (int i = 0; i < pieces && length > 0; i++) {
        uint64_t take = piece[i].length < length ? piece[i].length : length;
        if (take)
            good &= region_copy(all->mrs[piece[i].lkey], piece[i].addr, row, take, out);
        row += take;
        length -= take;
    }
    return good;
}

static int device_of(const struct qp *qp) { return (int)(qp->qp.context->device - all->device); }

static struct qp *peer_of(const struct qp *qp)
{
    struct qp *peer = qp->attr.dest_qp_num < OBJECTS ? all->qps[qp->attr.dest_qp_num] : NULL;
    bool reached = peer && peer->attr.dest_qp_num == qp->qp.qp_num && !all->down[device_of(qp)] && !all->down[device_of(peer)];
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
    else if (!written && !pieces_copy(receive->piece, receive->pieces, data, length, false))
        return IBV_WC_RETRY_EXC_ERR;
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
    if (all->late)
        return WAITS;
    if (all->fail_at && --all->fail_at == 0)
        return (int)all->fail_with;
    if (!is_inline && !pieces_good(qp->qp.pd, request->piece, wr->num_sge, reads ? IBV_ACCESS_LOCAL_WRITE : 0))
        return IBV_WC_LOC_PROT_ERR;
    if (!peer)
        return IBV_WC_RETRY_EXC_ERR;
    struct receives *there = peer->qp.srq ? &((struct srq *)peer->qp.srq)->receives : &peer->receives;
    bool empty = wr->opcode != IBV_WR_RDMA_WRITE && !reads && !there->first;
    counts.empties += empty;
    if (empty)
        return qp->attr.rnr_retry == 7 ? WAITS : IBV_WC_RNR_RETRY_EXC_ERR;
    int needed = reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
    if ((reads || writes) && length > 0 &&
        (!(peer->attr.qp_access_flags & (unsigned)needed) ||
         !mr_of(wr->wr.rdma.rkey, peer->qp.pd, wr->wr.rdma.remote_addr, length, needed))) {
        qp_break(peer);
        return IBV_WC_REM_ACCESS_ERR;
    }
    const struct mr *remote = (reads || writes) && length > 0 ? all->mrs[wr->wr.rdma.rkey] : NULL;
    uint8_t *row = malloc(length + 1);
    int status = IBV_WC_SUCCESS;
    bool good = true;
    if (is_inline)
        memcpy(row, request->data, length);
    else if (!reads)
        good = pieces_copy(request->piece, wr->num_sge, row, length, true);
    if (remote)
        good = good && region_copy(remote, wr->wr.rdma.remote_addr, row, length, reads);
    if (reads)
        good = good && pieces_copy(request->piece, wr->num_sge, row, length, false);
    if (!good) {
        free(row);
        return IBV_WC_RETRY_EXC_ERR;
    }
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
        all->requests--;
        if (!qp->first)
            qp->end = &qp->first;
        send_over(qp, request, (enum ibv_wc_status)status);
        arena_give(request);
        if (status)
            qp_break(qp);
    }
}

static void all_run(void)
{
    for (int i = 0; i < OBJECTS && all->requests > 0; i++)
        if (all->qps[i])
            qp_run(all->qps[i]);
}

/* ---- posting and polling ------------------------------------------------------------------------------------------ */

static int post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct qp *qp = (struct qp *)base;
    int error = 0;
    arena_lock();
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
        struct request *request = arena_take(sizeof *request);
        request->wr = *wr;
        request->number = ++qp->posted;
        for (int i = 0; i < wr->num_sge; i++)
            request->piece[i] = wr->sg_list[i];
        uint8_t *at = request->data;
        for (int i = 0; is_inline && i < wr->num_sge; at += wr->sg_list[i++].length)
            memcpy(at, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
        counts.sends++;
        if (base->state == IBV_QPS_ERR) {
            send_over(qp, request, IBV_WC_WR_FLUSH_ERR);
            arena_give(request);
            continue;
        }
        *qp->end = request;
        qp->end = &request->next;
        all->requests++;
        qp_run(qp);
    }
    all_run();
    arena_unlock();
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
        struct receive *receive = arena_take(sizeof *receive);
        receive->id = wr->wr_id;
        receive->pieces = wr->num_sge;
        for (int i = 0; i < wr->num_sge; i++)
            receive->piece[i] = wr->sg_list[i];
        *to->end = receive;
        to->end = &receive->next;
        to->count++;
        counts.receives++;
        counts.held = to->count > counts.held ? to->count : counts.held;
    }
    return 0;
}

static int post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct qp *qp = (struct qp *)base;
    arena_lock();
    int error = base->srq || base->state == IBV_QPS_RESET ? EINVAL : post_receives(&qp->receives, wr, bad);
    while (base->state == IBV_QPS_ERR && qp->receives.first)
        receive_over(qp, receive_take(qp), (struct ibv_wc){.status = IBV_WC_WR_FLUSH_ERR});
    all_run();
    arena_unlock();
    return error;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    arena_lock();
    int error = post_receives(&((struct srq *)srq)->receives, wr, bad);
    all_run();
    arena_unlock();
    return error;
}

static int poll_cq(struct ibv_cq *base, int most, struct ibv_wc *wc)
{
    struct cq *cq = (struct cq *)base;
    int got = 0;
    arena_lock();
    counts.polls++;
    for (; got < most && cq->count > 0; cq->count--) {
        const struct completion *end = &cq->entry[cq->first];
        wc[got++] = end->wc;
        end->qp->over = end->number ? end->number : end->qp->over;
        cq->first = (cq->first + 1) % cq->room;
    }
    arena_unlock();
    return got;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
    (void)solicited;
    arena_lock();
    ((struct cq *)cq)->armed = true;
    arena_unlock();
    return 0;
}

/* An object of the caller, which holds no lock. */
static void *objects_take(size_t size)
{
    arena_lock();
    void *object = arena_take(size);
    arena_unlock();
    return object;
}
static void objects_give(void *object)
{
    arena_lock();
    arena_give(object);
    arena_unlock();
}

/* ---- devices ------------------------------------------------------------------------------------------------------ */

struct ibv_device **ibv_get_device_list(int *count)
{
    struct ibv_device **list = calloc(DEVICES + 1, sizeof *list);
    arena_lock();
    for (int i = 0; i < DEVICES; i++) {
        struct ibv_device *device = list[i] = &all->device[i];
        if (!device->name[0]) { /* once: iwarp.c makes others of them */
            device->node_type = IBV_NODE_CA;
            device->transport_type = IBV_TRANSPORT_IB;
            snprintf(device->name, sizeof device->name, "double%d", i);
        }
    }
    arena_unlock();
    if (count)
        *count = DEVICES;
    return list;
}
void ibv_free_device_list(struct ibv_device **list) { free(list); }
const char *ibv_get_device_name(struct ibv_device *of) { return of->name; }

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
    arena_lock();
    struct context *context = arena_take(sizeof *context);
    context->context = (struct ibv_context){.device = of, .cmd_fd = -1, .async_fd = arena_bell_make(&context->told.bell),
                                            .num_comp_vectors = 1};
    context->pid = getpid();
    context->context.ops = (struct ibv_context_ops){.poll_cq = poll_cq, .req_notify_cq = req_notify_cq, .post_srq_recv = post_srq_recv,
                                                    .post_send = post_send, .post_recv = post_recv};
    for (size_t i = 0; i < sizeof all->contexts / sizeof *all->contexts; i++)
        if (!all->contexts[i]) {
            all->contexts[i] = context;
            break;
        }
    arena_unlock();
    return &context->context;
}

int ibv_close_device(struct ibv_context *context)
{
    arena_lock();
    for (size_t i = 0; i < sizeof all->contexts / sizeof *all->contexts; i++)
        all->contexts[i] = all->contexts[i] == (struct context *)context ? NULL : all->contexts[i];
    close(context->async_fd);
    arena_give(context);
    arena_unlock();
    return 0;
}

static int cqes(void) { return getenv("DOUBLE_CQES") ? atoi(getenv("DOUBLE_CQES")) : 65536; }

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    (void)context;
    const char *receives = getenv("DOUBLE_RECEIVES");
    *attr = (struct ibv_device_attr){.max_mr_size = UINT64_MAX, .max_qp = OBJECTS, .max_qp_wr = 16384, .max_sge = PIECES, .max_cq = OBJECTS,
                                     .max_cqe = cqes(), .max_mr = OBJECTS, .max_pd = OBJECTS, .max_qp_rd_atom = 16, .max_srq = OBJECTS,
                                     .max_qp_init_rd_atom = 16, .max_srq_wr = receives ? atoi(receives) : 65536, .max_srq_sge = PIECES, .phys_port_cnt = 1};
    return 0;
}

/* Of InfiniBand; 0: the devices are of RoCE. */
static uint8_t subnet(void)
{
    const char *number = getenv("DOUBLE_SUBNET");
    return number ? (uint8_t)atoi(number) : 0;
}

int (ibv_query_port)(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *compat)
{
    const char *down = getenv("DOUBLE_DOWN");
    bool is_down = all->down[context->device - all->device] || (down && strcmp(down, context->device->name) == 0);
    if (port != 1 || ((struct context *)context)->gone)
        return EINVAL;
    *(struct ibv_port_attr *)(void *)compat =
        (struct ibv_port_attr){.state = is_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE, .max_mtu = IBV_MTU_4096,
                               .active_mtu = getenv("DOUBLE_MTU") ? (unsigned)atoi(getenv("DOUBLE_MTU")) : IBV_MTU_4096,
                               .gid_tbl_len = 2, .max_msg_sz = 1u << 30, .pkey_tbl_len = 1, .active_width = 2, .active_speed = 32,
                               .phys_state = is_down ? 3 : 5, .link_layer = subnet() ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET,
                               .lid = subnet() ? LID(context->device - all->device) : 0};
    return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    static const uint8_t local[16] = {0xfe, 0x80}, mapped[16] = {[10] = 0xff, [11] = 0xff};
    long number = context->device - all->device;
    const char *list = getenv("DOUBLE_GIDS"), *at = list ? list : "127.0.0.1,192.0.2.2";
    char text[16] = "";
    if (port != 1 || index < 0 || index > 1)
        return -1;
    memcpy(gid->raw, index ? mapped : local, sizeof mapped);
    gid->raw[7] = index ? 0 : subnet();
    gid->raw[15] = (uint8_t)(number + 1);
    for (long i = 0; i < number && *at; i++)
        at += strcspn(at, ","), at += *at == ',';
    memcpy(text, at, strcspn(at, ",") < sizeof text ? strcspn(at, ",") : 0);
    return index == 0 || inet_pton(AF_INET, text, gid->raw + 12) == 1 ? 0 : -1;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
    if (flags || size != sizeof *entry || port > 255 || ibv_query_gid(context, (uint8_t)port, (int)index, &entry->gid))
        return ENODATA;
    entry->gid_index = index;
    entry->port_num = port;
    entry->gid_type = subnet() ? IBV_GID_TYPE_IB : IBV_GID_TYPE_ROCE_V2;
    entry->ndev_ifindex = 0;
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
    return told_take(&((struct context *)context)->told, context->async_fd, event) ? 0 : -1;
}
void ibv_ack_async_event(struct ibv_async_event *event) { (void)event; }
int ibv_fork_init(void) { return 0; }

/* ---- objects ------------------------------------------------------------------------------------------------------ */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd = objects_take(sizeof *pd);
    pd->context = context;
    return pd;
}
int ibv_dealloc_pd(struct ibv_pd *pd)
{
    objects_give(pd);
    return 0;
}

static uint64_t own_bytes; /* bytes that this process has registered */

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned access)
{
    struct mr *mr = NULL;
    uint32_t key = OBJECTS;
    arena_lock();
    for (int i = 1; i < OBJECTS && key == OBJECTS; i++) { /* a key that has ended is not used again soon */
        all->key = all->key % (OBJECTS - 1) + 1;
        key = all->mrs[all->key] ? OBJECTS : all->key;
    }
    const char *most = getenv("DOUBLE_LOCKABLE");
    if ((all->lockable && all->locked + length > all->lockable) || (most && own_bytes + length > strtoull(most, NULL, 10)))
        key = OBJECTS;
    if (key < OBJECTS) {
        own_bytes += length;
        all->locked += all->lockable ? length : 0;
        all->mrs[key] = mr = arena_take(sizeof *mr);
        mr->mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = address, .length = length, .lkey = key, .rkey = key};
        mr->iova = iova;
        mr->pid = getpid();
        mr->access = (int)access;
        counts.registered++;
    }
    arena_unlock();
    errno = ENOMEM;
    return mr ? &mr->mr : NULL;
}

struct ibv_mr *(ibv_reg_mr)(struct ibv_pd *pd, void *address, size_t length, int access)
{
    return ibv_reg_mr_iova2(pd, address, length, (uintptr_t)address, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    arena_lock();
    all->mrs[mr->lkey] = NULL;
    own_bytes -= mr->length;
    all->locked -= all->lockable ? mr->length : 0;
    counts.deregistered++;
    arena_give(mr);
    arena_unlock();
    return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct channel *channel = objects_take(sizeof *channel);
    channel->channel = (struct ibv_comp_channel){.context = context, .fd = arena_bell_make(&channel->told.bell)};
    return &channel->channel;
}
int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    close(channel->fd);
    objects_give(channel);
    return 0;
}
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
    struct ibv_async_event event;
    if (!told_take(&((struct channel *)channel)->told, channel->fd, &event))
        return -1;
    *cq = event.element.cq;
    *context = (*cq)->cq_context;
    return 0;
}
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count) { (void)cq, (void)count; }

static bool cq_room_good(int room)
{
    bool good = room > 0 && room <= cqes();
    counts.entries = good && (uint64_t)room > counts.entries ? (uint64_t)room : counts.entries;
    errno = EINVAL;
    return good;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int room, void *own, struct ibv_comp_channel *channel, int vector)
{
    if (!cq_room_good(room))
        return NULL;
    struct cq *cq = objects_take(sizeof *cq);
    (void)vector;
    cq->cq = (struct ibv_cq){.context = context, .channel = channel, .cq_context = own, .cqe = room};
    cq->room = room;
    cq->pid = getpid();
    cq->entry = objects_take((size_t)room * sizeof *cq->entry);
    return &cq->cq;
}
int ibv_destroy_cq(struct ibv_cq *cq)
{
    objects_give(((struct cq *)cq)->entry);
    objects_give(cq);
    return 0;
}
int ibv_resize_cq(struct ibv_cq *base, int room)
{
    struct cq *cq = (struct cq *)base;
    if (!cq_room_good(room))
        return errno;
    arena_lock();
    struct completion *entry = arena_take((size_t)room * sizeof *entry);
    for (int i = 0; i < cq->count; i++)
        entry[i] = cq->entry[(cq->first + i) % cq->room];
    arena_give(cq->entry);
    cq->entry = entry;
    cq->first = 0;
    cq->room = base->cqe = room;
    arena_unlock();
    return 0;
}

static void receives_drop(struct receives *receives)
{
    while (receives->first) {
        struct receive *receive = receives->first;
        receives->first = receive->next;
        arena_give(receive);
    }
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    struct srq *srq = objects_take(sizeof *srq);
    srq->srq = (struct ibv_srq){.context = pd->context, .srq_context = attr->srq_context, .pd = pd};
    srq->receives.most = attr->attr.max_wr;
    srq->receives.end = &srq->receives.first;
    return &srq->srq;
}
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int what)
{
    arena_lock();
    if (what & IBV_SRQ_LIMIT)
        ((struct srq *)srq)->receives.limit = attr->srq_limit;
    arena_unlock();
    return what & ~IBV_SRQ_LIMIT ? EINVAL : 0;
}
int ibv_destroy_srq(struct ibv_srq *srq)
{
    arena_lock();
    receives_drop(&((struct srq *)srq)->receives);
    arena_give(srq);
    arena_unlock();
    return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *made)
{
    uint32_t number = 1;
    struct qp *qp = NULL;
    arena_lock();
    while (number < OBJECTS && all->qps[number])
        number++;
    if (made->qp_type == IBV_QPT_RC && made->cap.max_inline_data <= INLINE && made->cap.max_send_sge <= PIECES && number < OBJECTS &&
        (qp = arena_take(sizeof *qp))) {
        qp->qp = (struct ibv_qp){.context = pd->context, .qp_context = made->qp_context, .pd = pd, .send_cq = made->send_cq,
                                 .recv_cq = made->recv_cq, .srq = made->srq, .qp_num = number, .qp_type = IBV_QPT_RC};
        qp->made = *made;
        qp->end = &qp->first;
        qp->receives.most = made->cap.max_recv_wr;
        qp->receives.end = &qp->receives.first;
        all->qps[number] = qp;
    }
    arena_unlock();
    if (!qp)
        errno = EINVAL;
    return qp ? &qp->qp : NULL;
}

int ibv_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int what)
{
    struct qp *qp = (struct qp *)base;
    int error = 0;
    arena_lock();
    if (what & IBV_QP_STATE) {
        enum ibv_qp_state from = base->state, to = attr->qp_state;
        bool next = (from == IBV_QPS_RESET && to == IBV_QPS_INIT) || (from == IBV_QPS_INIT && to == IBV_QPS_INIT) ||
                    (from == IBV_QPS_INIT && to == IBV_QPS_RTR) || (from == IBV_QPS_RTR && to == IBV_QPS_RTS) || to == IBV_QPS_ERR;
        error = next ? 0 : EINVAL;
    }
    if (!error) {
        if (what & IBV_QP_ACCESS_FLAGS)
            qp->attr.qp_access_flags = attr->qp_access_flags;
        if (what & IBV_QP_PATH_MTU)
            counts.mtus += attr->path_mtu;
        if (what & IBV_QP_AV) {
            counts.connected++;
            counts.global += attr->ah_attr.is_global;
            counts.lids += attr->ah_attr.dlid;
            counts.levels += attr->ah_attr.sl;
            counts.classes += attr->ah_attr.grh.traffic_class;
        }
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
    arena_unlock();
    return error;
}

int ibv_query_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int what, struct ibv_qp_init_attr *made)
{
    struct qp *qp = (struct qp *)base;
    (void)what;
    arena_lock();
    *attr = qp->attr;
    attr->qp_state = attr->cur_qp_state = base->state;
    attr->cap = qp->made.cap;
    *made = qp->made;
    arena_unlock();
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
    arena_lock();
    all->qps[base->qp_num] = NULL;
    cq_forget((struct cq *)base->send_cq, qp);
    cq_forget((struct cq *)base->recv_cq, qp);
    int left = 0;
    for (int i = 0; i < all->helds; i++)
        if (all->held[i].qp != qp)
            all->held[left++] = all->held[i];
    all->helds = left;
    while (qp->first) {
        struct request *request = qp->first;
        qp->first = request->next;
        all->requests--;
        arena_give(request);
    }
    receives_drop(&qp->receives);
    arena_give(qp);
    arena_unlock();
    return 0;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
    return status == IBV_WC_SUCCESS ? "success" : "an error of the double";
}

/* ---- what tests ask for ------------------------------------------------------------------------------------------- */

void double_fail(unsigned nth, enum ibv_wc_status status)
{
    arena_lock();
    all->fail_at = nth;
    all->fail_with = status;
    arena_unlock();
}

void double_changed(const void *address, size_t length)
{
    const char *start = address;
    arena_lock();
    for (int i = 0; i < OBJECTS; i++) {
        struct mr *mr = all->mrs[i];
        const char *at = mr ? mr->mr.addr : NULL;
        if (mr && mr->pid == getpid() && at < start + length && start < at + mr->mr.length)
            mr->old = true;
    }
    arena_unlock();
}

bool double_good(uint32_t key)
{
    arena_lock();
    bool good = key < OBJECTS && all->mrs[key] && !all->mrs[key]->old;
    arena_unlock();
    return good;
}

void double_lockable(uint64_t bytes)
{
    arena_lock();
    all->lockable = bytes;
    all->locked = 0;
    for (int i = 0; i < OBJECTS; i++)
        all->locked += all->mrs[i] ? all->mrs[i]->mr.length : 0;
    arena_unlock();
}

void double_hold(bool hold)
{
    arena_lock();
    all->holding = hold;
    for (uint32_t number = OBJECTS; !hold && number-- > 0;)
        for (int i = 0; i < all->helds; i++)
            if (all->held[i].wc.qp_num == number)
                cq_push((struct cq *)all->held[i].qp->qp.send_cq, &all->held[i]);
    all->helds = hold ? all->helds : 0;
    arena_unlock();
}

void double_late(bool late)
{
    arena_lock();
    all->late = late;
    all_run();
    arena_unlock();
}

void double_gone(void)
{
    arena_lock();
    for (size_t i = 0; i < sizeof all->contexts / sizeof *all->contexts; i++) {
        struct context *context = all->contexts[i];
        if (!context || context->pid != getpid())
            continue;
        context->gone = true;
        for (int k = 0; k < OBJECTS; k++)
            if (all->qps[k] && all->qps[k]->qp.context == &context->context)
                qp_break(all->qps[k]);
        tell(&context->context, (struct ibv_async_event){.event_type = IBV_EVENT_DEVICE_FATAL});
    }
    arena_unlock();
}

void double_overrun(void)
{
    arena_lock();
    for (int i = 0; i < OBJECTS; i++) {
        struct cq *cq = all->qps[i] ? (struct cq *)all->qps[i]->qp.send_cq : NULL;
        if (!cq || cq->pid != getpid())
            continue;
        if (!cq->lost)
            cq_lose(cq);
        cq->count = 0;
        qp_break(all->qps[i]);
    }
    arena_unlock();
}

void double_port(const char *name, bool up)
{
    arena_lock();
    for (int i = 0; i < DEVICES; i++)
        if (strcmp(all->device[i].name, name) == 0)
            all->down[i] = !up;
    for (size_t i = 0; i < sizeof all->contexts / sizeof *all->contexts; i++)
        if (all->contexts[i] && strcmp(all->contexts[i]->context.device->name, name) == 0)
            tell(&all->contexts[i]->context, (struct ibv_async_event){.element.port_num = 1, .event_type = up ? IBV_EVENT_PORT_ACTIVE
                                                                                                       : IBV_EVENT_PORT_ERR});
    arena_unlock();
}
