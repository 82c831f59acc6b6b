/* Three connections in one epoll set, both ends here. Bytes are sent to them in an order that changes while nothing
 * waits; says how often epoll_wait tells of them in another order. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 3, WARM = 200, ROUNDS = 300 };

static int out[CONNECTIONS], in[CONNECTIONS], set;

static void expect(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

static void take(int i)
{
    char data[8];
    expect(read(in[i], data, sizeof(data)) == 1, "read");
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event got[CONNECTIONS];
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0), others = 0;
    expect(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 8) == 0 &&
               getsockname(listener, (struct sockaddr *)&address, &length) == 0, "listener");
    set = epoll_create1(0);
    for (int i = 0; i < CONNECTIONS; i++) {
        out[i] = socket(AF_INET, SOCK_STREAM, 0);
        expect(connect(out[i], (struct sockaddr *)&address, length) == 0, "connect");
        in[i] = accept(listener, NULL, NULL);
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        expect(in[i] >= 0 && epoll_ctl(set, EPOLL_CTL_ADD, in[i], &event) == 0, "accept");
    }
    for (int k = 0; k < WARM; k++)
        for (int i = 0; i < CONNECTIONS; i++) {
            expect(write(out[i], "a", 1) == 1 && epoll_wait(set, got, CONNECTIONS, 5000) == 1, "write");
            take(i);
            expect(write(in[i], "b", 1) == 1 && read(out[i], &(char){0}, 1) == 1, "answer");
        }
    for (int round = 0; round < ROUNDS; round++) {
        int step = 1 + round % 2, wrong = 0;
        expect(epoll_wait(set, got, CONNECTIONS, 0) == 0, "nothing is there");
        for (int k = 0; k < CONNECTIONS; k++)
            expect(write(out[(round + k * step) % CONNECTIONS], "a", 1) == 1, "write");
        expect(epoll_wait(set, got, CONNECTIONS, 0) == CONNECTIONS, "all are there");
        for (int k = 0; k < CONNECTIONS; k++) {
            wrong |= got[k].data.u32 != (uint32_t)((round + k * step) % CONNECTIONS);
            take(k);
        }
        others += wrong;
    }
    printf("%d in another order\n", others);
    return others > 0;
}
