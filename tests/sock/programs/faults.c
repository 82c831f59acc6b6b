/* Two ends of a connection that answer each other, send much both ways at once, handle a signal once, and set an
 * option that shared memory cannot keep, or begin a program while bytes lie unread. At one step one of them is killed or
 * stopped, or finds no memory or descriptor any more: the other one sees what TCP would show, and nothing of ours is
 * left behind in it. For tests/sock/faults.sh.
 *   faults ACTION STEP...      prints a line for each step that nobody came by, or where something was wrong */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MUCH = 600000, UNREAD = 20000, LIMIT_MS = 5000, ROUNDS = 10 };
enum { FINE, CUT = 40, WRONG_BYTES, SILENT, LEFT_BEHIND, NO_CONNECTION }; /* CUT: the other end has gone */

static char *data;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static unsigned char pattern(int server, size_t at) { return (unsigned char)((at * 2654435761u + (size_t)server * 77) >> 13); }

/* Sends and receives so many bytes at once, in the order that poll says. */
static int move(int fd, int server, size_t *sent, size_t *got, size_t to_send, size_t to_get)
{
    size_t send_end = *sent + to_send, get_end = *got + to_get;
    while (*sent < send_end || *got < get_end) {
        struct pollfd one = {.fd = fd, .events = (short)((*sent < send_end ? POLLOUT : 0) | (*got < get_end ? POLLIN : 0))};
        int ready = poll(&one, 1, LIMIT_MS);
        if (ready <= 0)
            return SILENT;
        if (one.revents & (POLLIN | POLLHUP | POLLERR) && *got < get_end) {
            size_t size = get_end - *got;
            ssize_t seen = recv(fd, data, 1, MSG_DONTWAIT | MSG_PEEK);
            if (seen == 1 && (unsigned char)data[0] != pattern(!server, *got))
                return WRONG_BYTES;
            ssize_t n = seen < 0 && errno != EAGAIN ? seen : recv(fd, data, size < 50000 ? size : 50000, MSG_DONTWAIT);
            if (n == 0 || (n < 0 && (errno == ECONNRESET || errno == EPIPE)))
                return CUT;
            for (ssize_t i = 0; i < n; i++)
                if ((unsigned char)data[i] != pattern(!server, *got + (size_t)i))
                    return WRONG_BYTES;
            *got += n > 0 ? (size_t)n : 0;
        }
        if (one.revents & (POLLOUT | POLLHUP | POLLERR) && *sent < send_end) {
            size_t size = send_end - *sent < 70000 ? send_end - *sent : 70000;
            for (size_t i = 0; i < size; i++)
                data[i] = (char)pattern(server, *sent + i);
            ssize_t n = send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n < 0 && (errno == ECONNRESET || errno == EPIPE))
                return CUT;
            *sent += n > 0 ? (size_t)n : 0;
        }
    }
    return FINE;
}

/* The program does not touch the connection, which it has; the bytes are there afterwards. */
static void program_begins(int fd)
{
    char *words[] = {"true", NULL};
    extern char **environ;
    pid_t child;
    int bytes = 0;
    for (int i = 0; i < LIMIT_MS && bytes < UNREAD; i++) {
        ioctl(fd, FIONREAD, &bytes);
        usleep(1000);
    }
    posix_spawn_file_actions_t quiet; /* without descriptors it cannot begin, and says so there */
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&child, "/bin/true", &quiet, NULL, words, environ) == 0)
        waitpid(child, NULL, 0);
}

static void on_signal(int number) { (void)number; }
static void handle_once(void)
{
    struct sigaction once = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGUSR1, &once, NULL);
    raise(SIGUSR1);
}

static int talk(int fd, int server, int begins)
{
    size_t sent = 0, got = 0;
    int on = 1, result = FINE;
    for (int i = 0; result == FINE && i < 60; i++) /* one asks, the other answers */
        result = move(fd, server, &sent, &got, i % 2 == server, i % 2 != server);
    if (result == FINE)
        result = move(fd, server, &sent, &got, MUCH, MUCH);
    handle_once();
    for (int i = 0; result == FINE && i < 20; i++)
        result = move(fd, server, &sent, &got, i % 2 == server, i % 2 != server);
    if (!server)
        usleep(2000); /* nothing is under way */
    if (result == FINE && begins && !server)
        result = move(fd, server, &sent, &got, UNREAD, 0);
    if (result == FINE && begins && server) {
        program_begins(fd);
        result = move(fd, server, &sent, &got, 0, UNREAD);
    }
    if (result == FINE && server)
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof(on)); /* both directions go back to TCP */
    for (int i = 0; result == FINE && i < 20; i++)
        result = move(fd, server, &sent, &got, i % 2 == server, i % 2 != server);
    return result;
}

/* Nothing of a connection is mapped once it is closed. */
static int left_behind(void)
{
    char line[500];
    FILE *file = fopen("/proc/self/maps", "re");
    int found = 0;
    while (file && fgets(line, sizeof(line), file))
        found |= strstr(line, "memfd:viaduct-sock") != NULL;
    if (file)
        fclose(file);
    return found;
}

static void side(int server, int listener, const struct sockaddr_in *address, const char *fault, int begins)
{
    if (fault)
        setenv("SOCK_STEP", fault, 1);
    int fd = server ? accept(listener, NULL, NULL) : socket(AF_INET, SOCK_STREAM, 0);
    close(listener);
    if (fd < 0 || (!server && connect(fd, (const struct sockaddr *)address, sizeof(*address))))
        _exit(NO_CONNECTION);
    int result = talk(fd, server, begins);
    close(fd);
    _exit(!fault && left_behind() ? LEFT_BEHIND : result);
}

/* Waits for the child: its status, -1: it did not end in time. One that has stopped goes on after a while. */
static int ended(pid_t child, int *stopped)
{
    int status;
    for (double end = now() + 2 * LIMIT_MS / 1e3; now() < end; usleep(500)) {
        if (waitpid(child, &status, WNOHANG | WUNTRACED) != child)
            continue;
        if (!WIFSTOPPED(status))
            return status;
        ++*stopped;
        usleep(30000);
        kill(child, SIGCONT);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

/* True: the fault came to pass. */
static int try(const char *action, const char *step, int before, int server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0), ends[2], stopped = 0, kill_it = strcmp(action, "kill") == 0;
    char fault[100], mark;
    if (pipe(ends) || dup2(ends[1], 99) != 99 || bind(listener, (struct sockaddr *)&address, length) ||
        listen(listener, 4) || getsockname(listener, (struct sockaddr *)&address, &length))
        exit(2);
    snprintf(fault, sizeof(fault), "%s %d %s", step, before, action);
    pid_t child[2];
    for (int i = 0; i < 2; i++)
        if ((child[i] = fork()) == 0)
            side(i, listener, &address, i == server ? fault : NULL, strncmp(step, "rest_", 5) == 0);
    close(listener);
    close(99);
    close(ends[1]);
    int victim = ended(child[server], &stopped), other = ended(child[!server], &stopped);
    int happened = read(ends[0], &mark, 1) == 1;
    close(ends[0]);
    int killed = happened && kill_it;
    int victim_fine = killed ? WIFSIGNALED(victim) && WTERMSIG(victim) == SIGKILL : victim == 0;
    /* who is killed when it has nothing more to say was not cut off */
    int other_fine = other >= 0 && WIFEXITED(other) && (WEXITSTATUS(other) == FINE || (killed && WEXITSTATUS(other) == CUT));
    if (!victim_fine || !other_fine || (happened && strcmp(action, "stop") == 0 && stopped != 1))
        printf("%s at %s %d of the %s: it ended with %x, the other one with %x, stopped %d\n", action, step, before,
               server ? "server" : "client", (unsigned)victim, (unsigned)other, stopped);
    return happened;
}

int main(int argc, char **argv)
{
    data = malloc(100000);
    signal(SIGPIPE, SIG_IGN);
    for (int i = 2; data && i < argc; i++) {
        int came = 0;
        for (int round = 0; round < ROUNDS && !came; round++) /* whether a side comes by depends on the other one */
            for (int server = 0; server < 2; server++)
                for (int before = 0; before < 5; before += 2)
                    came += try(argv[1], argv[i], before, server);
        if (!came)
            printf("nobody came by %s\n", argv[i]);
    }
    return 0;
}
