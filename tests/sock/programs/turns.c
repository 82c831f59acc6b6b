/* A joined connection and a pipe in one epoll set, both always readable: says how often each is told of in CALLS calls
 * of epoll_wait, with room for one event and for more, where calls follow at once and where there is work between. */
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

static void told(int set, int room, long work)
{
    int connection = 0, channel = 0;
    for (int k = 0; k < CALLS; k++) {
        struct epoll_event got[ROOM];
        int n = epoll_wait(set, got, room, 5000);
        expect(n > 0 && n <= room, "epoll_wait");
        for (int i = 0; i < n; i++)
            (*(got[i].data.u32 ? &channel : &connection))++;
        if (work)
            nanosleep(&(struct timespec){0, work}, NULL);
    }
    printf("room %d work %ld: connection %d pipe %d\n", room, work, connection, channel);
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0), out = socket(AF_INET, SOCK_STREAM, 0), pipes[2];
    expect(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 8) == 0 &&
               getsockname(listener, (struct sockaddr *)&address, &length) == 0, "listener");
    expect(connect(out, (struct sockaddr *)&address, length) == 0 && pipe(pipes) == 0, "connect");
    int in = accept(listener, NULL, NULL), set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 0}, other = {.events = EPOLLIN, .data.u32 = 1};
    expect(epoll_ctl(set, EPOLL_CTL_ADD, in, &event) == 0 && epoll_ctl(set, EPOLL_CTL_ADD, pipes[0], &other) == 0, "set");
    for (int k = 0; k < WARM; k++) {
        expect(write(out, "a", 1) == 1 && epoll_wait(set, &event, 1, 5000) == 1 && read(in, &(char){0}, 1) == 1, "warm");
        expect(write(in, "b", 1) == 1 && read(out, &(char){0}, 1) == 1, "answer");
    }
    expect(write(out, "a", 1) == 1 && write(pipes[1], "a", 1) == 1, "both");
    told(set, 1, 0);
    told(set, 1, 100000);
    told(set, ROOM, 0);
    told(set, ROOM, 100000);
    return 0;
}
