/* Two bytes are in shared memory before their bell is sent, and the reader has taken one of them: it is told of the
 * other one, also where it waits by a system call that the library does not see. For tests/sock/ends.sh, with the
 * tests' build of the library, where the writer stops at that step, and without. */
#include "../lib/stops.h"
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

static int takes_one(int fd, int on)
{
    struct pollfd wanted = {fd, POLLIN, 0};
    struct timespec patience = {5, 0};
    char byte = 0;
    if (recv(fd, &byte, 1, MSG_DONTWAIT) != -1 || send(fd, &byte, 1, 0) != 1) /* no older bell is there */
        return 2;
    while (recv(fd, &byte, 1, MSG_DONTWAIT) != 1)
        ;
    close(on);
    return syscall(SYS_ppoll, &wanted, 1L, &patience, NULL, 0L) != 1 || recv(fd, &byte, 1, MSG_DONTWAIT) != 1;
}

int main(void)
{
    int fd, status;
    char bytes[2] = {0};
    alarm(20);
    pid_t child = stop_before_bell(takes_one, &fd);
    if (recv(fd, bytes, 1, 0) != 1 || setenv("SOCK_STEP", "published 0 wait", 1) ||
        send(fd, bytes, sizeof(bytes), 0) != sizeof(bytes) || waitpid(child, &status, 0) != child)
        return 2;
    printf("%s\n", WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "told" : "not told");
    return 0;
}
