/* Many connections at once, of which this process has both ends: rounds of a byte on each, there and back.
 *   many CONNECTIONS ROUNDS */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "%d: %s\n", __LINE__, #what);                                                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void byte_move(int from, int to, char byte)
{
    char got;
    CHECK(write(from, &byte, 1) == 1);
    CHECK(read(to, &got, 1) == 1 && got == byte);
}

int main(int argc, char **argv)
{
    enum { MOST = 200 };
    int count = argc > 2 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 0;
    int fd[MOST][2], listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    CHECK(count > 0 && count <= MOST);
    CHECK(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, count) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    for (int i = 0; i < count; i++) {
        fd[i][0] = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(connect(fd[i][0], (struct sockaddr *)&address, length) == 0);
        fd[i][1] = accept(listener, NULL, NULL);
        CHECK(fd[i][1] >= 0);
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < count; i++) {
            byte_move(fd[i][0], fd[i][1], (char)round);
            byte_move(fd[i][1], fd[i][0], (char)i);
        }
    return 0;
}
