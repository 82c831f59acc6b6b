/* Options that shared memory cannot keep: a connection that has one from its start goes by TCP, one that gets it later
 * goes by memory until then. For tests/sock/options.sh. */
#include "../lib/way.h"
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static const struct {
    const char *text;
    int level, name, value;
} options[] = {
    {"SO_TIMESTAMP_OLD", SOL_SOCKET, 29, 1},
    {"SO_TIMESTAMPNS_OLD", SOL_SOCKET, 35, 1},
    {"SO_TIMESTAMPING_OLD", SOL_SOCKET, 37, 8},
    {"SO_TIMESTAMP_NEW", SOL_SOCKET, 63, 1},
    {"SO_TIMESTAMPNS_NEW", SOL_SOCKET, 64, 1},
    {"SO_TIMESTAMPING_NEW", SOL_SOCKET, 65, 8},
    {"SO_ZEROCOPY", SOL_SOCKET, 60, 1},
    {"SO_RCVLOWAT", SOL_SOCKET, SO_RCVLOWAT, 500},
    {"SO_MAX_PACING_RATE", SOL_SOCKET, 47, 1 << 30},
};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

static struct sockaddr_in address = {.sin_family = AF_INET};

/* Of a connection: until the option is set, and from then on. */
static bool goes(int which, bool late, const char *first, const char *then)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool right = true;
    if (!late && setsockopt(fd, options[which].level, options[which].name, &options[which].value, sizeof(int)))
        exit(5);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
        exit(2);
    right = strcmp(way(fd), first) == 0;
    if (late && setsockopt(fd, options[which].level, options[which].name, &options[which].value, sizeof(int)))
        exit(6);
    right = strcmp(way(fd), then) == 0 && right;
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
