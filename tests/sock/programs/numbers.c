/* How many descriptors a program gets that fills its table, with a connection open whose bytes it has moved; knows nothing
 * of Viaduct.
 *   numbers [lower]     lower: it sets a limit of 40 when the connection is there
 * Prints how many there are in all, the highest number, and what is left when all from 3 on have been closed one by one. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Numbers that are in use, ours or not, are none that the program gets. */
static void fill(const char *when, int had)
{
    int count = had, highest = 0, fd;
    while ((fd = dup(0)) >= 0) {
        count++;
        highest = fd > highest ? fd : highest;
    }
    printf("%s%d descriptors, the last %d", when, errno == EMFILE ? count : -1, highest);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    struct rlimit limit;
    int listener = socket(AF_INET, SOCK_STREAM, 0), caller = socket(AF_INET, SOCK_STREAM, 0);
    char byte = 0;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4) ||
        getsockname(listener, (struct sockaddr *)&address, &length) ||
        connect(caller, (struct sockaddr *)&address, length))
        return 2;
    int fd = accept(listener, NULL, NULL);
    for (int i = 0; i < 200; i++)
        if (write(i % 2 ? fd : caller, &byte, 1) != 1 || read(i % 2 ? caller : fd, &byte, 1) != 1)
            return 3;
    for (int i = 3; i < 64; i++) /* what the caller has left open */
        if (i != fd && i != caller && i != listener)
            close(i);
    getrlimit(RLIMIT_NOFILE, &limit);
    if (argc > 1 && strcmp(argv[1], "lower") == 0) {
        limit.rlim_cur = 40;
        if (setrlimit(RLIMIT_NOFILE, &limit))
            return 4;
    }
    fill("", 6);
    for (int i = 3; i < (int)limit.rlim_cur; i++)
        close(i);
    fill(", then ", 3);
    printf("\n");
    return 0;
}
