/* Two processes, some connections, and random calls on them: every byte must come once and in order, whichever way it
 * goes.
 *   random SEED CONNECTIONS BYTES
 * Each connection has a pattern of its own in each direction. A side serves a connection by two threads that block, or
 * by one that waits in poll, select or epoll, as the seed says; now and then an option is set that shared memory cannot
 * keep, a descriptor is copied, a child is made in one of three ways. Bytes are not held back for the other side's, so
 * nothing can block for good. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
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
#include <unistd.h>

enum { MOST = 150000, STACK = 65536 };

struct side { /* of one connection */
    int fd, connection, server;
    uint64_t seed, sent, got, total;
    int file; /* what is sent, for sendfile */
    int done_out, done_in;
};

static uint64_t total_bytes;

static uint64_t draw(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

static unsigned char pattern(int connection, int server, uint64_t at)
{
    uint64_t x = (at / 8 + 1) * 0x9E3779B97F4A7C15ull ^ (uint64_t)(connection * 2 + server + 1) * 0xBF58476D1CE4E5B9ull;
    return (unsigned char)((x ^ x >> 29) >> (at % 8 * 8));
}

#define WRONG(...)                                                                                                      \
    do {                                                                                                                \
        fprintf(stderr, "connection %d, server %d: ", side->connection, side->server);                                  \
        fprintf(stderr, __VA_ARGS__);                                                                                   \
        fprintf(stderr, " (%s)\n", strerror(errno));                                                                    \
        exit(1);                                                                                                        \
    } while (0)

static size_t size_drawn(struct side *side)
{
    switch (draw(&side->seed) % 8) {
    case 0: return 1;
    case 1: return 1 + draw(&side->seed) % MOST;
    case 2: return 4096;
    default: return 1 + draw(&side->seed) % 3000;
    }
}

static void check(struct side *side, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)data[i] != pattern(side->connection, !side->server, side->got + i))
            WRONG("byte %llu is wrong", (unsigned long long)(side->got + i));
}

/* One call that sends; -1 with EAGAIN is fine. */
static ssize_t send_some(struct side *side, char *data, int flags)
{
    size_t size = size_drawn(side);
    if (size > side->total - side->sent)
        size = side->total - side->sent;
    for (size_t i = 0; i < size; i++)
        data[i] = (char)pattern(side->connection, side->server, side->sent + i);
    struct iovec pieces[3] = {{data, size / 3}, {data + size / 3, size / 3}, {data + size / 3 * 2, size - size / 3 * 2}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 3};
    off_t at = (off_t)side->sent;
    switch (draw(&side->seed) % 6) {
    case 0: return flags ? send(side->fd, data, size, flags) : write(side->fd, data, size);
    case 1: return flags ? sendmsg(side->fd, &message, flags) : writev(side->fd, pieces, 3);
    case 2: return sendmsg(side->fd, &message, flags);
    case 3: return flags ? send(side->fd, data, size, flags) : sendfile(side->fd, side->file, &at, size);
    case 4: return sendto(side->fd, data, size, flags | MSG_NOSIGNAL, NULL, 0);
    default: return send(side->fd, data, size, flags | (draw(&side->seed) % 4 ? 0 : MSG_MORE));
    }
}

static ssize_t receive_some(struct side *side, char *data, int flags)
{
    size_t size = size_drawn(side);
    struct iovec pieces[3] = {{data, size / 3}, {data + size / 3, size / 3}, {data + size / 3 * 2, size - size / 3 * 2}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 3};
    ssize_t n;
    int bytes;
    switch (draw(&side->seed) % 9) {
    case 0:
    case 1: return flags ? recv(side->fd, data, size, flags) : read(side->fd, data, size);
    case 2: return flags ? recvmsg(side->fd, &message, flags) : readv(side->fd, pieces, 3);
    case 3: return recvmsg(side->fd, &message, flags);
    case 4:
        n = recv(side->fd, data, size, flags | MSG_PEEK);
        if (n > 0)
            check(side, data, (size_t)n);
        return n > 0 ? recv(side->fd, data, (size_t)n, flags | MSG_WAITALL) : n;
    case 5:
        if (size > side->total - side->got)
            size = side->total - side->got;
        if (size == 0)
            return recv(side->fd, data, 1, flags);
        n = recv(side->fd, data, size, flags | MSG_WAITALL);
        if (!flags && size && n != (ssize_t)size)
            WRONG("MSG_WAITALL gave %zd of %zu", n, size);
        return n;
    case 6:
        if (ioctl(side->fd, FIONREAD, &bytes) != 0)
            WRONG("FIONREAD");
        if (bytes > 0) {
            n = recv(side->fd, data, (size_t)(bytes < MOST ? bytes : MOST), MSG_DONTWAIT);
            if (n < (bytes < MOST ? bytes : MOST))
                WRONG("FIONREAD said %d, recv gave %zd", bytes, n);
            return n;
        }
        return recv(side->fd, data, size, flags);
    default: return recvfrom(side->fd, data, size, flags, NULL, NULL);
    }
}

static int close_it(void *fd) { return close(*(int *)fd); }

static void *peek(void *fd)
{
    char byte;
    (void)!recv(*(int *)fd, &byte, 1, MSG_PEEK);
    return NULL;
}

/* Things that must not matter. */
static void disturb(struct side *side)
{
    int on = 1, copy, status;
    switch (draw(&side->seed) % 400) {
    case 0: setsockopt(side->fd, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof(on)); break;
    case 1:
        copy = dup(side->fd);
        if (copy >= 0 && draw(&side->seed) % 2 && !side->done_out && send(copy, "", 0, 0) != 0)
            WRONG("an empty send");
        close(copy);
        break;
    case 2: {
        pid_t child = fork();
        if (child == 0)
            _exit(draw(&side->seed) % 2 && close(side->fd) != 0);
        waitpid(child, &status, 0);
        break;
    }
    case 3: usleep((useconds_t)(draw(&side->seed) % 3000)); break;
    case 4: {
        pid_t child = vfork();
        if (child == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(9);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            WRONG("vfork: %x", (unsigned)status);
        break;
    }
    case 5: {
        char *stack = malloc(STACK);
        pid_t child = clone(close_it, stack + STACK, SIGCHLD, &side->fd);
        if (waitpid(child, &status, 0) != child || status != 0)
            WRONG("clone: %x", (unsigned)status);
        free(stack);
        break;
    }
    case 6: /* the number is given once more while another thread may be in a call on it */
        copy = dup(side->fd);
        if (copy >= 0 && dup2(copy, side->fd) != side->fd)
            WRONG("dup2");
        close(copy);
        break;
    case 7: { /* a thread that waits is cancelled */
        pthread_t thread;
        pthread_create(&thread, NULL, peek, &side->fd);
        if (draw(&side->seed) % 2)
            usleep((useconds_t)(draw(&side->seed) % 300));
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        break;
    }
    default: break;
    }
}

static void sent(struct side *side, ssize_t n)
{
    if (n > 0)
        side->sent += (uint64_t)n;
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        WRONG("sending at %llu", (unsigned long long)side->sent);
    if (side->sent == side->total && !side->done_out) {
        side->done_out = 1;
        if (shutdown(side->fd, SHUT_WR) != 0)
            WRONG("shutdown");
    }
}

static void received(struct side *side, const char *data, ssize_t n)
{
    if (n > 0) {
        check(side, data, (size_t)n);
        side->got += (uint64_t)n;
    } else if (n == 0) {
        if (side->got != side->total)
            WRONG("the end after %llu of %llu", (unsigned long long)side->got, (unsigned long long)side->total);
        side->done_in = 1;
    } else if (errno != EAGAIN && errno != EINTR) {
        WRONG("receiving at %llu", (unsigned long long)side->got);
    }
}

static void *sender(void *argument)
{
    struct side *side = argument, own = *side;
    char *data = malloc(MOST);
    own.seed ^= 0x5555;
    while (!own.done_out) {
        disturb(&own);
        sent(&own, send_some(&own, data, 0));
    }
    free(data);
    return NULL;
}

static void *receiver(void *argument)
{
    struct side *side = argument, own = *side;
    char *data = malloc(MOST);
    own.seed ^= 0x7777;
    while (!own.done_in)
        received(&own, data, receive_some(&own, data, 0));
    free(data);
    return NULL;
}

static void by_threads(struct side *side)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, sender, side);
    pthread_create(&threads[1], NULL, receiver, side);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

/* What the descriptor is ready for, by one of four ways to wait. */
static int wait_for(struct side *side, int way, int set)
{
    int want_out = !side->done_out, want_in = !side->done_in, time = 5000;
    if (way == 0) {
        struct pollfd one = {.fd = side->fd, .events = (short)((want_in ? POLLIN : 0) | (want_out ? POLLOUT : 0))};
        if (poll(&one, 1, time) <= 0)
            WRONG("poll at %llu, %llu", (unsigned long long)side->sent, (unsigned long long)side->got);
        return one.revents;
    }
    if (way == 1) {
        fd_set in, out;
        struct timeval limit = {time / 1000, 0};
        FD_ZERO(&in);
        FD_ZERO(&out);
        if (want_in)
            FD_SET(side->fd, &in);
        if (want_out)
            FD_SET(side->fd, &out);
        if (select(side->fd + 1, &in, &out, NULL, &limit) <= 0)
            WRONG("select at %llu, %llu", (unsigned long long)side->sent, (unsigned long long)side->got);
        return (FD_ISSET(side->fd, &in) ? POLLIN : 0) | (FD_ISSET(side->fd, &out) ? POLLOUT : 0);
    }
    struct epoll_event event;
    int n;
    do
        n = epoll_wait(set, &event, 1, time);
    while (n < 0 && errno == EINTR); /* also by signals without a handler: signal(7) */
    if (n <= 0 || event.data.u64 != 0x1122334455667788ull)
        WRONG("epoll_wait gave %d, %llx at %llu, %llu", n, n > 0 ? (unsigned long long)event.data.u64 : 0,
              (unsigned long long)side->sent, (unsigned long long)side->got);
    return (int)event.events;
}

static void by_events(struct side *side)
{
    char *data = malloc(MOST);
    int way = (int)(draw(&side->seed) % 5), set = epoll_create1(EPOLL_CLOEXEC), edge = way == 4, before = -1;
    fcntl(side->fd, F_SETFL, fcntl(side->fd, F_GETFL) | O_NONBLOCK);
    while (!side->done_in || !side->done_out) {
        int wanted = (side->done_in ? 0 : EPOLLIN) | (side->done_out ? 0 : EPOLLOUT);
        if (way >= 2 && wanted != before) {
            struct epoll_event event = {.events = (uint32_t)wanted | (edge ? EPOLLET : 0u), .data.u64 = 0x1122334455667788ull};
            if (epoll_ctl(set, before < 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, side->fd, &event) != 0)
                WRONG("epoll_ctl");
            before = wanted;
        }
        int ready = wait_for(side, way, set);
        disturb(side);
        if (ready & (POLLIN | POLLHUP | POLLERR) && !side->done_in) {
            ssize_t n;
            do {
                n = receive_some(side, data, MSG_DONTWAIT);
                received(side, data, n);
            } while (edge && !side->done_in && !(n < 0 && errno == EAGAIN));
        }
        if (ready & POLLOUT && !side->done_out) {
            ssize_t n;
            do {
                n = send_some(side, data, MSG_DONTWAIT);
                sent(side, n);
            } while (edge && !side->done_out && !(n < 0 && errno == EAGAIN));
        }
    }
    close(set);
    free(data);
}

static void *serve(void *argument)
{
    struct side *side = argument;
    int one = 1;
    char path[] = "/tmp/random-XXXXXX";
    if (draw(&side->seed) % 2)
        setsockopt(side->fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &one, sizeof(one));
    side->file = mkostemp(path, O_CLOEXEC);
    unlink(path);
    char *data = malloc(side->total);
    for (uint64_t i = 0; i < side->total; i++)
        data[i] = (char)pattern(side->connection, side->server, i);
    if (write(side->file, data, side->total) != (ssize_t)side->total)
        WRONG("the file");
    free(data);
    if (draw(&side->seed) % 3 == 0)
        by_threads(side);
    else
        by_events(side);
    close(side->file);
    close(side->fd);
    return NULL;
}

static void side_run(int server, int connections, uint64_t seed, int listener, const struct sockaddr_in *address)
{
    pthread_t *threads = calloc((size_t)connections, sizeof(*threads));
    struct side *sides = calloc((size_t)connections, sizeof(*sides));
    for (int i = 0; i < connections; i++) {
        int fd = server ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        char number = (char)i;
        if (!server && (connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 || write(fd, &number, 1) != 1))
            exit(2);
        if (server && read(fd, &number, 1) != 1)
            exit(3);
        sides[i] = (struct side){.fd = fd, .connection = number, .server = server, .total = total_bytes};
        sides[i].seed = (seed + (uint64_t)number * 2 + (uint64_t)server + 1) * 0x9E3779B97F4A7C15ull | 1;
        for (int k = 0; k < 8; k++)
            draw(&sides[i].seed);
        pthread_create(&threads[i], NULL, serve, &sides[i]);
    }
    for (int i = 0; i < connections; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc != 4)
        return 2;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int connections = atoi(argv[2]), status, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    total_bytes = strtoull(argv[3], NULL, 10);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 64) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        side_run(1, connections, strtoull(argv[1], NULL, 10), listener, &address);
        return 0;
    }
    close(listener);
    side_run(0, connections, strtoull(argv[1], NULL, 10), -1, &address);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
