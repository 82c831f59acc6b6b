/* Whether a connection goes by TCP or by memory, as the kernel's counts say. For tests of src/sock; the other end serves. */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ASKED = 30, SIZE = 1000 };

/* One asks with a byte, the other answers with many. */
static void serve(int fd)
{
    char answer[SIZE] = "";
    char byte;
    while (read(fd, &byte, 1) == 1)
        if (write(fd, answer, SIZE) != SIZE)
            _exit(8);
}

static unsigned long long received(int fd)
{
    struct tcp_info info = {0};
    socklen_t length = sizeof(info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0)
        exit(3);
    return info.tcpi_bytes_received;
}

static const char *way(int fd)
{
    char answer[SIZE];
    unsigned long long before = 0;
    for (int i = 0; i < ASKED; i++) {
        before = received(fd);
        if (write(fd, "?", 1) != 1 || recv(fd, answer, SIZE, MSG_WAITALL) != SIZE)
            exit(4);
    }
    return received(fd) - before >= SIZE ? "TCP" : "memory"; /* of the last answer */
}
