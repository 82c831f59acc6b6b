/* Rows of bench/sock: one process serves, one asks. Knows nothing of Viaduct.
 *   sockets tcp|unix pingpong|stream SIZE SECONDS      prints one number: round trips, or megabytes, a second
 * Who waits in pingpong polls (MSG_DONTWAIT) with SIZE negative, else it blocks. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int take(int fd, char *data, size_t size, int poll_it)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = recv(fd, data + done, size - done, poll_it ? MSG_DONTWAIT : 0);
        if (n == 0 || (n < 0 && !poll_it))
            return 0;
        done += n > 0 ? (size_t)n : 0;
    }
    return 1;
}

static int give(int fd, const char *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = send(fd, data + done, size - done, MSG_NOSIGNAL);
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    return 1;
}

static void serve(int fd, int pingpong, size_t size, int poll_it)
{
    char *data = calloc(1, size);
    if (pingpong)
        while (take(fd, data, size, poll_it) && give(fd, data, size))
            ;
    else
        while (recv(fd, data, size, 0) > 0)
            ;
}

static double ask(int fd, int pingpong, size_t size, int poll_it, double seconds)
{
    char *data = calloc(1, size);
    double start = now(), begin = 0, count = 0;
    for (;;) {
        for (int i = 0; i < 64; i++)
            if (!give(fd, data, size) || (pingpong && !take(fd, data, size, poll_it)))
                return -1;
        count += 64;
        double time = now();
        if (!begin && time - start > 0.2) { /* the first part is not counted */
            begin = time;
            count = 0;
        }
        if (begin && time - begin > seconds)
            return (pingpong ? count : count * (double)size / 1e6) / (time - begin);
    }
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    int on = 1, tcp = strcmp(argv[1], "tcp") == 0, pingpong = strcmp(argv[2], "pingpong") == 0;
    int poll_it = argv[3][0] == '-', listener = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
    size_t size = (size_t)abs(atoi(argv[3]));
    struct sockaddr_storage name = {.ss_family = tcp ? AF_INET : AF_UNIX};
    socklen_t length = tcp ? sizeof(struct sockaddr_in) : sizeof(sa_family_t);
    if (tcp)
        ((struct sockaddr_in *)&name)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&name, length) || listen(listener, 1))
        return 1;
    length = sizeof(name);
    getsockname(listener, (struct sockaddr *)&name, &length);
    pid_t child = fork();
    if (child == 0) {
        int fd = accept(listener, NULL, NULL);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        serve(fd, pingpong, size, poll_it);
        _exit(0);
    }
    close(listener);
    int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&name, length))
        return 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    printf("%.0f\n", ask(fd, pingpong, size, poll_it, atof(argv[4])));
    close(fd);
    waitpid(child, NULL, 0);
    return 0;
}
