/* The meeting of two ends; see meet.h.
 *
 *   side that connected                          side that accepted
 *   asks the kernel for the other end            asks the kernel for the other end
 *   listens at a name made of the addresses
 *                       <----- connects -------
 *   compares the user                            compares the user
 *                       <- segment, board, eventfd -
 *   maps, checks, joins ---- board, eventfd --->
 *                       (a word in the segment)  joins
 *
 * Each step is tried after a data call of the program, at gaps that grow. One thread at a time is in a meeting. */
#include "sock/meet.h"
#include "base/clock.h"
#include "base/log.h"
#include "sock/direction.h"
#include "sock/find.h"
#include "sock/packet.h"
#include "sock/place.h"
#include "sock/policy.h"
#include "sock/real.h"
#include "sock/set.h"
#include "sock/step.h"
#include "sock/stream.h"
#include "sock/tcp.h"
#include "sock/wait.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define MOST_CALLS     1024 /* of the program, and so long, from the first step on: then it is given up */
#define MOST_NS        20000000
#define MOST_LISTENERS 64   /* at a time */
#define MOST_BYTES     65536

enum step { STEP_FIRST, STEP_LISTEN, STEP_TAKE, STEP_CALL, STEP_ANSWER };

static _Atomic uint32_t listeners;

static void meeting_end(struct sock_file *file)
{
    if (file->step == STEP_LISTEN)
        atomic_fetch_sub(&listeners, 1);
    if (file->channel > 0)
        sock_own_close(file->channel);
    file->channel = 0;
    file->step = STEP_FIRST;
}

/* The connection stays TCP for good, and costs nothing any more. Its descriptors are found by going through the
 * table. */
static void give_up(struct sock_file *file, enum sock_reason reason)
{
    static const char *const text[] = {
#define REASON(name, text) text,
#include "sock/reason.def"
    };
    LOG_DEBUG("connection %u stays TCP: %s", (unsigned)(file - sock_files), text[reason]);
    meeting_end(file);
    if (reason == REASON_NONSENSE || reason == REASON_NAME)
        sock_link_refused();
    sock_link_given_up(&file->link->ends, reason);
    for (int fd = 0; fd < sock_table_end(); fd++)
        (void)sock_file_remove(fd, file);
}

static void try_later(struct sock_file *file)
{
    uint32_t calls = atomic_load(&file->link->calls);
    atomic_store(&file->next_step, calls + 1 + (calls - file->first_step) / 2);
}

static socklen_t name_make(struct sockaddr_un *name, const struct sock_ends *ends)
{
    memset(name, 0, sizeof(*name));
    name->sun_family = AF_UNIX;
    int n = sprintf(name->sun_path + 1, "viaduct/sock/%u/", SEGMENT_VERSION);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 16; i++)
            n += sprintf(name->sun_path + 1 + n, "%02x", ends->address[side][i]);
        n += sprintf(name->sun_path + 1 + n, "%04x", ends->port[side]);
    }
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* The process at the other end of FD may be who the kernel named. SAME: it has our user, so it may write to our
 * board. Root speaks for every user; one of another user speaks for its own sockets alone, and only to root, or where
 * it was allowed. */
static bool user_fits(int fd, const struct sock_owner *owner, bool *same)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);
    if (sock_real.getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return false;
    bool known = sock_policy_knows(peer.uid);
    *same = known && peer.uid == geteuid();
    bool allowed = peer.uid == owner->user && (geteuid() == 0 || sock_policy_user(peer.uid));
    if (known && (*same || peer.uid == 0 || allowed))
        return true;
    sock_link_refused();
    LOG_WARN("user %u answers for a connection of user %u: it stays TCP", (unsigned)peer.uid, (unsigned)owner->user);
    return false;
}

/* Where this process will wait for the connection, as far as it is known now. */
static void board_add(struct sock_file *file, struct sock_packet *packet, int gifts[GIFTS])
{
    if (!sock_board_open(&packet->board, &gifts[GIFT_BOARD]))
        return;
    int place = atomic_load(&file->link->set) ? sock_set_place_of(file) : sock_place_thread();
    if (place < 0)
        return;
    packet->place = (uint32_t)place;
    gifts[GIFT_EVENT] = sock_place_event(place);
    file->told_place = place;
}

static void board_take(struct sock_file *file, const struct sock_packet *packet, int gifts[GIFTS])
{
    if (gifts[GIFT_BOARD] < 0)
        return;
    file->peer = sock_peer_take(packet->board, gifts[GIFT_BOARD]);
    if (!file->peer || gifts[GIFT_EVENT] < 0 || packet->place >= SOCK_PLACES)
        return;
    if (sock_peer_event(file->peer, (int)packet->place, gifts[GIFT_EVENT]))
        atomic_store(&file->mapping.words->known[sock_out(file)], packet->place + 1);
    gifts[GIFT_EVENT] = -1;
}

/* False: somebody else has it by now. */
static bool join(struct sock_file *file)
{
    struct sock_link *link = file->link;
    uint32_t number = (uint32_t)(file - sock_files);
    sock_spin_prepare();
    sock_link_settings(link, sock_fd(file));
    atomic_store(&file->mapping.words->bit[sock_out(file)], number);
    sock_lock(&link->receive); /* under which it is passed on */
    bool alone = sock_link_alone(link);
    if (alone) {
        atomic_store(&link->stage, STAGE_JOINED); /* seq_cst: pairs with sock_plain_begin */
        sock_stream_be_ready(file);
    }
    sock_unlock(&link->receive);
    if (!alone)
        return false;
    LOG_DEBUG("connection %u is joined", (unsigned)number);
    if (!sock_set_joined(file) || atomic_load(&link->never)) /* said meanwhile */
        (void)sock_stream_never(file);
    return true;
}

static void first_step(struct sock_file *file)
{
    struct sock_link *link = file->link;
    struct sockaddr_un name;
    uint64_t now = vbase_clock_ns();
    file->first_step = atomic_load(&link->calls);
    if (atomic_load(&file->next_step) == 0)
        file->first_time = now;
    bool ends = sock_ends_read(sock_fd(file), link->active, &link->ends);
    if (!sock_policy.on) {
        give_up(file, REASON_SANDBOX);
        return;
    }
    if (ends && !sock_policy_port(link->ends.port[0], link->ends.port[1])) {
        give_up(file, REASON_PORTS);
        return;
    }
    if (!ends || atomic_load(&link->never) || !sock_set_may_join(file) || sock_tcp_special(sock_fd(file))) {
        give_up(file, REASON_KIND);
        return;
    }
    atomic_store(&link->reason, REASON_HELD);
    if (!sock_link_alone(link)) {
        file->first_step = 0;
        try_later(file);
        return;
    }
    atomic_store(&link->reason, REASON_MEETING);
    enum sock_found found = sock_find_peer(&link->ends, link->active, file->first_time, &file->owner);
    if (found == FOUND_NONE) {
        give_up(file, REASON_AWAY);
        return;
    }
    if (found == FOUND_LATER) {
        file->first_step = 0;
        try_later(file);
        return;
    }
    file->step = STEP_CALL;
    SOCK_STEP(found);
    if (link->active && atomic_fetch_add(&listeners, 1) >= MOST_LISTENERS) {
        atomic_fetch_sub(&listeners, 1);
        file->step = STEP_FIRST;
        try_later(file);
        return;
    }
    file->first_time = now; /* from now on the other end is waited for */
    if (!link->active)
        return;
    file->step = STEP_LISTEN;
    file->channel = sock_own_keep(sock_real.socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    socklen_t length = name_make(&name, &file->link->ends);
    if (file->channel < 0 || bind(file->channel, (struct sockaddr *)&name, length) != 0 ||
        listen(file->channel, 4) != 0)
        give_up(file, file->channel < 0 ? REASON_MEMORY : REASON_NAME);
    else
        SOCK_STEP(listening);
}

/* The side that connected: has the other one called? Its packet may come later than its call. */
static void listen_step(struct sock_file *file)
{
    bool same;
    int call = sock_real.accept4(file->channel, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (call >= 0 && user_fits(call, &file->owner, &same)) {
        SOCK_STEP(called);
        atomic_store(&file->link->reason, REASON_MEETING);
        meeting_end(file);
        file->channel = sock_own_keep(call);
        file->step = STEP_TAKE;
        return;
    }
    if (call >= 0) {
        atomic_store(&file->link->reason, REASON_USER); /* until the right one calls */
        sock_real.close(call);
    }
    try_later(file);
}

static void take_step(struct sock_file *file)
{
    uint64_t cookie[2] = {sock_tcp_cookie(sock_fd(file)), file->owner.cookie};
    struct sock_packet packet, answer = {0};
    int gifts[GIFTS], own[GIFTS] = {-1, -1, -1};
    bool same = false, fits = file->channel >= 0 && user_fits(file->channel, &file->owner, &same);
    errno = 0;
    if (!fits || !sock_packet_receive(file->channel, &packet, gifts)) {
        if (fits && errno == EAGAIN)
            try_later(file);
        else
            give_up(file, REASON_NONSENSE);
        return;
    }
    SOCK_STEP(received);
    if (gifts[GIFT_SEGMENT] >= 0 && sock_link_alone(file->link) &&
        sock_segment_take(gifts[GIFT_SEGMENT], (uint32_t)(file - sock_files), cookie, &file->mapping)) {
        SOCK_STEP(mapped);
        if (same) {
            board_take(file, &packet, gifts);
            board_add(file, &answer, own);
        }
        (void)sock_packet_send(file->channel, &answer, own); /* what does not come is not known there */
        SOCK_STEP(answered);
        meeting_end(file);
        if (join(file)) {
            SOCK_STEP(joined_first);
            atomic_store(&file->mapping.words->joined, 1);
            SOCK_STEP(joined_said);
        } else {
            give_up(file, REASON_HELD);
        }
    } else {
        give_up(file, REASON_MEMORY);
    }
    sock_gifts_close(gifts);
}

/* The side that accepted: is the other one listening? */
static void call_step(struct sock_file *file)
{
    struct sockaddr_un name;
    socklen_t length = name_make(&name, &file->link->ends);
    uint64_t cookie[2] = {file->owner.cookie, sock_tcp_cookie(sock_fd(file))};
    struct sock_packet packet = {0};
    int gifts[GIFTS] = {-1, -1, -1};
    bool same = false;
    int call = sock_real.socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (call < 0 || sock_real.connect(call, (struct sockaddr *)&name, length) != 0) {
        if (call >= 0)
            sock_real.close(call);
        try_later(file);
        return;
    }
    SOCK_STEP(calling);
    if (!user_fits(call, &file->owner, &same)) {
        sock_real.close(call);
        give_up(file, REASON_USER);
        return;
    }
    if (sock_link_alone(file->link))
        gifts[GIFT_SEGMENT] = sock_segment_make((uint32_t)(file - sock_files), cookie, &file->mapping);
    SOCK_STEP(made);
    if (gifts[GIFT_SEGMENT] >= 0 && same)
        board_add(file, &packet, gifts);
    bool sent = gifts[GIFT_SEGMENT] >= 0 && sock_packet_send(call, &packet, gifts);
    SOCK_STEP(sent);
    if (gifts[GIFT_SEGMENT] >= 0)
        sock_real.close(gifts[GIFT_SEGMENT]);
    if (sent) {
        file->channel = sock_own_keep(call);
        file->step = STEP_ANSWER;
    } else {
        sock_real.close(call);
        give_up(file, REASON_MEMORY);
    }
}

static void answer_step(struct sock_file *file)
{
    struct sock_packet packet;
    int gifts[GIFTS];
    if (!atomic_load(&file->mapping.words->joined)) {
        try_later(file);
        return;
    }
    SOCK_STEP(answer_seen);
    if (!sock_link_alone(file->link)) {
        try_later(file); /* the other side is ready, and waits without end */
        return;
    }
    if (file->channel >= 0 && sock_packet_receive(file->channel, &packet, gifts)) {
        if (file->told_place >= 0) /* it has our user */
            board_take(file, &packet, gifts);
        sock_gifts_close(gifts);
    }
    meeting_end(file);
    if (join(file))
        SOCK_STEP(joined_second);
    else
        give_up(file, REASON_HELD); /* the other side is ready, and waits without end */
}

void sock_meet_end(struct sock_file *file)
{
    if (!atomic_exchange(&file->meeting, true)) /* else the thread that is in it ends it */
        meeting_end(file);
}

void sock_meet(struct sock_file *file)
{
    struct sock_link *link = file->link;
    uint32_t calls = atomic_load_explicit(&link->calls, memory_order_relaxed);
    uint32_t next = atomic_load_explicit(&file->next_step, memory_order_relaxed);
    if (next == 0)
        next = atomic_load_explicit(&link->bytes, memory_order_relaxed) >= MOST_BYTES ? 0 : sock_policy.after;
    if (likely(calls < next) || atomic_exchange(&file->meeting, true))
        return;
    int saved = errno;
    sock_change_begin(); /* who holds it does not change between the last look and the join */
    if (atomic_load(&link->stage) == STAGE_PLAIN) {
        if (file->step == STEP_FIRST)
            first_step(file);
        if (file->step == STEP_LISTEN)
            listen_step(file);
        if (file->step == STEP_TAKE)
            take_step(file);
        else if (file->step == STEP_CALL)
            call_step(file);
        else if (file->step == STEP_ANSWER)
            answer_step(file);
        /* behind the look: what has come since the last one counts */
        if (file->step != STEP_FIRST && file->step != STEP_ANSWER && calls - file->first_step > MOST_CALLS &&
            vbase_clock_ns() - file->first_time > MOST_NS)
            give_up(file, atomic_load(&link->reason) == REASON_USER ? REASON_USER : REASON_SILENT);
    }
    atomic_store(&file->meeting, false);
    if (!atomic_load(&file->descriptors))
        sock_meet_end(file);
    sock_change_end();
    errno = saved;
}

bool sock_moving(struct sock_file *file, bool out)
{
    if (!sock_plain_begin(file->link, out))
        return false;
    sock_block_plain(file, out);
    return true;
}

void sock_moved(struct sock_file *file, bool out, ssize_t result)
{
    sock_unblock(1);
    if (out && result > 0)
        atomic_store_explicit(&file->link->sent_all, false, memory_order_relaxed);
    sock_plain_end(file->link, out);
    if (result <= 0 || sock_joined(file))
        return;
    atomic_fetch_add_explicit(&file->link->calls, 1, memory_order_relaxed); /* alone: nothing goes with them */
    atomic_fetch_add_explicit(&file->link->bytes, (uint64_t)result, memory_order_relaxed);
    sock_meet(file);
}
