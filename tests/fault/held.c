/* The queues of the fault provider: holding back, and letting go when the time has come. */
#include "fault/held.h"

#define LATE_NS  20000    /* a late put without a delay in the script */
#define GHOST_NS 20000000 /* after the loss of a link */

static uint64_t next_random(struct fault_nic *nic)
{
    nic->random += 0x9E3779B97F4A7C15ull;
    uint64_t x = nic->random;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

bool fault_chance(struct fault_nic *nic, uint32_t how_often)
{
    return how_often > 0 && next_random(nic) % 10000 < how_often;
}

/* When an event that comes now is let go, at the earliest. Under the lock. */
static uint64_t due_time(struct fault_nic *nic)
{
    uint64_t delay = nic->script.delay_ns, due = vbase_clock_ns();
    if (delay > 0)
        due += delay / 2 + next_random(nic) % (delay / 2 + 1);
    if (fault_chance(nic, nic->script.reorder))
        due += 10 * (delay > 0 ? delay : LATE_NS);
    return due;
}

bool fault_hold(struct fault_vi *vi, const struct fault_event *event, const void *data)
{
    struct fault_nic *nic = fault_nic_of(vi->vi.nic);
    struct fault_event *held = malloc(sizeof(*held) + event->length);
    if (!held)
        return false;
    *held = *event;
    if (event->length > 0)
        memcpy(held->data, data, event->length);
    base_lock(&nic->lock);
    held->due = due_time(nic);
    list_append(&vi->held, &held->link);
    base_unlock(&nic->lock);
    return true;
}

int fault_hold_transfer(struct fault_vi *vi, const struct vi_transfer *transfer, enum fault_way way)
{
    struct fault_nic *nic = fault_nic_of(vi->vi.nic);
    uint64_t delay = nic->script.delay_ns > 0 ? nic->script.delay_ns : LATE_NS;
    size_t length = (size_t)transfer->pieces * sizeof(struct iovec);
    struct fault_event *held = malloc(sizeof(*held) + length);
    if (!held)
        return vbase_fail(ERR_MEMORY, "a late transfer");
    *held = (struct fault_event){.kind = FAULT_TRANSFER, .way = way, .transfer = *transfer, .cookie = transfer->cookie};
    memcpy(held->data, transfer->local, length);
    held->transfer.local = (const struct iovec *)(void *)held->data;
    base_lock(&nic->lock);
    held->due = vbase_clock_ns() + delay / 2 + next_random(nic) % delay;
    list_append(&vi->transfers, &held->link);
    base_unlock(&nic->lock);
    return OK;
}

/* ---- letting go ----------------------------------------------------------------------------------------------------- */

static void deliver(struct fault_vi *vi, struct fault_event *event)
{
    const struct vi_sink *sink = &vi->vi.nic->sink;
    switch (event->kind) {
    case FAULT_RECEIVED:
        (void)sink->received(&vi->vi, event->header, event->data, event->length, 1);
        return;
    case FAULT_ARRIVED:
        sink->arrived(&vi->vi, event->immediate, event->bytes);
        return;
    case FAULT_DONE:
        sink->done(&vi->vi, event->cookie, event->status);
        return;
    default:
        vi->down = true;
        sink->down(&vi->vi, event->status);
    }
}

/* Does a late transfer now; false: the provider below is full. */
static bool perform(struct fault_vi *vi, struct fault_event *event)
{
    int result = event->way == FAULT_PUT ? vi_put(vi->inner, &event->transfer) : vi_get(vi->inner, &event->transfer);
    if (result == ERR_AGAIN)
        return false;
    if (result != OK && event->cookie) /* else the provider below tells later */
        vi->vi.nic->sink.done(&vi->vi, event->cookie, result == VI_COMPLETE ? OK : result);
    return true;
}

/* What is due first; where order is promised only the first in line may go. */
static struct fault_event *first_due(struct fault_nic *nic, const struct list *queue, uint64_t now)
{
    struct fault_event *best = NULL;
    base_lock(&nic->lock);
    list_for_each(node, queue) {
        struct fault_event *event = container_of(node, struct fault_event, link);
        if (event->due <= now && (!best || event->due < best->due))
            best = event;
        if (nic->inner->caps.ordered)
            break;
    }
    base_unlock(&nic->lock);
    return best;
}

static void drop_event(struct fault_nic *nic, struct fault_event *event)
{
    base_lock(&nic->lock);
    list_remove(&event->link);
    base_unlock(&nic->lock);
    free(event);
}

static int release_vi(struct fault_nic *nic, struct fault_vi *vi, uint64_t now, int budget)
{
    struct fault_event *event;
    int events = 0;
    while (events < budget && vi->inner && !vi->gone && !vi->ghost && (event = first_due(nic, &vi->transfers, now)) &&
           perform(vi, event)) {
        drop_event(nic, event);
        events++;
    }
    while (events < budget && !vi->gone && (event = first_due(nic, &vi->held, now))) {
        deliver(vi, event);
        drop_event(nic, event);
        events++;
    }
    return events;
}

struct fault_vi *fault_next(struct fault_nic *nic, struct fault_vi *vi)
{
    base_lock(&nic->lock);
    struct list_node *node = vi ? vi->link.next : nic->vis.head.next;
    base_unlock(&nic->lock);
    return node == &nic->vis.head ? NULL : container_of(node, struct fault_vi, link);
}

int fault_release(struct fault_nic *nic, int budget)
{
    uint64_t now = vbase_clock_ns();
    int events = 0;
    for (struct fault_vi *vi = fault_next(nic, NULL); vi && events < budget; vi = fault_next(nic, vi))
        events += release_vi(nic, vi, now, budget - events);
    return events;
}

void fault_lose(struct fault_vi *vi)
{
    struct fault_nic *nic = fault_nic_of(vi->vi.nic);
    struct list_node *node;
    while ((node = list_first(&vi->held)))
        drop_event(nic, container_of(node, struct fault_event, link));
    while ((node = list_first(&vi->transfers))) {
        struct fault_event *event = container_of(node, struct fault_event, link);
        if (!vi->gone && event->cookie)
            nic->nic.sink.done(&vi->vi, event->cookie, ERR_LINK_DOWN);
        drop_event(nic, event);
    }
}

/* A put with its data in the place of its pieces; NULL: no memory. */
static struct fault_event *haunting(const struct fault_event *event)
{
    const struct iovec *piece = event->transfer.local;
    size_t bytes = 0;
    for (int i = 0; i < event->transfer.pieces; i++)
        bytes += piece[i].iov_len;
    struct fault_event *ghost = malloc(sizeof *ghost + sizeof *piece + bytes);
    if (!ghost)
        return NULL;
    *ghost = *event;
    ghost->cookie = ghost->transfer.cookie = NULL;
    struct iovec *all = (struct iovec *)(void *)ghost->data;
    *all = (struct iovec){ghost->data + sizeof *piece, 0};
    for (int i = 0; i < event->transfer.pieces; all->iov_len += piece[i++].iov_len)
        memcpy(ghost->data + sizeof *piece + all->iov_len, piece[i].iov_base, piece[i].iov_len);
    ghost->transfer.local = all;
    ghost->transfer.pieces = 1;
    return ghost;
}

bool fault_haunt(struct fault_vi *vi)
{
    struct fault_nic *nic = fault_nic_of(vi->vi.nic);
    struct list ghosts;
    int count = 0;
    list_init(&ghosts);
    list_for_each(node, &vi->transfers) {
        struct fault_event *event = container_of(node, struct fault_event, link), *ghost;
        if (event->kind == FAULT_TRANSFER && event->way == FAULT_PUT && (ghost = haunting(event))) {
            list_append(&ghosts, &ghost->link);
            count++;
        }
    }
    if (count)
        LOG_INFO("fault: %d puts of a lost link to rank %u are done late", count, vi->vi.peer);
    fault_lose(vi);
    base_lock(&nic->lock);
    for (struct list_node *node; (node = list_take_first(&ghosts));)
        list_append(&vi->transfers, node);
    vi->ghost = list_empty(&vi->transfers) ? 0 : vbase_clock_ns() + GHOST_NS;
    base_unlock(&nic->lock);
    return vi->ghost != 0;
}

bool fault_holds(struct fault_nic *nic)
{
    bool holds = false;
    base_lock(&nic->lock);
    list_for_each(node, &nic->vis) {
        struct fault_vi *vi = container_of(node, struct fault_vi, link);
        holds |= vi->drop || !list_empty(&vi->held) || !list_empty(&vi->transfers);
    }
    base_unlock(&nic->lock);
    return holds;
}
