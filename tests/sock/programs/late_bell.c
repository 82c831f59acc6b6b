/* A process ends with a byte unread that lies in shared memory already, before the bell of that byte is sent: the sender
 * stops at that step until then. What the sender sees. For tests/sock/ends.sh, with the tests' build of the library and
 * without. */
#include "../lib/stops.h"

int main(void)
{
    struct sockaddr_in address;
    int listener = listener_make(&address), on[2];
    char byte = 0;
    alarm(20);
    if (pipe(on))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        close(listener);
        close(on[0]);
        int fd = connection_make(&address);
        talk(fd, 1);
        while (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1)
            ;
        _exit(0); /* and nobody has on[1] any more */
    }
    close(on[1]);
    int fd = accept(listener, NULL, NULL);
    close(listener);
    talk(fd, 0);
    if (dup2(on[0], GO_ON) < 0 || dup2(STDERR_FILENO, STOPPED) < 0 || setenv("SOCK_STEP", "published 0 wait", 1) ||
        send(fd, &byte, 1, 0) != 1 || waitpid(child, NULL, 0) != child)
        return 2;
    ssize_t n = recv(fd, &byte, 1, 0);
    printf("%s, ", n == 0 ? "end" : n < 0 ? strerror(errno) : "a byte");
    n = recv(fd, &byte, 1, 0);
    printf("then %s\n", n == 0 ? "end" : n < 0 ? strerror(errno) : "a byte");
    int error;
    socklen_t length = sizeof(error);
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) || error;
}
