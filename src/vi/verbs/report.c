/* The RDMA ports of this host in words, used or not and why, and what memory may be registered: for viaduct info and
 * viaduct doctor. Looks at them as adapter.c does; keeps nothing. */
#include "vi/verbs/rdmacm.h"
#include "vi/verbs/verbs.h"
#include <arpa/inet.h>
#include <sys/resource.h>

struct report {
    vi_line *line;
    void *context;
    const struct ibverbs_library *library;
    struct verbs_settings settings;
    struct call_cards cards;
};

static void report_line(const struct report *to, const char *format, ...) PRINTF_LIKE(2, 3);
static void report_line(const struct report *to, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    to->line(to->context, text);
}

/* ---- a port ------------------------------------------------------------------------------------------------------ */

/* Mb/s: lanes, and what each carries. */
static unsigned port_speed(const struct ibverbs_port_attr *port)
{
    static const struct {
        uint8_t code;
        unsigned speed;
    } lane[] = {{1, 2500}, {2, 5000}, {4, 10000}, {8, 10000}, {16, 14000}, {32, 25000}, {64, 50000}, {128, 100000}};
    static const uint8_t lanes[] = {[1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2};
    for (size_t i = 0; i < ARRAY_LENGTH(lane) && port->active_width < ARRAY_LENGTH(lanes); i++)
        if (lane[i].code == port->active_speed)
            return lane[i].speed * lanes[port->active_width];
    return 0;
}

static bool port_iwarp(const struct verbs_port *port)
{
    return port->context->device->transport_type == IBVERBS_TRANSPORT_IWARP;
}

static const char *port_kind(const struct verbs_port *port)
{
    return port_iwarp(port)                                   ? "iWARP"
           : port->attr.link_layer == IBVERBS_LINK_ETHERNET   ? "RoCE"
           : port->attr.link_layer == IBVERBS_LINK_INFINIBAND ? "InfiniBand"
                                                              : "RDMA";
}

static const char *port_fault(const struct ibverbs_port_attr *port)
{
    if (port->state < IBVERBS_PORT_ACTIVE && port->link_layer == IBVERBS_LINK_INFINIBAND)
        return "not used: its port is not active; a subnet manager makes it so";
    return port->state == IBVERBS_PORT_ACTIVE ? NULL : "not used: its port is down";
}

/* With the card to which the port belongs. */
static void report_card(const struct report *to, const struct verbs_port *at, const char *port,
                        const struct call_card *card, const char *speed)
{
    const struct ibverbs_port_attr *attr = &at->attr;
    const char *address = call_address_text(&card->address).text;
    int key = verbs_key_find(to->library, at, &to->settings);
    char lid[16] = "";
    if (attr->link_layer == IBVERBS_LINK_INFINIBAND)
        snprintf(lid, sizeof(lid), "LID %u, ", attr->lid);
    const char *kind = port_kind(at);
    if (at->receives < TUNED(VERBS_RECEIVES))
        report_line(to, "%-15s %-10s %-9s %-28s not used: its device has no shared receive queue of %u", port, kind,
                    speed, address, (unsigned)TUNED(VERBS_RECEIVES));
    else if (key < 0)
        report_line(to, "%-15s %-10s %-9s %-28s not used: it has no partition key 0x%x (VIADUCT_VERBS)", port,
                    kind, speed, address, to->settings.key);
    else if (!verbs_card_allowed(at->device, card))
        report_line(to, "%-15s %-10s %-9s %-28s not used: VIADUCT_TRANSPORTS leaves it out", port, kind, speed,
                    address);
    else if (at->managed)
        report_line(to, "%-15s %-10s %-9s %-28s used as card %s: connected by %s", port, kind, speed, address,
                    card->name, RDMACM_LIBRARY);
    else
        report_line(to, "%-15s %-10s %-9s %-28s used as card %s: GID %u, %sMTU %u, service level %u, traffic class %u, "
                    "entry %d of partition keys", port, kind, speed, address, card->name, at->gid_index, lid,
                    128u << attr->active_mtu, to->settings.level, to->settings.class, key);
}

static const char *iwarp_fault(char why[CALL_WHY])
{
    const struct rdmacm_library *manager;
    if (rdmacm_load(&manager) == OK)
        return "not used: librdmacm knows of no network card of this port that is up and has an address";
    snprintf(why, CALL_WHY, "not used: %s", vbase_error_detail());
    return why;
}

static void report_port(const struct report *to, struct verbs_port *at)
{
    char port[80], speed[16], why[CALL_WHY];
    if (to->library->ibv_query_port(at->context, at->number, &at->attr))
        return;
    const char *fault = port_fault(&at->attr);
    bool found = false;
    unsigned rate = port_speed(&at->attr);
    snprintf(port, sizeof(port), "%s/%u", at->device, at->number);
    snprintf(speed, sizeof(speed), rate % 1000 ? "%.1f Gb/s" : "%.0f Gb/s", rate / 1e3);
    for (int i = 0; i < to->cards.count && !fault; i++)
        if (verbs_port_has(to->library, at, &to->cards.card[i], &to->settings)) {
            found = true;
            report_card(to, at, port, &to->cards.card[i], speed);
        }
    if (!found && !fault)
        fault = port_iwarp(at) ? iwarp_fault(why)
              : at->attr.link_layer == IBVERBS_LINK_ETHERNET
                    ? "not used: no GID of RoCE v2 is the address of a network card"
                    : "not used: no network card is of this port; one of IPoIB, up and with an address, is needed";
    if (!found)
        report_line(to, "%-15s %-10s %-9s %-28s %s", port, port_kind(at), rate ? speed : "-", "-", fault);
}

static void report_device(const struct report *to, struct ibverbs_device *device)
{
    struct ibverbs_device_attr attr;
    struct verbs_port port = {.device = to->library->ibv_get_device_name(device)};
    port.context = to->library->ibv_open_device(device);
    if (!port.context || to->library->ibv_query_device(port.context, &attr)) {
        report_line(to, "%-15s %-10s %-9s %-28s not used: it cannot be opened: %s (may /dev/infiniband be read and "
                    "written?)", port.device, "RDMA", "-", "-", strerror(errno));
    } else {
        port.receives = verbs_receives_of(&attr);
        for (port.number = 1; port.number <= attr.phys_port_cnt; port.number++)
            report_port(to, &port);
    }
    if (port.context)
        to->library->ibv_close_device(port.context);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void report_memory(const struct report *to)
{
    struct rlimit most;
    size_t needed = VERBS_BYTES >> 10;
    bool bounded = getrlimit(RLIMIT_MEMLOCK, &most) == 0 && most.rlim_cur != RLIM_INFINITY;
    if (bounded)
        report_line(to, "registered      %llu KiB of memory may be locked (ulimit -l); an adapter takes %zu KiB at its "
                    "start, messages what they move%s", (unsigned long long)most.rlim_cur >> 10, needed,
                    most.rlim_cur < 2 * VERBS_BYTES ? ". That is too little" : "");
    else
        report_line(to, "registered      any amount of memory may be locked; an adapter takes %zu KiB at its start",
                    needed);
    report_line(to, "                %s", verbs_watch_possible()
                    ? "what was registered stays so: the kernel tells when it changes (userfaultfd)"
                    : "anew for each transfer, but memory of MPI_Alloc_mem: the kernel gives no userfaultfd "
                      "here");
}

void verbs_report(vi_line *line, void *context)
{
    struct report to = {.line = line, .context = context};
    int error = ibverbs_load(&to.library) ?: verbs_settings_read(&to.settings) ?: call_cards_own(&to.cards);
    struct ibverbs_device **list = error ? NULL : to.library->ibv_get_device_list(NULL);
    if (!list) {
        error = error ? error : vbase_fail_errno(ERR_UNSUPPORTED, "the RDMA devices of this host");
        report_line(&to, "%-15s %-10s %-9s %-28s not used: %s", "-", "RDMA", "-", "-", vbase_error_detail());
        return;
    }
    for (int i = 0; list[i]; i++)
        report_device(&to, list[i]);
    if (!list[0])
        report_line(&to, "%-15s %-10s %-9s %-28s not used: libibverbs finds no device", "-", "RDMA", "-", "-");
    to.library->ibv_free_device_list(list);
    report_memory(&to);
}
