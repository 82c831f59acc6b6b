/* A connection joins, or is made, while another thread makes a child that libc makes, which will hold it: that thread
 * stops at a step on its way. For tests/sock/spawned.sh, with the tests' build of the library.
 *   spawned WAY WHEN      which way the bytes go while it stops there and behind that
 *                         WAY: spawn, system, popen; WHEN: early, late (the connection is made while it stops) */
#include "../lib/way.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { ROUNDS = 100, STOPPED = 99, GO_ON = 98 };

extern char **environ;

static void *make_child(void *how)
{
    char *words[] = {"true", NULL};
    pid_t child;
    if (strcmp(how, "system") == 0)
        return system("true") == 0 ? how : NULL;
    if (strcmp(how, "popen") == 0)
        return pclose(popen("true", "r")) == 0 ? how : NULL;
    return posix_spawn(&child, "/bin/true", NULL, NULL, words, environ) == 0 && waitpid(child, NULL, 0) == child ? how
                                                                                                                 : NULL;
}

static int connected(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)))
        exit(2);
    return fd;
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0), stopped[2], on[2];
    const char *before = "TCP";
    void *done;
    char byte;
    pthread_t thread;
    if (argc != 3 || pipe(stopped) || pipe(on) || bind(listener, (struct sockaddr *)&address, length) ||
        listen(listener, 4) || getsockname(listener, (struct sockaddr *)&address, &length))
        return 2;
    pid_t server = fork();
    if (server == 0) {
        serve(accept(listener, NULL, NULL));
        _exit(0);
    }
    close(listener); /* the connection is the only socket that the step is passed with */
    int late = strcmp(argv[2], "late") == 0, fd = late ? -1 : connected(&address);
    if (dup2(stopped[1], STOPPED) < 0 || dup2(on[0], GO_ON) < 0 ||
        pthread_create(&thread, NULL, make_child, argv[1]) || read(stopped[0], &byte, 1) != 1)
        return 2;
    if (late)
        fd = connected(&address);
    for (int i = 0; i < ROUNDS && strcmp(before, "TCP") == 0; i++)
        before = way(fd);
    if (write(on[1], "", 1) != 1 || pthread_join(thread, &done) || !done)
        return 2;
    printf("%s, ", before);
    puts(way(fd));
    kill(server, SIGKILL);
    return waitpid(server, NULL, 0) != server;
}
