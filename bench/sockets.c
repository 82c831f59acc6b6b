/* Rows of bench/sock: one process serves, one asks. Knows nothing of Viaduct.
 *   sockets tcp|unix KIND SIZE SECONDS      prints one number, the more the better unless it says "cost"
 *
 *   pingpong BYTES     round trips a second; BYTES negative: who waits polls (MSG_DONTWAIT), else it blocks
 *   stream BYTES       megabytes a second in writes of that size
 *   echo ALL:BUSY      requests a second, one under way on each of BUSY connections of ALL; both sides wait in an epoll set
 *   calm CONNECTIONS   cost: microseconds of processor time of both sides for a request, of which there is one a millisecond
 *   idle CONNECTIONS   cost: KiB of memory of both sides for a connection, page tables with it; fails if one side wakes up
 *   short EXCHANGES    connections a second, with so many exchanges each      (the server is a program without the caller's
 *   long BYTES         exchanges a second on one connection                    LD_PRELOAD) */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REQUEST    64    /* bytes, of echo and calm */
#define WARM       20    /* exchanges of each connection before anything is counted */
#define WARM_TIME  0.2
#define MOST       20000 /* connections */

static const char *family, *kind, *size_text;
static double seconds;
static int listener, tcp;
static struct sockaddr_storage name;
static socklen_t name_length;

static void check(int fine, const char *what)
{
    if (fine)
        return;
    perror(what);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Begins to count when the connection is warm, and says when the time is over. */
struct count {
    double start, begin, number;
};

static int count_on(struct count *count, double more)
{
    double time = now();
    count->number += more;
    if (!count->start)
        count->start = time;
    if (!count->begin && time - count->start > WARM_TIME) {
        count->begin = time;
        count->number = 0;
    }
    return !count->begin || time - count->begin < seconds;
}

static double count_rate(const struct count *count) { return count->number / (now() - count->begin); }

static int take(int fd, char *data, size_t size, int poll_it)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = recv(fd, data + done, size - done, poll_it ? MSG_DONTWAIT : 0);
        if (n == 0 || (n < 0 && !poll_it))
            return 0;
        done += n > 0 ? (size_t)n : 0;
    }
    return 1;
}

static int give(int fd, const char *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = send(fd, data + done, size - done, MSG_NOSIGNAL);
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    return 1;
}

static void at_once(int fd)
{
    int on = 1;
    if (tcp)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static int connection_open(void)
{
    int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
    check(fd >= 0 && connect(fd, (struct sockaddr *)&name, name_length) == 0, "connect");
    at_once(fd);
    return fd;
}

static int connection_accept(void)
{
    int fd = accept(listener, NULL, NULL);
    check(fd >= 0, "accept");
    at_once(fd);
    return fd;
}

/* --- pingpong, stream, long --- */

static void pingpong_serve(void)
{
    int poll_it = size_text[0] == '-', fd = connection_accept();
    size_t size = (size_t)abs(atoi(size_text));
    char *data = calloc(1, size);
    while (take(fd, data, size, poll_it) && give(fd, data, size))
        ;
}

static double pingpong_ask(void)
{
    int poll_it = size_text[0] == '-', fd = connection_open();
    size_t size = (size_t)abs(atoi(size_text));
    char *data = calloc(1, size);
    struct count count = {0};
    do {
        for (int i = 0; i < 64; i++)
            check(give(fd, data, size) && take(fd, data, size, poll_it), "exchange");
    } while (count_on(&count, 64));
    return count_rate(&count);
}

static void stream_serve(void)
{
    int fd = connection_accept();
    size_t size = (size_t)atoi(size_text);
    char *data = calloc(1, size);
    while (recv(fd, data, size, 0) > 0)
        ;
}

static double stream_ask(void)
{
    int fd = connection_open();
    size_t size = (size_t)atoi(size_text);
    char *data = calloc(1, size);
    struct count count = {0};
    do {
        for (int i = 0; i < 64; i++)
            check(give(fd, data, size), "send");
    } while (count_on(&count, 64 * (double)size / 1e6));
    return count_rate(&count);
}

/* --- many connections in an epoll set --- */

static int sockets[MOST], all, busy;

static void sizes_read(void)
{
    all = busy = atoi(size_text);
    if (strchr(size_text, ':'))
        busy = atoi(strchr(size_text, ':') + 1);
    check(all > 0 && all <= MOST && busy <= all, "connections");
}

static void set_add(int set, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    check(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

/* Answers until nothing is open any more. */
static void many_serve(void)
{
    struct epoll_event events[256];
    char data[REQUEST];
    int set = epoll_create1(0), open = 0;
    set_add(set, listener);
    for (int accepted = 0; accepted < all || open;) {
        int n = epoll_wait(set, events, 256, -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                set_add(set, connection_accept());
                accepted++;
                open++;
            } else if (!take(fd, data, REQUEST, 0) || !give(fd, data, REQUEST)) {
                close(fd);
                open--;
            }
        }
    }
}

static int many_open(void)
{
    char data[REQUEST] = "";
    int set = epoll_create1(0);
    for (int i = 0; i < all; i++) {
        set_add(set, sockets[i] = connection_open());
        for (int round = 0; round < WARM; round++)
            check(give(sockets[i], data, REQUEST) && take(sockets[i], data, REQUEST, 0), "exchange");
    }
    return set;
}

static double echo_ask(void)
{
    struct epoll_event events[256];
    char data[REQUEST] = "";
    struct count count = {0};
    int set = many_open(), n = 0;
    for (int i = 0; i < busy; i++)
        check(give(sockets[i * (all / busy)], data, REQUEST), "send");
    do {
        n = epoll_wait(set, events, 256, -1);
        for (int i = 0; i < n; i++)
            check(take(events[i].data.fd, data, REQUEST, 0) && give(events[i].data.fd, data, REQUEST), "exchange");
    } while (count_on(&count, n));
    return count_rate(&count);
}

static double processor_time(pid_t pid) /* microseconds */
{
    clockid_t clock;
    struct timespec time;
    check(clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &time) == 0, "clock of a process");
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double calm_cost(pid_t server)
{
    struct epoll_event event;
    struct timespec next;
    char data[REQUEST] = "";
    int set = many_open(), requests = (int)(seconds * 1000);
    double before = processor_time(getpid()) + processor_time(server);
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int i = 0; i < requests; i++) {
        next.tv_nsec += 1000000;
        if (next.tv_nsec >= 1000000000)
            next.tv_sec++, next.tv_nsec -= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        check(give(sockets[i % all], data, REQUEST) && epoll_wait(set, &event, 1, -1) == 1 &&
                  take(event.data.fd, data, REQUEST, 0),
              "exchange");
    }
    return (processor_time(getpid()) + processor_time(server) - before) / requests;
}

/* A number behind WORD in a file of /proc. */
static double number_of(pid_t pid, const char *file, const char *word)
{
    char path[64], line[256];
    double number = 0;
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    FILE *stream = fopen(path, "r");
    check(stream != NULL, path);
    while (fgets(line, sizeof(line), stream))
        if (strncmp(line, word, strlen(word)) == 0)
            number = strtod(line + strlen(word), NULL);
    fclose(stream);
    return number;
}

static double memory_of(pid_t pid)
{
    return number_of(pid, "smaps_rollup", "Pss:") + number_of(pid, "status", "VmPTE:");
}

static double wake_ups_of(pid_t pid) { return number_of(pid, "status", "voluntary_ctxt_switches:"); }

static double idle_cost(pid_t server)
{
    double before = memory_of(getpid()) + memory_of(server), wake_ups;
    (void)many_open();
    usleep(100000);
    wake_ups = wake_ups_of(server);
    usleep((useconds_t)(seconds * 1e6));
    check(wake_ups_of(server) == wake_ups, "the server wakes up");
    return (memory_of(getpid()) + memory_of(server) - before) / all;
}

/* --- connections that are not long enough, or whose peer is no program of ours --- */

static void short_serve(void)
{
    char data[REQUEST];
    for (;;) {
        int fd = connection_accept();
        while (take(fd, data, REQUEST, 0) && give(fd, data, REQUEST))
            ;
        close(fd);
    }
}

static double short_ask(void)
{
    char data[REQUEST] = "";
    struct count count = {0};
    do {
        int fd = connection_open();
        for (int i = 0; i < atoi(size_text); i++)
            check(give(fd, data, REQUEST) && take(fd, data, REQUEST, 0), "exchange");
        close(fd);
    } while (count_on(&count, 1));
    return count_rate(&count);
}

static const struct {
    const char *name;
    void (*serve)(void);
    double (*ask)(void);
    double (*cost)(pid_t server);
    int apart; /* the server is another program */
} kinds[] = {
    {"pingpong", pingpong_serve, pingpong_ask, NULL, 0}, {"stream", stream_serve, stream_ask, NULL, 0},
    {"echo", many_serve, echo_ask, NULL, 0},             {"calm", many_serve, NULL, calm_cost, 0},
    {"idle", many_serve, NULL, idle_cost, 0},            {"short", short_serve, short_ask, NULL, 1},
    {"long", pingpong_serve, pingpong_ask, NULL, 1},
};

static void listen_there(void)
{
    name.ss_family = tcp ? AF_INET : AF_UNIX;
    name_length = tcp ? sizeof(struct sockaddr_in) : sizeof(sa_family_t);
    if (tcp)
        ((struct sockaddr_in *)&name)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(name.ss_family, SOCK_STREAM, 0);
    check(bind(listener, (struct sockaddr *)&name, name_length) == 0 && listen(listener, 1000) == 0, "listen");
    name_length = sizeof(name);
    getsockname(listener, (struct sockaddr *)&name, &name_length);
}

int main(int argc, char **argv)
{
    size_t i = 0;
    while (argc >= 5 && i < sizeof(kinds) / sizeof(kinds[0]) && strcmp(argv[2], kinds[i].name) != 0)
        i++;
    if (argc < 5 || i == sizeof(kinds) / sizeof(kinds[0]))
        return 2;
    family = argv[1], kind = argv[2], size_text = argv[3], seconds = atof(argv[4]);
    tcp = strcmp(family, "tcp") == 0;
    if (kinds[i].serve == many_serve)
        sizes_read();
    if (argc == 6) { /* the server, by exec */
        listener = atoi(argv[5]);
        kinds[i].serve();
        return 0;
    }
    struct rlimit limit = {MOST * 3, MOST * 3};
    if (kinds[i].serve == many_serve)
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    listen_there();
    pid_t server = fork();
    if (server == 0) {
        char text[20];
        snprintf(text, sizeof(text), "%d", listener);
        if (kinds[i].apart) {
            unsetenv("LD_PRELOAD");
            execl("/proc/self/exe", argv[0], family, kind, size_text, argv[4], text, (char *)NULL);
            _exit(1);
        }
        kinds[i].serve();
        _exit(0);
    }
    close(listener);
    printf("%.3f\n", kinds[i].cost ? kinds[i].cost(server) : kinds[i].ask());
    fflush(stdout);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    return 0;
}
