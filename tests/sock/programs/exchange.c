/* A server that answers each request of 64 bytes with 64 bytes, and its client.
 *   exchange serve        prints its port, serves one connection, ends
 *   exchange call [ADDRESS:]PORT N [hold]  N exchanges between two calls of
 *                         getppid, which mark them in a trace; then, to hold the
 *                         connection, it waits for the end of its input
 *   exchange self N       both ends in one thread, each with an epoll set of its own; the marks are around the last N,
 *                         in which nothing may be allocated, by whatever library
 *   exchange pair N       two processes that wait for each other
 *   exchange turns N      the same, told by pipes (100 to 103) when it is their turn, so that what they read is there; the marks
 *                         are around the last N
 *   exchange stream N     one writes 16 KiB N times, the other one reads; prints how many bytes the kernel has sent for that,
 *                         and milliseconds */
#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 64 };

/* All allocations of this process come by here. */
extern void *__libc_malloc(size_t size), *__libc_calloc(size_t count, size_t size), *__libc_realloc(void *old, size_t size);
static unsigned long allocations;
void *malloc(size_t size) { return allocations++, __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return allocations++, __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return allocations++, __libc_realloc(old, size); }

static int whole(int fd, char *data, int write_it)
{
    for (int done = 0; done < SIZE;) {
        ssize_t n = write_it ? write(fd, data + done, (size_t)(SIZE - done)) : read(fd, data + done, (size_t)(SIZE - done));
        if (n <= 0)
            return 0;
        done += (int)n;
    }
    return 1;
}

static int serve(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof(address);
    char data[SIZE];
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    int fd = accept(listener, NULL, NULL);
    while (whole(fd, data, 0) && whole(fd, data, 1))
        ;
    return 0;
}

static int call(char *where, int rounds, int hold)
{
    char *colon = strchr(where, ':'), *port = colon ? colon + 1 : where;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)atoi(port))};
    if (colon) {
        *colon = '\0';
        inet_pton(AF_INET, where, &address.sin_addr);
    }
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char data[SIZE], expected[SIZE];
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
        return 1;
    getppid();
    for (int i = 0; i < rounds; i++) {
        memset(expected, i, SIZE);
        memcpy(data, expected, SIZE);
        if (!whole(fd, data, 1) || !whole(fd, data, 0) || memcmp(data, expected, SIZE) != 0)
            return 1;
    }
    getppid();
    while (hold && getchar() != EOF)
        ;
    return 0;
}

static int wait_and_read(int set, int fd, char *data)
{
    struct epoll_event event;
    return epoll_wait(set, &event, 1, 5000) == 1 && event.data.fd == fd && read(fd, data, SIZE) == SIZE;
}

static int self(int rounds)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    char data[SIZE] = "";
    unsigned long before = 0;
    int ends[2], sets[2], listener = socket(AF_INET, SOCK_STREAM, 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4) ||
        getsockname(listener, (struct sockaddr *)&address, &length) ||
        connect(ends[0], (struct sockaddr *)&address, length) || (ends[1] = accept(listener, NULL, NULL)) < 0)
        return 1;
    for (int i = 0; i < 2; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = ends[i]};
        sets[i] = epoll_create1(0);
        epoll_ctl(sets[i], EPOLL_CTL_ADD, ends[i], &event);
    }
    for (int i = -2000; i < rounds; i++) {
        if (i == 0) {
            before = allocations;
            getppid();
        }
        if (write(ends[0], data, SIZE) != SIZE || !wait_and_read(sets[1], ends[1], data) ||
            write(ends[1], data, SIZE) != SIZE || !wait_and_read(sets[0], ends[0], data))
            return 1;
    }
    getppid();
    if (allocations == before)
        return 0;
    fprintf(stderr, "%lu allocations in %d exchanges\n", allocations - before, rounds);
    return 1;
}

/* Two ends in two processes: true in the one that accepted. */
static int pair_make(int *fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        exit(1);
    if (fork() == 0) {
        *fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(*fd, (struct sockaddr *)&address, length))
            _exit(1);
        return 0;
    }
    *fd = accept(listener, NULL, NULL);
    return 1;
}

static int pair(int rounds)
{
    char data[SIZE] = "";
    int fd;
    if (!pair_make(&fd)) {
        while (whole(fd, data, 0) && whole(fd, data, 1))
            ;
        _exit(0);
    }
    for (int i = 0; i < rounds; i++)
        if (!whole(fd, data, 1) || !whole(fd, data, 0))
            return 1;
    return 0;
}

static int turns(int rounds)
{
    enum { WARM = 100, LEARNS = 50 }; /* before they wait for turns, and since then */
    char data[SIZE] = "", turn = 0;
    int to[2], from[2], fd;
    if (pipe(to) || pipe(from) || dup2(to[0], 100) < 0 || dup2(to[1], 101) < 0 || dup2(from[0], 102) < 0 || dup2(from[1], 103) < 0)
        return 2;
    int first = pair_make(&fd), in = first ? 102 : 100, out = first ? 101 : 103;
    for (int i = -WARM - LEARNS; i < rounds; i++) {
        if (first && i == 0)
            getppid();
        if (first && (!whole(fd, data, 1) || (i >= -LEARNS && write(out, &turn, 1) != 1)))
            return 1;
        if ((i >= -LEARNS && read(in, &turn, 1) != 1) || !whole(fd, data, 0))
            return 1;
        if (!first && (!whole(fd, data, 1) || (i >= -LEARNS && write(out, &turn, 1) != 1)))
            return 1;
    }
    if (first)
        getppid();
    /* the other one ends only now, so that its end is not among what was marked */
    return first ? write(out, &turn, 1) != 1 : read(in, &turn, 1) != 1;
}

static unsigned long long kernel_sent(int fd)
{
    struct tcp_info info;
    socklen_t length = sizeof(info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 ? info.tcpi_bytes_sent : 0;
}

/* The one that reads never writes: it has not told where it can be woken, and is woken by a byte of TCP. */
static int stream(int rounds)
{
    static char data[16384];
    unsigned long long before = 0, now;
    int fd;
    if (!pair_make(&fd)) {
        while (read(fd, data, sizeof(data)) > 0)
            ;
        _exit(0);
    }
    for (int moved = 0; moved < 20; before = now) {
        if (!whole(fd, data, 1) || usleep(1000))
            return 1;
        now = kernel_sent(fd);
        moved = now - before < SIZE ? moved + 1 : 0;
    }
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < rounds; i++)
        if (write(fd, data, sizeof(data)) != sizeof(data))
            return 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%llu %ld\n", kernel_sent(fd) - before,
           (end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "self") == 0)
        return self(atoi(argv[2]));
    if (argc == 3 && strcmp(argv[1], "pair") == 0)
        return pair(atoi(argv[2]));
    if (argc == 3 && strcmp(argv[1], "turns") == 0)
        return turns(atoi(argv[2]));
    if (argc == 3 && strcmp(argv[1], "stream") == 0)
        return stream(atoi(argv[2]));
    if (argc >= 4 && strcmp(argv[1], "call") == 0)
        return call(argv[2], atoi(argv[3]), argc > 4);
    return argc == 2 && strcmp(argv[1], "serve") == 0 ? serve() : 2;
}
