/* Calls with an answer that one can tell, on a connection between two processes that has been used for a while: the
 * answers must be the same with and without shared memory. Prints a line for each case.
 *   cases [NAME] */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAY(...) (printf(__VA_ARGS__), fflush(stdout))

static const char *told(ssize_t n)
{
    static char text[2][60];
    static int which;
    which ^= 1;
    snprintf(text[which], sizeof(text[which]), n < 0 ? "%s" : "%.0s%zd", n < 0 ? strerror(errno) : "", n);
    return text[which];
}

static void turns(int fd, int first, int rounds)
{
    char byte = 0;
    for (int i = 0; i < rounds; i++)
        for (int turn = 0; turn < 2; turn++)
            if ((turn == 0) == first ? write(fd, &byte, 1) != 1 : read(fd, &byte, 1) != 1)
                _exit(9);
}

static void pause_ms(int ms) { usleep((useconds_t)ms * 1000); }

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* --- each case: what the client does, and what the server does --- */

static void half_close_client(int fd)
{
    char data[100];
    ssize_t n = write(fd, "question", 8);
    shutdown(fd, SHUT_WR);
    SAY(" wrote %s,", told(n));
    SAY(" answer %s,", told(recv(fd, data, 6, MSG_WAITALL)));
    SAY(" then %s", told(read(fd, data, 1)));
    signal(SIGPIPE, SIG_IGN);
    SAY(", writing gives %s", told(write(fd, "x", 1)));
}
static void half_close_server(int fd)
{
    char data[100];
    while (read(fd, data, sizeof(data)) > 0)
        ;
    if (write(fd, "answer", 6) != 6)
        _exit(8);
}

static void unread_client(int fd)
{
    char data[10];
    pause_ms(200);
    SAY(" reading gives %s", told(read(fd, data, 1)));
    signal(SIGPIPE, SIG_IGN);
    pause_ms(20);
    SAY(", writing %s", told(write(fd, "x", 1)));
}
static void unread_server(int fd)
{
    pause_ms(50);
    close(fd); /* with what the client has written unread */
}
static void unread_client_begin(int fd)
{
    if (write(fd, "never read", 10) == 10)
        unread_client(fd);
}

static void killed_client(int fd)
{
    char data[10];
    SAY(" %s,", told(recv(fd, data, 4, MSG_WAITALL)));
    SAY(" then %s", told(read(fd, data, 1)));
}
static void killed_server(int fd)
{
    if (write(fd, "last", 4) == 4)
        kill(getpid(), SIGKILL);
}

static void peek_client(int fd)
{
    char data[10] = "";
    int bytes = -1;
    SAY(" peek %s", told(recv(fd, data, 4, MSG_PEEK | MSG_WAITALL)));
    ioctl(fd, FIONREAD, &bytes);
    SAY(" %.4s, there are %d", data, bytes);
    SAY(", cut %s", told(recv(fd, data, 2, MSG_TRUNC)));
    SAY(", rest %s", told(recv(fd, data, 10, MSG_DONTWAIT)));
    SAY(" %.2s, then %s", data, told(recv(fd, data, 10, MSG_DONTWAIT)));
}
static void peek_server(int fd)
{
    if (write(fd, "abcd", 4) != 4)
        _exit(8);
    pause_ms(200);
}

static void timeout_client(int fd)
{
    struct timeval limit = {0, 100000};
    char byte;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    double start = now();
    ssize_t n = read(fd, &byte, 1);
    SAY(" %s", told(n));
    SAY(" %s", now() - start > 0.09 && now() - start < 2 ? "in time" : "not in time");
}
static void timeout_server(int fd)
{
    (void)fd;
    pause_ms(300);
}

static void urgent_client(int fd)
{
    char data[10] = "", byte = 0;
    struct pollfd one = {.fd = fd, .events = POLLPRI};
    int ready = poll(&one, 1, 3000);
    SAY(" ready %d", ready);
    pause_ms(50); /* the server writes once more */
    SAY(", urgent %s", told(recv(fd, &byte, 1, MSG_OOB)));
    SAY(" %c", byte);
    SAY(", in line %s", told(recv(fd, data, 6, MSG_WAITALL)));
    SAY(" %.6s", data);
}
static void urgent_server(int fd)
{
    if (write(fd, "abc", 3) != 3 || send(fd, "!", 1, MSG_OOB) != 1 || write(fd, "def", 3) != 3)
        _exit(8);
    pause_ms(200);
}

/* Long enough without a call on the connection, after which its end would be told. */
#define COMPUTES 1500
#define IN_TIME  1.2

/* Until bytes are there, past our functions: a program that calls the kernel by itself. */
static long unseen_wait(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    struct timespec limit = {5, 0};
#if defined(__x86_64__)
    long ready;
    register long r10 __asm__("r10") = 0;
    register long r8 __asm__("r8") = 8;
    __asm__ volatile("syscall"
                     : "=a"(ready)
                     : "a"(SYS_ppoll), "D"(&one), "S"(1), "d"(&limit), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return ready;
#else
    return ppoll(&one, 1, &limit, NULL);
#endif
}

/* Until a byte is read without waiting. A wait may end early, but it does not become a loop. */
static void unseen_read(int fd)
{
    double start = now();
    int looks = 0;
    char byte;
    ssize_t n;
    while ((n = recv(fd, &byte, 1, MSG_DONTWAIT)) < 0 && errno == EAGAIN && looks++ < 100000 && unseen_wait(fd) > 0)
        ;
    SAY(" byte %s %s", told(n), now() - start < IN_TIME && looks < 20000 ? "in time" : "late");
}

/* The reader waits past our functions; the writer computes after it has written. */
static void unseen_client(int fd)
{
    double start = now();
    long ready = unseen_wait(fd);
    char byte;
    SAY(" ready %ld, byte %s", ready, told(read(fd, &byte, 1)));
    SAY(" %s", now() - start < IN_TIME ? "in time" : "late");
}
static void unseen_server(int fd)
{
    pause_ms(200);
    if (write(fd, "x", 1) != 1)
        _exit(8);
    pause_ms(COMPUTES);
}

/* A reader that polls for a while, and then waits past our functions. */
static void polled_client(int fd)
{
    char byte = 0;
    int late = 0;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 40; i++) {
            if (write(fd, &byte, 1) != 1)
                _exit(9);
            while (recv(fd, &byte, 1, MSG_DONTWAIT) != 1)
                ;
        }
        double last = now();
        ssize_t n = -1;
        while (n < 0 && now() - last < 5e-5)
            n = recv(fd, &byte, 1, MSG_DONTWAIT);
        while (n < 0 && unseen_wait(fd) > 0)
            n = recv(fd, &byte, 1, MSG_DONTWAIT);
        late += now() - last > 0.2;
    }
    SAY(" late %d", late);
}
static void polled_server(int fd)
{
    for (int round = 0; round < 10; round++) {
        turns(fd, 0, 40);
        for (double last = now(); now() - last < 1e-4;)
            ;
        if (write(fd, "x", 1) != 1)
            _exit(8);
        pause_ms(250);
    }
}

/* A reader that is woken in our functions, leaves a byte, and waits for it by itself. */
static void left_client(int fd)
{
    char byte;
    SAY(" %s,", told(read(fd, &byte, 1)));
    SAY(" ready %ld,", unseen_wait(fd));
    unseen_read(fd);
}
static void left_server(int fd)
{
    pause_ms(100);
    if (write(fd, "xy", 2) != 2)
        _exit(8);
    pause_ms(COMPUTES);
}

/* The same of a reader that was in a set. */
static void left_set_client(int fd)
{
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN}, got;
    char byte;
    epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
    SAY(" woken %d", epoll_wait(set, &got, 1, 3000));
    SAY(" %s,", told(read(fd, &byte, 1)));
    epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL);
    unseen_read(fd);
    unseen_read(fd);
    close(set);
}
static void left_set_server(int fd)
{
    pause_ms(100);
    if (write(fd, "xy", 2) != 2)
        _exit(8);
    pause_ms(100);
    if (write(fd, "z", 1) != 1)
        _exit(8);
    pause_ms(COMPUTES);
}

static void on_alarm(int number) { (void)number; }
static void signals(int fd, int flags)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
    struct itimerval timer = {.it_value = {0, 100000}};
    char byte;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    SAY(" %s", told(read(fd, &byte, 1)));
}
static void interrupt_client(int fd) { signals(fd, 0); }
static void restart_client(int fd) { signals(fd, SA_RESTART); }
static void late_server(int fd)
{
    pause_ms(400);
    if (write(fd, "x", 1) != 1)
        _exit(8);
    pause_ms(100);
}

static void stream_client(int fd)
{
    FILE *in = fdopen(fd, "r+");
    char line[50] = "";
    SAY(" number %d", fileno(in) == fd);
    fputs("hello\n", in);
    fflush(in);
    SAY(", line %s", fgets(line, sizeof(line), in) ? strtok(line, "\n") : "none");
    SAY(", printed %d", dprintf(fd, "%d\n", 42));
    SAY(", line %s", fgets(line, sizeof(line), in) ? strtok(line, "\n") : "none");
    fclose(in);
}
static void stream_server(int fd)
{
    char data[100];
    ssize_t n;
    while ((n = read(fd, data, sizeof(data))) > 0)
        if (write(fd, data, (size_t)n) != n)
            _exit(8);
}

static void exec_client(int fd)
{
    char data[8] = "";
    pid_t child = fork();
    if (child == 0) {
        char command[100];
        snprintf(command, sizeof(command), "read a <&%d; echo \"got $a\" >&%d", fd, fd);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(7);
    }
    close(fd);
    waitpid(child, NULL, 0);
    (void)data;
}
static void exec_server(int fd)
{
    char data[20] = "";
    pause_ms(100);
    if (write(fd, "word\n", 5) != 5)
        _exit(8);
    ssize_t n = recv(fd, data, 9, MSG_WAITALL);
    SAY(" %s %.8s", told(n), data);
}

/* Bytes that have come when programs begin that inherit the connection: each reads a part, the parent another. */
static void command_make(char command[100], const char *text, int fd) { snprintf(command, 100, text, fd); }

static void left_by_fork(char *command)
{
    pid_t child = fork();
    if (child == 0) {
        execlp("sh", "sh", "-c", command, (char *)NULL);
        _exit(7);
    }
    waitpid(child, NULL, 0);
}

static void left_by_spawn(char *command)
{
    char *words[] = {"sh", "-c", command, NULL};
    extern char **environ;
    pid_t child;
    if (posix_spawnp(&child, "sh", NULL, NULL, words, environ) == 0)
        waitpid(child, NULL, 0);
}

static void left_to_programs(int fd, void (*run)(char *command))
{
    static unsigned char data[500];
    char command[100];
    int bytes = -1;
    unsigned sum = 0;
    pause_ms(100);
    command_make(command, "dd bs=1 count=1000 status=none <&%d | cksum | tr -d '\\n'", fd);
    run(command);
    SAY(" peek %s", told(recv(fd, data, 400, MSG_PEEK)));
    ioctl(fd, FIONREAD, &bytes);
    SAY(", there are %d", bytes);
    ssize_t n = recv(fd, data, sizeof(data), MSG_WAITALL);
    for (size_t i = 0; i < sizeof(data); i++)
        sum = sum * 31 + data[i];
    SAY(", %s: %u", told(n), sum);
    struct pollfd one = {.fd = fd, .events = POLLIN};
    SAY(", ready %d, ", poll(&one, 1, 0));
    command_make(command, "dd bs=700 count=1 status=none <&%d | cksum | tr '\\n' ','", fd);
    run(command);
    if (write(fd, "more", 4) == 4)
        command_make(command, "cat <&%d | cksum | tr '\\n' ','", fd);
    run(command);
    SAY(" then %s", told(read(fd, data, 1)));
}
static void left_fork_client(int fd) { left_to_programs(fd, left_by_fork); }
static void left_spawn_client(int fd) { left_to_programs(fd, left_by_spawn); }
/* The process itself becomes the other program, which is the only one that has the connection. */
static void left_exec_client(int fd)
{
    pid_t child = fork();
    if (child == 0) {
        char command[100];
        pause_ms(100);
        command_make(command, "(head -c 3000 <&%1$d | cksum; printf more >&%1$d; cat <&%1$d | cksum) | tr '\\n' ' '", fd);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(7);
    }
    close(fd);
    waitpid(child, NULL, 0);
}
static void left_server_programs(int fd)
{
    char data[20000];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (char)(i * i / 7);
    if (write(fd, data, 9000) != 9000 || recv(fd, data, 4, MSG_WAITALL) != 4)
        _exit(8);
    if (write(fd, data + 9000, 11000) != 11000)
        _exit(8);
}

static void pass_client(int fd)
{
    int ends[2];
    char byte = 0, answer[20] = "";
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    pid_t child = fork();
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    if (child == 0) {
        int got;
        close(fd);
        if (recvmsg(ends[1], &message, 0) != 1)
            _exit(6);
        memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
        ssize_t n = write(got, "passed", 6);
        n = recv(got, answer, 6, MSG_WAITALL);
        SAY(" %s %.6s", told(n), answer);
        _exit(0);
    }
    control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(&control.head), &fd, sizeof(int));
    if (sendmsg(ends[0], &message, 0) != 1)
        SAY(" not sent: %s", strerror(errno));
    close(fd);
    waitpid(child, NULL, 0);
}

static void fork_client(int fd)
{
    char data[20] = "";
    pid_t child = fork();
    if (child == 0) {
        ssize_t n = write(fd, "child ", 6);
        n = recv(fd, data, 6, MSG_WAITALL);
        SAY(" %s %.5s", told(n), data);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    ssize_t n = write(fd, "parent", 6);
    n = recv(fd, data, 6, MSG_WAITALL);
    SAY(", %s %.6s", told(n), data);
}

static void nested_client(int fd)
{
    int inner = epoll_create1(0), outer = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 7}, got = {0};
    epoll_ctl(inner, EPOLL_CTL_ADD, fd, &event);
    event.data.u64 = 8;
    epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event);
    char data[10];
    for (int i = 0; i < 3; i++) {
        int n = epoll_wait(outer, &got, 1, 3000);
        SAY(" %d:%d", n, (int)got.data.u64);
        n = epoll_wait(inner, &got, 1, 3000);
        SAY(",%d:%d", n, (int)got.data.u64);
        SAY(",%s", told(read(fd, data, sizeof(data))));
    }
    SAY(" %d", epoll_wait(outer, &got, 1, 0));
}
static void nested_server(int fd)
{
    for (int i = 0; i < 3; i++) {
        pause_ms(60);
        if (write(fd, "x", 1) != 1)
            _exit(8);
    }
    pause_ms(200);
}

/* Both write a megabyte before either reads: TCP's buffers take it. */
static void burst(int fd)
{
    char *data = calloc(1, 1 << 20);
    SAY(" %s", told(write(fd, data, 1 << 20)));
    SAY(" %s", told(recv(fd, data, 1 << 20, MSG_WAITALL)));
}
static void burst_client(int fd) { burst(fd); }
static void burst_server(int fd)
{
    char *data = calloc(1, 1 << 20);
    if (write(fd, data, 1 << 20) != 1 << 20 || recv(fd, data, 1 << 20, MSG_WAITALL) != 1 << 20)
        _exit(8);
}

static void full_client(int fd)
{
    char *data = calloc(1, 1 << 16);
    struct pollfd one = {.fd = fd, .events = POLLOUT};
    ssize_t n, total = 0;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while ((n = write(fd, data, 1 << 16)) > 0)
        total += n;
    SAY(" %s", told(n));
    SAY(", %s, writable %d", total > 1 << 20 ? "much" : "little", poll(&one, 1, 0));
    SAY(", later %d", poll(&one, 1, 5000));
    fcntl(fd, F_SETFL, 0);
    shutdown(fd, SHUT_WR);
    SAY(", the end %s", told(read(fd, data, 1)));
}
static void full_server(int fd)
{
    char *data = calloc(1, 1 << 16);
    pause_ms(300);
    while (read(fd, data, 1 << 16) > 0)
        ;
}

/* A set that is closed lets go of what is in it. */
static void closed_set_client(int fd)
{
    for (int i = 0; i < 3; i++) {
        int set = epoll_create1(0);
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = 7}, got = {0};
        char byte;
        SAY(" %s", told(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event)));
        SAY(" %s", told(epoll_wait(set, &got, 1, 3000)));
        SAY(" %s", told(read(fd, &byte, 1)));
        close(set);
    }
}

/* More sets than there are places: a byte is written while the connection is in none. */
static void many_sets_client(int fd)
{
    int sets[70], late = 0;
    char byte = 0;
    for (int i = 0; i < 70; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = 7}, got = {0};
        sets[i] = epoll_create1(0);
        if (write(fd, &byte, 1) != 1)
            _exit(9);
        pause_ms(2);
        epoll_ctl(sets[i], EPOLL_CTL_ADD, fd, &event);
        late += epoll_wait(sets[i], &got, 1, 1000) != 1 || read(fd, &byte, 1) != 1;
        epoll_ctl(sets[i], EPOLL_CTL_DEL, fd, NULL);
    }
    for (int i = 0; i < 70; i++)
        close(sets[i]);
    SAY(" late %d", late);
}
static void many_sets_server(int fd) { turns(fd, 0, 70); }

/* One thread waits in a set in which another one looks. */
static int shared_set;
static void *shared_set_wait(void *fd)
{
    struct epoll_event got;
    char byte;
    double start = now();
    int n = epoll_wait(shared_set, &got, 1, 3000);
    SAY(" woken %d %s", n, now() - start < 0.9 ? "in time" : "late");
    SAY(", byte %s", told(read(*(int *)fd, &byte, 1)));
    return NULL;
}
static void shared_set_client(int fd)
{
    struct epoll_event event = {.events = EPOLLIN}, got;
    pthread_t thread;
    int none = 0;
    shared_set = epoll_create1(0);
    epoll_ctl(shared_set, EPOLL_CTL_ADD, fd, &event);
    pthread_create(&thread, NULL, shared_set_wait, &fd);
    pause_ms(50);
    for (int i = 0; i < 5; i++)
        none += epoll_wait(shared_set, &got, 1, 0);
    SAY(" looked %d,", none);
    pthread_join(thread, NULL);
    close(shared_set);
}
static void shared_set_server(int fd)
{
    pause_ms(200);
    if (write(fd, "x", 1) != 1)
        _exit(8);
    pause_ms(1200); /* its end would wake, too */
}

/* Two threads wait for room in one connection. */
static void *fill(void *fd)
{
    char *data = calloc(1, 1 << 16);
    ssize_t n = 1;
    for (int i = 0; i < 200 && n > 0; i++)
        n = write(*(int *)fd, data, 1 << 16);
    free(data);
    return (void *)(n > 0 ? fd : NULL);
}
static void two_writers_client(int fd)
{
    pthread_t threads[2];
    void *ended[2];
    char byte;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, fill, &fd);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], &ended[i]);
    shutdown(fd, SHUT_WR);
    SAY(" %d %d, the end %s", ended[0] == &fd, ended[1] == &fd, told(read(fd, &byte, 1)));
}

/* Whatever waits for room hears that the reader is gone. */
static void full_killed_client(int fd)
{
    signal(SIGPIPE, SIG_IGN);
    SAY(" %s", fill(&fd) ? "all written" : "refused");
}
static void full_killed_server(int fd)
{
    (void)fd;
    pause_ms(300);
    kill(getpid(), SIGKILL);
}

/* The same where the reader has said that no byte follows, so that the kernel tells nothing. */
static void half_killed_client(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLOUT};
    signal(SIGPIPE, SIG_IGN);
    SAY(" %s,", fill(&fd) ? "all written" : "refused");
    SAY(" ready %d", poll(&one, 1, 2000));
}
static void half_killed_server(int fd)
{
    shutdown(fd, SHUT_WR);
    full_killed_server(fd);
}
static void half_closed_server(int fd)
{
    shutdown(fd, SHUT_WR);
    pause_ms(300);
}
static void half_killed_events_client(int fd)
{
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLOUT | EPOLLET}, got;
    char *data = calloc(1, 1 << 16);
    signal(SIGPIPE, SIG_IGN);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
    ssize_t n = 1;
    for (int i = 0; i < 200 && n > 0; i++)
        while ((n = write(fd, data, 1 << 16)) < 0 && errno == EAGAIN)
            if ((n = epoll_wait(set, &got, 1, 3000)) != 1)
                break;
    SAY(" %s", n == 0 ? "never told" : n < 0 ? "refused" : "all written");
    close(set);
}

/* Options by which the kernel holds back small writes: they are the program's own, wherever the bytes go. */
static int option(int fd, int name)
{
    int value = -1;
    socklen_t length = sizeof(value);
    getsockopt(fd, IPPROTO_TCP, name, &value, &length);
    return value;
}
static void held_client(int fd)
{
    const int on = 1, off = 0;
    SAY(" %d %d,", option(fd, TCP_NODELAY), option(fd, TCP_CORK));
    setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (write(fd, "12345678", 8) != 8)
        _exit(9);
    SAY(" %d %d,", option(fd, TCP_NODELAY), option(fd, TCP_CORK));
    setsockopt(fd, IPPROTO_TCP, TCP_CORK, &off, sizeof(off));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &off, sizeof(off));
    send(fd, "!", 1, MSG_OOB);
    SAY(" %d %d,", option(fd, TCP_NODELAY), option(fd, TCP_CORK));
}
static void held_server(int fd)
{
    char data[8];
    if (recv(fd, data, 8, MSG_WAITALL) != 8)
        _exit(8);
    pause_ms(20);
}

/* A pipe takes what it has room for, and gives what it has, however much is asked for. */
#define SPLICED 300000
static void splice_client(int fd)
{
    static char data[SPLICED];
    size_t done = 0, sum = 0;
    for (size_t i = 0; i < SPLICED; i++)
        data[i] = (char)(i * 7 + i / 1000);
    if (fork() == 0)
        _exit(write(fd, data, SPLICED) != SPLICED);
    char back[1000];
    for (ssize_t n; done < SPLICED && (n = read(fd, back, sizeof(back))) > 0; done += (size_t)n)
        sum += (size_t)(memcmp(back, data + done, (size_t)n) == 0 ? n : 0);
    wait(NULL);
    SAY(" %zu of them right,", sum);
}
static void splice_server(int fd)
{
    int ends[2];
    if (pipe(ends))
        _exit(8);
    for (size_t done = 0; done < SPLICED;) {
        ssize_t taken = splice(fd, NULL, ends[1], NULL, SPLICED, 0), n;
        if (taken <= 0)
            _exit(9);
        done += (size_t)taken;
        for (; taken > 0; taken -= n)
            if ((n = splice(ends[0], NULL, fd, NULL, SPLICED, 0)) <= 0)
                _exit(10);
    }
}

/* What has been taken out of a set is not told any more, and nothing else is told in its place. */
static void taken_out_client(int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 77};
    int set = epoll_create1(0);
    char data[2];
    epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
    if (write(fd, "1", 1) != 1)
        _exit(9);
    SAY(" %d", epoll_wait(set, &event, 1, 1000));
    SAY(" of %d,", (int)event.data.u64);
    if (read(fd, data, 1) != 1)
        _exit(9);
    epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL);
    if (write(fd, "2", 1) != 1)
        _exit(9);
    SAY(" then %d,", epoll_wait(set, &event, 1, 50));
    SAY(" %s", told(recv(fd, data, 2, MSG_WAITALL)));
    pause_ms(20);
    SAY(" and %d", epoll_wait(set, &event, 1, 20));
    close(set);
}
static void taken_out_server(int fd)
{
    char data[2];
    for (int i = 0; i < 2; i++)
        if (read(fd, data, 1) != 1 || write(fd, "xy", (size_t)i + 1) != i + 1)
            _exit(9);
}

static const struct {
    const char *name;
    void (*client)(int), (*server)(int);
} cases[] = {
    {"half close", half_close_client, half_close_server},
    {"closed with bytes unread", unread_client_begin, unread_server},
    {"killed", killed_client, killed_server},
    {"peek", peek_client, peek_server},
    {"time-out", timeout_client, timeout_server},
    {"urgent", urgent_client, urgent_server},
    {"unseen", unseen_client, unseen_server},
    {"polled, then unseen", polled_client, polled_server},
    {"left, then unseen", left_client, left_server},
    {"left in a set, then unseen", left_set_client, left_set_server},
    {"interrupted", interrupt_client, late_server},
    {"restarted", restart_client, late_server},
    {"stream", stream_client, stream_server},
    {"exec", exec_client, exec_server},
    {"exec, bytes are there", left_exec_client, left_server_programs},
    {"exec by children, bytes are there", left_fork_client, left_server_programs},
    {"spawned, bytes are there", left_spawn_client, left_server_programs},
    {"passed on", pass_client, stream_server},
    {"forked", fork_client, stream_server},
    {"nested", nested_client, nested_server},
    {"burst", burst_client, burst_server},
    {"full", full_client, full_server},
    {"closed set", closed_set_client, nested_server},
    {"shared set", shared_set_client, shared_set_server},
    {"two writers", two_writers_client, full_server},
    {"held back", held_client, held_server},
    {"spliced", splice_client, splice_server},
    {"taken out of a set", taken_out_client, taken_out_server},
    {"full and killed", full_killed_client, full_killed_server},
    {"half closed and killed", half_killed_client, half_killed_server},
    {"half closed, then closed", half_killed_client, half_closed_server},
    {"half closed and killed, in a set", half_killed_events_client, half_killed_server},
    {"many sets", many_sets_client, many_sets_server},
};

static void run(size_t i)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0), status;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        exit(1);
    SAY("%s:", cases[i].name);
    pid_t server = fork();
    if (server == 0) {
        int fd = accept(listener, NULL, NULL);
        close(listener);
        turns(fd, 0, 30);
        cases[i].server(fd);
        close(fd);
        _exit(0);
    }
    close(listener);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
        exit(1);
    turns(fd, 1, 30);
    cases[i].client(fd);
    close(fd);
    waitpid(server, &status, 0);
    SAY("; server %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status));
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (argc < 2 || strcmp(argv[1], cases[i].name) == 0)
            run(i);
    return 0;
}
