/* A byte comes while the other end looks for one with MSG_PEEK, and has found nothing yet: the look takes nothing. For
 * tests/sock/ends.sh, with the tests' build of the library, where the look stops at a step, and without. */
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
    int listener = socket(AF_INET, SOCK_STREAM, 0), stopped[2], on[2], status;
    char byte = 'a';
    alarm(20);
    if (pipe(stopped) || pipe(on) || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&address, length))
            _exit(2);
        talk(fd, 1);
        if (dup2(on[0], GO_ON) < 0 || dup2(stopped[1], STOPPED) < 0 || close(on[1]) || close(stopped[1]) ||
            setenv("SOCK_STEP", "peeked 0 wait", 1))
            _exit(2);
        ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN)
            _exit(2);
        setenv("SOCK_STEP", "", 1);
        close(STOPPED); /* where nothing stops */
        n = recv(fd, &byte, 1, 0);
        _exit(n == 1 && byte == 'b' ? 0 : 1);
    }
    close(stopped[1]);
    int fd = accept(listener, NULL, NULL);
    talk(fd, 0);
    if (read(stopped[0], &byte, 1) < 0)
        return 2;
    byte = 'b';
    if (send(fd, &byte, 1, 0) != 1 || close(on[0]) || close(on[1]) || shutdown(fd, SHUT_WR))
        return 2;
    if (waitpid(child, &status, 0) != child)
        return 2;
    printf("%s\n", WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "the byte is there" : "the byte is gone");
    return 0;
}
