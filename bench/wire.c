/* What a TCP connection gives without any library: the floor of the figures over the network. Run by bench/compare.
 *
 *   wire listen ADDRESS PORT                 the other end
 *   wire call ADDRESS PORT FIGURE SIZE...    "latency 8", "bandwidth8 1048576" ...; as bench/point.c counts them
 *
 * It waits as a library does that has nothing else to do: it asks the socket again and again. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5
#define PIECE  (512u << 10)

struct order { /* what the other end is to do */
    unsigned long size, window, repeats;
};
static int fd;
static char *buffer;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void stop(const char *what)
{
    perror(what);
    exit(1);
}

/* In pieces of the size that was best over veth; over loopback more at once is no better. */
static void give(const void *from, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t piece = size - at < PIECE ? size - at : PIECE;
        ssize_t n = send(fd, (const char *)from + at, piece, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            stop("send");
        at += n > 0 ? (size_t)n : 0;
    }
}

static void take(void *to, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = recv(fd, (char *)to + at, size - at, MSG_DONTWAIT);
        if (n == 0)
            exit(0);
        if (n < 0 && errno != EAGAIN)
            stop("recv");
        at += n > 0 ? (size_t)n : 0;
    }
}

static void obey(void)
{
    for (;;) {
        struct order order;
        take(&order, sizeof order);
        for (unsigned long i = 0; i < order.repeats; i++) {
            for (unsigned long w = 0; w < (order.window ? order.window : 1); w++)
                take(buffer, order.size);
            give(buffer, order.window ? 1 : order.size);
        }
    }
}

/* A window of 0: there and back. */
static double spend(size_t size, size_t window, size_t repeats)
{
    struct order order = {size, window, repeats};
    give(&order, sizeof order);
    double start = now();
    for (size_t i = 0; i < repeats; i++) {
        for (size_t w = 0; w < (window ? window : 1); w++)
            give(buffer, size);
        take(buffer, window ? 1 : size);
    }
    return now() - start;
}

static double measure(const char *figure, size_t size)
{
    size_t window = strcmp(figure, "latency") == 0 ? 0 : (size_t)atoi(figure + strlen("bandwidth"));
    size_t most = window ? 400 : 20000, repeats = (size_t)(80e6 / (double)(size * (window ? window : 1)));
    repeats = repeats > most ? most : repeats < 10 ? 10 : repeats;
    spend(size, window, repeats / 10 + 1);
    double time = spend(size, window, repeats);
    return window ? (double)(size * window * repeats) / time / 1e9 : time / (double)repeats / 2 * 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void reach(const char *what, const char *address, const char *port)
{
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int on = 1, calls = strcmp(what, "call") == 0, s = socket(AF_INET, SOCK_STREAM, 0);
    inet_pton(AF_INET, address, &where.sin_addr);
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    for (int i = 0; calls && connect(s, (struct sockaddr *)&where, sizeof where) < 0; i++) {
        if (i == 500)
            stop("connect");
        usleep(10000);
        close(s);
        s = socket(AF_INET, SOCK_STREAM, 0);
    }
    if (!calls && (bind(s, (struct sockaddr *)&where, sizeof where) < 0 || listen(s, 1) < 0))
        stop("listen");
    fd = calls ? s : accept(s, NULL, NULL);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: wire listen ADDRESS PORT | wire call ADDRESS PORT FIGURE SIZE...\n");
        return 2;
    }
    buffer = aligned_alloc(4096, 16 << 20);
    memset(buffer, 1, 16 << 20);
    reach(argv[1], argv[2], argv[3]);
    if (strcmp(argv[1], "listen") == 0)
        obey();
    for (int a = 5; a < argc; a++) {
        size_t size = strtoul(argv[a], NULL, 0);
        double value[ROUNDS];
        for (int r = 0; r < ROUNDS; r++)
            value[r] = measure(argv[4], size);
        qsort(value, ROUNDS, sizeof value[0], by_value);
        printf("%s %zu %.4f %s\n", argv[4], size, value[ROUNDS / 2], argv[4][0] == 'l' ? "us" : "GB/s");
    }
    return 0;
}
