/* One thread sets the limit of descriptors, and reads it, again and again; another one makes connections and exchanges
 * bytes on them: the limit is always what was set. For tests/sock/limits.sh.
 *   limits      prints how often it was another one, and which way the bytes of the last connection go */
#include "../lib/way.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { CONNECTIONS = 1000, LOWEST = 300 };

static _Atomic int over;

static void *set_limits(void *wrong)
{
    struct rlimit limit, said;
    for (rlim_t i = 0; !atomic_load(&over); i++) {
        if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
            _exit(2);
        limit.rlim_cur = LOWEST + i % 100;
        if (i % 2 ? setrlimit(RLIMIT_NOFILE, &limit) : prlimit(0, RLIMIT_NOFILE, &limit, NULL))
            _exit(2);
        for (int k = 0; k < 10; k++)
            if ((k % 2 ? getrlimit(RLIMIT_NOFILE, &said) : prlimit(0, RLIMIT_NOFILE, NULL, &said)) ||
                said.rlim_cur != limit.rlim_cur)
                ++*(int *)wrong;
    }
    return NULL;
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0), wrong = 0;
    const char *last = "none";
    pthread_t thread;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 64) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 2;
    pid_t server = fork();
    for (int fd; server == 0; close(fd))
        serve(fd = accept(listener, NULL, NULL));
    if (pthread_create(&thread, NULL, set_limits, &wrong))
        return 2;
    for (int i = 0; i < CONNECTIONS; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&address, length))
            return 2;
        last = way(fd);
        close(fd);
    }
    atomic_store(&over, 1);
    pthread_join(thread, NULL);
    printf("%d wrong, %s\n", wrong, last);
    kill(server, SIGKILL);
    return waitpid(server, NULL, 0) != server;
}
