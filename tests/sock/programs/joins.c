/* Which way the bytes of a connection go after a while, where it has come by an unusual way. For tests/sock/joins.sh.
 *   joins exec [filter]        accepted on a listener that was made before exec, and by accept4 on the same; each is
 *                              asked for the other's address, or not. FILTER: the listener had one then
 *   joins anew                 the socket left a connection on which it had sent little, and has another one
 *   joins accept N             the program that exec begins: the listener is descriptor N */
#include "../lib/way.h"
#include <arpa/inet.h>
#include <linux/filter.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static struct sockaddr_in address = {.sin_family = AF_INET};

static int connected(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
        exit(2);
    return fd;
}

static int accept_one(int listener, int which)
{
    struct sockaddr_in peer;
    socklen_t length = which == 2 ? 0 : sizeof(peer);
    struct sockaddr *to = which == 0 ? NULL : (struct sockaddr *)&peer;
    return which == 3 ? accept4(listener, to, &length, SOCK_CLOEXEC) : accept(listener, to, to ? &length : NULL);
}

enum { WAYS = 4 };
static void accept_all(int listener)
{
    for (int which = 0; which < WAYS; which++) {
        int fd = accept_one(listener, which);
        if (fd < 0)
            _exit(7);
        serve(fd);
        close(fd);
    }
    _exit(0);
}

static void filter_set(int fd)
{
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, 0xffffffffu);
    struct sock_fprog program = {1, &all};
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)))
        exit(2);
}

static void over_exec(char *self, int listener)
{
    char number[20];
    snprintf(number, sizeof(number), "%d", listener);
    execl(self, self, "accept", number, (char *)NULL);
    _exit(6);
}

static void left_and_anew(void)
{
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    char data[SIZE];
    int fd = connected();
    if (write(fd, "?", 1) != 1 || recv(fd, data, SIZE, MSG_WAITALL) != SIZE || connect(fd, &none, sizeof(none)) ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)))
        exit(2);
    puts(way(fd));
    close(fd);
}

int main(int argc, char **argv)
{
    socklen_t length = sizeof(address);
    if (argc == 3 && strcmp(argv[1], "accept") == 0)
        accept_all(atoi(argv[2]));
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (argc < 2 || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 2;
    if (argc == 3)
        filter_set(listener);
    int anew = strcmp(argv[1], "anew") == 0, status;
    pid_t server = fork();
    if (server == 0 && !anew)
        over_exec(argv[0], listener);
    if (server == 0)
        accept_all(listener);
    if (anew)
        left_and_anew();
    for (int which = 0; !anew && which < WAYS; which++) {
        int fd = connected();
        printf("%s%s", way(fd), which + 1 < WAYS ? " " : "\n");
        close(fd);
    }
    if (anew)
        kill(server, SIGKILL);
    return waitpid(server, &status, 0) != server || (!anew && status != 0);
}
