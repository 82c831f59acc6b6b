/* Queue pairs: made, connected, posted to, and ended. A request that was posted comes back as a completion of its place
 * or of a later one, for those of one queue complete in order; after an error all come back.
 *
 * The end of a queue pair is what makes a fence true: it is set to its error state, what was posted comes back, and it
 * is destroyed. Only then the device writes nothing more. */
#include "vi/verbs/verbs.h"

#define GID_SUBNET 8 /* bytes of a GID */

_Static_assert(TUNED(VERBS_SIGNAL) <= VERBS_LEAST - VERBS_RESERVED, "one of a full queue asks for a completion");

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static int pair_create(struct verbs_vi *vi, struct verbs_adapter *adapter)
{
    static const uint32_t inlined[] = {TUNED(VERBS_INLINE), TUNED(VERBS_INLINE) / 4, 0};
    struct ibverbs_qp_attr attr = {.qp_state = IBVERBS_QPS_INIT, .port_num = adapter->port.number,
                                   .pkey_index = adapter->key,
                                   .qp_access_flags = IBVERBS_ACCESS_REMOTE_WRITE | IBVERBS_ACCESS_REMOTE_READ};
    for (size_t i = 0; i < ARRAY_LENGTH(inlined) && !vi->qp; i++) {
        struct ibverbs_qp_init_attr made = {
            .qp_context = vi, .send_cq = adapter->cq, .recv_cq = adapter->cq, .srq = adapter->srq,
            .qp_type = IBVERBS_QPT_RC,
            .cap = {.max_send_wr = VERBS_PLACES + 1, .max_send_sge = TUNED(VERBS_PIECES),
                    .max_inline_data = inlined[i]}};
        vi->inlined = inlined[i];
        vi->qp = adapter->home->library->ibv_create_qp(adapter->pd, &made);
    }
    if (!vi->qp)
        return vbase_fail_errno(ERR_LIMIT, "%s makes no queue pair", adapter->name);
    int number = adapter->home->library->ibv_modify_qp(vi->qp, &attr, IBVERBS_QP_STATE | IBVERBS_QP_PKEY_INDEX |
                                                                          IBVERBS_QP_PORT | IBVERBS_QP_ACCESS_FLAGS);
    return number ? vbase_fail(ERR_LINK_DOWN, "a queue pair of %s: %s", adapter->name, strerror(number)) : OK;
}

/* LID and MTU may have changed since the last look. */
static int port_look(struct verbs_adapter *adapter)
{
    struct verbs_port *port = &adapter->port;
    base_lock(&adapter->lock);
    bool good = !adapter->overrun;
    base_unlock(&adapter->lock);
    good = good && adapter->home->library->ibv_query_port(port->context, port->number, &port->attr) == 0 &&
           port->attr.state == IBVERBS_PORT_ACTIVE;
    return good ? OK : verbs_adapter_fault(adapter);
}

/* RoCE: the address of this connection, for the other side may reach no other one of the card's. */
static void gid_choose(struct verbs_vi *vi, const struct verbs_adapter *adapter)
{
    struct verbs_port port = adapter->port;
    struct call_card card = {.ordinal = adapter->card};
    memcpy(card.gid, port.gid, sizeof(card.gid));
    if (!adapter->manager && call_end_of(vi->call.link->fd, false, &card.address))
        (void)verbs_port_has(adapter->home->library, &port, &card, &adapter->settings);
    memcpy(vi->gid, port.gid, sizeof(vi->gid));
    vi->gid_index = port.gid_index;
}

int verbs_pair_make(struct verbs_vi *vi, struct verbs_adapter *adapter)
{
    list_init(&vi->written);
    int error = port_look(adapter);
    if (!error && adapter->manager)
        error = verbs_receives_add(adapter);
    error = error ? error : verbs_room_make(adapter);
    if (error)
        return error;
    __atomic_store_n(&vi->adapter, adapter, __ATOMIC_RELAXED); /* verbs_poll looks */
    vi->state = VERBS_MEETING;
    vi->places = VERBS_LEAST;
    gid_choose(vi, adapter);
    for (uint32_t i = 0; i < VERBS_PLACES; i++)
        vi->place[i].vi = vi;
    error = pair_create(vi, adapter) ?: vbase_random(&vi->first, sizeof(vi->first));
    vi->first &= 0xffffff;
    base_lock(&adapter->lock);
    if (!vi->qp)
        verbs_room_give(adapter, vi);
    if (!error)
        error = vbase_map_put(&adapter->vis, vi->qp->qp_num, vi);
    base_unlock(&adapter->lock);
    return error;
}

/* As vi->theirs says. Until it is sent what ours is nothing comes, so receives are there in time. */
int verbs_pair_connect(struct verbs_vi *vi)
{
    const struct verbs_meeting *theirs = &vi->theirs;
    const struct verbs_adapter *adapter = vi->adapter;
    const struct ibverbs_library *library = adapter->home->library;
    /* a subnet of InfiniBand has the first half of its GIDs in common; to another one nobody here knows the LID of a
     * router */
    bool ethernet = adapter->port.attr.link_layer == IBVERBS_LINK_ETHERNET;
    if (!ethernet && memcmp(theirs->gid, vi->gid, GID_SUBNET) != 0)
        return vbase_fail(ERR_LINK_DOWN, "%s and the port of rank %u are in different subnets of InfiniBand",
                          adapter->name, vi->call.vi.peer);
    struct ibverbs_qp_attr attr = {
        .qp_state = IBVERBS_QPS_RTR, .dest_qp_num = theirs->number, .rq_psn = theirs->first,
        .path_mtu = theirs->mtu < adapter->port.attr.active_mtu ? theirs->mtu : adapter->port.attr.active_mtu,
        .max_dest_rd_atomic = adapter->read_by, .min_rnr_timer = 1,
        .ah_attr = {.is_global = ethernet || (adapter->port.attr.flags & IBVERBS_GLOBAL),
                    .sgid_index = (uint8_t)vi->gid_index, .hop_limit = 64,
                    .sl = adapter->settings.level, .traffic_class = adapter->settings.class,
                    .dlid = theirs->lid, .port_num = adapter->port.number}};
    memcpy(attr.ah_attr.dgid, theirs->gid, sizeof(theirs->gid));
    int number = library->ibv_modify_qp(vi->qp, &attr, IBVERBS_QP_STATE | IBVERBS_QP_AV | IBVERBS_QP_PATH_MTU |
                                                           IBVERBS_QP_DEST_QPN | IBVERBS_QP_RQ_PSN |
                                                           IBVERBS_QP_MAX_DEST_RD_ATOMIC | IBVERBS_QP_MIN_RNR_TIMER);
    attr = (struct ibverbs_qp_attr){.qp_state = IBVERBS_QPS_RTS, .timeout = 14, .retry_cnt = 7,
                                    .rnr_retry = 7 /* without end */, .sq_psn = vi->first,
                                    .max_rd_atomic = adapter->reads};
    if (!number)
        number = library->ibv_modify_qp(vi->qp, &attr, IBVERBS_QP_STATE | IBVERBS_QP_TIMEOUT | IBVERBS_QP_RETRY_CNT |
                                                           IBVERBS_QP_RNR_RETRY | IBVERBS_QP_SQ_PSN |
                                                           IBVERBS_QP_MAX_QP_RD_ATOMIC);
    return number ? vbase_fail(ERR_LINK_DOWN, "%s does not connect to rank %u: %s", adapter->name, vi->call.vi.peer,
                               strerror(number))
                  : OK;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* What was posted comes back; true: it has. A request of no bytes behind all others is the last one to do so. */
static bool sends_drain(struct verbs_vi *vi)
{
    struct verbs_adapter *adapter = vi->adapter;
    struct ibverbs_send_wr wr = {.wr_id = (uintptr_t)vi | VERBS_OF_DRAIN, .opcode = IBVERBS_WR_RDMA_WRITE,
                                 .send_flags = IBVERBS_SEND_SIGNALED}, *bad;
    /* a device of iWARP takes no request now; what it has is given back before it has destroyed the queue pair. A
     * completion queue that is lost gives back nothing */
    bool sends = (vi->state == VERBS_READY || vi->state == VERBS_UP) && !adapter->manager && !adapter->overrun;
    uint64_t until = vbase_clock_ns() + TUNED_NS(VERBS_DRAIN);
    if (sends && adapter->port.context->ops.post_send(vi->qp, &wr, &bad))
        return false;
    while (sends && !vi->drained && vbase_clock_ns() < until)
        verbs_events_poll(adapter);
    return !sends || vi->drained;
}

static void receives_drain(struct verbs_vi *vi)
{
    uint64_t until = vbase_clock_ns() + TUNED_NS(VERBS_LAST);
    while (!vi->last && vbase_clock_ns() < until)
        verbs_adapter_events(vi->adapter);
    while (verbs_events_poll(vi->adapter))
        ;
}

void verbs_pair_end(struct verbs_vi *vi)
{
    struct verbs_adapter *adapter = vi->adapter;
    struct ibverbs_qp_attr attr = {.qp_state = IBVERBS_QPS_ERR};
    vi->failed = true;
    if (!vi->qp)
        return;
    const struct ibverbs_library *library = adapter->home->library;
    base_lock(&adapter->lock);
    (void)library->ibv_modify_qp(vi->qp, &attr, IBVERBS_QP_STATE);
    vi->in_doubt = !sends_drain(vi);
    if (vi->in_doubt)
        LOG_WARN("%s does not give back what was to be sent to rank %u", adapter->name, vi->call.vi.peer);
    receives_drain(vi);
    (void)vbase_map_remove(&adapter->vis, vi->qp->qp_num);
    adapter->latest = NULL;
    base_unlock(&adapter->lock);
    if (library->ibv_destroy_qp(vi->qp))
        LOG_ERROR("%s does not destroy a queue pair: %s", adapter->name, strerror(errno));
    base_lock(&adapter->lock);
    verbs_room_give(adapter, vi); /* only now nothing of it completes any more */
    base_unlock(&adapter->lock);
    vi->qp = NULL;
    vi->state = VERBS_ENDED;
}
