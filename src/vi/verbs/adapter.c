/* Adapters: which card has an RDMA port, and what an adapter has once for all its vis: a completion queue, a shared
 * receive queue, and blocks of registered memory for receives and for sends.
 *
 * Which port belongs to a card: port.c. */
#include "vi/verbs/verbs.h"
#include <fcntl.h>
#include <poll.h>

#define PAGE     4096u
#define RECEIVES ((uint32_t)TUNED(VERBS_RECEIVES))
#define BLOCKS   ((uint32_t)TUNED(VERBS_BLOCKS))

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

int verbs_receives_post(struct verbs_adapter *adapter)
{
    struct ibverbs_recv_wr *bad = NULL;
    int number = adapter->port.context->ops.post_srq_recv(adapter->srq, adapter->back, &bad);
    adapter->back = number ? bad : NULL;
    adapter->backs = 0;
    for (const struct ibverbs_recv_wr *left = adapter->back; left; left = left->next)
        adapter->backs++;
    if (!number)
        return OK;
    base_lock(&adapter->lock);
    adapter->failed = true; /* senders would wait for receives without end */
    base_unlock(&adapter->lock);
    return vbase_fail(ERR_LINK_DOWN, "%s takes no receive: %s", adapter->name, strerror(number));
}

uint8_t *verbs_block_take(struct verbs_adapter *adapter)
{
    base_lock(&adapter->lock);
    uint8_t *block = adapter->free_block;
    if (block)
        memcpy(&adapter->free_block, block, sizeof(adapter->free_block));
    base_unlock(&adapter->lock);
    return block;
}

void verbs_block_give(struct verbs_adapter *adapter, uint8_t *block)
{
    base_lock(&adapter->lock);
    memcpy(block, &adapter->free_block, sizeof(adapter->free_block));
    adapter->free_block = block;
    base_unlock(&adapter->lock);
}

/* Of the blocks at MEMORY, to those that are posted next. */
static void receives_make(struct verbs_adapter *adapter, struct verbs_receive *receive, uint32_t count,
                          const struct ibverbs_mr *mr, const uint8_t *memory)
{
    for (uint32_t i = 0; i < count; i++, receive++) {
        receive->whole = (struct ibverbs_sge){(uintptr_t)memory + (size_t)i * VERBS_BLOCK, VERBS_BLOCK, mr->lkey};
        receive->wr =
            (struct ibverbs_recv_wr){(uintptr_t)receive | VERBS_OF_RECEIVE, adapter->back, &receive->whole, 1};
        adapter->back = &receive->wr;
    }
    adapter->receives += count;
}

static int receives_more(struct verbs_adapter *adapter)
{
    const size_t bytes = (size_t)VERBS_RECEIVED * VERBS_BLOCK;
    if (adapter->receives + VERBS_RECEIVED > adapter->receives_most)
        return vbase_fail(ERR_LIMIT, "%s takes %u receives, enough for %u connections", adapter->name,
                          adapter->receives_most, adapter->receives_most / VERBS_RECEIVED);
    struct verbs_more *more = calloc(1, sizeof(*more));
    if (!more)
        return vbase_fail(ERR_MEMORY, "receives of %s", adapter->name);
    more->memory = aligned_alloc(PAGE, (bytes | (PAGE - 1)) + 1);
    more->mr = more->memory ? adapter->home->library->ibv_reg_mr_iova2(adapter->pd, more->memory, bytes,
                                                                       (uintptr_t)more->memory,
                                                                       IBVERBS_ACCESS_LOCAL_WRITE)
                            : NULL;
    if (!more->mr) {
        free(more->memory);
        free(more);
        return vbase_fail_errno(ERR_LIMIT, "%s registers no %zu bytes for receives", adapter->name, bytes);
    }
    more->next = adapter->more;
    adapter->more = more;
    receives_make(adapter, more->receive, VERBS_RECEIVED, more->mr, more->memory);
    return verbs_receives_post(adapter);
}

/* An empty queue ends a connection of iWARP: there are receives for all that its queue pairs may be sent. They stay
 * when these end, for others. */
int verbs_receives_add(struct verbs_adapter *adapter)
{
    base_lock(&adapter->lock); /* the end of a queue pair in another thread counts, too */
    bool there = (adapter->sessions + 1) * VERBS_RECEIVED <= adapter->receives;
    base_unlock(&adapter->lock);
    return there ? OK : receives_more(adapter);
}

/* The device says once when few are left. */
static void receives_watch(struct verbs_adapter *adapter)
{
    struct ibverbs_srq_attr attr = {.srq_limit = adapter->receives / TUNED(VERBS_FEW)};
    if (adapter->home->library->ibv_modify_srq(adapter->srq, &attr, IBVERBS_SRQ_LIMIT))
        LOG_INFO("%s does not say when few receives are left: %s", adapter->name, strerror(errno));
}

/* Where there may be no more, or there is no memory for them, it stays as it is: that costs time and nothing else. */
void verbs_receives_fill(struct verbs_adapter *adapter)
{
    if (adapter->receives + VERBS_RECEIVED <= adapter->receives_most && receives_more(adapter) == OK)
        receives_watch(adapter);
}

static void receives_free(struct verbs_adapter *adapter)
{
    for (struct verbs_more *more; (more = adapter->more);) {
        adapter->more = more->next;
        adapter->home->library->ibv_dereg_mr(more->mr);
        free(more->memory);
        free(more);
    }
}

static int blocks_make(struct verbs_adapter *adapter)
{
    const struct ibverbs_library *library = adapter->home->library;
    adapter->memory = aligned_alloc(PAGE, (VERBS_BYTES | (PAGE - 1)) + 1);
    if (!adapter->memory)
        return vbase_fail(ERR_MEMORY, "the receive buffers of %s", adapter->name);
    adapter->mr = library->ibv_reg_mr_iova2(adapter->pd, adapter->memory, VERBS_BYTES, (uintptr_t)adapter->memory,
                                            IBVERBS_ACCESS_LOCAL_WRITE);
    if (!adapter->mr)
        return vbase_fail_errno(ERR_LIMIT, "%s registers no %zu bytes (ulimit -l tells what may be locked)",
                                adapter->name, VERBS_BYTES);
    receives_make(adapter, adapter->receive, RECEIVES, adapter->mr, adapter->memory);
    for (uint32_t i = 0; i < BLOCKS; i++)
        verbs_block_give(adapter, adapter->memory + (size_t)(RECEIVES + i) * VERBS_BLOCK);
    int error = verbs_receives_post(adapter);
    if (!error && !adapter->port.managed)
        receives_watch(adapter);
    return error;
}

/* ---- one adapter ------------------------------------------------------------------------------------------------- */

void verbs_adapter_events(struct verbs_adapter *adapter)
{
    const struct ibverbs_library *library = adapter->home->library;
    struct ibverbs_async_event event;
    struct pollfd there = {.fd = adapter->port.context->async_fd, .events = POLLIN};
    while (poll(&there, 1, 0) > 0 && library->ibv_get_async_event(adapter->port.context, &event) == 0) {
        if (event.event_type == IBVERBS_EVENT_QP_LAST_WQE_REACHED)
            ((struct verbs_vi *)event.element.qp->qp_context)->last = true;
        else if (event.event_type == IBVERBS_EVENT_SRQ_LIMIT_REACHED)
            adapter->few = true;
        else if (event.event_type == IBVERBS_EVENT_CQ_ERR)
            adapter->failed = adapter->overrun = true;
        else if (event.event_type == IBVERBS_EVENT_DEVICE_FATAL ||
                 (event.event_type == IBVERBS_EVENT_PORT_ERR && event.element.port_num == adapter->port.number))
            adapter->failed = true;
        library->ibv_ack_async_event(&event);
    }
}

int verbs_adapter_fault(struct verbs_adapter *adapter)
{
    base_lock(&adapter->lock);
    bool overrun = adapter->overrun;
    base_unlock(&adapter->lock);
    return overrun ? vbase_fail(ERR_LINK_DOWN, "%s has lost its completion queue", adapter->name)
                   : vbase_fail(ERR_LINK_DOWN, "port %u of %s is down", adapter->port.number, adapter->name);
}

static void adapter_close(struct verbs_adapter *adapter)
{
    const struct ibverbs_library *library = adapter->home->library;
    verbs_iwarp_close(adapter);
    if (adapter->srq)
        library->ibv_destroy_srq(adapter->srq);
    if (adapter->cq)
        library->ibv_destroy_cq(adapter->cq);
    if (adapter->channel)
        library->ibv_destroy_comp_channel(adapter->channel);
    verbs_cache_close(adapter);
    receives_free(adapter);
    if (adapter->mr)
        library->ibv_dereg_mr(adapter->mr);
    if (adapter->pd)
        library->ibv_dealloc_pd(adapter->pd);
    if (adapter->port.context)
        library->ibv_close_device(adapter->port.context);
    vbase_map_close(&adapter->vis);
    free(adapter->event);
    free(adapter->event_vi);
    free(adapter->memory);
    free(adapter);
}

static int queues_make(struct verbs_adapter *adapter)
{
    const struct ibverbs_library *library = adapter->home->library;
    struct ibverbs_srq_init_attr receives = {.max_wr = adapter->receives_most, .max_sge = 1};
    if (adapter->receives_most < RECEIVES)
        return vbase_fail(ERR_UNSUPPORTED, "%s has no shared receive queue of %u", adapter->name, RECEIVES);
    adapter->needed = (int)adapter->receives_most;
    /* a device of iWARP may not make it longer later: there are fewer places in a send queue than receives for one */
    adapter->room = adapter->port.managed ? 2 * adapter->needed : adapter->needed;
    adapter->room = adapter->room < adapter->room_most ? adapter->room : adapter->room_most;
    adapter->room_most = adapter->port.managed ? adapter->room : adapter->room_most;
    if (adapter->room < adapter->needed)
        return vbase_fail(ERR_UNSUPPORTED, "%s has no completion queue of %d", adapter->name, adapter->needed);
    adapter->pd = library->ibv_alloc_pd(adapter->port.context);
    adapter->channel = adapter->pd ? library->ibv_create_comp_channel(adapter->port.context) : NULL;
    adapter->cq = adapter->channel
                      ? library->ibv_create_cq(adapter->port.context, adapter->room, NULL, adapter->channel, 0)
                      : NULL;
    adapter->srq = adapter->cq ? library->ibv_create_srq(adapter->pd, &receives) : NULL;
    if (!adapter->srq)
        return vbase_fail_errno(ERR_LIMIT, "queues of %s", adapter->name);
    fcntl(adapter->channel->fd, F_SETFL, fcntl(adapter->channel->fd, F_GETFL) | O_NONBLOCK);
    return call_watch_own(&adapter->home->call, adapter->channel->fd)
               ?: call_watch_own(&adapter->home->call, adapter->port.context->async_fd) ?: blocks_make(adapter);
}

static void caps_find(struct verbs_adapter *adapter, const struct ibverbs_device_attr *device)
{
    adapter->reads = (uint8_t)(device->max_qp_init_rd_atom < VERBS_READS ? device->max_qp_init_rd_atom : VERBS_READS);
    adapter->iwarp = adapter->port.context->device->transport_type == IBVERBS_TRANSPORT_IWARP;
    uint32_t part = (uint32_t)device->max_cqe / TUNED(VERBS_RECEIVES_PART); /* receives take room there, too */
    uint32_t longest = part < TUNED(VERBS_RECEIVES_LONG) ? part : TUNED(VERBS_RECEIVES_LONG);
    uint32_t most = adapter->port.managed ? VERBS_RECEIVES_MOST : longest > RECEIVES ? longest : RECEIVES;
    adapter->receives_most = most < verbs_receives_of(device) ? most : verbs_receives_of(device);
    adapter->room_most = device->max_cqe;
    adapter->read_by = (uint8_t)(device->max_qp_rd_atom < VERBS_READS ? device->max_qp_rd_atom : VERBS_READS);
    adapter->nic = adapter->home->call.nic;
    adapter->nic.caps = (struct vi_caps){
        .max_send = VERBS_MAX_SEND,
        .max_put = adapter->port.attr.max_msg_sz < VERBS_MAX_PUT ? adapter->port.attr.max_msg_sz : VERBS_MAX_PUT,
        .stays = TUNED(VERBS_INLINE) - sizeof(struct verbs_frame) + 1, .depth = VERBS_DEPTH,
        .trip_ns = TUNED(VERBS_TRIP), .put_least = 1, .ordered = 1, .get = !adapter->iwarp, .put = 1,
        .polls_cost = 1, .adapter = 1};
}

/* ---- finding them ------------------------------------------------------------------------------------------------ */

/* The first of its ports that belongs to CARD, if it may be used; false: none. */
static bool port_find(struct verbs_adapter *adapter, int ports, const struct call_card *card)
{
    struct verbs_port *port = &adapter->port;
    const struct ibverbs_library *library = adapter->home->library;
    if (!verbs_card_allowed(adapter->name, card))
        return false;
    for (int number = 1; number <= ports; number++) {
        port->number = (uint8_t)number;
        if (verbs_port_has(library, port, card, &adapter->settings)) {
            adapter->card = card->ordinal;
            return true;
        }
    }
    return false;
}

static int key_find(struct verbs_adapter *adapter)
{
    int key = verbs_key_find(adapter->home->library, &adapter->port, &adapter->settings);
    adapter->key = (uint16_t)key;
    return key >= 0 ? OK
                    : vbase_fail(ERR_UNSUPPORTED, "port %u of %s has no partition key 0x%x (VIADUCT_VERBS)",
                                 adapter->port.number, adapter->name, adapter->settings.key);
}

/* *OUT: NULL if none of its ports belongs to CARD. */
static int adapter_try(struct verbs_nic *nic, struct ibverbs_device *of, const struct call_card *card,
                       struct verbs_adapter **out)
{
    struct ibverbs_device_attr device;
    struct verbs_adapter *adapter = calloc(1, sizeof(*adapter));
    *out = NULL;
    if (!adapter)
        return vbase_fail(ERR_MEMORY, "an adapter");
    adapter->home = nic;
    verbs_cache_open(&adapter->cache);
    snprintf(adapter->name, sizeof(adapter->name), "%s", nic->library->ibv_get_device_name(of));
    adapter->port = (struct verbs_port){.device = adapter->name, .context = nic->library->ibv_open_device(of)};
    int error = verbs_settings_read(&adapter->settings);
    if (!error && (!adapter->port.context || nic->library->ibv_query_device(adapter->port.context, &device)))
        error = vbase_fail_errno(ERR_SYSTEM, "opening %s", adapter->name);
    bool found = !error && port_find(adapter, device.phys_port_cnt, card);
    if (found) {
        caps_find(adapter, &device);
        error = key_find(adapter) ?: queues_make(adapter);
        if (!error && adapter->port.managed)
            error = verbs_iwarp_open(adapter, &card->address);
    }
    if (found && !error)
        *out = adapter;
    else
        adapter_close(adapter);
    return error;
}

/* By the first device that has CARD; what does not work is told, and its card left out. */
static void card_try(struct verbs_nic *nic, struct ibverbs_device **list, const struct call_card *card)
{
    struct verbs_adapter *adapter = NULL;
    for (int i = 0; list[i] && !adapter; i++)
        if (adapter_try(nic, list[i], card, &adapter) != OK)
            LOG_WARN("an RDMA device is not used: %s", vbase_error_detail());
    if (adapter)
        nic->adapter[nic->adapters++] = adapter;
}

struct verbs_adapter *verbs_adapter_of(struct verbs_nic *nic, uint8_t card)
{
    for (int i = 0; i < nic->adapters; i++)
        if (nic->adapter[i]->card == card)
            return nic->adapter[i];
    return NULL;
}

/* False: it is not reached there, by iWARP. */
static bool address_add(struct verbs_adapter *adapter, const struct call_address *address)
{
    if (!adapter->manager)
        return true;
    if (!verbs_iwarp_has(adapter->home->library, &adapter->port, address))
        return false;
    bool listens = verbs_iwarp_listen(adapter, address) == OK;
    if (!listens)
        LOG_WARN("an address of an RDMA device is not used: %s", vbase_error_detail());
    return listens;
}

int verbs_adapters_open(struct call_nic *base)
{
    struct verbs_nic *nic = (struct verbs_nic *)(void *)base;
    int error = ibverbs_load(&nic->library), kept = 0;
    struct ibverbs_device **list = error ? NULL : nic->library->ibv_get_device_list(NULL);
    if (!list)
        return error ?: vbase_fail_errno(ERR_UNSUPPORTED, "the RDMA devices of this host");
    for (int i = 0; i < base->cards.count; i++) {
        const struct call_card *card = &base->cards.card[i];
        if (!verbs_adapter_of(nic, card->ordinal)) /* one of its other addresses may have brought it */
            card_try(nic, list, card);
        struct verbs_adapter *adapter = verbs_adapter_of(nic, card->ordinal);
        if (!adapter || !address_add(adapter, &card->address))
            continue;
        base->cards.card[kept] = *card;
        if (adapter->manager)
            base->cards.card[kept].kind = CALL_KIND_IWARP;
        kept++;
    }
    bool none = !list[0];
    nic->library->ibv_free_device_list(list);
    base->cards.count = kept;
    if (kept == 0)
        return vbase_fail(ERR_UNSUPPORTED, none ? "this host has no RDMA device"
                                                : "no active port of an RDMA device belongs to a network card");
    if (nic->adapters == 1)
        nic->adapter[0]->nic.caps.adapter = 0;
    base->nic.caps = nic->adapter[0]->nic.caps;
    base->nic.caps.adapter = 0;
    return OK;
}

void verbs_adapters_close(struct verbs_nic *nic)
{
    while (nic->adapters > 0)
        adapter_close(nic->adapter[--nic->adapters]);
}
