/* A process ends with a byte unread that lies in shared memory already, before the bell of that byte is sent: the sender
 * stops at that step until then. What the sender sees. For tests/sock/ends.sh, with the tests' build of the library and
 * without. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 100, STOPPED = 99, GO_ON = 98 };

static void talk(int fd, int end)
{
    char byte = 0;
    for (int i = 0; i < ROUNDS; i++)
        if (i % 2 == end ? send(fd, &byte, 1, 0) != 1 : recv(fd, &byte, 1, 0) != 1)
            exit(2);
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0), on[2];
    char byte = 0;
    alarm(20);
    if (pipe(on) || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        close(listener);
        close(on[0]);
        if (connect(fd, (struct sockaddr *)&address, length))
            _exit(2);
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
    printf("%s, then %s\n", n == 0 ? "end" : n < 0 ? strerror(errno) : "a byte",
           recv(fd, &byte, 1, 0) == 0 ? "end" : strerror(errno));
    length = sizeof(errno);
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &errno, &length) || errno;
}
