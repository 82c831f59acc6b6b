/* Ports of iWARP, whose queue pairs librdmacm connects: which belongs to a card, listening, and connecting two queue
 * pairs. All of it is done by the poll, and nothing blocks, but rdma_connect of siw (docs/design.md, section 14).
 *
 * Each side says over the proven socket where it listens, and a word for this one connection. The lower rank connects,
 * with the word of the other as private data: so it is known which queue pair is meant, and that no other process
 * calls. It sends first, as iWARP demands (VERBS_TAKEN), and is answered; what comes first tells each side that it may
 * send. */
#include "vi/verbs/rdmacm.h"
#include "vi/verbs/verbs.h"
#include <arpa/inet.h>
#include <fcntl.h>

#define PATIENCE ((int)TUNED(VERBS_RESOLVE))
#define BACKLOG  128

struct verbs_manager { /* of an adapter */
    const struct rdmacm_library *library;
    struct rdmacm_channel *channel;
    struct rdmacm_id *listener[2]; /* at the card's address of IPv4, of IPv6; NULL: it has none */
};

static struct rdmacm_id **listener_of(struct verbs_manager *manager, const struct call_address *address)
{
    return &manager->listener[address->family == AF_INET6];
}

/* ---- ports and adapters ------------------------------------------------------------------------------------------ */

bool verbs_iwarp_has(const struct ibverbs_library *library, const struct verbs_port *port,
                     const struct call_address *address)
{
    const struct rdmacm_library *manager;
    struct rdmacm_id *id = NULL;
    union call_place at;
    (void)call_address_place(address, 0, &at);
    bool has = port->context->device->transport_type == IBVERBS_TRANSPORT_IWARP && rdmacm_load(&manager) == OK &&
               manager->rdma_create_id(NULL, &id, NULL, RDMACM_TCP) == 0 &&
               manager->rdma_bind_addr(id, &at.any) == 0 && id->verbs && id->port_num == port->number &&
               strcmp(library->ibv_get_device_name(id->verbs->device), port->device) == 0;
    if (id)
        manager->rdma_destroy_id(id);
    return has;
}

static bool listens_at(struct verbs_manager *manager, const struct call_address *address, uint16_t port)
{
    const struct rdmacm_library *library = manager->library;
    struct rdmacm_id *id = NULL;
    union call_place at;
    (void)call_address_place(address, port, &at);
    if (library->rdma_create_id(manager->channel, &id, NULL, RDMACM_TCP) == 0 &&
        library->rdma_bind_addr(id, &at.any) == 0 && library->rdma_listen(id, BACKLOG) == 0) {
        *listener_of(manager, address) = id;
        return true;
    }
    int number = errno;
    if (id)
        library->rdma_destroy_id(id);
    errno = number;
    return false;
}

/* Each rank has a port of its own. One that librdmacm chooses may be that of a TCP socket, of which it does not know:
 * one that listens, or that has ended and waits. Then another one is tried, here and in call_go. */
static int manager_listen(struct verbs_manager *manager, const char *name, const struct call_address *address)
{
    uint32_t low, high;
    int error = call_port_range(&low, &high);
    if (error)
        return error;
    uint32_t span = high - low + 1, start = (uint32_t)getpid() % span, tries = low ? span : TUNED(LISTENER_PORT_TRIES);
    bool open = false;
    errno = EADDRINUSE;
    for (uint32_t i = 0; i < tries && !open && errno == EADDRINUSE; i++)
        open = listens_at(manager, address, low ? (uint16_t)(low + (start + i) % span) : 0);
    return open  ? OK
           : low ? vbase_fail_errno(ERR_SYSTEM, "%s listens on no port from %u to %u (MPIEXEC_PORT_RANGE)", name, low,
                                    high)
                 : vbase_fail_errno(ERR_SYSTEM, "%s does not listen", name);
}

int verbs_iwarp_listen(struct verbs_adapter *adapter, const struct call_address *address)
{
    return *listener_of(adapter->manager, address) ? OK : manager_listen(adapter->manager, adapter->name, address);
}

int verbs_iwarp_open(struct verbs_adapter *adapter, const struct call_address *address)
{
    struct verbs_manager *manager = adapter->manager = calloc(1, sizeof(*manager));
    if (!manager)
        return vbase_fail(ERR_MEMORY, "an adapter of iWARP");
    int error = rdmacm_load(&manager->library);
    if (error)
        return error;
    manager->channel = manager->library->rdma_create_event_channel();
    if (!manager->channel)
        return vbase_fail_errno(ERR_SYSTEM, "%s and librdmacm", adapter->name);
    fcntl(manager->channel->fd, F_SETFL, fcntl(manager->channel->fd, F_GETFL) | O_NONBLOCK);
    return call_watch_own(&adapter->home->call, manager->channel->fd) ?:
           verbs_iwarp_listen(adapter, address);
}

void verbs_iwarp_close(struct verbs_adapter *adapter)
{
    struct verbs_manager *manager = adapter->manager;
    for (size_t i = 0; manager && i < ARRAY_LENGTH(manager->listener); i++)
        if (manager->listener[i])
            manager->library->rdma_destroy_id(manager->listener[i]);
    if (manager && manager->channel)
        manager->library->rdma_destroy_event_channel(manager->channel);
    free(manager);
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

static bool rank_calls(const struct verbs_vi *vi) { return verbs_home(vi)->call.nic.rank < vi->call.vi.peer; }

static struct rdmacm_parameters parameters_of(const struct verbs_vi *vi)
{
    return (struct rdmacm_parameters){.private_data = vi->theirs.gid, .private_data_len = sizeof(vi->theirs.gid),
                                      .responder_resources = vi->adapter->read_by,
                                      .initiator_depth = vi->adapter->reads, .srq = 1, .qp_num = vi->qp->qp_num};
}

int verbs_iwarp_introduce(struct verbs_vi *vi, struct verbs_meeting *ours)
{
    struct verbs_manager *manager = vi->adapter->manager;
    struct call_address mine;
    struct rdmacm_id *listener = call_end_of(vi->call.link->fd, false, &mine) ? *listener_of(manager, &mine) : NULL;
    if (!listener) /* the other side will call the address that it has called now */
        return vbase_fail(ERR_LINK_DOWN, "%s does not listen at the address of this connection", vi->adapter->name);
    ours->iwarp = 1;
    ours->number = ntohs(manager->library->rdma_get_src_port(listener));
    ours->first = 0;
    int error = vbase_random(vi->word, sizeof(vi->word));
    memcpy(ours->gid, vi->word, sizeof(ours->gid));
    return error;
}

int verbs_iwarp_connect(struct verbs_vi *vi)
{
    const struct verbs_manager *manager = vi->adapter->manager;
    struct call_address mine, theirs;
    union call_place from, to;
    if (!rank_calls(vi))
        return OK;
    if (!call_end_of(vi->call.link->fd, false, &mine) || !call_end_of(vi->call.link->fd, true, &theirs))
        return vbase_fail_errno(ERR_LINK_DOWN, "the connection to rank %u", vi->call.vi.peer);
    (void)call_address_place(&mine, 0, &from);
    (void)call_address_place(&theirs, (uint16_t)vi->theirs.number, &to);
    return manager->library->rdma_create_id(manager->channel, &vi->id, vi, RDMACM_TCP) ||
                   manager->library->rdma_resolve_addr(vi->id, &from.any, &to.any, PATIENCE)
               ? vbase_fail_errno(ERR_LINK_DOWN, "%s does not connect to rank %u", vi->adapter->name, vi->call.vi.peer)
               : OK;
}

void verbs_iwarp_end(struct verbs_vi *vi)
{
    if (vi->id)
        vi->adapter->manager->library->rdma_destroy_id(vi->id);
    vi->id = NULL;
}

static struct verbs_vi *vi_of_word(const struct verbs_adapter *adapter, const struct rdmacm_parameters *said)
{
    list_for_each(node, &adapter->home->attached) {
        struct verbs_vi *vi = container_of(node, struct verbs_vi, attached);
        if (vi->adapter == adapter && vi->state == VERBS_MEETING && !rank_calls(vi) && vi->qp &&
            said->private_data_len >= sizeof(vi->word) && memcmp(said->private_data, vi->word, sizeof(vi->word)) == 0)
            return vi;
    }
    return NULL;
}

/* From here on something may come, which tells that the other side is connected (verbs_session_up). */
static int request_accept(struct verbs_vi *vi, struct rdmacm_id *id)
{
    struct rdmacm_parameters ours = parameters_of(vi);
    vi->id = id;
    id->context = vi;
    vi->state = VERBS_READY;
    ours.private_data_len = 0;
    return vi->adapter->manager->library->rdma_accept(id, &ours);
}

/* Of a call that is none of ours the caller hears so. */
static int request_take(struct verbs_adapter *adapter, struct rdmacm_id *id, struct verbs_vi *vi)
{
    const struct rdmacm_library *library = adapter->manager->library;
    bool ours = false;
    int failed = 0;
    if (vi) {
        base_lock(&vi->lock);
        ours = vi->qp != NULL; /* else another thread has disconnected meanwhile */
        failed = ours && request_accept(vi, id);
        base_unlock(&vi->lock);
    }
    if (!ours) {
        library->rdma_reject(id, NULL, 0);
        library->rdma_destroy_id(id);
    }
    return failed ? vbase_fail_errno(ERR_LINK_DOWN, "%s does not accept rank %u", adapter->name, vi->call.vi.peer) : OK;
}

static int call_go(struct verbs_vi *vi)
{
    struct rdmacm_parameters ours = parameters_of(vi);
    if (vi->adapter->manager->library->rdma_connect(vi->id, &ours) == 0)
        return 0;
    if (errno != EADDRINUSE || ++vi->calls == TUNED(LISTENER_PORT_TRIES))
        return -1;
    verbs_iwarp_end(vi);
    return verbs_iwarp_connect(vi);
}

/* Under vi->lock. Not 0: errno tells. */
static int step_go(struct verbs_vi *vi, uint32_t event)
{
    if (event == RDMACM_ADDR_RESOLVED)
        return vi->adapter->manager->library->rdma_resolve_route(vi->id, PATIENCE);
    if (event == RDMACM_ROUTE_RESOLVED)
        return call_go(vi);
    vi->state = vi->state == VERBS_MEETING ? VERBS_READY : vi->state;
    return 0;
}

static int step_take(struct verbs_vi *vi, uint32_t event, int status)
{
    bool expected = event == RDMACM_ADDR_RESOLVED || event == RDMACM_ROUTE_RESOLVED || event == RDMACM_ESTABLISHED;
    base_lock(&vi->lock);
    errno = status < 0 ? -status : ENOTCONN;
    int failed = expected && vi->qp ? step_go(vi, event) : -1;
    base_unlock(&vi->lock);
    if (failed)
        return vbase_fail_errno(ERR_LINK_DOWN, "%s to rank %u: %s", vi->adapter->name, vi->call.vi.peer,
                                vi->adapter->manager->library->rdma_event_str(event));
    if (event == RDMACM_ESTABLISHED && rank_calls(vi)) {
        vi->says = 1;
        /* release: as call_order, whose order it may hide */
        atomic_store_explicit(&verbs_home(vi)->call.ordered, true, memory_order_release);
    }
    return OK;
}

/* Until it is answered, ever less often: what comes while siw accepts (Linux 6.1) it does not read before more comes.
 * Each takes a receive of the other side, as do the sends that are not sent yet. */
void verbs_iwarp_say(struct verbs_nic *nic, uint64_t now)
{
    list_for_each(node, &nic->attached) {
        struct verbs_vi *vi = container_of(node, struct verbs_vi, attached);
        if (vi->says == 0 || vi->state != VERBS_READY)
            continue;
        if (now >= vi->say_at) {
            vi->say_at = now + (TUNED_NS(VERBS_SAY) << (vi->says++ - 1));
            verbs_control_send(vi, VERBS_TAKEN);
        }
        call_timer(&nic->call, vi->say_at);
    }
}

bool verbs_iwarp_step(struct verbs_adapter *adapter, struct verbs_vi **out, int *result)
{
    const struct verbs_manager *manager = adapter->manager;
    struct rdmacm_event *event;
    if (!manager || manager->library->rdma_get_cm_event(manager->channel, &event))
        return false;
    struct rdmacm_id *id = event->id;
    uint32_t what = event->event;
    int status = event->status;
    bool request = what == RDMACM_CONNECT_REQUEST;
    struct verbs_vi *vi = request ? vi_of_word(adapter, &event->conn) : id->context; /* NULL: of the listener */
    manager->library->rdma_ack_cm_event(event);
    *out = vi;
    *result = request ? request_take(adapter, id, vi) : vi ? step_take(vi, what, status) : OK;
    return true;
}
