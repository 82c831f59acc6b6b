/* Which way the bytes of a connection go: of kinds of connections, and behind calls that copy, close or pass on descriptors.
 * For tests/sock/ways.sh, which starts it with the library and --after 4. Prints what is not as it should be.
 *   ways [NAME] */
#include "../lib/way.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { SAYS = 3, CONNECTION = 4, NOT_HERE = 77 }; /* descriptors, each row in a process of its own; and its status */

static void say(const char *text)
{
    if (write(SAYS, text, strlen(text)) < 0)
        _exit(9);
}

/* --- rows: each has a connection, to one that serves --- */

static void plain_way(int fd) { say(way(fd)); }

/* A wake-up is read past the library. */
static void raw(int fd)
{
    char answer[SIZE], bell;
    long n = 0;
    say(way(fd));
    if (write(fd, "?", 1) != 1)
        _exit(2);
#if defined(__x86_64__)
    __asm__ volatile("syscall" : "=a"(n) : "a"(SYS_read), "D"(fd), "S"(&bell), "d"(1) : "rcx", "r11", "memory");
#endif
    if (n != 1)
        _exit(n == 0 ? NOT_HERE : 2);
    for (ssize_t part, got = 0; got < SIZE; got += part > 0 ? part : 0) /* a call that waits might wait for that wake-up */
        if ((part = recv(fd, answer, SIZE, MSG_DONTWAIT)) < 0 && (errno != EAGAIN || poll(NULL, 0, 1)))
            _exit(4);
    say(" and");
    close(fd);
}

static void itself(int fd)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(own);
    char data[SIZE] = "";
    unsigned long long before = 0;
    close(fd);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&own, length) || getsockname(fd, (struct sockaddr *)&own, &length) ||
        connect(fd, (struct sockaddr *)&own, length))
        _exit(2);
    for (int i = 0; i < ASKED; i++) {
        before = received(fd);
        if (write(fd, data, SIZE) != SIZE || recv(fd, data, SIZE, MSG_WAITALL) != SIZE)
            _exit(4);
    }
    say(received(fd) - before >= SIZE ? "TCP" : "memory");
}

/* Of glibc 2.34 and newer. */
void closefrom(int) __attribute__((weak));
int close_range(unsigned, unsigned, int) __attribute__((weak));

static void closed_from(int fd)
{
    if (!closefrom)
        _exit(NOT_HERE);
    say(way(fd));
    closefrom(CONNECTION + 1);
    say(way(fd));
}
static void closed_range(int fd)
{
    if (!close_range)
        _exit(NOT_HERE);
    say(way(fd));
    if (close_range(CONNECTION + 1, ~0u, 0))
        _exit(errno == ENOSYS ? NOT_HERE : 5);
    say(way(fd));
}
static void marked_range(int fd)
{
    if (!close_range)
        _exit(NOT_HERE);
    say(way(fd));
    if (close_range(CONNECTION, ~0u, 4)) /* CLOSE_RANGE_CLOEXEC */
        _exit(errno == ENOSYS || errno == EINVAL ? NOT_HERE : 5);
    say(way(fd));
}

static void in_daemon(int fd)
{
    say(way(fd));
    if (daemon(1, 1))
        _exit(5);
    say(way(fd));
}

static void in_terminal(int fd)
{
    int master;
    say(way(fd));
    pid_t child = forkpty(&master, NULL, NULL, NULL);
    if (child == 0) {
        say(way(fd));
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child)
        _exit(5);
    say(way(fd));
}

static void with_offsets(int fd)
{
    char answer[SIZE];
    unsigned long long before = 0;
    for (int i = 0; i < ASKED; i++) {
        struct iovec ask = {"?", 1}, rest = {answer, SIZE};
        before = received(fd);
        if (pwritev2(fd, &ask, 1, -1, 0) != 1)
            _exit(4);
        for (ssize_t n; rest.iov_len; rest.iov_len -= (size_t)n)
            if ((n = preadv2(fd, &rest, 1, -1, 0)) <= 0)
                _exit(4);
    }
    if (pwritev2(fd, &(struct iovec){"?", 1}, 1, 5, 0) != -1 || errno != ESPIPE)
        _exit(6);
    say(received(fd) - before >= SIZE ? "TCP" : "memory");
}

static void threads(int fd)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    say(way(fd));
    for (struct dirent *one; folder && (one = readdir(folder));)
        count += one->d_name[0] != '.';
    say(count == 1 ? " one thread" : " more threads");
}

/* A program without the library begins. */
static void exec_without(int fd, const char *command)
{
    char *nothing[] = {NULL};
    dup2(SAYS, 1);
    dup2(fd, 0);
    execle("/bin/sh", "sh", "-c", command, (char *)NULL, nothing);
    _exit(5);
}
static void exec_empty(int fd)
{
    say(way(fd));
    exec_without(fd, "printf '?' >&0; /usr/bin/head -c 1000 | /usr/bin/wc -c | /usr/bin/tr -d '\\n'");
}
static void exec_unread(int fd)
{
    int there = 0;
    say(way(fd));
    if (write(fd, "?", 1) != 1)
        _exit(4);
    while (there < SIZE)
        if (ioctl(fd, FIONREAD, &there))
            _exit(4);
    exec_without(fd, "/usr/bin/head -c 1000 2>/dev/null | /usr/bin/wc -c | /usr/bin/tr -d '\\n'");
}

/* All that the rest of this program needs, and no more. */
static void confined(int fd)
{
    static const int allowed[] = {SYS_read, SYS_write, SYS_recvfrom, SYS_sendto, SYS_getsockopt, SYS_exit_group};
    enum { CALLS = sizeof(allowed) / sizeof(allowed[0]) };
    struct sock_filter steps[2 * CALLS + 2] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
    struct sock_fprog filter = {2 * CALLS + 2, steps};
    for (int i = 0; i < CALLS; i++) {
        steps[2 * i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
        steps[2 * i + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    steps[2 * CALLS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL);
    say(way(fd));
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        _exit(NOT_HERE);
    say(way(fd));
}

/* Listens where the two would meet, by each version, and says what it is handed. */
enum { VERSIONS = 9 };
static void name_take(const char *both, int ready)
{
    struct pollfd taken[VERSIONS];
    for (int i = 0; i < VERSIONS; i++) {
        struct sockaddr_un name = {.sun_family = AF_UNIX};
        int size = sprintf(name.sun_path + 1, "viaduct/sock/%d/%s", i + 1, both);
        socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
        taken[i] = (struct pollfd){socket(AF_UNIX, SOCK_SEQPACKET, 0), POLLIN, 0};
        if (bind(taken[i].fd, (struct sockaddr *)&name, length) || listen(taken[i].fd, 4))
            _exit(2);
    }
    if (write(ready, "", 1) != 1)
        _exit(2);
    while (poll(taken, VERSIONS, -1) > 0)
        for (int i = 0; i < VERSIONS; i++) {
            char data[200], control[200];
            struct iovec piece = {data, sizeof(data)};
            struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
            int call = taken[i].revents ? accept(taken[i].fd, NULL, NULL) : -1;
            if (call >= 0 && recvmsg(call, &message, 0) > 0)
                say("memory was handed to another user, ");
            close(call);
        }
}

/* Another user has the name. (The own one would be handed the memory, and says nothing to it.) */
static void name_taken(int fd)
{
    struct sockaddr_in ends[2];
    socklen_t length = sizeof(ends[0]);
    int ready[2], n = 0;
    char both[2 * 36 + 1], byte;
    if (geteuid() != 0)
        _exit(NOT_HERE);
    if (getsockname(fd, (struct sockaddr *)&ends[0], &length) || getpeername(fd, (struct sockaddr *)&ends[1], &length) ||
        pipe(ready))
        _exit(2);
    for (int i = 0; i < 2; i++)
        n += sprintf(both + n, "00000000000000000000ffff%08x%04x", ntohl(ends[i].sin_addr.s_addr), ntohs(ends[i].sin_port));
    if (fork() == 0) {
        close(fd);
        if (setuid(65534) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
            name_take(both, ready[1]);
        _exit(2);
    }
    if (read(ready[0], &byte, 1) != 1)
        _exit(2);
    for (int i = 0; i < 40; i++) /* by then it has been given up */
        (void)way(fd);
    say(way(fd));
}

enum kind { FOUR, SIX, FOUR_TO_BOTH, MULTIPATH };
static const struct {
    const char *name;
    enum kind kind;
    void (*act)(int fd);
    const char *expected;
} rows[] = {
    {"IPv4", FOUR, plain_way, "memory"},
    {"IPv6", SIX, plain_way, "memory"},
    {"IPv4 to a listener of both", FOUR_TO_BOTH, plain_way, "memory"},
    {"multipath", MULTIPATH, plain_way, "TCP"},
    {"read by system calls", FOUR, raw, "memory and"},
    {"connected to itself", FOUR, itself, "TCP"},
    {"closefrom", FOUR, closed_from, "memorymemory"},
    {"close_range", FOUR, closed_range, "memorymemory"},
    {"close_range, close-on-exec", FOUR, marked_range, "memorymemory"},
    {"daemon", FOUR, in_daemon, "memorymemory"},
    {"forkpty", FOUR, in_terminal, "memorymemorymemory"},
    {"preadv2 and pwritev2", FOUR, with_offsets, "memory"},
    {"threads", FOUR, threads, "memory one thread"},
    {"exec without the library", FOUR, exec_empty, "memory1000"},
    {"exec without the library, bytes are there", FOUR, exec_unread, "memory0"},
    {"a filter of system calls", FOUR, confined, "memoryTCP"},
    {"the name is taken", FOUR, name_taken, "TCP"},
};

/* A connection to a child that serves; -1: the kernel has no such sockets. */
static int connection_make(enum kind kind)
{
    int family = kind == SIX || kind == FOUR_TO_BOTH ? AF_INET6 : AF_INET, protocol = kind == MULTIPATH ? 262 : 0;
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (kind == SIX)
        six.sin6_addr = in6addr_loopback;
    struct sockaddr *address = family == AF_INET6 ? (struct sockaddr *)&six : (struct sockaddr *)&four;
    socklen_t length = family == AF_INET6 ? sizeof(six) : sizeof(four);
    int listener = socket(family, SOCK_STREAM, protocol);
    if (listener < 0 || bind(listener, address, length))
        return -1;
    if (listen(listener, 4) || getsockname(listener, address, &length))
        _exit(2);
    if (fork() == 0) {
        close(SAYS);
        serve(accept(listener, NULL, NULL));
        _exit(0);
    }
    close(listener);
    if (kind == FOUR_TO_BOTH) {
        four.sin_port = six.sin6_port;
        address = (struct sockaddr *)&four;
        length = sizeof(four);
    }
    int fd = socket(address->sa_family, SOCK_STREAM, protocol);
    if (connect(fd, address, length))
        _exit(2);
    return fd;
}

static void row_run(int which, int says)
{
    alarm(10);
    if (dup2(says, SAYS) != SAYS || says == SAYS)
        _exit(2);
    close(says);
    int fd = connection_make(rows[which].kind);
    if (fd < 0)
        _exit(NOT_HERE);
    if (fd != CONNECTION && (dup2(fd, CONNECTION) != CONNECTION || close(fd)))
        _exit(2);
    rows[which].act(CONNECTION);
    _exit(0);
}

int main(int argc, char **argv)
{
    int wrong = 0;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int ends[2], status;
        char said[100];
        size_t size = 0;
        if ((argc > 1 && strcmp(argv[1], rows[i].name) != 0) || pipe(ends) || dup2(ends[1], 20) != 20 || close(ends[1]))
            continue;
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            row_run((int)i, 20);
        }
        close(20);
        for (ssize_t n; (n = read(ends[0], said + size, sizeof(said) - 1 - size)) > 0;)
            size += (size_t)n;
        said[size] = '\0';
        close(ends[0]);
        if (waitpid(child, &status, 0) != child)
            return 2;
        if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_HERE)
            continue;
        if (status != 0 || strcmp(said, rows[i].expected) != 0) {
            printf("%s: \"%s\", not \"%s\"; status %x\n", rows[i].name, said, rows[i].expected, (unsigned)status);
            wrong++;
        }
    }
    return wrong != 0;
}
