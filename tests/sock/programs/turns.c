/* A joined connection that is always readable, and beside it in an epoll set a pipe, a connection that stays TCP, or one
 * that is joined and ends: says how often each is told of in CALLS calls of epoll_wait, with room for one event and for
 * more, where calls follow at once and where there is work between. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WARM = 50, CALLS = 64, ROOM = 4 };

static void expect(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

static int listener;
static struct sockaddr_in address = {.sin_family = AF_INET};
static socklen_t length = sizeof(address);

static void connection(int end[2], int stays)
{
    const int on = 1;
    end[0] = socket(AF_INET, SOCK_STREAM, 0);
    expect(!stays || setsockopt(end[0], SOL_SOCKET, SO_TIMESTAMP, &on, sizeof(on)) == 0, "SO_TIMESTAMP");
    expect(connect(end[0], (struct sockaddr *)&address, length) == 0, "connect");
    end[1] = accept(listener, NULL, NULL);
    expect(end[1] >= 0 && (!stays || setsockopt(end[1], SOL_SOCKET, SO_TIMESTAMP, &on, sizeof(on)) == 0), "accept");
}

static void set_add(int set, int fd, uint32_t datum)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = datum};
    expect(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

static void warm(int set, const int end[2])
{
    struct epoll_event event;
    for (int k = 0; k < WARM; k++) {
        expect(write(end[0], "a", 1) == 1 && epoll_wait(set, &event, 1, 5000) == 1 && read(end[1], &(char){0}, 1) == 1,
               "warm");
        expect(write(end[1], "b", 1) == 1 && read(end[0], &(char){0}, 1) == 1, "answer");
    }
}

static void told(const char *what, int set, int room, long work)
{
    int times[2] = {0, 0};
    for (int k = 0; k < CALLS; k++) {
        struct epoll_event got[ROOM];
        int n = epoll_wait(set, got, room, 5000);
        expect(n > 0 && n <= room, "epoll_wait");
        for (int i = 0; i < n; i++)
            times[got[i].data.u32]++;
        if (work)
            nanosleep(&(struct timespec){0, work}, NULL);
    }
    printf("%s room %d work %ld: %d %d\n", what, room, work, times[0], times[1]);
}

static void told_all(const char *what, int set)
{
    told(what, set, 1, 0);
    told(what, set, 1, 100000);
    told(what, set, ROOM, 0);
    told(what, set, ROOM, 100000);
}

int main(void)
{
    int busy[2], other[2], sets[3];
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    expect(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 8) == 0 &&
               getsockname(listener, (struct sockaddr *)&address, &length) == 0, "listener");
    for (int kind = 0; kind < 3; kind++) {
        static const char *const name[] = {"pipe", "tcp", "end"};
        sets[kind] = epoll_create1(0);
        connection(busy, 0);
        set_add(sets[kind], busy[1], 0);
        warm(sets[kind], busy);
        if (kind == 0)
            expect(pipe(&other[0]) == 0 && write(other[1], "a", 1) == 1, "pipe");
        else
            connection(other, kind == 1);
        set_add(sets[kind], other[kind != 0], 1);
        if (kind > 0)
            warm(sets[kind], other);
        expect(write(busy[0], "a", 1) == 1, "busy");
        if (kind == 1)
            expect(write(other[0], "a", 1) == 1, "both");
        else if (kind == 2)
            expect(close(other[0]) == 0, "close");
        told_all(name[kind], sets[kind]);
    }
    return 0;
}
