/* Options that shared memory cannot keep: a connection that has one from its start goes by TCP, one that gets it later
 * goes by memory until then. For tests/sock/options.sh. */
#include "../lib/way.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

static int filter_set(int fd)
{
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, 0xffffffffu);
    struct sock_fprog program = {1, &all};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}
static int key_set(int fd) /* for another end than this one has: its segments go without */
{
    struct tcp_md5sig key = {.tcpm_keylen = 3, .tcpm_key = "key"};
    struct sockaddr_in other = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 99)};
    memcpy(&key.tcpm_addr, &other, sizeof(other));
    return setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &key, sizeof(key));
}
static int repair_set(int fd)
{
    int on = 1, off = 0;
    return setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)) ||
           setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off));
}
static int times_set(int fd)
{
    const int monotonic[2] = {1, 0};
    return setsockopt(fd, SOL_SOCKET, 61, monotonic, sizeof(monotonic)); /* SO_TXTIME */
}
static int signals_set(int fd) { return fcntl(fd, F_SETFL, O_ASYNC); }
static int signals_set_by_ioctl(int fd)
{
    int on = 1;
    return ioctl(fd, FIOASYNC, &on);
}

static const struct {
    const char *text;
    int level, name, value;
    int (*set)(int fd);
} options[] = {
    {"SO_TIMESTAMP_OLD", SOL_SOCKET, 29, 1},
    {"SO_TIMESTAMPNS_OLD", SOL_SOCKET, 35, 1},
    {"SO_TIMESTAMPING_OLD", SOL_SOCKET, 37, 8},
    {"SO_TIMESTAMP_NEW", SOL_SOCKET, 63, 1},
    {"SO_TIMESTAMPNS_NEW", SOL_SOCKET, 64, 1},
    {"SO_TIMESTAMPING_NEW", SOL_SOCKET, 65, 8},
    {"SO_ZEROCOPY", SOL_SOCKET, 60, 1},
    {"SO_RCVLOWAT", SOL_SOCKET, SO_RCVLOWAT, 500},
    {"SO_PEEK_OFF", SOL_SOCKET, SO_PEEK_OFF, 0},
    {"SO_MAX_PACING_RATE", SOL_SOCKET, 47, 1 << 30},
    {"TCP_INQ", IPPROTO_TCP, TCP_INQ, 1},
    {"TCP_FASTOPEN_CONNECT", IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1},
    {"a filter", .set = filter_set},
    {"TCP_MD5SIG", .set = key_set},
    {"TCP_REPAIR", .set = repair_set},
    {"SO_TXTIME", .set = times_set},
    {"O_ASYNC", .set = signals_set},
    {"FIOASYNC", .set = signals_set_by_ioctl},
};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

static struct sockaddr_in address = {.sin_family = AF_INET};

/* One that this kernel does not have, this user may not set, or that comes too late, is refused. */
static bool option_set(int which, int fd)
{
    int result = options[which].set ? options[which].set(fd)
                                    : setsockopt(fd, options[which].level, options[which].name, &options[which].value, sizeof(int));
    if (result && errno != ENOPROTOOPT && errno != EPERM && errno != EINVAL && errno != EOPNOTSUPP)
        exit(5);
    return result == 0;
}

/* Of a connection: until the option is set, and from then on. */
static bool goes(int which, bool late, const char *first, const char *then)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool right = true;
    bool there = late || option_set(which, fd);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
        exit(2);
    if (!there)
        first = "memory";
    right = strcmp(way(fd), first) == 0;
    there = (!late || option_set(which, fd)) && there;
    right = strcmp(way(fd), there ? then : first) == 0 && right;
    if (!right)
        printf("%s, set %s: not %s, then %s\n", options[which].text, late ? "late" : "early", first, then);
    close(fd);
    return right;
}

int main(void)
{
    socklen_t length = sizeof(address);
    int status, listener = socket(AF_INET, SOCK_STREAM, 0), wrong = 0;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    signal(SIGIO, SIG_IGN);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 2;
    pid_t server = fork();
    for (int i = 0; server == 0 && i < 2 * OPTIONS; i++) {
        int fd = accept(listener, NULL, NULL);
        serve(fd);
        close(fd);
    }
    if (server == 0)
        _exit(0);
    close(listener);
    for (int i = 0; i < OPTIONS; i++)
        wrong += !goes(i, false, "TCP", "TCP") + !goes(i, true, "memory", "TCP");
    return waitpid(server, &status, 0) != server || status != 0 || wrong;
}
