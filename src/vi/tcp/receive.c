/* The way in: from a socket to the sink. Called by the poll alone.
 *
 * A read goes into a stage, and the sink gets its frames from there. The link gives the stage back to the nic when not
 * even the beginning of a frame is left in it. So only links in the middle of a frame cost memory. The bytes of a put
 * are read where they belong, together with what follows.
 *
 * Everything that comes is checked: kind, epoch, length, credit, region. One thing that makes no sense ends the
 * link. */
#include "vi/tcp/tcp.h"

enum taken { TAKEN_NONE, TAKEN_ONE, TAKEN_STOP }; /* nothing whole is there; go on; the link has ended */

/* The link ends: it said something that makes no sense. */
static COLD enum taken frame_refuse(struct tcp_link *link, const char *what)
{
    call_refuse(link->call.fd, what);
    call_break(link->call.vi, ERR_PROTOCOL);
    return TAKEN_STOP;
}

/* ---- puts -------------------------------------------------------------------------------------------------------- */

static void frame_count(struct tcp_nic *nic, struct tcp_link *link)
{
    struct tcp_vi *vi = tcp_link_vi(link);
    /* relaxed: this thread alone writes it; senders pass it on as it is */
    uint32_t took = atomic_load_explicit(&vi->took, memory_order_relaxed) + 1;
    atomic_store_explicit(&vi->took, took, memory_order_relaxed);
    list_enter(&nic->owing, &link->owing);
}

static enum taken put_landed(struct tcp_nic *nic, struct tcp_link *link)
{
    struct tcp_landing landing = link->landing;
    struct tcp_vi *vi = tcp_link_vi(link);
    link->landing.active = false;
    link->tell |= !landing.quiet;
    if (landing.refused) { /* before anything may say that it is taken */
        COUNT(refused);
        tcp_control_send(vi, TCP_REFUSED, atomic_load_explicit(&vi->took, memory_order_relaxed) + 1u);
    }
    frame_count(nic, link);
    if (landing.signal && !landing.refused) {
        nic->call.told++;
        nic->call.nic.sink.arrived(&vi->call.vi, landing.immediate, landing.length);
    }
    return TAKEN_ONE;
}

/* Bytes that were put and already lie in the stage. */
static void land_staged(struct tcp_nic *nic, struct tcp_link *link)
{
    struct tcp_landing *landing = &link->landing;
    size_t take = link->end - link->start < landing->left ? link->end - link->start : (size_t)landing->left;
    if (take == 0)
        return;
    void *to = landing->refused ? NULL : tcp_region_hold(nic, landing->region, landing->offset, landing->left);
    if (to)
        base_copy(to, link->stage + link->start, take);
    tcp_region_release(nic);
    landing->refused |= !to;
    landing->offset += take;
    landing->left -= take;
    link->start += (uint32_t)take;
}

/* Reads into the memory of a put, and what follows it into the stage, which is empty. */
static ssize_t read_landing(struct tcp_nic *nic, struct tcp_link *link, bool *full)
{
    struct tcp_landing *landing = &link->landing;
    struct iovec piece[2] = {{NULL, (size_t)landing->left},
                             {link->stage, link->bulk ? TUNED(TCP_BULK_STAGE) : TUNED(TCP_STAGE)}};
    struct msghdr message = {.msg_iov = piece, .msg_iovlen = 2};
    piece[0].iov_base = tcp_region_hold(nic, landing->region, landing->offset, landing->left);
    ssize_t got = piece[0].iov_base ? recvmsg(link->call.fd, &message, MSG_DONTWAIT) : 0;
    int number = errno;
    tcp_region_release(nic);
    if (!piece[0].iov_base) {
        landing->refused = true;
        return -EINTR; /* the rest is read into the stage and dropped */
    }
    if (got <= 0)
        return got < 0 ? -number : 0;
    size_t put = (size_t)got < landing->left ? (size_t)got : (size_t)landing->left;
    *full = (size_t)got == piece[0].iov_len + piece[1].iov_len;
    landing->offset += put;
    landing->left -= put;
    link->end = (uint32_t)((size_t)got - put);
    return got;
}

static enum taken put_take(struct tcp_nic *nic, struct tcp_link *link, const struct tcp_frame *frame)
{
    struct tcp_put_frame put;
    if (link->end - link->start < sizeof(put))
        return TAKEN_NONE;
    memcpy(&put, link->stage + link->start, sizeof(put));
    link->start += sizeof(put);
    link->bulk = frame->length >= TUNED(TCP_BULK);
    link->landing = (struct tcp_landing){.active = true, .signal = frame->flags & TCP_FLAG_SIGNAL,
                                         .quiet = frame->flags & TCP_FLAG_QUIET, .length = frame->length,
                                         .immediate = frame->immediate, .region = frame->word, .offset = put.offset,
                                         .left = frame->length};
    link->landing.refused = !tcp_region_hold(nic, frame->word, put.offset, frame->length);
    tcp_region_release(nic);
    return TAKEN_ONE;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static enum taken send_take(struct tcp_nic *nic, struct tcp_link *link, const struct tcp_frame *frame)
{
    struct tcp_vi *vi = tcp_link_vi(link);
    uint32_t size = (uint32_t)sizeof(*frame) + frame->length;
    if (link->end - link->start < size)
        return TAKEN_NONE;
    nic->enough |= nic->call.nic.sink.received(&vi->call.vi, frame->word,
                                               link->stage + link->start + sizeof(*frame), frame->length, 1);
    nic->call.told++;
    if (link->call.phase == CALL_GONE)
        return TAKEN_STOP;
    link->start += size;
    link->bulk = false;
    frame_count(nic, link);
    return TAKEN_ONE;
}

static const char *fault_of(const struct tcp_link *link, const struct tcp_frame *frame)
{
    uint32_t number = atomic_load_explicit(&tcp_link_vi(link)->took, memory_order_relaxed);
    static const uint32_t most[TCP_KINDS] = {[TCP_SEND] = TCP_MAX_SEND, [TCP_PUT] = TCP_MAX_PUT};
    if (frame->kind == 0 || frame->kind >= TCP_KINDS)
        return "a frame of no kind";
    if (frame->length > most[frame->kind])
        return "a frame that is too long";
    if (frame->number != (uint16_t)(number + (frame->kind <= TCP_PUT)))
        return "a frame out of its turn";
    if (frame->flags & ~(frame->kind == TCP_PUT ? TCP_FLAG_SIGNAL | TCP_FLAG_QUIET : 0))
        return "a frame with an unknown flag";
    return NULL;
}

/* What the other side has taken of ours. A put that still waits here cannot be among it. */
static bool credit_take(struct tcp_vi *vi, uint32_t word)
{
    uint64_t taken = atomic_load_explicit(&vi->taken, memory_order_relaxed), lent;
    /* acquire: pairs with count_frame */
    uint64_t sent = atomic_load_explicit(&vi->sent, memory_order_acquire);
    uint32_t more = word - (uint32_t)taken;
    if (more == 0)
        return true;
    if (more > sent - taken)
        return false;
    taken += more;
    base_lock(&vi->lock);
    lent = tcp_queue_lent(&vi->queue);
    base_unlock(&vi->lock);
    if (taken >= lent)
        return false;
    atomic_store_explicit(&vi->taken, taken, memory_order_relaxed);
    tcp_completed(vi, OK);
    return true;
}

static enum taken control_take(struct tcp_link *link, const struct tcp_frame *frame)
{
    link->start += sizeof(*frame);
    if (frame->kind == TCP_REFUSED && !tcp_put_refused(tcp_link_vi(link), frame->word))
        return frame_refuse(link, "a refusal of a put that was not sent");
    if (frame->kind != TCP_GOODBYE)
        return TAKEN_ONE;
    (void)vbase_fail(ERR_LINK_DOWN, "rank %u has disconnected", link->call.peer->rank);
    call_break(link->call.vi, ERR_LINK_DOWN);
    return TAKEN_STOP;
}

static enum taken frame_take(struct tcp_nic *nic, struct tcp_link *link)
{
    struct tcp_frame frame;
    if (link->landing.active) {
        land_staged(nic, link);
        return link->landing.left == 0 ? put_landed(nic, link) : TAKEN_NONE;
    }
    if (link->end - link->start < sizeof(frame))
        return TAKEN_NONE;
    memcpy(&frame, link->stage + link->start, sizeof(frame));
    const char *fault = fault_of(link, &frame);
    if (unlikely(fault))
        return frame_refuse(link, fault);
    if (unlikely(!credit_take(tcp_link_vi(link), frame.taken)))
        return frame_refuse(link, "a credit for what was not sent");
    if (likely(frame.kind == TCP_SEND))
        return send_take(nic, link, &frame);
    return frame.kind == TCP_PUT ? put_take(nic, link, &frame) : control_take(link, &frame);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static ssize_t read_stage(struct tcp_link *link, bool *full)
{
    if (link->start == link->end) {
        link->start = link->end = 0;
    } else if (link->start > 0 && TUNED(TCP_STAGE) - link->start < TCP_MAX_SEND + sizeof(struct tcp_put_frame)) {
        memmove(link->stage, link->stage + link->start, link->end - link->start);
        link->end -= link->start;
        link->start = 0;
    }
    bool little = link->bulk && link->end < TUNED(TCP_BULK_STAGE);
    size_t room = (little ? TUNED(TCP_BULK_STAGE) : TUNED(TCP_STAGE)) - link->end;
    ssize_t got = recv(link->call.fd, link->stage + link->end, room, MSG_DONTWAIT);
    if (got < 0)
        return -errno;
    *full = (size_t)got == room;
    link->end += (uint32_t)got;
    return got;
}

/* One read. False: nothing more is there now, or never. */
static bool read_more(struct tcp_nic *nic, struct tcp_link *link)
{
    bool full = false, direct = link->landing.active && !link->landing.refused && link->start == link->end;
    COUNT(net_reads);
    if (direct)
        link->start = link->end = 0;
    ssize_t got = direct ? read_landing(nic, link, &full) : read_stage(link, &full);
    if (likely(got > 0)) {
        nic->moved = true;
        nic->bytes += (uint64_t)got;
        link->heard = nic->looked;
        return full;
    }
    if (got == -EINTR)
        return true;
    if (got == -EAGAIN)
        return false;
    errno = (int)-got;
    (void)(got == 0 ? vbase_fail(ERR_LINK_DOWN,
                                 link->call.rail->link == &link->call ? "rank %u closed the connection"
                                                                      : "rank %u has made a newer connection",
                                 link->call.peer->rank)
                    : vbase_fail_errno(ERR_LINK_DOWN, "the connection to rank %u", link->call.peer->rank));
    call_break(link->call.vi, ERR_LINK_DOWN);
    return false;
}

/* After the goodbye what comes is dropped; the socket is read so that closing it does not reset what we sent last. */
static void read_leaving(struct tcp_link *link)
{
    char dropped[TUNED(TCP_STAGE) / 4];
    for (int turn = 0; turn < 16; turn++) {
        ssize_t got = recv(link->call.fd, dropped, sizeof(dropped), MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN)
            return;
        if (got == 0 || (got < 0 && errno != EINTR))
            return call_break(link->call.vi, ERR_LINK_DOWN);
    }
}

static bool frames_take(struct tcp_nic *nic, struct tcp_link *link, int budget, int before)
{
    enum taken taken = TAKEN_ONE;
    while (taken == TAKEN_ONE && nic->call.told - before < budget && !nic->enough && link->call.phase == CALL_UP &&
           (link->start != link->end || link->landing.active)) {
        if (unlikely(!atomic_load_explicit(&link->call.vi->open, memory_order_relaxed)))
            return false;
        taken = frame_take(nic, link);
    }
    if (link->call.phase != CALL_UP)
        return false;
    if (taken == TAKEN_NONE || link->start == link->end)
        return !nic->enough;
    list_enter(&nic->unread, &link->unread);
    return false;
}

/* What was taken is told at once where a put is complete or much is owed; else by the next frame, or when nothing
 * happens. */
static void link_acknowledge(struct tcp_nic *nic, struct tcp_link *link)
{
    struct tcp_vi *vi = tcp_link_vi(link);
    uint32_t owed =
        atomic_load_explicit(&vi->took, memory_order_relaxed) - atomic_load_explicit(&vi->told, memory_order_relaxed);
    if (link->tell || owed >= TUNED(TCP_TELL))
        tcp_control_send(vi, TCP_TAKEN, 0);
    link->tell = false;
    if (link->start == link->end)
        tcp_stage_drop(nic, link);
}

int tcp_receive(struct tcp_nic *nic, struct tcp_link *link, int budget)
{
    int before = nic->call.told;
    bool more = true;
    if (link->call.phase == CALL_LEAVING) {
        read_leaving(link);
        return 0;
    }
    if (link->call.phase != CALL_UP || !tcp_stage_use(nic, link))
        return 0;
    list_leave(&link->unread);
    while (frames_take(nic, link, budget, before) && more)
        more = read_more(nic, link);
    if (link->call.phase == CALL_UP)
        link_acknowledge(nic, link);
    return nic->call.told - before;
}
