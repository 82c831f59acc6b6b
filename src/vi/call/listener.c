/* The listener of a node; see listener.h. An unauthenticated connection (a caller) holds a descriptor for five seconds
 * at most. There are sixty-four places for them; when all are taken, the one that has been silent longest is closed. A
 * new connection has a moment (LISTENER_HELLO, LISTENER_PROOF) to speak before it may be evicted: until then others
 * wait in the backlog of the kernel. A rank of this job whose connection was evicted connects again.
 *
 * One epoll descriptor watches everything, a timer included: the owner waits for it and calls call_listener_step.
 *
 * A host answers on any card for the addresses of all of them. A rail that comes in by another card than it is meant
 * for would be no rail of its own, so each socket listens on its card alone. The address of a tunnel may be meant to be
 * reached by any. */
#include "vi/call/listener.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/timerfd.h>

#define TIMER_WORD  CALL_CARDS     /* in epoll's data; below: listening sockets; above: the places of unauthenticated
                                   * connections */

struct caller { /* not authenticated yet */
    bool here;             /* else the place is free */
    bool welcomed;         /* the proof is awaited, else the hello */
    int fd;
    uint32_t heard;        /* bytes of it */
    uint64_t came, spoke;
    struct call_hello hello;
    struct call_welcome welcome;
    struct call_proof proof;
};

struct seat {
    int rank, near, far;  /* near: ours; far: the rank's, -1: given away */
    struct list waiting;  /* authenticated, and not passed on yet: the oldest first */
};

struct call_listener {
    pthread_t thread;      /* where no launcher runs it; ends when it sees `stop` */
    _Atomic bool stop;
    int epoll, timer, socket[CALL_CARDS], sockets;
    uint32_t ranks;
    uint8_t secret[SECRET_SIZE];
    struct call_cards cards;
    struct caller caller[TUNED(LISTENER_CALLERS)];
    int callers;           /* places that are taken */
    int rejected;          /* connections that said something wrong, or proved nothing */
    uint64_t timer_at;     /* ns */
    uint64_t closed_until; /* ns: nothing is accepted until then; 0: open */
    int seats;
    struct seat seat[];
};

/* ---- what is watched --------------------------------------------------------------------------------------------- */

int call_epoll(int epoll, int what, int fd, uint64_t word)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = word};
    return epoll_ctl(epoll, what, fd, &event) < 0 ? vbase_fail_errno(ERR_LIMIT, "epoll of connections") : OK;
}

int call_epoll_open(int *epoll, int *timer, uint64_t word)
{
    *epoll = epoll_create1(EPOLL_CLOEXEC);
    *timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    return *epoll < 0 || *timer < 0 ? vbase_fail_errno(ERR_LIMIT, "the descriptors of a listener or a nic")
                                    : call_epoll(*epoll, EPOLL_CTL_ADD, *timer, word);
}

void call_timer_set(int timer, uint64_t at)
{
    uint64_t ns = at == CALL_NEVER ? 0 : at;
    struct itimerspec when = {.it_value = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static int sockets_watch(struct call_listener *listener, int what)
{
    int error = OK;
    for (int i = 0; i < listener->sockets && !error; i++)
        error = call_epoll(listener->epoll, what, listener->socket[i], (uint64_t)i);
    return error;
}

/* ---- unauthenticated connections --------------------------------------------------------------------------------- */

void call_refuse(int fd, const char *why)
{
    static struct base_log_gate gate;
    struct call_address address;
    char more[LOG_MORE];
    COUNT(refused);
    if (!vbase_log_gate_open(&gate, TUNED(LISTENER_LOG), more))
        return;
    LOG_INFO("rejected connection from %s: %s%s",
             call_end_of(fd, true, &address) ? call_address_text(&address).text : "an unknown address", why, more);
}

static void timer_lower(struct call_listener *listener, uint64_t at)
{
    listener->timer_at = at < listener->timer_at ? at : listener->timer_at;
}

/* Frees the place of a connection; its descriptor stays open. */
static void caller_remove(struct call_listener *listener, struct caller *caller)
{
    epoll_ctl(listener->epoll, EPOLL_CTL_DEL, caller->fd, NULL);
    caller->here = false;
    listener->callers--;
}

static void caller_close(struct call_listener *listener, struct caller *caller)
{
    caller_remove(listener, caller);
    close(caller->fd);
}

static void caller_refuse(struct call_listener *listener, struct caller *caller, const char *why)
{
    call_refuse(caller->fd, why);
    caller_close(listener, caller);
}

static void caller_greet(struct call_listener *listener, struct caller *caller, uint64_t now);

static void accepting_pause(struct call_listener *listener, uint64_t until)
{
    listener->closed_until = until;
    timer_lower(listener, until);
    (void)sockets_watch(listener, EPOLL_CTL_DEL);
}

/* The one that has been silent longest, of those that have been welcomed or of those that have not. */
static struct caller *caller_silent_longest(struct call_listener *listener, bool welcomed)
{
    struct caller *found = NULL;
    for (struct caller *one = listener->caller; one < listener->caller + TUNED(LISTENER_CALLERS); one++)
        if (one->here && one->welcomed == welcomed && (!found || one->spoke < found->spoke))
            found = one;
    return found;
}

/* Evicts the one that has been silent longest, if it has had its moment. What it said last may be here unread. */
static bool caller_evict(struct call_listener *listener, bool welcomed, uint64_t moment, uint64_t now)
{
    struct caller *first;
    while ((first = caller_silent_longest(listener, welcomed)) && now - first->spoke >= moment) {
        caller_greet(listener, first, now);
        if (listener->callers == (int)TUNED(LISTENER_CALLERS) && first->spoke == now)
            continue;
        if (listener->callers == (int)TUNED(LISTENER_CALLERS)) {
            COUNT(refused); /* not logged: among many connections it may be a rank of this job, which connects again */
            caller_close(listener, first);
        }
        return true;
    }
    return false;
}

/* True: there is room for one more. A connection that has sent its hello is evicted after those that have not. */
static bool place_make(struct call_listener *listener, uint64_t now)
{
    if (listener->callers < (int)TUNED(LISTENER_CALLERS) ||
        caller_evict(listener, false, TUNED_NS(LISTENER_HELLO), now) ||
        caller_evict(listener, true, TUNED_NS(LISTENER_PROOF), now))
        return true;
    accepting_pause(listener, now + TUNED_NS(LISTENER_PAUSE));
    return false;
}

/* No descriptor is left: unauthenticated connections make room, or nothing is accepted for a while. */
static void descriptors_lack(struct call_listener *listener, uint64_t now)
{
    LOG_WARN_ONCE("no file descriptor is left to accept connections with: raise the limit (ulimit -n)");
    for (int i = 0; i < (int)TUNED(LISTENER_CALLERS); i++)
        if (listener->caller[i].here)
            caller_close(listener, &listener->caller[i]);
    accepting_pause(listener, now + TUNED_NS(LISTENER_NO_ROOM));
}

/* There is a place for it. */
static void caller_add(struct call_listener *listener, int fd, uint64_t now)
{
    int place = 0;
    while (listener->caller[place].here)
        place++;
    if (call_epoll(listener->epoll, EPOLL_CTL_ADD, fd, TIMER_WORD + 1 + (uint64_t)place) != OK) {
        close(fd);
        return;
    }
    listener->caller[place] = (struct caller){.here = true, .fd = fd, .came = now, .spoke = now};
    listener->callers++;
    timer_lower(listener, now + TUNED_NS(LISTENER_PATIENCE));
    caller_greet(listener, &listener->caller[place], now); /* the hello may be here already */
}

static void callers_accept(struct call_listener *listener, int which, uint64_t now)
{
    for (int i = 0; i < (int)TUNED(LISTENER_STEP) && !listener->closed_until && place_make(listener, now); i++) {
        int fd = accept4(listener->socket[which], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            caller_add(listener, fd, now);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            descriptors_lack(listener, now);
        else if (errno == EAGAIN)
            return;
    }
}

/* ---- seats: the proven are passed on ----------------------------------------------------------------------------- */

static int seat_pass(int seat, const struct call_hello *hello, int fd)
{
    if (vbase_packet_send(seat, hello, sizeof(*hello), fd, MSG_DONTWAIT))
        return OK;
    return errno == EPIPE || errno == ECONNRESET ? ERR_PEER_DEAD : ERR_AGAIN;
}

/* The oldest first. When the rank or the kernel has no room, they wait; when the rank is gone, they are dropped. */
static void calls_pass(struct call_listener *listener, struct seat *seat, uint64_t now)
{
    for (struct list_node *node; (node = list_first(&seat->waiting));) {
        struct call_passed *call = container_of(node, struct call_passed, node);
        if (seat_pass(seat->near, &call->hello, call->fd) == ERR_AGAIN) {
            timer_lower(listener, now + TUNED_NS(LISTENER_SEAT_RETRY));
            return;
        }
        call_passed_drop(call);
    }
}

static struct seat *seat_of(struct call_listener *listener, uint32_t rank)
{
    for (int i = 0; i < listener->seats; i++)
        if ((uint32_t)listener->seat[i].rank == rank)
            return &listener->seat[i];
    return NULL;
}

/* ---- the greeting ------------------------------------------------------------------------------------------------ */

/* Reads the message awaited. */
static int caller_hear(struct caller *caller, uint64_t now)
{
    uint32_t before = caller->heard;
    int error = call_greeting_hear(caller->fd, caller->welcomed ? (void *)&caller->proof : &caller->hello,
                                   caller->welcomed ? sizeof(caller->proof) : sizeof(caller->hello), &caller->heard);
    if (!error || caller->heard != before)
        caller->spoke = now;
    return error;
}

static int caller_welcome(struct call_listener *listener, struct caller *caller)
{
    static const struct call_welcome unwelcome = {.magic = CALL_MAGIC, .version = CALL_VERSION};
    int error = call_hello_judge(&caller->hello, listener->ranks);
    if (!error && !seat_of(listener, caller->hello.to))
        error = vbase_fail(ERR_DENIED, "its handshake names rank %u, which is not on this host", caller->hello.to);
    if (error == ERR_MISMATCH || error == ERR_DENIED)
        /* so that the other side can say what is wrong */
        (void)!call_greeting_say(caller->fd, &unwelcome, sizeof(unwelcome));
    if (!error)
        error = call_welcome_make(&caller->welcome, &caller->hello, listener->secret);
    if (error)
        return error;
    caller->welcomed = true;
    return call_greeting_say(caller->fd, &caller->welcome, sizeof(caller->welcome))
               ? OK : vbase_fail_errno(ERR_LINK_DOWN, "a welcome");
}

static int caller_accept(struct call_listener *listener, struct caller *caller, uint64_t now)
{
    struct seat *seat = seat_of(listener, caller->hello.to);
    int error = call_proof_judge(&caller->proof, &caller->hello, &caller->welcome, listener->secret);
    struct call_passed *call = error ? NULL : call_passed_make(caller->fd, &caller->hello);
    if (!call)
        return error ? error : vbase_fail(ERR_MEMORY, "a call of rank %u", caller->hello.from);
    caller_remove(listener, caller);
    list_append(&seat->waiting, &call->node);
    calls_pass(listener, seat, now);
    return OK;
}

/* A connection that the other side closes may be of a rank that did not need it any more. */
static void caller_greet(struct call_listener *listener, struct caller *caller, uint64_t now)
{
    int error = caller_hear(caller, now) ?:
                (caller->welcomed ? caller_accept(listener, caller, now) : caller_welcome(listener, caller));
    if (error == ERR_LINK_DOWN) {
        COUNT(left);
        caller_close(listener, caller);
    } else if (error && error != ERR_AGAIN) {
        listener->rejected++;
        caller_refuse(listener, caller, vbase_error_detail());
    }
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

static void timer_run(struct call_listener *listener, uint64_t now)
{
    listener->timer_at = CALL_NEVER;
    for (struct caller *one = listener->caller; one < listener->caller + TUNED(LISTENER_CALLERS); one++)
        if (one->here && now >= one->came + TUNED_NS(LISTENER_PATIENCE))
            caller_refuse(listener, one, "it did not prove in time that it belongs to this job");
        else if (one->here)
            timer_lower(listener, one->came + TUNED_NS(LISTENER_PATIENCE));
    if (listener->closed_until && now >= listener->closed_until) {
        listener->closed_until = 0;
        (void)sockets_watch(listener, EPOLL_CTL_ADD);
    }
    if (listener->closed_until)
        timer_lower(listener, listener->closed_until);
    for (int i = 0; i < listener->seats; i++)
        calls_pass(listener, &listener->seat[i], now);
}

void call_listener_step(struct call_listener *listener, uint64_t now)
{
    struct epoll_event event[TUNED(LISTENER_EVENTS)];
    uint64_t before = listener->timer_at, ticked;
    int count = epoll_wait(listener->epoll, event, (int)TUNED(LISTENER_EVENTS), 0);
    for (int i = 0; i < count; i++) {
        uint64_t word = event[i].data.u64;
        if (word < TIMER_WORD)
            callers_accept(listener, (int)word, now);
        else if (word == TIMER_WORD)
            before = read(listener->timer, &ticked, sizeof(ticked)) > 0 ? 0 : before;
        else if (listener->caller[word - TIMER_WORD - 1].here)
            caller_greet(listener, &listener->caller[word - TIMER_WORD - 1], now);
    }
    if (now >= listener->timer_at)
        timer_run(listener, now);
    if (listener->timer_at != before)
        call_timer_set(listener->timer, listener->timer_at);
}

int call_listener_descriptor(const struct call_listener *listener) { return listener->epoll; }
int call_listener_rejected(const struct call_listener *listener) { return listener->rejected; }
int call_listener_callers(const struct call_listener *listener) { return listener->callers; }

int call_listener_seat(struct call_listener *listener, int local_index)
{
    int seat = listener->seat[local_index].far;
    listener->seat[local_index].far = -1;
    return seat;
}

static int seats_make(struct call_listener *listener, const struct vi_setup *setup)
{
    struct call_note note = {.magic = CALL_NOTE_MAGIC, .host = listener->cards.host, .port = listener->cards.port};
    for (uint32_t i = 0; i < setup->local_count; i++) {
        struct seat *seat = &listener->seat[i];
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
            return vbase_fail_errno(ERR_LIMIT, "a pair of sockets between the listener and a rank");
        *seat = (struct seat){.rank = setup->local_ranks[i], .near = ends[0], .far = ends[1]};
        list_init(&seat->waiting);
        listener->seats++;
        if (!vbase_packet_send(seat->near, &note, sizeof(note), -1, MSG_DONTWAIT))
            return vbase_fail_errno(ERR_SYSTEM, "a note to rank %d", seat->rank);
    }
    return OK;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

int call_port_range(uint32_t *low, uint32_t *high)
{
    const char *text = vbase_environment("MPIEXEC_PORT_RANGE");
    char end;
    *low = *high = 0;
    if (!text || text[0] == '\0')
        return OK;
    if (sscanf(text, "%u:%u%c", low, high, &end) != 2 || *low == 0 || *low > *high || *high > 65535)
        return vbase_fail(ERR_ARGUMENT, "MPIEXEC_PORT_RANGE is \"%s\", not two ports like 20000:20100", text);
    return OK;
}

/* All cards on one port; false: some address has no such port. */
static bool sockets_listen_at(struct call_cards *cards, int socket[CALL_CARDS], uint16_t port)
{
    struct call_address address;
    for (int i = 0; i < cards->count; i++) {
        const struct call_card *card = &cards->card[i];
        socket[i] = call_card_socket(card, port, card->kind != CALL_KIND_TUNNEL, false);
        if (socket[i] >= 0 && listen(socket[i], (int)TUNED(LISTENER_BACKLOG)) < 0)
            socket[i] = call_close_failed(socket[i]);
        if (socket[i] < 0) {
            while (i > 0)
                (void)call_close_failed(socket[--i]);
            return false;
        }
        port = port ? port : call_end_of(socket[i], false, &address);
    }
    cards->port = port;
    return true;
}

/* Listeners of several jobs on one host begin the search at different places of the range. */
static int sockets_listen(struct call_cards *cards, int socket[CALL_CARDS])
{
    uint32_t low, high, span, start;
    int error = call_port_range(&low, &high);
    bool open = false;
    if (error)
        return error;
    span = high - low + 1;
    start = (uint32_t)getpid() % span;
    for (uint32_t i = 0; low && !open && i < span; i++)
        open = sockets_listen_at(cards, socket, (uint16_t)(low + (start + i) % span));
    for (int i = 0; !low && !open && i < (int)TUNED(LISTENER_PORT_TRIES); i++)
        open = sockets_listen_at(cards, socket, 0);
    return open ? OK
                : vbase_fail_errno(ERR_SYSTEM,
                                   low ? "no port from %u to %u can be listened on" : "listening on all cards", low,
                                   high);
}

int call_listener_open(const struct vi_setup *setup, struct call_listener **out)
{
    size_t seats = setup->local_count;
    struct call_listener *listener = calloc(1, sizeof(*listener) + seats * sizeof(struct seat));
    if (!listener)
        return vbase_fail(ERR_MEMORY, "a listener for %zu ranks", seats);
    listener->ranks = setup->ranks;
    listener->timer_at = CALL_NEVER;
    memcpy(listener->secret, setup->secret, SECRET_SIZE);
    int error = call_epoll_open(&listener->epoll, &listener->timer, TIMER_WORD)
                    ?: call_cards_for(setup, &listener->cards) ?: sockets_listen(&listener->cards, listener->socket);
    if (!error) {
        listener->sockets = listener->cards.count;
        error = sockets_watch(listener, EPOLL_CTL_ADD) ?: seats_make(listener, setup);
    }
    if (error)
        call_listener_close(listener);
    else
        *out = listener;
    return error;
}

void call_listener_close(struct call_listener *listener)
{
    for (int i = 0; i < (int)TUNED(LISTENER_CALLERS); i++)
        if (listener->caller[i].here)
            close(listener->caller[i].fd);
    for (int i = 0; i < listener->seats; i++) {
        for (struct list_node *node; (node = list_first(&listener->seat[i].waiting));)
            call_passed_drop(container_of(node, struct call_passed, node));
        base_close(listener->seat[i].near);
        base_close(listener->seat[i].far);
    }
    while (listener->sockets > 0)
        close(listener->socket[--listener->sockets]);
    base_close(listener->epoll);
    base_close(listener->timer);
    explicit_bzero(listener->secret, sizeof(listener->secret));
    free(listener);
}

/* ---- where no launcher runs it ----------------------------------------------------------------------------------- */

/* It sleeps until a connection request comes, so that connections to other ranks are accepted while this one computes.
 * It touches the listener and nothing else of the process. */
static void *thread_run(void *argument)
{
    struct call_listener *listener = argument;
    struct pollfd ready = {.fd = listener->epoll, .events = POLLIN};
    while (!listener->stop)
        if (poll(&ready, 1, -1) > 0)
            call_listener_step(listener, vbase_clock_ns());
    return NULL;
}

int vi_listener_open(const struct vi_setup *setup, int *seat, struct call_listener **out)
{
    struct call_listener *listener;
    sigset_t all, old;
    int error = call_listener_open(setup, &listener);
    if (error)
        return error;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&listener->thread, NULL, thread_run, listener);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed) {
        call_listener_close(listener);
        return vbase_fail(ERR_LIMIT, "no thread for the listener of this node");
    }
    COUNT_TOGETHER(helpers, 1);
    for (uint32_t i = 0; i < setup->local_count; i++)
        seat[i] = call_listener_seat(listener, (int)i);
    *out = listener;
    return OK;
}

void vi_listener_close(struct call_listener *listener)
{
    listener->stop = true; /* first: the thread sets the timer, if at all, before it looks */
    call_timer_set(listener->timer, 1);
    pthread_join(listener->thread, NULL);
    COUNT_TOGETHER(helpers, -1);
    call_listener_close(listener);
}
