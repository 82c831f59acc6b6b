/* A listener on this host, at a port that the kernel chooses. For programs of tests/sock. */
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

static int listener_make(struct sockaddr_in *address)
{
    socklen_t length = sizeof(*address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)address, length) || listen(listener, 4) ||
        getsockname(listener, (struct sockaddr *)address, &length))
        exit(2);
    return listener;
}
