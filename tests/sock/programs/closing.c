/* Threads wait in one set, others take connections into it, use them and close them; another process makes them. So a
 * member is closed, and its number used anew, while a waiting thread looks at it.
 *   closing SECONDS      prints that all went well, or ends by a signal */
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAITERS = 2, WORKERS = 3, TURNS = 40, MORE = 20, SIZE = 8, DATUM = 5 };

static struct sockaddr_in address = {.sin_family = AF_INET};
static int listener, set;
static _Atomic int over;
static _Atomic long rounds, strange;

static void *waiter(void *nothing)
{
    struct epoll_event events[16];
    while (!over) {
        int n = epoll_wait(set, events, 16, 10);
        for (int i = 0; i < n; i++)
            strange += events[i].data.u64 != DATUM;
    }
    return nothing;
}

static void *worker(void *nothing)
{
    char data[SIZE];
    while (!over) {
        int fd = accept(listener, NULL, NULL);
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = DATUM};
        epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
        for (int i = 0; i < TURNS && recv(fd, data, SIZE, MSG_WAITALL) == SIZE; i++)
            if (send(fd, data, SIZE, MSG_NOSIGNAL) != SIZE)
                break;
        close(fd); /* with bytes unread, most of the times */
        rounds++;
    }
    return nothing;
}

static void *peer(void *nothing)
{
    char data[SIZE] = "1234567";
    for (;;) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
            return nothing;
        for (int i = 0; i < TURNS + MORE; i++)
            if (send(fd, data, SIZE, MSG_NOSIGNAL) != SIZE || (i < TURNS && recv(fd, data, SIZE, MSG_WAITALL) != SIZE))
                break;
        close(fd);
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[WAITERS + WORKERS];
    socklen_t length = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (argc != 2 || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 64) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        close(listener);
        for (int i = 0; i < WORKERS; i++)
            pthread_create(&threads[i], NULL, peer, NULL);
        for (int i = 0; i < WORKERS; i++)
            pthread_join(threads[i], NULL);
        return 0;
    }
    set = epoll_create1(0);
    for (int i = 0; i < WAITERS + WORKERS; i++)
        pthread_create(&threads[i], NULL, i < WAITERS ? waiter : worker, NULL);
    sleep((unsigned)atoi(argv[1]));
    over = 1;
    int used = rounds > 100;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (!used || strange)
        printf("only %ld connections, %ld events of nobody\n", (long)rounds, (long)strange);
    fflush(stdout);
    _exit(!used || strange != 0); /* a worker waits for a connection that nobody makes */
}
