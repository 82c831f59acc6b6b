/* A thread waits in an epoll set, the only member of which is a connection, for bytes that never come. Another one
 * writes to the connection until it is full, and only then asks for room there: the first one is told when there is
 * some. The connection moves to shared memory while it waits. Prints what it was told. With a number, so many threads
 * wait, and each of them is told of room once. FORMER: one more waits, in a set that is closed before the other one is
 * made; its time is over when the threads sleep. For tests/sock/armed.sh.
 *   armed [THREADS [former]] */
#include "../lib/listener.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SMALL = 30, MOST = 8, FORMER_MS = 2000 };
static char data[1 << 16];
static int set, told[2];
static _Atomic long number[MOST], former_number;

static void *wait_there(void *place)
{
    struct epoll_event event = {0};
    atomic_store((_Atomic long *)place, syscall(SYS_gettid));
    if (epoll_wait(set, &event, 1, -1) != 1 || write(told[1], &event.events, sizeof(event.events)) < 0)
        _exit(3);
    return NULL; /* it does not come back */
}

static void *wait_in_former(void *place)
{
    struct epoll_event event;
    int former = set;
    atomic_store((_Atomic long *)place, syscall(SYS_gettid));
    if (epoll_wait(former, &event, 1, FORMER_MS) != 0)
        _exit(6);
    return NULL;
}

/* The thread sleeps: there is nothing in which it can but the set. */
static void await_sleep(const _Atomic long *thread)
{
    char path[60], state = 'R';
    while (atomic_load(thread) == 0)
        sched_yield();
    snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", atomic_load(thread));
    while (state != 'S') {
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d %*s %c", &state) != 1)
            _exit(4);
        fclose(file);
    }
}

/* A thread sleeps in a set that has been closed since. */
static pthread_t former_begin(void)
{
    pthread_t thread;
    set = epoll_create1(0);
    pthread_create(&thread, NULL, wait_in_former, (void *)&former_number);
    await_sleep(&former_number);
    close(set);
    return thread;
}

static void fill_and_ask(int fd, int once)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | (once ? EPOLLONESHOT : 0)};
    while (write(fd, data, sizeof(data)) > 0)
        ;
    if (epoll_ctl(set, EPOLL_CTL_MOD, fd, &event))
        _exit(5);
}

/* One byte at a time, which it tells on CAME: the two ends meet while they take turns. Then each byte on GO lets it
 * read all that is there. */
static void drain(int fd, int go, int came)
{
    char byte;
    for (int i = 0; i < SMALL; i++)
        if (read(fd, &byte, 1) != 1 || write(came, "", 1) != 1)
            _exit(1);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (read(go, &byte, 1) == 1)
        while (read(fd, data, sizeof(data)) > 0)
            ;
    _exit(0);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address;
    int listener = listener_make(&address), go[2], came[2], threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t thread[MOST], former = 0;
    if (pipe(go) || pipe(came) || pipe(told))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        drain(accept(listener, NULL, NULL), go[0], came[1]);
    }
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct epoll_event event = {.events = EPOLLIN};
    if (argc > 2)
        former = former_begin();
    set = epoll_create1(0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) || fcntl(fd, F_SETFL, O_NONBLOCK) ||
        epoll_ctl(set, EPOLL_CTL_ADD, fd, &event))
        return 2;
    for (int i = 0; i < threads; i++) {
        pthread_create(&thread[i], NULL, wait_there, (void *)&number[i]);
        await_sleep(&number[i]);
    }
    if (argc > 2)
        pthread_join(former, NULL);
    for (int i = 0; i < SMALL; i++)
        if (write(fd, data, 1) != 1 || read(came[0], data, 1) != 1)
            return 2;
    alarm(10);
    for (int i = 0; i < threads; i++) {
        uint32_t events;
        fill_and_ask(fd, threads > 1);
        if (write(go[1], "", 1) != 1 || read(told[0], &events, sizeof(events)) != sizeof(events))
            return 2;
        printf("%s\n", events & EPOLLOUT ? "room" : "something else");
    }
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    close(go[1]);
    return waitpid(child, NULL, 0) != child;
}
