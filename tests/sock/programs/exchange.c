/* A server that answers each request of 64 bytes with 64 bytes, and its client.
 *   exchange serve        prints its port, serves one connection, ends
 *   exchange call PORT N  N exchanges between two calls of getppid, which mark them in a trace */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE = 64 };

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
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
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

static int call(int port, int rounds)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
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
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "call") == 0)
        return call(atoi(argv[2]), atoi(argv[3]));
    return argc == 2 && strcmp(argv[1], "serve") == 0 ? serve() : 2;
}
