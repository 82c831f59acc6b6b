/* A process ends with a byte unread that lies in shared memory already, before the bell of that byte is sent: the sender
 * stops at that step until then. What the sender sees. For tests/sock/ends.sh, with the tests' build of the library and
 * without. */
#include "../lib/stops.h"

/* Nobody has ON any more when the process has ended. */
static int sees_and_ends(int fd, int on)
{
    char byte;
    (void)on;
    while (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1)
        ;
    return 0;
}

int main(void)
{
    int fd;
    char byte = 0;
    alarm(20);
    pid_t child = stop_before_bell(sees_and_ends, &fd);
    if (setenv("SOCK_STEP", "published 0 wait", 1) || send(fd, &byte, 1, 0) != 1 || waitpid(child, NULL, 0) != child)
        return 2;
    ssize_t n = recv(fd, &byte, 1, 0);
    printf("%s, ", n == 0 ? "end" : n < 0 ? strerror(errno) : "a byte");
    n = recv(fd, &byte, 1, 0);
    printf("then %s\n", n == 0 ? "end" : n < 0 ? strerror(errno) : "a byte");
    int error;
    socklen_t length = sizeof(error);
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) || error;
}
