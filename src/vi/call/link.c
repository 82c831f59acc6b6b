/* Links: sockets from birth to the end of their greeting. Called by the poll; nothing here blocks, nothing is told to
 * the sink.
 *
 * During a greeting nothing is read beyond the message awaited: what follows the last one is the provider's.
 * A caller waits for the welcome as long as it takes: the listener at the other end is alive. */
#include "vi/call/call.h"
#include <linux/tcp.h>

/* Sets how long the kernel waits for an acknowledgement, and makes it probe soon an idle connection; 0: the kernel's
 * own time. */
static void socket_patience_set(int fd, int ms)
{
    call_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, (int)(ms ? TUNED(LINK_KEEP_DOUBTED) : TUNED(LINK_KEEP_IDLE)));
    call_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, (int)(ms ? TUNED(LINK_KEEP_DOUBTED) : TUNED(LINK_KEEP_GAP)));
    call_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, ms);
}

struct call_link *call_link_make(struct call_nic *nic, int fd, enum call_phase phase)
{
    struct call_link *link = calloc(1, nic->provider->link_size);
    if (!link) {
        close(fd);
        return NULL;
    }
    link->nic = nic;
    link->fd = fd;
    link->phase = phase;
    link->deadline = CALL_NEVER;
    call_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    call_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    call_option(fd, IPPROTO_TCP, TCP_KEEPCNT, (int)TUNED(LINK_KEEP_PROBES));
    socket_patience_set(fd, 0);
    return link;
}

void call_link_close(struct call_link *link)
{
    if (link->phase == CALL_GONE)
        return;
    call_watch(link, 0); /* a child after fork may hold the socket: closing does not end the watch */
    list_leave(&link->node);
    if (link->rail && link->rail->link == link)
        link->rail->link = NULL;
    close(link->fd);
    link->fd = -1;
    link->phase = CALL_GONE;
    list_append(&link->nic->gone, &link->node);
}

/* ---- the greeting ------------------------------------------------------------------------------------------------ */

static int greet_connected(struct call_link *link, uint64_t now)
{
    int number = 0, error;
    socklen_t length = sizeof(number);
    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &number, &length) < 0 || number != 0) {
        call_rail_failed(link->rail, number ? number : errno, now);
        return ERR_AGAIN; /* it is over already */
    }
    error = call_hello_make(&link->hello, link->nic->nic.rank, link->peer->rank, link->rail->number, link->epoch);
    if (error)
        return error;
    /* a card that fails now would block this connection for a quarter of an hour */
    socket_patience_set(link->fd, (int)TUNED(CALL_GREETING));
    if (!call_greeting_say(link->fd, &link->hello, sizeof(link->hello)))
        return vbase_fail_errno(ERR_LINK_DOWN, "a hello to rank %u", link->peer->rank);
    link->phase = CALL_GREETING;
    link->deadline = CALL_NEVER;
    link->met = now;
    call_watch(link, EPOLLIN);
    return OK;
}

/* Of two calls that cross, the one of the lower rank stays. */
static bool rank_decides(const struct call_peer *peer) { return peer->nic->nic.rank < peer->rank; }

static int greet_welcome(struct call_link *link)
{
    struct call_nic *nic = link->nic;
    struct call_proof proof;
    int error = call_greeting_hear(link->fd, &link->welcome, sizeof(link->welcome), &link->greeted) ?:
                call_welcome_judge(&link->welcome, &link->hello, nic->secret);
    if (error)
        return error;
    call_proof_make(&proof, &link->hello, &link->welcome, nic->secret);
    if (!call_greeting_say(link->fd, &proof, sizeof(proof)))
        return vbase_fail_errno(ERR_LINK_DOWN, "a proof to rank %u", link->peer->rank);
    link->phase = CALL_PROVED; /* from here on the called side may take it for the connection */
    base_lock(&nic->lock);
    if (rank_decides(link->peer))
        link->rail->epoch = link->epoch; /* so it is: calls of the other side are crossed */
    base_unlock(&nic->lock);
    return OK;
}

static int greet_verdict(struct call_link *link, uint64_t now)
{
    struct call_rail *rail = link->rail;
    int error = call_greeting_hear(link->fd, &link->verdict, sizeof(link->verdict), &link->greeted);
    if (error)
        return error;
    if (link->verdict.word == CALL_ACCEPTED) {
        socket_patience_set(link->fd, 0); /* a rank may leave its socket full as long as it likes */
        call_peer_commit(link, now);
        return OK;
    }
    rail->floor = link->verdict.epoch > rail->floor ? link->verdict.epoch : rail->floor;
    call_rail_over(rail, OK, link->verdict.word == CALL_CROSSED ? TUNED_NS(CALL_CROSSED) : 0, now);
    return ERR_AGAIN;
}

/* Our own call may be the connection already: the other side takes it where it is newer than what it knows. */
static bool call_proved(const struct call_rail *rail) { return rail->dial && rail->dial->phase == CALL_PROVED; }

/* Under nic->lock: a call that is to be taken has a higher one. Ours that is proved is older than a call of the same
 * epoch where the caller decides; where we do, its epoch is the rail's already. */
static uint32_t newest_epoch(const struct call_rail *rail)
{
    return call_proved(rail) && rail->dial->epoch > rail->epoch ? rail->dial->epoch - 1 : rail->epoch;
}

/* The calling rank is authenticated; the verdict whether this connection is the one to keep is still to be sent. */
static void link_called(struct call_nic *nic, const struct call_hello *hello, int fd, uint64_t now)
{
    struct call_verdict verdict = {.word = CALL_ACCEPTED};
    struct call_link *link = call_link_make(nic, fd, CALL_CALLED);
    if (!link)
        return;
    base_lock(&nic->lock);
    link->peer = call_peer_make(nic, hello->from);
    link->rail = link->peer ? &link->peer->rail[hello->rail % CALL_PAIRS] : NULL;
    if (link->rail && hello->epoch <= newest_epoch(link->rail))
        verdict = (struct call_verdict){link->rail->link || call_proved(link->rail) ? CALL_CROSSED : CALL_STALE,
                                        newest_epoch(link->rail)};
    base_unlock(&nic->lock);
    link->epoch = hello->epoch;
    if (!link->rail || !call_greeting_say(link->fd, &verdict, sizeof(verdict)) || verdict.word != CALL_ACCEPTED)
        call_link_close(link);
    else
        call_peer_commit(link, now);
}

void call_called(struct call_nic *nic, uint64_t now)
{
    for (;;) {
        base_lock(&nic->lock);
        struct list_node *node = list_take_first(&nic->passed);
        base_unlock(&nic->lock);
        if (!node)
            return;
        struct call_passed *passed = container_of(node, struct call_passed, node);
        link_called(nic, &passed->hello, passed->fd, now);
        free(passed);
    }
}

void call_greet(struct call_link *link, uint64_t now)
{
    int error = link->phase == CALL_DIALLING ? greet_connected(link, now)
              : link->phase == CALL_GREETING ? greet_welcome(link)
              : link->phase == CALL_PROVED ? greet_verdict(link, now) : OK;
    if (error && error != ERR_AGAIN)
        call_rail_over(link->rail, error, 0, now);
}
