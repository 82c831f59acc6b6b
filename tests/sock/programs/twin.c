/* Random calls on two connections at once, of which one may go to shared memory and back while the other is the
 * kernel's for good: every call gives the same on both. Both ends are here; some steps are done by children, or by threads that
 * wait before the bytes come.
 *   twin SEED STEPS */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OURS, KERNELS, TWINS };
enum { MOST = 12000, SETS = 2, FILE_SIZE = 1 << 20 };

static struct state { /* children go on with it */
    uint64_t seed, sent[2], got[2]; /* by the end that does it */
    long steps, step, began; /* of the pair */
    int shut[2], back;
} *state;
static int fd[TWINS][2], sets[TWINS][SETS], file[2];
static struct {
    int set; /* -1: in none */
    uint32_t events;
    uint64_t datum;
} member[2];
static int in_child;
static const char *doing = "";
static int how;
static char buffer[TWINS][MOST + 1000];

static uint64_t draw(uint64_t below)
{
    state->seed ^= state->seed << 13;
    state->seed ^= state->seed >> 7;
    state->seed ^= state->seed << 17;
    return below ? state->seed % below : 0;
}

static char pattern(int end, uint64_t at)
{
    uint64_t x = (at % FILE_SIZE / 8 + 1) * 0x9E3779B97F4A7C15ull ^ (uint64_t)(end + 1) * 0xBF58476D1CE4E5B9ull;
    return (char)((x ^ x >> 29) >> (at % 8 * 8));
}

static _Noreturn void wrong(int end, long ours, long kernels)
{
    fprintf(stderr, "step %ld, %ld of this pair%s, %s (%d) of end %d%s: ours %ld, the kernel's %ld (%s)\n", state->step,
            state->step - state->began, state->back ? ", which goes back" : "", doing, how, end,
            in_child ? " in a child" : "", ours, kernels, strerror(errno));
    fprintf(stderr, "it has sent %llu and got %llu of %llu; its set %d, events %x; the other one's %d, %x\n",
            (unsigned long long)state->sent[end], (unsigned long long)state->got[end],
            (unsigned long long)state->sent[!end], member[end].set, member[end].events, member[!end].set,
            member[!end].events);
    _exit(1);
}

static size_t waiting(int end) { return (size_t)(state->sent[!end] - state->got[end]); }

/* Until all that was sent has come: the kernel may take its time. */
static void settle(int end)
{
    for (int i = 0; i < TWINS; i++) {
        int bytes = -1;
        for (long tries = 0; ioctl(fd[i][end], FIONREAD, &bytes) == 0 && (size_t)bytes != waiting(end); tries++) {
            if (tries > 20000) {
                doing = "what has come";
                wrong(end, i == OURS ? bytes : -1, i == OURS ? (long)waiting(end) : bytes);
            }
            if (tries > 100)
                usleep(100);
        }
    }
}

static long answer(ssize_t n) { return n < 0 ? -errno : n; }
static void same(int end, ssize_t ours, ssize_t kernels)
{
    if (ours != kernels)
        wrong(end, (long)ours, (long)kernels);
}

static size_t size_drawn(void)
{
    switch (draw(6)) {
    case 0: return 1 + draw(8);
    case 1: return 1 + draw(MOST / 2);
    case 2: return 4096;
    default: return 1 + draw(700);
    }
}

static ssize_t transmit(int way, int one, int end, char *data, size_t size)
{
    struct iovec pieces[2] = {{data, size / 3}, {data + size / 3, size - size / 3}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    struct mmsghdr messages = {.msg_hdr = message};
    off_t at = (off_t)(state->sent[end] % FILE_SIZE);
    int ends[2], on = 1;
    ssize_t n;
    switch (way) {
    case 0: return write(one, data, size);
    case 1: return writev(one, pieces, 2);
    case 2: return sendmsg(one, &message, MSG_DONTWAIT);
    case 3: return sendto(one, data, size, 0, NULL, 0);
    case 4: return sendmmsg(one, &messages, 1, 0) == 1 ? (ssize_t)messages.msg_len : -1;
    case 5: return (size_t)at + size <= FILE_SIZE ? sendfile(one, file[end], &at, size) : send(one, data, size, 0);
    case 6:
        if (pipe(ends) || write(ends[1], data, size) != (ssize_t)size)
            return -1;
        n = splice(ends[0], NULL, one, NULL, size, 0);
        if (n > 0 && (size_t)n < size)
            n += send(one, data + n, size - (size_t)n, 0);
        close(ends[0]);
        close(ends[1]);
        return n;
    case 7:
        n = send(one, data, size, MSG_MORE);
        setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* and out with it */
        return n;
    default: return send(one, data, size, 0);
    }
}

static void step_send(int end)
{
    size_t size = size_drawn(), room = MOST - waiting(!end);
    int way = (int)draw(24);
    ssize_t n[TWINS];
    size = size < room ? size : room;
    if (!size || state->shut[end])
        return;
    if (way == 6 && size > 4000)
        way = 0;
    uint64_t seed = state->seed;
    how = way;
    for (int i = 0; i < TWINS; i++) {
        for (size_t k = 0; k < size; k++)
            buffer[i][k] = pattern(end, state->sent[end] + k);
        state->seed = seed;
        n[i] = answer(transmit(way, fd[i][end], end, buffer[i], size));
    }
    same(end, n[OURS], n[KERNELS]);
    if (n[OURS] != (ssize_t)size)
        wrong(end, (long)n[OURS], (long)size);
    state->sent[end] += size;
}

static ssize_t take(int way, int one, char *data, size_t size)
{
    struct iovec pieces[2] = {{data, size / 3}, {data + size / 3, size - size / 3}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    struct mmsghdr messages = {.msg_hdr = message};
    fd_set set;
    struct timeval none = {0, 0};
    int ends[2];
    ssize_t n;
    switch (way) {
    case 0: return recv(one, data, size, MSG_DONTWAIT | MSG_PEEK);
    case 1: return recv(one, data, size, MSG_DONTWAIT | MSG_TRUNC);
    case 2: return recvmsg(one, &message, MSG_DONTWAIT);
    case 3: return recvfrom(one, data, size, MSG_DONTWAIT, NULL, NULL);
    case 4: return recvmmsg(one, &messages, 1, MSG_DONTWAIT, NULL) == 1 ? (ssize_t)messages.msg_len : -1;
    case 5: return preadv2(one, pieces, 2, -1, RWF_NOWAIT);
    case 6:
        FD_ZERO(&set);
        FD_SET(one, &set);
        return select(one + 1, &set, NULL, NULL, &none) == 1 ? readv(one, pieces, 2) : -1;
    case 7:
        if (pipe(ends))
            return -1;
        n = splice(one, NULL, ends[1], NULL, size, SPLICE_F_NONBLOCK);
        for (ssize_t more; n > 0 && (size_t)n < size; n += more) /* where pieces meet it ends early */
            if ((more = splice(one, NULL, ends[1], NULL, size - (size_t)n, SPLICE_F_NONBLOCK)) <= 0)
                break;
        if (n > 0 && read(ends[0], data, (size_t)n) != n)
            n = -2;
        close(ends[0]);
        close(ends[1]);
        return n;
    default: return recv(one, data, size, MSG_DONTWAIT);
    }
}

static void check(int end, const char *data, ssize_t n)
{
    for (ssize_t k = 0; k < n; k++)
        if (data[k] != pattern(!end, state->got[end] + (uint64_t)k))
            wrong(end, (long)k, (unsigned char)data[k]);
}

static int moving(void) { return state->back || state->step < state->began + 500; }

static void step_receive(int end)
{
    size_t size = size_drawn();
    int way = (int)draw(24);
    ssize_t n[TWINS];
    if (way == 7 && size > waiting(end)) /* it would wait */
        size = waiting(end);
    if (way == 7 && (size == 0 || size > 4000))
        way = 8;
    how = way;
    settle(end);
    for (int i = 0; i < TWINS; i++) {
        errno = EAGAIN;
        n[i] = answer(take(way, fd[i][end], buffer[i], size));
        if (n[i] > 0 && way != 1)
            check(end, buffer[i], n[i]);
    }
    if (way != 0 || n[OURS] <= 0 || !moving()) /* while it moves, a look may end where it does */
        same(end, n[OURS], n[KERNELS]);
    if (n[OURS] > 0 && way != 0)
        state->got[end] += (uint64_t)n[OURS];
}

static void step_look(int end)
{
    int on[TWINS];
    settle(end);
    for (int i = 0; i < TWINS; i++) {
        struct pollfd one = {.fd = fd[i][end], .events = POLLIN | POLLOUT | POLLRDHUP | POLLPRI};
        on[i] = poll(&one, 1, 0) < 0 ? -errno : one.revents;
    }
    same(end, on[OURS], on[KERNELS]);
}

static void step_set(int end)
{
    static const uint32_t kinds[] = {EPOLLIN, EPOLLIN | EPOLLRDHUP, EPOLLIN | EPOLLOUT, EPOLLOUT, EPOLLIN | EPOLLET,
                                     EPOLLIN | EPOLLONESHOT};
    struct epoll_event event = {.events = kinds[draw(6)], .data.u64 = draw(0) + (state->seed << 1)};
    int set = (int)draw(SETS), what = member[end].set < 0 ? EPOLL_CTL_ADD : draw(2) ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    int n[TWINS];
    if (member[end].set >= 0)
        set = member[end].set;
    settle(end);
    for (int i = 0; i < TWINS; i++)
        n[i] = (int)answer(epoll_ctl(sets[i][set], what, fd[i][end], &event));
    same(end, n[OURS], n[KERNELS]);
    member[end].set = what == EPOLL_CTL_DEL ? -1 : set;
    member[end].events = event.events;
    member[end].datum = event.data.u64;
}

/* What a set tells of both ends, in so many calls. While there are bytes, the end may be told later. */
static void wait_in(int i, int set, int calls, uint32_t events[2])
{
    struct epoll_event got[4];
    while (calls--) {
        int n = epoll_wait(sets[i][set], got, 4, 0);
        for (int k = 0; k < n; k++)
            for (int end = 0; end < 2; end++)
                if (member[end].set == set && member[end].datum == got[k].data.u64)
                    events[end] |= got[k].events;
    }
    for (int end = 0; end < 2; end++)
        if (events[end] & EPOLLIN)
            events[end] &= ~(uint32_t)(EPOLLRDHUP | (member[end].events & EPOLLONESHOT ? EPOLLHUP : 0));
}

/* The kernel is not asked in each call that has something to tell. And edge-triggered members may be told more often
 * than they must. */
static void step_wait(int end)
{
    uint32_t events[TWINS][2] = {{0}};
    int set = member[end].set;
    if (set < 0)
        return;
    settle(0);
    settle(1);
    wait_in(KERNELS, set, 1, events[KERNELS]);
    wait_in(OURS, set, 1, events[OURS]);
    if (memcmp(events[OURS], events[KERNELS], sizeof(events[0])) != 0)
        wait_in(OURS, set, 20, events[OURS]);
    for (int e = 0; e < 2; e++) {
        if (member[e].set == set && !(member[e].events & EPOLLET))
            same(e, events[OURS][e], events[KERNELS][e]);
        else if (events[KERNELS][e] & ~events[OURS][e])
            wrong(e, events[OURS][e], events[KERNELS][e]);
    }
}

static void step_copy(int end)
{
    for (int i = 0; i < TWINS; i++) {
        int copy = dup(fd[i][end]);
        if (draw(2)) {
            dup2(copy, fd[i][end]);
            close(copy);
        } else if (member[end].set < 0) {
            close(fd[i][end]);
            fd[i][end] = copy;
        } else {
            close(copy);
        }
    }
    if (member[end].set >= 0) { /* it was closed in between, and has left the set */
        for (int i = 0; i < TWINS; i++)
            (void)epoll_ctl(sets[i][member[end].set], EPOLL_CTL_DEL, fd[i][end], NULL);
        member[end].set = -1;
    }
}

struct blocked {
    int fd, way;
    size_t size;
    char *data;
    ssize_t n;
};

static void *blocked_receive(void *argument)
{
    struct blocked *one = argument;
    struct pollfd wait = {.fd = one->fd, .events = POLLIN};
    if (one->way == 1 && poll(&wait, 1, 10000) != 1)
        return NULL;
    one->n = answer(recv(one->fd, one->data, one->size, one->way == 2 ? MSG_WAITALL : 0));
    return NULL;
}

/* Threads wait while the bytes are sent, in one piece; how soon they wait differs. */
static void step_blocked(int end)
{
    pthread_t threads[TWINS];
    struct blocked one[TWINS];
    size_t size = 1 + draw(300);
    int way = (int)draw(3);
    if (waiting(end) || state->shut[!end] || state->shut[end])
        return;
    for (int i = 0; i < TWINS; i++) {
        one[i] = (struct blocked){fd[i][end], way, size, buffer[i], -1};
        pthread_create(&threads[i], NULL, blocked_receive, &one[i]);
    }
    if (draw(2))
        usleep((useconds_t)draw(300));
    char data[300];
    for (size_t k = 0; k < size; k++)
        data[k] = pattern(!end, state->sent[!end] + k);
    for (int i = 0; i < TWINS; i++)
        if (send(fd[i][!end], data, size, 0) != (ssize_t)size)
            wrong(end, i, -1);
    state->sent[!end] += size;
    for (int i = 0; i < TWINS; i++) {
        pthread_join(threads[i], NULL);
        if (way < 2 && one[i].n > 0 && one[i].n < (ssize_t)size) { /* it read while they came: now the rest is there */
            ssize_t rest = recv(one[i].fd, buffer[i] + one[i].n, size - (size_t)one[i].n, MSG_DONTWAIT);
            one[i].n += rest > 0 ? rest : 0;
        }
        check(end, buffer[i], one[i].n);
    }
    same(end, one[OURS].n, one[KERNELS].n);
    state->got[end] += (uint64_t)one[OURS].n;
}

static void step(void);

static void step_fork(void)
{
    int status;
    if (in_child)
        return;
    pid_t child = fork();
    if (child == 0) {
        in_child = 1;
        for (int i = 0; i < 20; i++)
            step();
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(1);
}

static void step_back(int end)
{
    int on = 1, off = 0;
    state->back = 1;
    for (int i = 0; i < TWINS; i++) {
        setsockopt(fd[i][end], SOL_SOCKET, SO_TIMESTAMP, &on, sizeof(on));
        setsockopt(fd[i][end], SOL_SOCKET, SO_TIMESTAMP, &off, sizeof(off));
    }
}

static void step_end(int end)
{
    if (state->shut[end])
        return;
    for (int i = 0; i < TWINS; i++)
        shutdown(fd[i][end], SHUT_WR);
    state->shut[end] = 1;
    usleep(100); /* the end arrives */
}

static void step(void)
{
    static const struct {
        const char *name;
        void (*act)(int end);
        int weight, alone; /* no step of a child */
    } kinds[] = {{"sending", step_send, 4000, 0}, {"receiving", step_receive, 4400, 0}, {"looking", step_look, 700, 0},
                 {"a set", step_set, 300, 1},     {"waiting", step_wait, 600, 1},       {"a copy", step_copy, 20, 1},
                 {"a thread", step_blocked, 20, 1}, {"going back", step_back, 4, 0},    {"the end", step_end, 4, 0}};
    int total = 0, at = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        total += kinds[i].weight;
    int drawn = (int)draw((uint64_t)total);
    while (drawn >= kinds[at].weight)
        drawn -= kinds[at++].weight;
    doing = kinds[at].name;
    state->step++;
    if (!in_child || !kinds[at].alone)
        kinds[at].act((int)draw(2));
    if (draw(4000) == 0)
        step_fork();
}

static void pair_make(void)
{
    for (int i = 0; i < TWINS; i++) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t length = sizeof(address);
        int big = 1 << 20, on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
        uint32_t no_limit = ~0u;
        fd[i][0] = socket(AF_INET, SOCK_STREAM, 0);
        setsockopt(fd[i][0], SOL_SOCKET, SO_RCVBUF, &big, sizeof(big));
        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &big, sizeof(big));
        if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4) ||
            getsockname(listener, (struct sockaddr *)&address, &length) ||
            connect(fd[i][0], (struct sockaddr *)&address, length) || (fd[i][1] = accept(listener, NULL, NULL)) < 0)
            exit(2);
        close(listener);
        for (int end = 0; end < 2; end++) {
            setsockopt(fd[i][end], SOL_SOCKET, SO_SNDBUF, &big, sizeof(big));
            setsockopt(fd[i][end], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            if (i == KERNELS) /* needs the kernel, and changes nothing */
                setsockopt(fd[i][end], SOL_SOCKET, SO_MAX_PACING_RATE, &no_limit, sizeof(no_limit));
        }
    }
    memset(state->sent, 0, sizeof(state->sent) * 2);
    state->shut[0] = state->shut[1] = state->back = 0;
    state->began = state->step;
    member[0].set = member[1].set = -1;
}

/* One end closes, with bytes unread or without; the other one reads what is left, and the end of that. */
static void pair_end(void)
{
    int end = (int)draw(2);
    doing = "the last bytes";
    settle(0);
    settle(1);
    for (int i = 0; i < TWINS; i++)
        close(fd[i][end]);
    usleep(200);
    for (;;) {
        ssize_t n[TWINS];
        for (int i = 0; i < TWINS; i++)
            n[i] = answer(recv(fd[i][!end], buffer[i], MOST, MSG_DONTWAIT));
        same(!end, n[OURS], n[KERNELS]);
        if (n[OURS] <= 0)
            break;
        check(!end, buffer[OURS], n[OURS]);
        state->got[!end] += (uint64_t)n[OURS];
    }
    if (waiting(!end))
        wrong(!end, (long)waiting(!end), 0);
    for (int i = 0; i < TWINS; i++)
        close(fd[i][!end]);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (argc != 3 || state == MAP_FAILED)
        return 2;
    state->seed = (strtoull(argv[1], NULL, 10) + 1) * 0x9E3779B97F4A7C15ull | 1;
    state->steps = atol(argv[2]);
    for (int end = 0; end < 2; end++) {
        char *data = malloc(FILE_SIZE);
        for (uint64_t i = 0; i < FILE_SIZE; i++)
            data[i] = pattern(end, i);
        file[end] = memfd_create("twin", 0);
        if (write(file[end], data, FILE_SIZE) != FILE_SIZE)
            return 2;
        free(data);
    }
    for (int i = 0; i < TWINS; i++)
        for (int k = 0; k < SETS; k++)
            sets[i][k] = epoll_create1(0);
    while (state->step < state->steps) {
        pair_make();
        for (long last = state->step + 100 + (long)draw(3000); state->step < last;)
            step();
        pair_end();
    }
    return 0;
}
