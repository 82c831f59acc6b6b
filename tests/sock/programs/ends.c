/* A process ends with a connection open, in states of its two directions: what the other end sees. Knows nothing of
 * Viaduct but that a send with MSG_ZEROCOPY, which is nothing without its option, makes its direction
 * go back to TCP. Prints a line for each state and way to end, the same with the library and without. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEW = 100, SIZE = 1 << 16 };
static const char *const ways[] = {"exit", "_exit", "exit_group", "quick_exit", "kill", "exec", "close"};
static const char *const states[] = {"both", "out by TCP", "in by TCP", "none", "in never"};
enum { WAYS = sizeof(ways) / sizeof(ways[0]), STATES = sizeof(states) / sizeof(states[0]) };

static void must(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s: %m\n", what);
    _exit(1);
}

static void put(int fd, char byte, int flags) { must(send(fd, &byte, 1, flags) == 1, "send"); }
static char get(int fd)
{
    char byte = 0;
    must(recv(fd, &byte, 1, 0) == 1, "recv");
    return byte;
}

/* The end that stays is 0. */
static void talk(int fd, int end, int state)
{
    for (int i = 0; i < 100; i++)
        if (state < 4 || i <= 6 || i % 2 != 0) /* from then on one end says nothing */
            i % 2 == end ? put(fd, 0, 0) : (void)get(fd);
    if ((state == 1 || state == 3) && end == 1)
        put(fd, 0, MSG_ZEROCOPY);
    if ((state == 1 || state == 3) && end == 0)
        (void)get(fd);
    if ((state == 2 || state == 3) && end == 0)
        put(fd, 0, MSG_ZEROCOPY);
    if ((state == 2 || state == 3) && end == 1)
        (void)get(fd);
}

static void leave(int fd, int way)
{
    if (way == 0)
        exit(0);
    else if (way == 1)
        _exit(0);
    else if (way == 2)
        syscall(SYS_exit_group, 0);
    else if (way == 3)
        quick_exit(0);
    else if (way == 4)
        kill(getpid(), SIGKILL);
    else if (way == 5)
        execl("/bin/true", "true", NULL);
    close(fd);
    exit(0);
}

static unsigned char pattern(size_t at) { return (unsigned char)(at * 2654435761u >> 13); }

/* Tells how many bytes it has sent. */
static void goes(int fd, int told, int way, int full)
{
    static unsigned char data[SIZE];
    size_t sent = 0;
    for (;;) {
        size_t size = full ? SIZE : FEW;
        for (size_t i = 0; i < size; i++)
            data[i] = pattern(sent + i);
        ssize_t n = send(fd, data, size, MSG_DONTWAIT);
        if (n < 0)
            break;
        sent += (size_t)n;
        if (!full)
            break;
    }
    must(write(told, &sent, sizeof(sent)) == sizeof(sent), "told");
    leave(fd, way);
}

static void one(const struct sockaddr_in *address, int listener, int state, int way, int full, int unread)
{
    int pipes[2], status;
    static unsigned char data[SIZE];
    must(pipe(pipes) == 0, "pipe");
    pid_t child = fork();
    if (child == 0) {
        int fd = socket(AF_INET, SOCK_STREAM | (way == 5 ? SOCK_CLOEXEC : 0), 0);
        close(listener);
        close(pipes[0]);
        must(connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0, "connect");
        talk(fd, 1, state);
        put(fd, 0, 0);
        if (state != 4 && !unread)
            (void)get(fd);
        if (unread) {
            char byte;
            while (recv(fd, &byte, 1, MSG_PEEK) != 1)
                ;
        }
        goes(fd, pipes[1], way, full);
    }
    close(pipes[1]);
    int fd = accept(listener, NULL, NULL);
    must(fd >= 0, "accept");
    talk(fd, 0, state);
    (void)get(fd);
    if (state != 4 || unread)
        put(fd, 0, 0);
    size_t sent = 0, got = 0;
    must(read(pipes[0], &sent, sizeof(sent)) == sizeof(sent), "told");
    close(pipes[0]);
    must(waitpid(child, &status, 0) == child, "wait");
    ssize_t n;
    while ((n = recv(fd, data, SIZE, 0)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            must(data[i] == pattern(got + (size_t)i), "wrong byte");
        got += (size_t)n;
    }
    int why = errno;
    printf("%s, %s, %s, %s: %s bytes, %s\n", states[state], ways[way], full ? "full" : "few",
           unread ? "unread" : "read",
           got == sent ? "all" : unread && full ? "all" : "missing", n == 0 ? "end" : strerror(why));
    close(fd);
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    setvbuf(stdout, NULL, _IONBF, 0);
    alarm(60);
    must(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 4) == 0 &&
             getsockname(listener, (struct sockaddr *)&address, &length) == 0, "listen");
    for (int state = 0; state < STATES; state++)
        for (int way = 0; way < WAYS; way++)
            for (int full = 0; full < 2; full++)
                for (int unread = 0; unread < 2; unread++)
                    one(&address, listener, state, way, full, unread);
    return 0;
}
