/* Sessions: a proven socket brings a queue pair about, and stays beside it. Each side says how its queue pair is
 * reached (verbs_meeting), connects its own to the other, and says that it is ready; of iWARP librdmacm connects both,
 * and what comes first says so (iwarp.c). The session is up when both are. From then on nothing comes over the socket
 * but its end: that of the other side, which a silent queue pair would not tell. */
#include "vi/verbs/verbs.h"

/* ---- the end ----------------------------------------------------------------------------------------------------- */

void verbs_broken_end(struct verbs_nic *nic)
{
    list_take_each(node, &nic->broken) {
        struct verbs_vi *vi = container_of(node, struct verbs_vi, broken);
        if (!vi->call.vi.name)
            LOG_INFO("verbs to rank %u does not come up: %s", vi->call.vi.peer, vi->why);
        call_break(&vi->call, vbase_fail(vi->cause, "%s", vi->why));
    }
}

/* What came before is told first. */
static void session_detach(struct call_vi *base)
{
    struct verbs_vi *vi = verbs_vi_of(&base->vi);
    base_lock(&vi->lock);
    verbs_pair_end(vi);
    base->link = NULL;
    base_unlock(&vi->lock);
    while (vi->adapter && verbs_complete(vi->adapter))
        ;
    verbs_iwarp_end(vi);
    verbs_places_end(vi, ERR_LINK_DOWN); /* if the device has not given them back */
    verbs_kept_drop(vi);
    list_leave(&vi->broken);
    list_leave(&vi->attached);
}

static void session_free(struct call_vi *base)
{
    struct verbs_vi *vi = verbs_vi_of(&base->vi);
    verbs_kept_drop(vi);
    if (!vi->in_doubt)
        free(vi);
}

static void session_leave(struct call_vi *base)
{
    struct verbs_vi *vi = verbs_vi_of(&base->vi);
    if (base->abrupt)
        call_break(base, ERR_LINK_DOWN);
    else
        verbs_control_send(vi, VERBS_GOODBYE);
}

void verbs_disconnect(struct vi *base, bool abrupt)
{
    struct verbs_vi *vi = verbs_vi_of(base);
    if (abrupt) {
        base_lock(&vi->lock);
        verbs_pair_end(vi);
        base_unlock(&vi->lock);
    }
    call_disconnect(base, abrupt);
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static int meeting_say(struct verbs_vi *vi)
{
    struct verbs_adapter *adapter = vi->adapter;
    struct verbs_meeting ours = {.magic = VERBS_MAGIC, .number = vi->qp->qp_num, .first = vi->first,
                                 .lid = adapter->port.attr.lid, .mtu = (uint8_t)adapter->port.attr.active_mtu};
    memcpy(ours.gid, vi->gid, sizeof(ours.gid));
    int error = adapter->manager ? verbs_iwarp_introduce(vi, &ours) : OK;
    if (error)
        return error;
    return call_greeting_say(vi->call.link->fd, &ours, sizeof(ours))
               ? OK
               : vbase_fail_errno(ERR_LINK_DOWN, "the queue pair for rank %u", vi->call.vi.peer);
}

static void session_attach(struct call_vi *base, struct call_link *link)
{
    struct verbs_vi *vi = verbs_vi_of(&base->vi);
    call_path_find(base, link->fd);
    base_lock(&vi->lock);
    base->link = link;
    struct verbs_nic *nic = verbs_home(vi);
    struct verbs_adapter *adapter = verbs_adapter_of(nic, base->card) ?: nic->adapter[0];
    int error = verbs_pair_make(vi, adapter) ?: meeting_say(vi);
    base_unlock(&vi->lock);
    list_append(&verbs_home(vi)->attached, &vi->attached);
    call_watch(link, EPOLLIN);
    if (error)
        verbs_break_later(vi, error);
}

/* Under vi->lock. */
static int pair_connect(struct verbs_vi *vi)
{
    struct verbs_ready ready = {VERBS_MAGIC};
    int error = verbs_pair_connect(vi);
    if (error)
        return error;
    vi->state = VERBS_READY;
    return call_greeting_say(vi->call.link->fd, &ready, sizeof(ready))
               ? OK
               : vbase_fail_errno(ERR_LINK_DOWN, "the queue pair for rank %u", vi->call.vi.peer);
}

static int meeting_hear(struct verbs_vi *vi)
{
    bool managed = vi->adapter && vi->adapter->manager;
    int error = call_greeting_hear(vi->call.link->fd, &vi->theirs, sizeof(vi->theirs), &vi->heard);
    if (error)
        return error;
    const char *fault = verbs_meeting_fault(&vi->theirs);
    if (fault)
        return vbase_fail(ERR_PROTOCOL, "rank %u tells of %s", vi->call.vi.peer, fault);
    if (vi->theirs.iwarp != managed)
        return vbase_fail(ERR_PROTOCOL, "only one of %s and the port of rank %u is of iWARP", vi->adapter->name,
                          vi->call.vi.peer);
    vi->met = true;
    vi->ready = managed; /* it need not say so */
    base_lock(&vi->lock);
    error = !vi->qp ? ERR_LINK_DOWN : managed ? verbs_iwarp_connect(vi) : pair_connect(vi);
    base_unlock(&vi->lock);
    return error;
}

void verbs_session_up(struct verbs_vi *vi)
{
    struct verbs_adapter *adapter = vi->adapter;
    if (adapter->nic.caps.adapter) {
        adapter->nic.provider = adapter->home->call.nic.provider;
        vi->call.vi.nic = &adapter->nic;
    }
    base_lock(&vi->lock);
    vi->state = vi->qp ? VERBS_UP : vi->state;
    vi->asked |= adapter->manager && vi->says == 0; /* the caller waits for an answer */
    base_unlock(&vi->lock);
    call_up(&vi->call);
    verbs_writer_add(vi);
}

static int ready_hear(struct verbs_vi *vi)
{
    int error = call_greeting_hear(vi->call.link->fd, &vi->theirs, sizeof(struct verbs_ready), &vi->heard);
    if (error)
        return error;
    if (vi->theirs.magic != VERBS_MAGIC)
        return vbase_fail(ERR_PROTOCOL, "rank %u is not ready", vi->call.vi.peer);
    vi->ready = true;
    if (vi->state == VERBS_READY)
        verbs_session_up(vi);
    return OK;
}

static int end_hear(struct verbs_vi *vi)
{
    char more;
    ssize_t got = recv(vi->call.link->fd, &more, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return ERR_AGAIN;
    return got > 0   ? vbase_fail(ERR_PROTOCOL, "rank %u sends after its handshake has ended", vi->call.vi.peer)
           : got < 0 ? vbase_fail_errno(ERR_LINK_DOWN, "the connection to rank %u", vi->call.vi.peer)
                     : vbase_fail(ERR_LINK_DOWN, "rank %u closed the connection", vi->call.vi.peer);
}

void verbs_link_event(struct call_link *link)
{
    struct verbs_vi *vi = verbs_vi_of(&link->vi->vi);
    int error = vi->met ? OK : meeting_hear(vi);
    if (!error)
        error = vi->ready ? end_hear(vi) : ready_hear(vi);
    if (error && error != ERR_AGAIN)
        verbs_break_later(vi, error);
}

const struct call_provider verbs_provider = {
    .name = VERBS_NAME,
    .ops = &verbs_ops,
    .number = 1,
    .single = true, /* what is on its way comes as long as both queue pairs live */
    .vi_size = sizeof(struct verbs_vi),
    .link_size = sizeof(struct call_link),
    .cards = verbs_adapters_open,
    .free = session_free,
    .attach = session_attach,
    .detach = session_detach,
    .leave = session_leave,
};
