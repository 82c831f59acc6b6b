/* A byte comes while the other end looks for one with MSG_PEEK, and has found nothing yet: the look takes nothing. For
 * tests/sock/ends.sh, with the tests' build of the library, where the look stops at a step, and without. */
#include "../lib/stops.h"

int main(void)
{
    struct sockaddr_in address;
    int listener = listener_make(&address), stopped[2], on[2], status;
    char byte = 'a';
    alarm(20);
    if (pipe(stopped) || pipe(on))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        int fd = connection_make(&address);
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
    ssize_t stops = read(stopped[0], &byte, 1);
    if (stops < 0)
        return 2;
    byte = 'b';
    if (send(fd, &byte, 1, 0) != 1 || close(on[0]) || close(on[1]) || shutdown(fd, SHUT_WR))
        return 2;
    if (waitpid(child, &status, 0) != child)
        return 2;
    printf("%s, %s\n", stops ? "the look stopped" : "nothing stopped",
           WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "the byte is there" : "the byte is gone");
    return 0;
}
