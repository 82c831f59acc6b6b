/* The door of a node; see door.h. A stranger costs a descriptor and half a kilobyte for five seconds at most; sixty-four
 * of them may stand here, and when there is no room the one who has been silent longest goes. Nobody is shown the door
 * before he had a moment to speak: while the sixty-four are fresh, others wait in the kernel's queue. A rank of this job
 * that was sent away calls again.
 *
 * Everything is watched by one epoll descriptor, a timer in it: whoever owns the door waits for that and steps. */
#include "vi/tcp/door.h"
#include <arpa/inet.h>
#include <sys/timerfd.h>

#define STRANGERS   64            /* who may stand at the door */
#define PATIENCE_NS 5000000000ull /* with a stranger */
#define MOMENT_NS   2000000ull    /* to say hello, before somebody else gets the place */
#define ANSWER_NS   20000000ull   /* the same for a proof: its maker may wait for a processor */
#define DEAF_NS     100000000ull  /* closed for so long when no descriptor is left */
#define SEATED_NS   10000000ull   /* a rank with no room for more is tried again */
#define A_STEP      16            /* strangers let in at once */
#define EVENTS      16
#define GATE_S      60            /* a line in the log at most every so often */
#define TIMER_WORD  TCP_CARDS     /* in epoll's data; below: listeners; above: pointers to strangers */
#define NEVER       UINT64_MAX

struct stranger {
    struct list_node node; /* door->silent, door->welcomed, seat->waiting, door->gone */
    int fd;                /* -1: gone */
    bool welcomed;         /* the proof is awaited, else the hello */
    uint32_t heard;        /* bytes of it */
    uint64_t deadline, spoke;
    struct tcp_hello hello;
    struct tcp_welcome welcome;
    union {
        struct tcp_hello hello;
        struct tcp_proof proof;
    } word;
};

struct seat {
    int rank, near, far;  /* near: ours; far: the rank's, -1: given away */
    struct list waiting;  /* proven, and not passed on yet */
};

struct tcp_door {
    int epoll, timer, listener[TCP_CARDS], listeners;
    uint32_t ranks;
    uint8_t secret[SECRET_SIZE];
    struct tcp_cards cards;
    struct list silent;    /* strangers who have said no hello, the longest silent first */
    struct list welcomed;  /* strangers whose proof is awaited, the same */
    struct list gone;      /* freed when the step ends */
    int standing;
    uint64_t timer_at;     /* ns */
    uint64_t closed_until; /* ns: nobody is let in; 0: open */
    int seats;
    struct seat seat[];
};

/* ---- what is watched ------------------------------------------------------------------------------------------------ */

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

/* ---- strangers ------------------------------------------------------------------------------------------------------ */

static void name_of(int fd, char *out, size_t size)
{
    struct sockaddr_storage who;
    socklen_t length = sizeof(who);
    char address[INET6_ADDRSTRLEN] = "";
    snprintf(out, size, "somebody");
    if (getpeername(fd, (struct sockaddr *)&who, &length) < 0)
        return;
    inet_ntop(who.ss_family, who.ss_family == AF_INET ? (void *)&((struct sockaddr_in *)&who)->sin_addr
                                                      : (void *)&((struct sockaddr_in6 *)&who)->sin6_addr,
              address, sizeof(address));
    snprintf(out, size, "%s", address);
}

void tcp_refuse(int fd, const char *why)
{
    static struct base_log_gate gate;
    char who[64];
    char more[LOG_MORE];
    COUNT(refused);
    if (!vbase_log_gate_open(&gate, GATE_S, more))
        return;
    name_of(fd, who, sizeof(who));
    LOG_WARN("a connection from %s was refused: %s%s", who, why, more);
}

static void timer(struct tcp_door *door, uint64_t at) { door->timer_at = at < door->timer_at ? at : door->timer_at; }

static void bury(struct tcp_door *door, struct stranger *stranger)
{
    close(stranger->fd);
    stranger->fd = -1;
    list_remove(&stranger->node);
    list_append(&door->gone, &stranger->node);
}

/* He stands here no more. */
static void leave(struct tcp_door *door, struct stranger *stranger)
{
    epoll_ctl(door->epoll, EPOLL_CTL_DEL, stranger->fd, NULL);
    door->standing--;
}

static void see_off(struct tcp_door *door, struct stranger *stranger)
{
    leave(door, stranger);
    bury(door, stranger);
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

/* Whether the first of a list has had its moment. What it said last may be here unread. */
static bool give_up(struct tcp_door *door, const struct list *list, uint64_t moment, uint64_t now)
{
    struct stranger *first;
    for (int standing = door->standing; !list_empty(list) && standing > 0; standing--) {
        first = container_of(list_first(list), struct stranger, node);
        if (now - first->spoke < moment)
            return false;
        greet(door, first, now);
        if (door->standing < STRANGERS)
            return true;
        if (list_first(list) == &first->node && now != first->spoke) {
            COUNT(refused); /* and nothing is said: in a crowd it may be one of us, who calls again */
            see_off(door, first);
            return true;
        }
    }
    return false;
}

/* Room for one more: true. Who has said hello stays before who has not. */
static bool make_room(struct tcp_door *door, uint64_t now)
{
    if (door->standing < STRANGERS || give_up(door, &door->silent, MOMENT_NS, now) ||
        give_up(door, &door->welcomed, ANSWER_NS, now))
        return true;
    close_until(door, now + MOMENT_NS / 2);
    return false;
}

/* No descriptor is left: those who stand at the door make room, or nobody is let in for a while. */
static void go_deaf(struct tcp_door *door, uint64_t now)
{
    LOG_WARN_ONCE("no file descriptor is left to accept connections with: raise the limit (ulimit -n)");
    for (struct list_node *node; (node = list_first(&door->silent)) || (node = list_first(&door->welcomed));)
        see_off(door, container_of(node, struct stranger, node));
    close_until(door, now + DEAF_NS);
}

static void let_in(struct tcp_door *door, int fd, uint64_t now)
{
    struct stranger *stranger = calloc(1, sizeof(*stranger));
    if (!stranger || watch(door, EPOLL_CTL_ADD, fd, (uint64_t)(uintptr_t)stranger) != OK) {
        free(stranger);
        close(fd);
        return;
    }
    stranger->fd = fd;
    stranger->spoke = now;
    stranger->deadline = now + PATIENCE_NS;
    timer(door, stranger->deadline);
    list_append(&door->silent, &stranger->node);
    door->standing++;
    greet(door, stranger, now); /* his hello may be here already */
}

static void accept_some(struct tcp_door *door, int which, uint64_t now)
{
    for (int i = 0; i < A_STEP && !door->closed_until && make_room(door, now); i++) {
        int fd = accept4(door->listener[which], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            let_in(door, fd, now);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            go_deaf(door, now);
        else if (errno == EAGAIN)
            return;
    }
}

/* ---- the proven are passed on --------------------------------------------------------------------------------------- */

/* The oldest first. When the rank has no room, or the kernel, they wait; when the rank is gone they are gone. */
static void pass_on(struct tcp_door *door, struct seat *seat, uint64_t now)
{
    for (struct list_node *node; (node = list_first(&seat->waiting));) {
        struct stranger *stranger = container_of(node, struct stranger, node);
        if (tcp_seat_pass(seat->near, &stranger->hello, stranger->fd) == ERR_AGAIN) {
            timer(door, now + SEATED_NS);
            return;
        }
        bury(door, stranger);
    }
}

static struct seat *seat_of(struct tcp_door *door, uint32_t rank)
{
    for (int i = 0; i < door->seats; i++)
        if ((uint32_t)door->seat[i].rank == rank)
            return &door->seat[i];
    return NULL;
}

/* ---- the greeting --------------------------------------------------------------------------------------------------- */

static bool say(const struct stranger *stranger, const void *message, size_t length)
{
    return send(stranger->fd, message, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length;
}

/* Reads the message awaited, never beyond it. OK: it is whole; ERR_AGAIN: not yet; else he is of no use. */
static int hear(struct tcp_door *door, struct stranger *stranger, uint64_t now)
{
    size_t length = stranger->welcomed ? sizeof(struct tcp_proof) : sizeof(struct tcp_hello);
    ssize_t got = recv(stranger->fd, (uint8_t *)&stranger->word + stranger->heard, length - stranger->heard, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? ERR_AGAIN : vbase_fail_errno(ERR_LINK_DOWN, "its greeting");
    if (got == 0)
        return vbase_fail(ERR_LINK_DOWN, "it closed the connection before it had proved anything");
    stranger->spoke = now;
    list_remove(&stranger->node);
    list_append(stranger->welcomed ? &door->welcomed : &door->silent, &stranger->node);
    stranger->heard += (uint32_t)got;
    if (stranger->heard < length)
        return ERR_AGAIN;
    stranger->heard = 0;
    return OK;
}

static int on_hello(struct tcp_door *door, struct stranger *stranger)
{
    static const struct tcp_welcome unwelcome = {.magic = TCP_MAGIC, .version = TCP_VERSION};
    stranger->hello = stranger->word.hello;
    int error = tcp_hello_judge(&stranger->hello, door->ranks);
    if (!error && !seat_of(door, stranger->hello.to))
        error = vbase_fail(ERR_DENIED, "it looks for rank %u, who is not here", stranger->hello.to);
    if (error == ERR_MISMATCH || error == ERR_DENIED)
        (void)say(stranger, &unwelcome, sizeof(unwelcome)); /* so that he can say what is wrong */
    if (!error)
        error = tcp_welcome_make(&stranger->welcome, &stranger->hello, door->secret);
    if (error)
        return error;
    stranger->welcomed = true;
    list_remove(&stranger->node);
    list_append(&door->welcomed, &stranger->node);
    if (!say(stranger, &stranger->welcome, sizeof(stranger->welcome)))
        return vbase_fail_errno(ERR_LINK_DOWN, "a welcome");
    return OK;
}

static int on_proof(struct tcp_door *door, struct stranger *stranger, uint64_t now)
{
    struct seat *seat = seat_of(door, stranger->hello.to);
    int error = tcp_proof_judge(&stranger->word.proof, &stranger->hello, &stranger->welcome, door->secret);
    if (error)
        return error;
    leave(door, stranger);
    list_remove(&stranger->node);
    list_append(&seat->waiting, &stranger->node);
    pass_on(door, seat, now);
    return OK;
}

/* Who goes away by himself may be a rank whose own call was not needed any more. */
static void greet(struct tcp_door *door, struct stranger *stranger, uint64_t now)
{
    int error = hear(door, stranger, now) ?:
                (stranger->welcomed ? on_proof(door, stranger, now) : on_hello(door, stranger));
    if (error == ERR_LINK_DOWN) {
        COUNT(left);
        see_off(door, stranger);
    } else if (error && error != ERR_AGAIN) {
        refuse(door, stranger, vbase_error_detail());
    }
}

/* ---- a step --------------------------------------------------------------------------------------------------------- */

static void expire(struct tcp_door *door, struct list *list, uint64_t now)
{
    list_for_each(node, list) {
        struct stranger *stranger = container_of(node, struct stranger, node);
        if (now >= stranger->deadline)
            refuse(door, stranger, "it did not prove in time that it belongs to this job");
        else
            timer(door, stranger->deadline);
    }
}

static void on_time(struct tcp_door *door, uint64_t now)
{
    door->timer_at = NEVER;
    expire(door, &door->silent, now);
    expire(door, &door->welcomed, now);
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
        struct stranger *stranger = event[i].data.ptr;
        if (event[i].data.u64 < TIMER_WORD)
            accept_some(door, (int)event[i].data.u64, now);
        else if (event[i].data.u64 == TIMER_WORD)
            before = read(door->timer, &ticked, sizeof(ticked)) > 0 ? 0 : before;
        else if (stranger->fd >= 0)
            greet(door, stranger, now);
    }
    if (now >= door->timer_at)
        on_time(door, now);
    for (struct list_node *node; (node = list_take_first(&door->gone));)
        free(container_of(node, struct stranger, node));
    if (door->timer_at != before) {
        uint64_t at = door->timer_at == NEVER ? 0 : door->timer_at;
        struct itimerspec when = {.it_value = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)}};
        timerfd_settime(door->timer, TFD_TIMER_ABSTIME, &when, NULL);
    }
}

int tcp_door_descriptor(const struct tcp_door *door) { return door->epoll; }

int tcp_door_strangers(const struct tcp_door *door) { return door->standing; }

/* ---- seats ---------------------------------------------------------------------------------------------------------- */

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

/* ---- opening and closing -------------------------------------------------------------------------------------------- */

int tcp_door_open(const struct vi_setup *setup, struct tcp_door **out)
{
    size_t seats = setup->local_count;
    struct tcp_door *door = calloc(1, sizeof(*door) + seats * sizeof(struct seat));
    if (!door)
        return vbase_fail(ERR_MEMORY, "a door for %zu ranks", seats);
    list_init(&door->silent);
    list_init(&door->welcomed);
    list_init(&door->gone);
    door->ranks = setup->ranks;
    door->timer_at = NEVER;
    memcpy(door->secret, setup->secret, SECRET_SIZE);
    door->epoll = epoll_create1(EPOLL_CLOEXEC);
    door->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int error = door->epoll < 0 || door->timer < 0 ? vbase_fail_errno(ERR_LIMIT, "the descriptors of a door")
                                               : watch(door, EPOLL_CTL_ADD, door->timer, TIMER_WORD);
    if (!error)
        error = tcp_cards_own(&door->cards);
    if (!error)
        error = tcp_listen(&door->cards, door->listener);
    if (!error) {
        door->listeners = door->cards.count;
        error = watch_listeners(door, EPOLL_CTL_ADD);
    }
    if (!error)
        error = make_seats(door, setup);
    if (error)
        tcp_door_close(door);
    else
        *out = door;
    return error;
}

static void free_all(struct list *list)
{
    for (struct list_node *node; (node = list_take_first(list));) {
        struct stranger *stranger = container_of(node, struct stranger, node);
        if (stranger->fd >= 0)
            close(stranger->fd);
        free(stranger);
    }
}

void tcp_door_close(struct tcp_door *door)
{
    free_all(&door->silent);
    free_all(&door->welcomed);
    free_all(&door->gone);
    for (int i = 0; i < door->seats; i++) {
        free_all(&door->seat[i].waiting);
        if (door->seat[i].near >= 0)
            close(door->seat[i].near);
        if (door->seat[i].far >= 0)
            close(door->seat[i].far);
    }
    while (door->listeners > 0)
        close(door->listener[--door->listeners]);
    if (door->epoll >= 0)
        close(door->epoll);
    if (door->timer >= 0)
        close(door->timer);
    explicit_bzero(door->secret, sizeof(door->secret));
    free(door);
}
