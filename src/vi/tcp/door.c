/* The listener of a node; see door.h. An unauthenticated connection holds a descriptor for five seconds at most. There
 * are sixty-four places for them; when all are taken, the one that has been silent longest is closed. A new connection
 * has a moment (LISTENER_HELLO, LISTENER_PROOF) to speak before it may be evicted: until then others wait in the
 * backlog of the kernel. A rank of this job whose connection was evicted connects again.
 *
 * One epoll descriptor watches everything, a timer included: the owner waits for it and calls tcp_door_step. */
#include "base/tunables.h"
#include "vi/tcp/door.h"
#include <sys/timerfd.h>

#define EVENTS      16
#define TIMER_WORD  TCP_CARDS     /* in epoll's data; below: listening sockets; above: the places of unauthenticated
                                   * connections */
#define NEVER       UINT64_MAX

struct stranger {
    bool here;             /* else the place is free */
    bool welcomed;         /* the proof is awaited, else the hello */
    int fd;
    uint32_t heard;        /* bytes of it */
    uint64_t came, spoke;
    struct tcp_hello hello;
    struct tcp_welcome welcome;
    struct tcp_proof proof;
};

struct call { /* authenticated, and not passed on yet */
    struct list_node node; /* seat->waiting */
    int fd;
    struct tcp_hello hello;
};

struct seat {
    int rank, near, far;  /* near: ours; far: the rank's, -1: given away */
    struct list waiting;  /* calls, the oldest first */
};

struct tcp_door {
    int epoll, timer, listener[TCP_CARDS], listeners;
    uint32_t ranks;
    uint8_t secret[SECRET_SIZE];
    struct tcp_cards cards;
    struct stranger stranger[TUNED(TCP_STRANGERS)];
    int standing;          /* of them */
    uint64_t timer_at;     /* ns */
    uint64_t closed_until; /* ns: nothing is accepted until then; 0: open */
    int seats;
    struct seat seat[];
};

/* ---- what is watched --------------------------------------------------------------------------------------------- */

static int watch(struct tcp_door *door, int what, int fd, uint64_t word)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = word};
    return epoll_ctl(door->epoll, what, fd, &event) < 0 ? vbase_fail_errno(ERR_LIMIT, "epoll at the door") : OK;
}

static int watch_listeners(struct tcp_door *door, int what)
{
    int error = OK;
    for (int i = 0; i < door->listeners && !error; i++)
        error = watch(door, what, door->listener[i], (uint64_t)i);
    return error;
}

/* ---- unauthenticated connections --------------------------------------------------------------------------------- */

void tcp_refuse(int fd, const char *why)
{
    static struct base_log_gate gate;
    struct tcp_address address;
    char who[INET6_ADDRSTRLEN] = "somebody", more[LOG_MORE];
    COUNT(refused);
    if (!vbase_log_gate_open(&gate, TUNED(TCP_DOOR_LOG), more))
        return;
    if (tcp_end_of(fd, true, &address))
        tcp_address_text(&address, who, sizeof(who));
    LOG_WARN("a connection from %s was refused: %s%s", who, why, more);
}

static void timer(struct tcp_door *door, uint64_t at) { door->timer_at = at < door->timer_at ? at : door->timer_at; }

/* Frees the place of a connection; its descriptor stays open. */
static void leave(struct tcp_door *door, struct stranger *stranger)
{
    epoll_ctl(door->epoll, EPOLL_CTL_DEL, stranger->fd, NULL);
    stranger->here = false;
    door->standing--;
}

static void see_off(struct tcp_door *door, struct stranger *stranger)
{
    leave(door, stranger);
    close(stranger->fd);
}

static void refuse(struct tcp_door *door, struct stranger *stranger, const char *why)
{
    tcp_refuse(stranger->fd, why);
    see_off(door, stranger);
}

static void greet(struct tcp_door *door, struct stranger *stranger, uint64_t now);

static void close_until(struct tcp_door *door, uint64_t until)
{
    door->closed_until = until;
    timer(door, until);
    (void)watch_listeners(door, EPOLL_CTL_DEL);
}

/* The one that has been silent longest, of those that have been welcomed or of those that have not. */
static struct stranger *silent_longest(struct tcp_door *door, bool welcomed)
{
    struct stranger *found = NULL;
    for (struct stranger *one = door->stranger; one < door->stranger + TUNED(TCP_STRANGERS); one++)
        if (one->here && one->welcomed == welcomed && (!found || one->spoke < found->spoke))
            found = one;
    return found;
}

/* Evicts the one that has been silent longest, if it has had its moment. What it said last may be here unread. */
static bool give_up(struct tcp_door *door, bool welcomed, uint64_t moment, uint64_t now)
{
    struct stranger *first;
    while ((first = silent_longest(door, welcomed)) && now - first->spoke >= moment) {
        greet(door, first, now);
        if (door->standing == (int)TUNED(TCP_STRANGERS) && first->spoke == now)
            continue;
        if (door->standing == (int)TUNED(TCP_STRANGERS)) {
            COUNT(refused); /* not logged: among many connections it may be a rank of this job, which connects again */
            see_off(door, first);
        }
        return true;
    }
    return false;
}

/* True: there is room for one more. A connection that has sent its hello is evicted after those that have not. */
static bool make_room(struct tcp_door *door, uint64_t now)
{
    if (door->standing < (int)TUNED(TCP_STRANGERS) || give_up(door, false, (TUNED(LISTENER_HELLO) * 1000000), now) ||
        give_up(door, true, (TUNED(LISTENER_PROOF) * 1000000), now))
        return true;
    close_until(door, now + (TUNED(LISTENER_HELLO) * 1000000) / 2);
    return false;
}

/* No descriptor is left: unauthenticated connections make room, or nothing is accepted for a while. */
static void go_deaf(struct tcp_door *door, uint64_t now)
{
    LOG_WARN_ONCE("no file descriptor is left to accept connections with: raise the limit (ulimit -n)");
    for (int i = 0; i < (int)TUNED(TCP_STRANGERS); i++)
        if (door->stranger[i].here)
            see_off(door, &door->stranger[i]);
    close_until(door, now + (TUNED(LISTENER_DEAF) * 1000000));
}

/* There is a place for it. */
static void let_in(struct tcp_door *door, int fd, uint64_t now)
{
    int place = 0;
    while (door->stranger[place].here)
        place++;
    if (watch(door, EPOLL_CTL_ADD, fd, TIMER_WORD + 1 + (uint64_t)place) != OK) {
        close(fd);
        return;
    }
    door->stranger[place] = (struct stranger){.here = true, .fd = fd, .came = now, .spoke = now};
    door->standing++;
    timer(door, now + (TUNED(LISTENER_PATIENCE) * 1000000));
    greet(door, &door->stranger[place], now); /* the hello may be here already */
}

static void accept_some(struct tcp_door *door, int which, uint64_t now)
{
    for (int i = 0; i < (int)TUNED(TCP_DOOR_STEP) && !door->closed_until && make_room(door, now); i++) {
        int fd = accept4(door->listener[which], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            let_in(door, fd, now);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            go_deaf(door, now);
        else if (errno == EAGAIN)
            return;
    }
}

/* ---- the proven are passed on ------------------------------------------------------------------------------------ */

static void call_end(struct call *call)
{
    list_remove(&call->node);
    close(call->fd);
    free(call);
}

/* The oldest first. When the rank or the kernel has no room, they wait; when the rank is gone, they are dropped. */
static void pass_on(struct tcp_door *door, struct seat *seat, uint64_t now)
{
    for (struct list_node *node; (node = list_first(&seat->waiting));) {
        struct call *call = container_of(node, struct call, node);
        if (tcp_seat_pass(seat->near, &call->hello, call->fd) == ERR_AGAIN) {
            timer(door, now + (TUNED(LISTENER_SEAT_RETRY) * 1000000));
            return;
        }
        call_end(call);
    }
}

static struct seat *seat_of(struct tcp_door *door, uint32_t rank)
{
    for (int i = 0; i < door->seats; i++)
        if ((uint32_t)door->seat[i].rank == rank)
            return &door->seat[i];
    return NULL;
}

/* ---- the greeting ------------------------------------------------------------------------------------------------ */

/* Reads the message awaited. */
static int hear(struct stranger *stranger, uint64_t now)
{
    uint32_t before = stranger->heard;
    int error = stranger->welcomed
                    ? tcp_greeting_hear(stranger->fd, &stranger->proof, sizeof(stranger->proof), &stranger->heard)
                    : tcp_greeting_hear(stranger->fd, &stranger->hello, sizeof(stranger->hello), &stranger->heard);
    if (!error || stranger->heard != before)
        stranger->spoke = now;
    return error;
}

static int on_hello(struct tcp_door *door, struct stranger *stranger)
{
    static const struct tcp_welcome unwelcome = {.magic = TCP_MAGIC, .version = TCP_VERSION};
    int error = tcp_hello_judge(&stranger->hello, door->ranks);
    if (!error && !seat_of(door, stranger->hello.to))
        error = vbase_fail(ERR_DENIED, "it looks for rank %u, who is not here", stranger->hello.to);
    if (error == ERR_MISMATCH || error == ERR_DENIED)
        /* so that the other side can say what is wrong */
        (void)!tcp_greeting_say(stranger->fd, &unwelcome, sizeof(unwelcome));
    if (!error)
        error = tcp_welcome_make(&stranger->welcome, &stranger->hello, door->secret);
    if (error)
        return error;
    stranger->welcomed = true;
    return tcp_greeting_say(stranger->fd, &stranger->welcome, sizeof(stranger->welcome))
               ? OK : vbase_fail_errno(ERR_LINK_DOWN, "a welcome");
}

static int on_proof(struct tcp_door *door, struct stranger *stranger, uint64_t now)
{
    struct seat *seat = seat_of(door, stranger->hello.to);
    int error = tcp_proof_judge(&stranger->proof, &stranger->hello, &stranger->welcome, door->secret);
    struct call *call = error ? NULL : malloc(sizeof(*call));
    if (!call)
        return error ? error : vbase_fail(ERR_MEMORY, "a call of rank %u", stranger->hello.from);
    leave(door, stranger);
    *call = (struct call){.fd = stranger->fd, .hello = stranger->hello};
    list_append(&seat->waiting, &call->node);
    pass_on(door, seat, now);
    return OK;
}

/* A connection that the other side closes may be of a rank that did not need it any more. */
static void greet(struct tcp_door *door, struct stranger *stranger, uint64_t now)
{
    int error = hear(stranger, now) ?:
                (stranger->welcomed ? on_proof(door, stranger, now) : on_hello(door, stranger));
    if (error == ERR_LINK_DOWN) {
        COUNT(left);
        see_off(door, stranger);
    } else if (error && error != ERR_AGAIN) {
        refuse(door, stranger, vbase_error_detail());
    }
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

static void on_time(struct tcp_door *door, uint64_t now)
{
    door->timer_at = NEVER;
    for (struct stranger *one = door->stranger; one < door->stranger + TUNED(TCP_STRANGERS); one++)
        if (one->here && now >= one->came + (TUNED(LISTENER_PATIENCE) * 1000000))
            refuse(door, one, "it did not prove in time that it belongs to this job");
        else if (one->here)
            timer(door, one->came + (TUNED(LISTENER_PATIENCE) * 1000000));
    if (door->closed_until && now >= door->closed_until) {
        door->closed_until = 0;
        (void)watch_listeners(door, EPOLL_CTL_ADD);
    }
    if (door->closed_until)
        timer(door, door->closed_until);
    for (int i = 0; i < door->seats; i++)
        pass_on(door, &door->seat[i], now);
}

void tcp_door_step(struct tcp_door *door, uint64_t now)
{
    struct epoll_event event[EVENTS];
    uint64_t before = door->timer_at, ticked;
    int count = epoll_wait(door->epoll, event, EVENTS, 0);
    for (int i = 0; i < count; i++) {
        uint64_t word = event[i].data.u64;
        if (word < TIMER_WORD)
            accept_some(door, (int)word, now);
        else if (word == TIMER_WORD)
            before = read(door->timer, &ticked, sizeof(ticked)) > 0 ? 0 : before;
        else if (door->stranger[word - TIMER_WORD - 1].here)
            greet(door, &door->stranger[word - TIMER_WORD - 1], now);
    }
    if (now >= door->timer_at)
        on_time(door, now);
    if (door->timer_at != before) {
        uint64_t at = door->timer_at == NEVER ? 0 : door->timer_at;
        struct itimerspec when = {.it_value = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)}};
        timerfd_settime(door->timer, TFD_TIMER_ABSTIME, &when, NULL);
    }
}

int tcp_door_descriptor(const struct tcp_door *door) { return door->epoll; }

int tcp_door_strangers(const struct tcp_door *door) { return door->standing; }

/* ---- seats ------------------------------------------------------------------------------------------------------- */

int tcp_door_seat(struct tcp_door *door, int local_index)
{
    int seat = door->seat[local_index].far;
    door->seat[local_index].far = -1;
    return seat;
}

static int make_seats(struct tcp_door *door, const struct vi_setup *setup)
{
    struct tcp_note note = {.magic = TCP_NOTE_MAGIC, .host = door->cards.host, .port = door->cards.port};
    int error = OK;
    for (uint32_t i = 0; i < setup->local_count && !error; i++) {
        struct seat *seat = &door->seat[i];
        *seat = (struct seat){.rank = setup->local_ranks[i], .near = -1, .far = -1};
        list_init(&seat->waiting);
        door->seats++;
        error = tcp_seat_make(&note, seat->rank, &seat->near, &seat->far);
    }
    return error;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

int tcp_door_open(const struct vi_setup *setup, struct tcp_door **out)
{
    size_t seats = setup->local_count;
    struct tcp_door *door = calloc(1, sizeof(*door) + seats * sizeof(struct seat));
    if (!door)
        return vbase_fail(ERR_MEMORY, "a door for %zu ranks", seats);
    door->ranks = setup->ranks;
    door->timer_at = NEVER;
    memcpy(door->secret, setup->secret, SECRET_SIZE);
    door->epoll = epoll_create1(EPOLL_CLOEXEC);
    door->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int error = door->epoll < 0 || door->timer < 0 ? vbase_fail_errno(ERR_LIMIT, "the descriptors of a door")
                                               : watch(door, EPOLL_CTL_ADD, door->timer, TIMER_WORD);
    if (!error)
        error = tcp_cards_own(&door->cards) ?: tcp_listen(&door->cards, door->listener);
    if (!error) {
        door->listeners = door->cards.count;
        error = watch_listeners(door, EPOLL_CTL_ADD) ?: make_seats(door, setup);
    }
    if (error)
        tcp_door_close(door);
    else
        *out = door;
    return error;
}

void tcp_door_close(struct tcp_door *door)
{
    for (int i = 0; i < (int)TUNED(TCP_STRANGERS); i++)
        if (door->stranger[i].here)
            close(door->stranger[i].fd);
    for (int i = 0; i < door->seats; i++) {
        for (struct list_node *node; (node = list_first(&door->seat[i].waiting));)
            call_end(container_of(node, struct call, node));
        base_close(door->seat[i].near);
        base_close(door->seat[i].far);
    }
    while (door->listeners > 0)
        close(door->listener[--door->listeners]);
    base_close(door->epoll);
    base_close(door->timer);
    explicit_bzero(door->secret, sizeof(door->secret));
    free(door);
}
