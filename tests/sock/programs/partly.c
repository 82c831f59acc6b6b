/* Two bytes are in shared memory before their bell is sent, and the reader has taken one of them: it is told of the other
 * one, also where it waits by a system call that the library does not see. For tests/sock/ends.sh, with the tests' build of
 * the library, where the writer stops at that step, and without. */
#include "../lib/stops.h"
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

int main(void)
{
    struct sockaddr_in address;
    int listener = listener_make(&address), on[2], status;
    char bytes[2] = {0};
    alarm(20);
    if (pipe(on))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        close(listener);
        close(on[0]);
        int fd = connection_make(&address);
        struct pollfd wanted = {fd, POLLIN, 0};
        struct timespec patience = {5, 0};
        talk(fd, 1);
        if (recv(fd, bytes, 1, MSG_DONTWAIT) != -1 || send(fd, bytes, 1, 0) != 1) /* no older bell is there */
            _exit(2);
        while (recv(fd, bytes, 1, MSG_DONTWAIT) != 1)
            ;
        close(on[1]);
        _exit(syscall(SYS_ppoll, &wanted, 1L, &patience, NULL, 0L) == 1 && recv(fd, bytes, 1, MSG_DONTWAIT) == 1 ? 0 : 1);
    }
    close(on[1]);
    int fd = accept(listener, NULL, NULL);
    talk(fd, 0);
    if (recv(fd, bytes, 1, 0) != 1 || dup2(on[0], GO_ON) < 0 || dup2(STDERR_FILENO, STOPPED) < 0 ||
        setenv("SOCK_STEP", "published 0 wait", 1) || send(fd, bytes, sizeof(bytes), 0) != sizeof(bytes) ||
        waitpid(child, &status, 0) != child)
        return 2;
    printf("%s\n", WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "told" : "not told");
    return 0;
}
