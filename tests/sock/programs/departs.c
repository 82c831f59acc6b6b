/* A process ends, or closes, and the other end of its connection looks, reads, writes, or is in such a call by then:
 * what it is told. Knows nothing of Viaduct. Prints a line for each case, the same with the library and without. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WARM = 60, BEGIN = 7 };
static const char *const states[] = {"both", "it reads", "it writes", "it reads behind much that it has sent"};
static const char *const lefts[] = {"read", "unread"};
static const char *const ways[] = {"exit", "_exit", "kill", "exec", "close", "shut out", "shut both", "linger 0"};
static const char *const views[] = {"read", "write", "signal", "poll", "epoll",
                                    "shutdown", "blocked read", "blocked write"};
enum {
    STATES = sizeof(states) / sizeof(states[0]),
    LEFTS = sizeof(lefts) / sizeof(lefts[0]),
    WAYS = sizeof(ways) / sizeof(ways[0]),
    VIEWS = sizeof(views) / sizeof(views[0])
};
enum { WAY_KILL = 2, WAY_EXEC, WAY_CLOSE, WAY_SHUT_OUT, WAY_SHUT_BOTH, WAY_LINGER };
enum { VIEW_READ, VIEW_WRITE, VIEW_SIGNAL, VIEW_POLL, VIEW_EPOLL,
       VIEW_SHUTDOWN, VIEW_BLOCKED_READ, VIEW_BLOCKED_WRITE };

static volatile sig_atomic_t pipes_broken;
static void pipe_broke(int number)
{
    (void)number;
    pipes_broken++;
}

static void must(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s: %m\n", what);
    _exit(1);
}

static void put(int fd)
{
    char byte = 0;
    must(send(fd, &byte, 1, 0) == 1, "send");
}
static void get(int fd)
{
    char byte = 0;
    must(recv(fd, &byte, 1, 0) == 1, "recv");
}

/* The end that stays is 0. Each says something first; afterwards perhaps only one does. A word through a pipe lets the
 * one that only writes go on. */
static void talk(int fd, int end, int state, int go[2])
{
    char byte = 0;
    for (int i = 0; i < WARM; i++) {
        int from = state == 3 ? 0 : i < BEGIN || state == 0 ? i % 2 : state == 1 ? 0 : 1;
        if (from == end)
            put(fd);
        else
            get(fd);
        if ((i < BEGIN && state != 3) || state == 0)
            continue;
        if (from == end)
            must(read(go[0], &byte, 1) == 1, "go");
        else
            must(write(go[1], &byte, 1) == 1, "go");
    }
}

/* More than the other end's kernel takes. */
static void fill(int fd, int told)
{
    static const char data[1 << 16];
    size_t sent = 0;
    for (ssize_t n; (n = send(fd, data, sizeof(data), MSG_DONTWAIT)) > 0;)
        sent += (size_t)n;
    must(write(told, &sent, sizeof(sent)) == sizeof(sent), "told");
}

static void empty(int fd, size_t sent)
{
    static char data[1 << 16];
    size_t got = 0;
    for (ssize_t n; (n = recv(fd, data, sizeof(data), 0)) > 0;)
        got += (size_t)n;
    printf(" %s bytes;", got == sent ? "all" : "not all");
}

static void leave(int fd, int way)
{
    const struct linger reset = {1, 0};
    if (way == 0)
        exit(0);
    else if (way == 1)
        _exit(0);
    else if (way == WAY_KILL)
        kill(getpid(), SIGKILL);
    else if (way == WAY_EXEC)
        execl("/bin/true", "true", NULL);
    else if (way == WAY_SHUT_OUT || way == WAY_SHUT_BOTH)
        shutdown(fd, way == WAY_SHUT_OUT ? SHUT_WR : SHUT_RDWR);
    else if (way == WAY_LINGER)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
    exit(0);
}

static void answer(const char *what, long n)
{
    printf(" %s %s;", what, n < 0 ? strerror(errno) : n == 0 ? "end" : "bytes");
}

static void look(int fd)
{
    struct pollfd one = {fd, POLLIN | POLLOUT | POLLRDHUP | POLLPRI, 0};
    must(poll(&one, 1, 1000) >= 0, "poll");
    printf(" %#x;", (unsigned)one.revents);
}

static void error_ask(int fd)
{
    int error = 0;
    socklen_t length = sizeof(error);
    must(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0, "SO_ERROR");
    printf(" error %s;", error ? strerror(error) : "none");
}

/* The end is noticed; and TCP's answer to what was sent, which may come a moment later. */
static void settle(int fd, short events)
{
    struct pollfd one = {fd, events, 0};
    (void)poll(&one, 1, 10);
}

static void peer_ask_with(int fd, struct sockaddr *address, socklen_t length)
{
    int named = getpeername(fd, address, &length);
    printf(" %s %d;", named ? strerror(errno) : "room", named ? 0 : (int)length);
}
static void peer_ask(int fd)
{
    struct sockaddr_in own, other;
    socklen_t size = sizeof(own), length = sizeof(other);
    int named = getpeername(fd, (struct sockaddr *)&other, &length);
    must(named == 0 || errno == ENOTCONN, "getpeername");
    must(getsockname(fd, (struct sockaddr *)&own, &size) == 0, "getsockname");
    bool right = named == 0 && length == sizeof(other) && other.sin_port && other.sin_port != own.sin_port &&
                 other.sin_addr.s_addr == own.sin_addr.s_addr;
    printf(" %s;", named ? "no peer" : right ? "peer" : "another name");
    peer_ask_with(fd, (struct sockaddr *)&other, 0);
    peer_ask_with(fd, (struct sockaddr *)&other, 6);
    peer_ask_with(fd, (struct sockaddr *)&other, (socklen_t)-1);
    peer_ask_with(fd, NULL, 0);
    peer_ask_with(fd, NULL, 1);
}

static void view(int fd, int what)
{
    char data[100] = "";
    if (what == VIEW_READ)
        for (int i = 0; i < 3; i++)
            answer("recv", recv(fd, data, sizeof(data), 0));
    if (what == VIEW_WRITE || what == VIEW_SIGNAL) {
        settle(fd, POLLRDHUP); /* what is written before the end is noticed cannot be told from what was left unread */
        for (int i = 0; i < 3; i++, settle(fd, 0))
            answer("send", send(fd, data, sizeof(data), what == VIEW_SIGNAL ? 0 : MSG_NOSIGNAL));
        answer("recv", recv(fd, data, sizeof(data), 0));
        printf(" %d signals;", (int)pipes_broken);
    }
    if (what == VIEW_POLL) {
        look(fd);
        error_ask(fd);
        look(fd);
        answer("recv", recv(fd, data, sizeof(data), 0));
        look(fd);
        answer("send", send(fd, data, sizeof(data), MSG_NOSIGNAL));
        settle(fd, 0);
        look(fd);
        error_ask(fd);
    }
    if (what == VIEW_SHUTDOWN) {
        peer_ask(fd);
        printf(" shutdown %s;", shutdown(fd, SHUT_RD) ? strerror(errno) : "done");
        peer_ask(fd);
        printf(" shutdown %s;", shutdown(fd, SHUT_WR) ? strerror(errno) : "done");
        settle(fd, 0);
        peer_ask(fd);
        answer("send", send(fd, data, sizeof(data), MSG_NOSIGNAL));
        answer("recv", recv(fd, data, sizeof(data), 0));
    }
    if (what == VIEW_EPOLL) {
        struct epoll_event event = {EPOLLIN | EPOLLOUT | EPOLLRDHUP, {.fd = fd}};
        int set = epoll_create1(EPOLL_CLOEXEC);
        must(set >= 0 && epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0, "epoll");
        event.events = 0;
        must(epoll_wait(set, &event, 1, 1000) >= 0, "epoll_wait");
        printf(" %#x;", event.events);
        answer("recv", recv(fd, data, sizeof(data), 0));
        event.events = 0;
        must(epoll_wait(set, &event, 1, 1000) >= 0, "epoll_wait");
        printf(" %#x;", event.events);
        close(set);
    }
}

/* It is in the call, or about to be, when the other end goes. */
static void view_blocked(int fd, int what)
{
    static char data[1 << 16];
    long n;
    if (what == VIEW_BLOCKED_READ) {
        while ((n = recv(fd, data, sizeof(data), 0)) > 0)
            ;
        answer("recv", n);
        answer("recv", recv(fd, data, sizeof(data), 0));
    } else {
        while ((n = send(fd, data, sizeof(data), MSG_NOSIGNAL)) > 0)
            ;
        answer("send", n);
        settle(fd, 0);
        answer("send", send(fd, data, sizeof(data), MSG_NOSIGNAL));
        answer("recv", recv(fd, data, sizeof(data), 0));
    }
}

static void one(const struct sockaddr_in *address, int listener, int state, int left, int way, int what)
{
    int go[2][2], status;
    bool blocked = what >= VIEW_BLOCKED_READ;
    must(pipe(go[0]) == 0 && pipe(go[1]) == 0, "pipe");
    pipes_broken = 0;
    pid_t child = fork();
    if (child == 0) {
        int fd = socket(AF_INET, SOCK_STREAM | (way == WAY_EXEC ? SOCK_CLOEXEC : 0), 0);
        char byte;
        close(listener);
        must(connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0, "connect");
        if (state == 3)
            fill(fd, go[1][1]);
        talk(fd, 1, state, (int[2]){go[0][0], go[1][1]});
        must(read(go[0][0], &byte, 1) == 1, "go");
        if (left)
            while (recv(fd, &byte, 1, MSG_PEEK) != 1)
                ;
        else if (state != 2)
            get(fd);
        if (what == VIEW_BLOCKED_WRITE) /* what is written to an end that left nothing unread is answered otherwise */
            must(poll(&(struct pollfd){fd, POLLIN, 0}, 1, -1) == 1, "poll");
        if (blocked)
            usleep(2000); /* whether the other end is in its call by then or not: it is told the same */
        leave(fd, way);
    }
    size_t sent = 0;
    int fd = accept(listener, NULL, NULL);
    must(fd >= 0, "accept");
    if (state == 3)
        must(read(go[1][0], &sent, sizeof(sent)) == sizeof(sent), "told");
    talk(fd, 0, state, (int[2]){go[1][0], go[0][1]});
    if (left || state != 2)
        put(fd);
    printf("%s, %s, %s, %s:", states[state], lefts[left], ways[way], views[what]);
    must(write(go[0][1], "", 1) == 1, "go");
    if (blocked)
        view_blocked(fd, what);
    must(waitpid(child, &status, 0) == child, "wait");
    if (sent && !left && way != WAY_LINGER)
        empty(fd, sent);
    if (!blocked)
        view(fd, what);
    printf("\n");
    close(fd);
    for (int i = 0; i < 4; i++)
        close(go[i / 2][i % 2]);
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, pipe_broke);
    alarm(100);
    must(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 4) == 0 &&
             getsockname(listener, (struct sockaddr *)&address, &length) == 0, "listen");
    for (int state = 0; state < STATES; state++)
        for (int left = 0; left < LEFTS; left++)
            for (int way = 0; way < WAYS; way++)
                for (int what = 0; what < (state == 3 ? 1 : VIEWS); what++)
                    one(&address, listener, state, left, way, what);
    return 0;
}
