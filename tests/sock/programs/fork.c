/* Threads make connections and exchange some bytes on each, another one forks all the time: the children look at the
 * connections that they have, and end. Every call comes back, in the parent and in the children.
 *   fork FORKS      prints how many children ended otherwise */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 30, LOOKS = 60, LIMIT_S = 5 };

static struct sockaddr_in address = {.sin_family = AF_INET};
static int listener;
static _Atomic int fds[THREADS];

static void exchange(int fd, int first)
{
    char data[8] = "1234567";
    for (int i = 0; i < ROUNDS; i++)
        for (int turn = 0; turn < 2; turn++)
            if ((turn == 0) == first ? send(fd, data, 8, MSG_NOSIGNAL) != 8 : recv(fd, data, 8, MSG_WAITALL) != 8)
                return;
}

static void *connects(void *slot)
{
    for (;;) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
            exit(3);
        atomic_store((_Atomic int *)slot, fd);
        exchange(fd, 1);
        atomic_store((_Atomic int *)slot, -1);
        close(fd);
    }
    return NULL;
}

static void *serves(void *nothing)
{
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            return nothing;
        exchange(fd, 0);
        close(fd);
    }
}

static void child(void)
{
    char byte;
    alarm(LIMIT_S);
    for (int k = 0; k < LOOKS; k++) {
        for (int i = 0; i < THREADS; i++)
            if (atomic_load(&fds[i]) >= 0)
                (void)!recv(atomic_load(&fds[i]), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        usleep(20);
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    socklen_t length = sizeof(address);
    pthread_t thread;
    int forks = argc > 1 ? atoi(argv[1]) : 100, wrong = 0, status;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 64) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 2;
    pid_t server = fork();
    if (server == 0) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&thread, NULL, serves, NULL);
        pause();
    }
    for (int i = 0; i < THREADS; i++) {
        atomic_store(&fds[i], -1);
        pthread_create(&thread, NULL, connects, (void *)&fds[i]);
    }
    for (int n = 0; n < forks; n++) {
        usleep((useconds_t)(n % 700));
        pid_t pid = fork();
        if (pid == 0)
            child();
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            wrong++;
    }
    kill(server, SIGKILL);
    printf("%d children ended otherwise\n", wrong);
    fflush(stdout);
    _exit(wrong != 0);
}
