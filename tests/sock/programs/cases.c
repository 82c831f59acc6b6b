/* Calls with an answer that one can tell, on a connection between two processes that has been used for a while: the
 * answers must be the same with and without shared memory. Prints a line for each case.
 *   cases [NAME] */
#include "../lib/listener.h"
#include <aio.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
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
    SAY(" %s", told(recv(fd, NULL, 10, MSG_PEEK | MSG_TRUNC)));
    SAY(", rest %s", told(recv(fd, data, 10, MSG_DONTWAIT)));
    SAY(" %.2s, then %s", data, told(recv(fd, data, 10, MSG_DONTWAIT)));
}
static void peek_server(int fd)
{
    if (write(fd, "abcd", 4) != 4)
        _exit(8);
    pause_ms(200);
}

/* A look that waits for all: of which the rest comes later, and of which none comes. */
static void peek_all_client(int fd)
{
    struct timeval limit = {0, 100000};
    char data[10] = "";
    SAY(" %s", told(recv(fd, data, 6, MSG_PEEK | MSG_WAITALL)));
    SAY(" %.6s,", data);
    SAY(" %s,", told(recv(fd, data, 6, MSG_WAITALL)));
    if (write(fd, "?", 1) != 1)
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    double start = now();
    SAY(" %s", told(recv(fd, data, 6, MSG_PEEK | MSG_WAITALL)));
    SAY(" %s,", now() - start > 0.09 ? "in time" : "too early");
    limit.tv_usec = 0;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (write(fd, "?", 1) == 1)
        SAY(" at the end %s", told(recv(fd, data, 6, MSG_PEEK | MSG_WAITALL)));
}
static void peek_all_server(int fd)
{
    char byte;
    if (write(fd, "abc", 3) != 3)
        _exit(8);
    pause_ms(50);
    if (write(fd, "def", 3) != 3 || read(fd, &byte, 1) != 1 || write(fd, "ghi", 3) != 3 || read(fd, &byte, 1) != 1)
        _exit(8);
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

static void mark_client(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLPRI};
    char data[10] = "", byte = 0;
    (void)poll(&one, 1, 3000);
    pause_ms(50);
    SAY(" %d", sockatmark(fd));
    SAY(" %s", told(recv(fd, data, 2, 0)));
    SAY(" %d", sockatmark(fd));
    SAY(" %s", told(recv(fd, data, 1, 0)));
    SAY(" %d", sockatmark(fd));
    SAY(" urgent %s", told(recv(fd, &byte, 1, MSG_OOB)));
    SAY(" %c,", byte);
    SAY(" then %s", told(recv(fd, data, 10, 0)));
    SAY(" %d", sockatmark(fd));
}

/* What the kernel refuses before it moves a byte. */
static void pieces_client(int fd)
{
    static struct iovec pieces[IOV_MAX + 1];
    char byte = 'x';
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = IOV_MAX + 1};
    for (int i = 0; i <= IOV_MAX; i++)
        pieces[i] = (struct iovec){&byte, 1};
    SAY(" too many: %s", told(writev(fd, pieces, IOV_MAX + 1)));
    SAY(", %s", told(readv(fd, pieces, IOV_MAX + 1)));
    SAY(", %s", told(sendmsg(fd, &message, 0)));
    SAY(", %s", told(recvmsg(fd, &message, 0)));
    message.msg_iovlen = 2;
    pieces[1].iov_len = (size_t)-1;
    SAY(", too long: %s", told(writev(fd, pieces, 2)));
    SAY(", %s", told(readv(fd, pieces, 2)));
    SAY(", %s", told(sendmsg(fd, &message, 0)));
    SAY(", %s", told(recvmsg(fd, &message, 0)));
    SAY(", %s", told(pwritev2(fd, pieces, 2, -1, 0)));
    SAY(", %s", told(preadv2(fd, pieces, 2, -1, 0)));
    SAY(", there is %s", told(read(fd, &byte, 1)));
}
static void pieces_server(int fd)
{
    char byte;
    if (write(fd, "y", 1) != 1 || read(fd, &byte, 1) != 0)
        _exit(8);
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

/* A handler that ends no call ends one that has moved bytes. */
static void restart_part_client(int fd)
{
    static char data[1 << 16], large[1 << 25];
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value = {0, 50000}};
    char byte;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    SAY(" all: %s,", told(recv(fd, data, 6, MSG_WAITALL)));
    setitimer(ITIMER_REAL, &timer, NULL);
    ssize_t n = write(fd, large, sizeof(large));
    SAY(" %s", n > 0 && n < (ssize_t)sizeof(large) ? "a part was written" : told(n));
    shutdown(fd, SHUT_WR);
    (void)!read(fd, &byte, 1);
}
static void restart_part_server(int fd)
{
    static char data[1 << 16];
    if (write(fd, "abc", 3) != 3)
        _exit(8);
    pause_ms(1000);
    while (read(fd, data, sizeof(data)) > 0)
        ;
}

/* The other ways to say whether a handler ends calls, and for how many signals it is there. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void alarm_and_read(int fd)
{
    struct itimerval timer = {.it_value = {0, 50000}};
    struct sigaction now;
    char byte;
    setitimer(ITIMER_REAL, &timer, NULL);
    SAY(" %s", told(read(fd, &byte, 1)));
    sigaction(SIGALRM, NULL, &now);
    SAY(" %s,", now.sa_handler == on_alarm ? "stays" : now.sa_handler == SIG_DFL ? "default" : "another");
}
static void old_signals_client(int fd)
{
    struct sigaction once = {.sa_handler = on_alarm, .sa_flags = (int)SA_RESETHAND}, now;
    signal(SIGALRM, on_alarm);
    siginterrupt(SIGALRM, 1);
    alarm_and_read(fd);
    signal(SIGALRM, on_alarm);
    alarm_and_read(fd);
    sysv_signal(SIGALRM, on_alarm);
    alarm_and_read(fd);
    sigset(SIGALRM, on_alarm);
    alarm_and_read(fd);
    SAY(" held %d", sigset(SIGALRM, SIG_HOLD) == on_alarm);
    SAY(" %d", sigset(SIGALRM, SIG_HOLD) == SIG_HOLD);
    SAY(" %d,", sigset(SIGALRM, on_alarm) == SIG_HOLD);
    sigaction(SIGALRM, &once, NULL);
    sigaction(SIGALRM, NULL, &now);
    SAY(" once %d,", now.sa_handler == on_alarm && (now.sa_flags & (int)SA_RESETHAND) == (int)SA_RESETHAND);
    alarm_and_read(fd);
}
static void old_signals_server(int fd)
{
    char byte;
    (void)!read(fd, &byte, 1);
}

/* Signals of libc itself, by which it changes all threads, end no call of the program. */
static void *change_group(void *unused)
{
    pause_ms(50);
    if (setgid(getgid()))
        _exit(9);
    return unused;
}
static void libc_signals_client(int fd)
{
    pthread_t thread;
    char byte;
    pthread_create(&thread, NULL, change_group, NULL);
    SAY(" %s", told(read(fd, &byte, 1)));
    pthread_join(thread, NULL);
}
static void libc_signals_server(int fd)
{
    pause_ms(200);
    if (write(fd, "x", 1) != 1)
        _exit(8);
}

/* A signal for all that comes. */
static volatile int arrivals;
static void on_arrival(int number)
{
    (void)number;
    arrivals++;
}
static void async_client(int fd)
{
    signal(SIGIO, on_arrival);
    fcntl(fd, F_SETOWN, getpid());
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
    int heard = 0; /* each is answered, so that no two signals become one */
    for (double end = now() + 5; heard < 3 && now() < end; pause_ms(1))
        if (arrivals > heard) {
            heard++;
            if (write(fd, "y", 1) != 1)
                break;
        }
    SAY(" %s", heard == 3 ? "told each time" : "told too seldom");
}
static void async_server(int fd)
{
    char byte;
    pause_ms(50);
    for (int i = 0; i < 3; i++)
        if (write(fd, "x", 1) != 1 || read(fd, &byte, 1) != 1)
            _exit(8);
}

/* A handler that ends no call, while a writer waits for room. */
static void restart_full_client(int fd)
{
    static char data[1 << 16];
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value = {0, 1000}};
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, data, sizeof(data)) > 0)
        ;
    fcntl(fd, F_SETFL, flags);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    SAY(" %s", told(write(fd, data, 10)));
}
static void restart_full_server(int fd)
{
    static char data[1 << 16];
    pause_ms(300);
    while (read(fd, data, sizeof(data)) > 0)
        ;
}

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

/* Calls that a thread of libc makes. */
static ssize_t aio_await(struct aiocb *request)
{
    const struct aiocb *list[] = {request};
    while (aio_error(request) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    errno = aio_error(request);
    return aio_return(request);
}
static void aio_client(int fd)
{
    char question[] = "first", last[] = "last", answer[7] = "";
    struct aiocb out = {.aio_fildes = fd, .aio_buf = question, .aio_nbytes = 5};
    struct aiocb in = {.aio_fildes = fd, .aio_buf = answer, .aio_nbytes = 6};
    struct aiocb listed = {.aio_fildes = fd, .aio_buf = last, .aio_nbytes = 4, .aio_lio_opcode = LIO_WRITE};
    struct aiocb *list[] = {NULL, &listed};
    SAY(" written %s", aio_write(&out) == 0 ? told(aio_await(&out)) : strerror(errno));
    SAY(", came %s", aio_read(&in) == 0 ? told(aio_await(&in)) : strerror(errno));
    SAY(" %s", answer);
    SAY(", list %s", told(lio_listio(LIO_WAIT, list, 2, NULL)));
}
static void aio_server(int fd)
{
    char data[5];
    if (recv(fd, data, 5, MSG_WAITALL) != 5 || memcmp(data, "first", 5) != 0)
        _exit(7);
    pause_ms(50); /* the other side reads by then */
    if (write(fd, "answer", 6) != 6 || recv(fd, data, 4, MSG_WAITALL) != 4 || memcmp(data, "last", 4) != 0)
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

/* Newer libcs have it. Where only the library has it, it says so. */
extern int pidfd_spawnp(int *child, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
    __attribute__((weak));

static void left_by_pidfd(char *command)
{
    char *words[] = {"sh", "-c", command, NULL};
    extern char **environ;
    siginfo_t ended;
    int child, error = pidfd_spawnp ? pidfd_spawnp(&child, "sh", NULL, NULL, words, environ) : ENOSYS;
    if (error == 0 && waitid((idtype_t)3 /* P_PIDFD */, (id_t)child, &ended, WEXITED) == 0)
        close(child);
    else if (error == ENOSYS)
        left_by_spawn(command);
}

static void left_by_system(char *command) { (void)!system(command); }
static void left_by_popen(char *command)
{
    FILE *pipe = popen(command, "r");
    for (int c; pipe && (c = getc(pipe)) != EOF;)
        putchar(c);
    if (pipe)
        pclose(pipe);
}

/* What closes itself when a program begins is given to it by the actions. */
static int left_fd;
static void left_by_actions(char *command)
{
    char *words[] = {"sh", "-c", command, NULL};
    extern char **environ;
    pid_t child;
    posix_spawn_file_actions_t actions;
    fcntl(left_fd, F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, left_fd, left_fd);
    if (posix_spawn(&child, "/bin/sh", &actions, NULL, words, environ) == 0)
        waitpid(child, NULL, 0);
    posix_spawn_file_actions_destroy(&actions);
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
static void left_pidfd_client(int fd) { left_to_programs(fd, left_by_pidfd); }
static void left_system_client(int fd) { left_to_programs(fd, left_by_system); }
static void left_popen_client(int fd) { left_to_programs(fd, left_by_popen); }
static void left_actions_client(int fd)
{
    left_fd = fd;
    left_to_programs(fd, left_by_actions);
}
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

/* Several messages at once, also with a limit of time, which ends it behind a message; then the end of the stream. */
static void messages_client(int fd)
{
    char data[3][5] = {"", "", ""};
    struct iovec pieces[3];
    struct mmsghdr messages[3];
    struct timespec limits[3] = {{5, 0}, {0, 0}, {0, -1}};
    memset(messages, 0, sizeof(messages));
    for (int i = 0; i < 3; i++) {
        pieces[i] = (struct iovec){data[i], 4};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &pieces[i], .msg_iovlen = 1};
    }
    turns(fd, 1, 1);
    for (int i = 0; i < 3; i++)
        SAY(" %s %s%s%s,", told(recvmmsg(fd, messages, 3, MSG_WAITALL, &limits[i])), data[0], data[1], data[2]);
    SAY(" %s", told(recvmmsg(fd, messages, 0, 0, NULL)));
    SAY(" %s %s%s%s,", told(recvmmsg(fd, messages, 3, MSG_WAITALL, NULL)), data[0], data[1], data[2]);
    SAY(" %s", told(recvmmsg(fd, messages, 3, MSG_WAITFORONE, NULL)));
    SAY(" %u %u %u", messages[0].msg_len, messages[1].msg_len, messages[2].msg_len);
}
static void messages_server(int fd)
{
    turns(fd, 0, 1);
    if (write(fd, "thisthatmoresome1st.2nd.3rd.", 28) != 28)
        _exit(8);
}

static void pass(int fd, int many)
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
    struct mmsghdr messages = {.msg_hdr = message};
    if ((many ? sendmmsg(ends[0], &messages, 1, 0) : (int)sendmsg(ends[0], &message, 0)) != 1)
        SAY(" not sent: %s", strerror(errno));
    close(fd);
    waitpid(child, NULL, 0);
}
static void pass_client(int fd) { pass(fd, 0); }
static void pass_many_client(int fd) { pass(fd, 1); }

/* Messages of which the first one finds room for a part: what follows it is not sent. */
static void many_client(int fd)
{
    static char data[2][1 << 23];
    struct iovec pieces[2] = {{data[0], sizeof(data[0])}, {data[1], sizeof(data[1])}};
    struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &pieces[0], .msg_iovlen = 1}},
                                  {.msg_hdr = {.msg_iov = &pieces[1], .msg_iovlen = 1}}};
    struct timeval limit = {0, 200000};
    memset(data[1], 1, sizeof(data[1]));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)); /* over before the server reads */
    int sent = sendmmsg(fd, messages, 2, 0);
    SAY(" sent %d, %s", sent, messages[0].msg_len < sizeof(data[0]) ? "a part" : "all");
}
static void many_server(int fd)
{
    static char data[1 << 16];
    pause_ms(300);
    for (ssize_t n; (n = read(fd, data, sizeof(data))) > 0;)
        if (memchr(data, 1, (size_t)n))
            _exit(8);
}

/* A descriptor that is close-on-exec is copied for the child by libc. */
static void spawned_copy_client(int fd)
{
    extern char **environ;
    char *words[] = {"echo", "hello", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, 1);
    if (posix_spawnp(&child, "echo", &actions, NULL, words, environ) == 0)
        waitpid(child, NULL, 0);
    posix_spawn_file_actions_destroy(&actions);
}
static void spawned_copy_server(int fd)
{
    char data[10] = "";
    ssize_t n = recv(fd, data, 6, MSG_WAITALL);
    SAY(" %s %.5s", told(n), data);
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

/* A child that is a copy of its parent, though no fork made it, closes what it has. */
static int close_it(void *fd) { return close(*(int *)fd); }
static void clone_client(int fd)
{
    static char stack[65536] __attribute__((aligned(16)));
    char data[20] = "";
    pid_t child = clone(close_it, stack + sizeof(stack), SIGCHLD, &fd);
    waitpid(child, NULL, 0);
    ssize_t n = write(fd, "parent", 6);
    n = recv(fd, data, 6, MSG_WAITALL);
    SAY(" %s %.6s", told(n), data);
}

/* What a child closes stays in the set of its parent. */
static void child_closes_client(int fd)
{
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 7}, got = {0};
    char byte;
    epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
    pid_t child = fork();
    if (child == 0) {
        close(fd);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    for (int i = 0; i < 3; i++) {
        SAY(" %d", epoll_wait(set, &got, 1, 1000));
        SAY(" of %d, byte %s,", (int)got.data.u64, told(read(fd, &byte, 1)));
    }
    SAY(" then %s", told(epoll_ctl(set, EPOLL_CTL_MOD, fd, &event)));
    close(set);
}

/* While one thread is about to make a child, another one makes one that lives on: the first does not wait for that. */
static int other_forks;
static pid_t long_child;
static void *fork_beside(void *nothing)
{
    if ((long_child = fork()) == 0) {
        pause_ms(5000);
        _exit(0);
    }
    return nothing;
}
static void before_fork(void)
{
    pthread_t thread;
    if (!other_forks)
        return;
    other_forks = 0;
    pthread_create(&thread, NULL, fork_beside, NULL);
    pthread_join(thread, NULL);
}
static void vfork_client(int fd)
{
    double start = now();
    int status = -1;
    pthread_atfork(before_fork, NULL, NULL);
    other_forks = 1;
    pid_t child = vfork();
    if (child == 0) {
        execlp("true", "true", (char *)NULL);
        _exit(7);
    }
    SAY(" %s", now() - start < IN_TIME ? "in time" : "late");
    waitpid(child, &status, 0);
    SAY(", child %d", status);
    other_forks = 0;
    if (long_child) {
        kill(long_child, SIGKILL);
        waitpid(long_child, NULL, 0);
    }
    (void)fd;
}
static void vfork_server(int fd)
{
    char byte;
    (void)!read(fd, &byte, 1);
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

/* What a set is not to tell, of a member that was told once or has no events, does not keep the processor busy. */
static const char *waited_idle(int set)
{
    struct timespec before, after;
    struct epoll_event got;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    int n = epoll_wait(set, &got, 1, 200);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    long ms = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    return n ? "told" : ms < 100 ? "slept" : "was busy";
}
static void untold_client(int fd)
{
    int inner = epoll_create1(0), outer = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u64 = 7}, got = {0};
    char byte;
    epoll_ctl(inner, EPOLL_CTL_ADD, fd, &event);
    epoll_ctl(outer, EPOLL_CTL_ADD, inner, &(struct epoll_event){.events = EPOLLIN});
    SAY(" %d", epoll_wait(inner, &got, 1, 3000));
    SAY(" of %d, %s,", (int)got.data.u64, waited_idle(inner));
    event.events = 0;
    epoll_ctl(inner, EPOLL_CTL_MOD, fd, &event);
    SAY(" %s without events,", waited_idle(inner));
    event.events = EPOLLIN;
    epoll_ctl(inner, EPOLL_CTL_MOD, fd, &event);
    SAY(" then %d", epoll_wait(inner, &got, 1, 3000));
    SAY(" and %d,", epoll_wait(inner, &got, 1, 3000));
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    epoll_ctl(inner, EPOLL_CTL_MOD, fd, &event);
    int times = 0;
    while (times < 10 && epoll_wait(inner, &got, 1, 50) == 1)
        times++;
    SAY(" by edges %s,", times == 0 ? "never" : times < 10 ? "told" : "told all the time");
    event.events = EPOLLIN | EPOLLONESHOT;
    epoll_ctl(inner, EPOLL_CTL_MOD, fd, &event);
    SAY(" once %d,", epoll_wait(inner, &got, 1, 3000));
    shutdown(fd, SHUT_RDWR); /* a hang-up, which is told of every member but one that was told once */
    SAY(" %s,", waited_idle(inner));
    SAY(" %s", told(read(fd, &byte, 1)));
    close(outer);
    close(inner);
}
static void untold_server(int fd)
{
    char byte;
    if (write(fd, "x", 1) != 1 || read(fd, &byte, 1) != 0)
        _exit(8);
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

/* A program begins at the reader while the writer waits for room: what is left of the write goes by TCP. */
enum { FULL_BYTES = 16 << 20 };
static void full_exec_client(int fd)
{
    char *data = calloc(1, FULL_BYTES);
    alarm(20);
    SAY(" %s", told(write(fd, data, FULL_BYTES)));
    alarm(0);
    free(data);
}
static void full_exec_server(int fd)
{
    char *data = calloc(1, 1 << 16);
    int before, there = 0;
    ssize_t n, total = 0;
    do {
        before = there;
        pause_ms(50);
        ioctl(fd, FIONREAD, &there);
    } while (there == 0 || there != before);
    left_by_spawn("true");
    while ((n = read(fd, data, 1 << 16)) > 0)
        total += n;
    if (total != FULL_BYTES)
        _exit(8);
}

/* Calls that a program makes by their numbers. */
static void wait_for_bytes(int fd)
{
    for (int there = 0; there < 4; pause_ms(1))
        ioctl(fd, FIONREAD, &there);
}
static void numbers_client(int fd)
{
    char data[20] = "";
    struct iovec piece = {data, 3};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    int copy = fd;
    alarm(20);
    for (int i = 0; i < 4; i++) {
        long n = 0;
        switch (i) {
        case 0: n = syscall(SYS_sendto, copy, "ask", 3, 0, NULL, 0); break;
        case 1: n = syscall(SYS_write, copy, "ask", 3); break;
        case 2: n = syscall(SYS_writev, copy, &(struct iovec){"ask", 3}, 1); break;
        case 3: n = syscall(SYS_sendmsg, copy, &(struct msghdr){.msg_iov = &(struct iovec){"ask", 3}, .msg_iovlen = 1}, 0);
        }
        SAY(" %s", told(n));
        wait_for_bytes(copy);
        switch (i) {
        case 0: n = syscall(SYS_recvfrom, copy, data, 3, 0, NULL, NULL); break;
        case 1: n = syscall(SYS_read, copy, data, 3); break;
        case 2: n = syscall(SYS_readv, copy, &piece, 1); break;
        case 3: n = syscall(SYS_recvmsg, copy, &message, 0);
        }
        SAY(" %s %.3s", told(n), data);
        n = syscall(SYS_recvfrom, copy, data, 3, MSG_DONTWAIT, NULL, NULL);
        SAY(" %s %.1s,", told(n), data);
        if (i == 1)
            copy = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 50);
    }
    SAY(" %s", told(syscall(SYS_shutdown, copy, SHUT_WR)));
    SAY(" %s,", told(recv(copy, data, 4, MSG_WAITALL))); /* the other end goes on to write */
    SAY(" %s", told(syscall(SYS_close, copy)));
    SAY(" %s", told(syscall(SYS_read, -1, data, 1)));
    alarm(0);
}
static void numbers_server(int fd)
{
    char data[3];
    for (int i = 0; i < 4; i++)
        if (recv(fd, data, 3, MSG_WAITALL) != 3 || write(fd, "tell", 4) != 4)
            _exit(8);
    if (read(fd, data, 1) != 0 || write(fd, "last", 4) != 4)
        _exit(9);
}

/* Standard input is the connection: some bytes are there before, some come later. */
static void stdin_client(int fd)
{
    char line[50] = "";
    int kept = dup(0);
    alarm(20);
    wait_for_bytes(fd);
    dup2(fd, 0);
    for (int i = 0; i < 2 && fgets(line, sizeof(line), stdin); i++)
        SAY(" %.3s", line);
    alarm(0);
    dup2(kept, 0);
    close(kept);
}
static void stdin_program_client(int fd)
{
    char command[100], line[50] = "";
    alarm(20);
    wait_for_bytes(fd);
    snprintf(command, sizeof(command), "exec sed -u s/^/-/ <&%d", fd);
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof(line), pipe))
        SAY(" %.4s", line);
    alarm(0);
    pclose(pipe);
}
static void stdin_server(int fd)
{
    if (write(fd, "one\n", 4) != 4)
        _exit(8);
    pause_ms(200);
    if (write(fd, "two\n", 4) != 4)
        _exit(9);
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

/* More sets than a family of processes knows: what is in the last one is told as in the first. */
enum { SETS_MORE = 4100 };
static void unknown_set_client(int fd)
{
    struct rlimit limit;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.u64 = 7}, got = {0};
    char *data = calloc(1, 1 << 16);
    int set = -1, n = 1, sets[SETS_MORE];
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = SETS_MORE + 100 < limit.rlim_max ? SETS_MORE + 100 : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < SETS_MORE; i++)
        set = sets[i] = epoll_create1(0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    SAY(" %s,", told(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event)));
    for (size_t sent = 0; sent < 20 << 20 && n == 1;) {
        ssize_t out = write(fd, data, 1 << 16);
        sent += out > 0 ? (size_t)out : 0;
        while (out < 0 && (n = epoll_wait(set, &got, 1, 3000)) == 1 && !(got.events & EPOLLOUT))
            ;
    }
    SAY(" %s of %d,", n == 1 ? "all written" : "never told", (int)got.data.u64);
    shutdown(fd, SHUT_WR);
    do
        n = epoll_wait(set, &got, 1, 3000);
    while (n == 1 && !(got.events & EPOLLIN));
    SAY(" %d,", n);
    SAY(" byte %s", told(read(fd, data, 2)));
    for (int i = 0; i < SETS_MORE; i++)
        close(sets[i]);
}
static void unknown_set_server(int fd)
{
    char *data = calloc(1, 1 << 16);
    pause_ms(600); /* until no more can be written */
    while (read(fd, data, 1 << 16) > 0)
        ;
    if (write(fd, "x", 1) != 1)
        _exit(8);
}

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

/* A connection is closed while a thread is in a call on it, and its number is used again: the call goes on with what it
 * began with, and nobody else's socket sees anything of it. */
#define MUCH (8 << 20)
static _Atomic int caller; /* the thread that is about to call */
static void caller_sleeps(void)
{
    char path[60], state = 0;
    while (state != 'S') {
        snprintf(path, sizeof(path), "/proc/self/task/%d/stat", caller);
        FILE *file = caller ? fopen(path, "re") : NULL;
        if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            _exit(9);
        if (file)
            fclose(file);
        pause_ms(1);
    }
}
static void *write_much(void *fd)
{
    caller = gettid();
    char *data = calloc(1, MUCH);
    ssize_t n = write(*(int *)fd, data, MUCH);
    free(data);
    return (void *)(n == MUCH ? fd : NULL);
}
static void *read_one(void *fd)
{
    char byte = 0;
    caller = gettid();
    return (void *)(read(*(int *)fd, &byte, 1) == 1 && byte == 'x' ? fd : NULL);
}
static void closed_in_call(int fd, void *(*call)(void *))
{
    int given = fd, other[2];
    pthread_t thread;
    void *ended;
    char byte;
    caller = 0;
    pthread_create(&thread, NULL, call, &given);
    caller_sleeps();
    pause_ms(20); /* for good */
    close(fd);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, other) != 0)
        _exit(9);
    pthread_join(thread, &ended);
    SAY(" %d, all of it %d,", other[0] == fd, ended != NULL);
    SAY(" the other one has %s", told(recv(other[1], &byte, 1, MSG_DONTWAIT)));
    SAY(" and %s", told(recv(other[0], &byte, 1, MSG_DONTWAIT)));
    close(other[0]);
    close(other[1]);
}
static void closed_writer_client(int fd) { closed_in_call(fd, write_much); }
static void closed_writer_server(int fd)
{
    char *data = calloc(1, MUCH), byte;
    pause_ms(200);
    if (recv(fd, data, MUCH, MSG_WAITALL) != MUCH || read(fd, &byte, 1) != 0)
        _exit(9);
}
static void closed_reader_client(int fd) { closed_in_call(fd, read_one); }
static void closed_reader_server(int fd)
{
    char byte;
    pause_ms(200);
    if (recv(fd, &byte, 1, MSG_DONTWAIT) != -1 || errno != EAGAIN) /* nothing has ended */
        _exit(9);
    if (write(fd, "x", 1) != 1 || read(fd, &byte, 1) != 0)
        _exit(9);
}
/* The same with a copy of the descriptor, which the connection lives on by. */
static void closed_copy_client(int fd)
{
    int copy = dup(fd);
    char byte;
    closed_in_call(fd, read_one);
    SAY(", by the copy %s,", told(write(copy, "y", 1)));
    SAY(" %s", told(read(copy, &byte, 1)));
    close(copy);
}
static void closed_copy_server(int fd)
{
    char bytes[2];
    pause_ms(200);
    if (write(fd, "x", 1) != 1 || read(fd, bytes, 1) != 1 || write(fd, bytes, 1) != 1)
        _exit(9);
}

/* A handler jumps out of a call, as programs of old do to end a wait. */
static sigjmp_buf out_of_it;
static void on_alarm_jump(int number)
{
    (void)number;
    siglongjmp(out_of_it, 1);
}
static void jumped_client(int fd)
{
    struct itimerval timer = {.it_value = {0, 50000}};
    struct pollfd one = {.fd = fd, .events = POLLIN};
    static volatile int jumps;
    char byte;
    signal(SIGALRM, on_alarm_jump);
    jumps = sigsetjmp(out_of_it, 1) ? jumps + 1 : 0;
    if (jumps < 4) {
        setitimer(ITIMER_REAL, &timer, NULL);
        if (jumps % 2 ? poll(&one, 1, 3000) : read(fd, &byte, 1))
            SAY(" not interrupted");
    }
    SAY(" %d jumps", jumps);
}
static void jumped_server(int fd)
{
    char byte;
    if (read(fd, &byte, 1) != 0)
        _exit(9);
}

/* A thread that waits for room hears that another one has said the end. */
static void *shut(void *fd)
{
    caller_sleeps();
    pause_ms(100); /* for good */
    return (void *)(shutdown(*(int *)fd, SHUT_WR) == 0 ? fd : NULL);
}
static void shut_writer_client(int fd)
{
    char *data = calloc(1, MUCH);
    pthread_t thread;
    void *ended;
    double start = now();
    signal(SIGPIPE, SIG_IGN);
    caller = getpid();
    pthread_create(&thread, NULL, shut, &fd);
    ssize_t n = write(fd, data, MUCH);
    SAY(" %s %s,", n > 0 && n < MUCH ? "a part" : told(n), now() - start < 1 ? "in time" : "late");
    pthread_join(thread, &ended);
    SAY(" %d, then %s", ended != NULL, told(write(fd, data, 1)));
}
static void shut_writer_server(int fd)
{
    char *data = calloc(1, MUCH);
    ssize_t n;
    pause_ms(1500);
    while ((n = read(fd, data, MUCH)) > 0)
        ;
    if (n != 0)
        _exit(9);
}

/* A socket leaves its connection, and has another one afterwards. */
static void anew_client(int fd)
{
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    struct sockaddr_in address;
    struct timeval limit = {2, 0};
    char data[5] = "";
    int listener = listener_make(&address);
    SAY(" %s", told(connect(fd, &none, sizeof(none))));
    SAY(" %s", told(connect(fd, (struct sockaddr *)&address, sizeof(address))));
    int other = accept(listener, NULL, NULL);
    setsockopt(other, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    SAY(", sent %s,", told(write(fd, "fresh", 5)));
    SAY(" there %s", told(recv(other, data, 5, MSG_WAITALL)));
    SAY(" %.5s", data);
    close(other);
    close(listener);
}
static void anew_server(int fd)
{
    char byte;
    if (read(fd, &byte, 1) != -1 || errno != ECONNRESET)
        _exit(9);
}

/* A set is what it is by each of its descriptors. */
static void copied_set_client(int fd)
{
    int first = epoll_create1(0), copy = dup(first), other[2];
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 7}, got = {0};
    char byte = 0;
    close(first);
    if (pipe(other))
        _exit(9);
    SAY(" %s", told(epoll_ctl(copy, EPOLL_CTL_ADD, fd, &event)));
    if (write(fd, &byte, 1) != 1)
        _exit(9);
    SAY(" %s", told(epoll_wait(copy, &got, 1, 2000)));
    SAY(":%d %s", (int)got.data.u64, told(read(fd, &byte, 1)));
    SAY(" %s", told(epoll_ctl(copy, EPOLL_CTL_MOD, fd, &event)));
    SAY(" %s", told(epoll_ctl(copy, EPOLL_CTL_DEL, fd, NULL)));
    close(copy);
    close(other[0]);
    close(other[1]);
}
static void copied_set_server(int fd)
{
    char byte;
    if (read(fd, &byte, 1) != 1 || write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 0)
        _exit(9);
}

/* Members of a set that is asked by poll: what it says is what the kernel knows of them. */
static void polled_set_client(int fd)
{
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 7};
    struct pollfd one = {.fd = set, .events = POLLIN};
    epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
    SAY(" %d", poll(&one, 1, 0));
    turns(fd, 1, 30);
    SAY(" %d", poll(&one, 1, 0));
    event.events |= EPOLLOUT;
    epoll_ctl(set, EPOLL_CTL_MOD, fd, &event);
    SAY(" %d", poll(&one, 1, 150));
    close(set);
}
static void turns_server(int fd)
{
    turns(fd, 0, 30);
    pause_ms(300);
}

/* An exclusive member cannot be registered otherwise later. */
static void exclusive_client(int fd)
{
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLOUT | EPOLLEXCLUSIVE, .data.u64 = 7}, got;
    char *data = calloc(1, 1 << 16);
    SAY(" %s", told(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event)));
    turns(fd, 1, 30);
    SAY(" room %d", epoll_wait(set, &got, 1, 0));
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (write(fd, data, 1 << 16) > 0 || poll(NULL, 0, 20) || write(fd, data, 1 << 16) > 0)
        ;
    SAY(", then %d", epoll_wait(set, &got, 1, 0));
    SAY(", later %d", epoll_wait(set, &got, 1, 3000));
    close(set);
}
static void exclusive_server(int fd)
{
    char *data = calloc(1, 1 << 16);
    turns(fd, 0, 30);
    pause_ms(300);
    while (read(fd, data, 1 << 16) > 0)
        ;
}

/* What the kernel refuses, of a connection in memory as well. */
static void refused_member_client(int fd)
{
    int set = epoll_create1(0);
    static const struct {
        int what;
        uint32_t events;
    } calls[] = {{EPOLL_CTL_ADD, EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT},
                 {EPOLL_CTL_ADD, EPOLLIN | EPOLLEXCLUSIVE | EPOLLRDHUP},
                 {EPOLL_CTL_MOD, EPOLLIN | EPOLLEXCLUSIVE},
                 {7, EPOLLIN},
                 {EPOLL_CTL_MOD, EPOLLIN},
                 {EPOLL_CTL_ADD, EPOLLIN},
                 {EPOLL_CTL_ADD, EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT},
                 {EPOLL_CTL_MOD, EPOLLIN | EPOLLEXCLUSIVE},
                 {7, EPOLLIN},
                 {EPOLL_CTL_ADD, EPOLLIN},
                 {EPOLL_CTL_DEL, 0},
                 {EPOLL_CTL_ADD, EPOLLIN | EPOLLEXCLUSIVE | EPOLLET},
                 {EPOLL_CTL_MOD, EPOLLIN}};
    turns(fd, 1, 30);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct epoll_event event = {.events = calls[i].events};
        SAY(" %s", told(epoll_ctl(set, calls[i].what, fd, &event)));
    }
    close(set);
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

/* An end that is to be a reset. */
static void abortive_client(int fd)
{
    char data[8];
    SAY(" %s", told(read(fd, data, 8)));
}
static void abortive_server(int fd)
{
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    pause_ms(50);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    close(fd);
}

/* Who says that it will not read gets what has come, and what comes later. */
static void deaf_client(int fd)
{
    char data[20];
    struct pollfd one = {.fd = fd, .events = POLLIN};
    SAY(" %d,", poll(&one, 1, 2000));
    shutdown(fd, SHUT_RD);
    SAY(" %s,", told(recv(fd, data, 3, 0)));
    SAY(" %s,", told(recv(fd, data, 20, 0)));
    SAY(" %s", told(recv(fd, data, 20, 0)));
}
static void deaf_server(int fd)
{
    pause_ms(20);
    if (write(fd, "early", 5) != 5)
        _exit(8);
    pause_ms(200);
}

/* A writer whose reader has gone without a word learns of it soon, though it writes little. */
static void gone_client(int fd)
{
    int refused = 0;
    signal(SIGPIPE, SIG_IGN);
    pause_ms(100);
    for (int i = 0; i < 20 && !refused; i++) {
        refused = write(fd, "x", 1) != 1;
        pause_ms(3);
    }
    SAY(" %s", refused ? "told" : "never told");
}
static void gone_server(int fd)
{
    (void)fd;
    _exit(0);
}

/* A thread is cancelled in a call, and its handler closes the connection. */
static void close_late(void *fd) { close(*(int *)fd); }
static void *cancelled(void *fd)
{
    char byte;
    pthread_cleanup_push(close_late, fd);
    pause_ms(50); /* the request waits until the next call that may be cancelled */
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    while (read(*(int *)fd, &byte, 1) >= 0)
        ;
    pthread_cleanup_pop(0);
    return NULL;
}
static void *cancelled_later(void *fd)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return cancelled(fd);
}
static void cancel_client(int fd)
{
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, cancelled_later, &fd);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    SAY(" %s,", result == PTHREAD_CANCELED ? "cancelled" : "returned");
    SAY(" %d", fcntl(fd, F_GETFD));
}
static void cancel_server(int fd)
{
    char byte;
    (void)!read(fd, &byte, 1);
}

/* The request to end waits until a thread has done its sendfile, in which no thread is cancelled: also where that looks
 * for the other end, and where it writes to the ring. Afterwards everything goes on. */
enum { FILE_BYTES = 20 };
static void *cancelled_sender(void *descriptors)
{
    const int *fd = descriptors;
    pthread_cancel(pthread_self());
    for (off_t at = 0; at < FILE_BYTES && sendfile(fd[0], fd[1], &at, 1) == 1;)
        ;
    pthread_testcancel();
    return NULL;
}
static void cancelled_sends(int fd, int file)
{
    int descriptors[2] = {fd, file};
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, cancelled_sender, descriptors);
    pthread_join(thread, &result);
    SAY(" %s,", result == PTHREAD_CANCELED ? "cancelled" : "returned");
}
static size_t count_all(int fd)
{
    char data[1000];
    size_t count = 0;
    for (ssize_t n; (n = read(fd, data, sizeof(data))) > 0;)
        count += (size_t)n;
    return count;
}
static void cancel_sendfile_client(int fd)
{
    struct sockaddr_in address;
    int listener = listener_make(&address), fresh = socket(AF_INET, SOCK_STREAM, 0);
    int file = memfd_create("file", 0);
    if (connect(fresh, (struct sockaddr *)&address, sizeof(address)) || ftruncate(file, FILE_BYTES))
        _exit(9);
    int other = accept(listener, NULL, NULL);
    cancelled_sends(fresh, file);
    shutdown(fresh, SHUT_WR);
    SAY(" %zu came,", count_all(other));
    cancelled_sends(fd, file);
    close(listener);
    close(fresh);
    close(other);
    close(file);
    alarm(10);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    alarm(0);
}
static void cancel_sendfile_server(int fd)
{
    SAY(" %zu came", count_all(fd));
}

/* A reader that says that nothing follows goes on to read, and so it has to wake the writer. What it has written before
 * lies unread when a program begins. */
enum { LAST = 1000, PILE = 8 << 20 };
static void *write_pile(void *fd)
{
    static char data[1 << 16];
    for (size_t done = 0; done < PILE; done += sizeof(data))
        if (write(*(int *)fd, data, sizeof(data)) != sizeof(data))
            _exit(7);
    return NULL;
}
static void last_client(int fd)
{
    char data[LAST] = "";
    if (write(fd, data, LAST) != LAST)
        _exit(9);
    shutdown(fd, SHUT_WR);
    pause_ms(100);
    SAY(" %zu came", count_all(fd));
}
static void last_server(int fd)
{
    char data[LAST];
    pthread_t thread; /* not the one by which the other side knows how to wake this process */
    pthread_create(&thread, NULL, write_pile, &fd);
    pthread_join(thread, NULL);
    left_by_fork("true");
    SAY(" %s,", told(recv(fd, data, LAST, MSG_WAITALL)));
    SAY(" then %s,", told(read(fd, data, 1)));
}

/* The reader tries to begin a program while bytes lie unread, then reads on and closes: what it has written arrives, also
 * what waits in the kernel by then. */
enum { AFTER_TRIAL = 200000 };
static void begun_in_vain_client(int fd)
{
    char byte;
    if (write(fd, "left", 4) != 4)
        _exit(9);
    SAY(" answer %s,", told(read(fd, &byte, 1)));
    if (write(fd, "last", 4) != 4)
        _exit(9);
    pause_ms(200); /* the other side has closed by then */
    SAY(" %zu came", count_all(fd));
}
static void begun_in_vain_server(int fd)
{
    char *words[] = {"none", NULL}, data[4], *much = calloc(1, AFTER_TRIAL);
    extern char **environ;
    pid_t child;
    wait_for_bytes(fd);
    SAY(" begun %d,", posix_spawn(&child, "/none/such", NULL, NULL, words, environ) == 0);
    SAY(" read %s,", told(recv(fd, data, 4, MSG_WAITALL)));
    if (write(fd, "", 1) != 1)
        _exit(8);
    SAY(" %s,", told(recv(fd, data, 4, MSG_WAITALL)));
    SAY(" wrote %s,", told(write(fd, much, AFTER_TRIAL)));
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

/* Addresses with little room, with none, or that are not there. TCP says none of what it receives, and how much room
 * there is matters all the same. What is written into the room is told by its last byte. */
static const int rooms[] = {0, 1, 2, 6, 16, 40, -1};
enum { ROOMS = sizeof(rooms) / sizeof(rooms[0]), ROOM_MOST = 40 };

static void address_say(ssize_t n, const unsigned char *room, socklen_t length)
{
    int last = ROOM_MOST;
    while (last && room[last - 1] == 0xaa)
        last--;
    SAY(" %s:%d", told(n), (int)length);
    SAY("/%d", last);
}

typedef ssize_t (*address_call)(int fd, struct sockaddr *address, socklen_t *length);
static ssize_t call_peer(int fd, struct sockaddr *address, socklen_t *length)
{
    return getpeername(fd, address, length);
}
static ssize_t call_own(int fd, struct sockaddr *address, socklen_t *length)
{
    return getsockname(fd, address, length);
}
static ssize_t call_from(int fd, struct sockaddr *address, socklen_t *length)
{
    char byte;
    return recvfrom(fd, &byte, 1, 0, address, length);
}
static ssize_t call_accept(int listener, struct sockaddr *address, socklen_t *length)
{
    struct sockaddr_in there;
    socklen_t size = sizeof(there);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    struct pollfd one = {.fd = listener, .events = POLLIN}; /* connect may return before it is there */
    if (getsockname(listener, (struct sockaddr *)&there, &size) || connect(client, (struct sockaddr *)&there, size) ||
        poll(&one, 1, -1) != 1)
        _exit(9);
    int fd = accept(listener, address, length), why = errno;
    close(client);
    if (fd >= 0)
        close(fd);
    errno = why;
    return fd >= 0 ? 0 : -1;
}
static ssize_t call_accept4(int listener, struct sockaddr *address, socklen_t *length)
{
    int fd = accept4(listener, address, length, SOCK_NONBLOCK), why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return fd >= 0 ? 0 : -1; /* there is none */
}

static ssize_t message_get(int fd, struct msghdr *message, bool many)
{
    struct mmsghdr one = {.msg_hdr = *message};
    ssize_t n = many ? recvmmsg(fd, &one, 1, 0, NULL) : recvmsg(fd, message, MSG_CMSG_CLOEXEC);
    if (many)
        *message = one.msg_hdr;
    return many && n == 1 ? (ssize_t)one.msg_len : n;
}
static void messages_say(int fd, bool many)
{
    for (int i = 0; i <= ROOMS; i++) {
        unsigned char room[ROOM_MOST], byte;
        struct iovec piece = {&byte, 1};
        struct msghdr message = {.msg_name = i < ROOMS ? room : NULL,
                                 .msg_namelen = i < ROOMS ? (socklen_t)rooms[i] : 7,
                                 .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_flags = 99};
        memset(room, 0xaa, sizeof(room));
        ssize_t n = message_get(fd, &message, many);
        address_say(n, room, message.msg_namelen);
        SAY(" flags %x", (unsigned)message.msg_flags);
    }
}

static void rooms_client(int fd)
{
    static const address_call calls[] = {call_peer, call_own, call_from, call_accept, call_accept4};
    struct sockaddr_in unused;
    int listener = listener_make(&unused);
    fcntl(listener, F_SETFL, O_NONBLOCK);
    for (size_t call = 0; call < sizeof(calls) / sizeof(calls[0]); call++) {
        int on = call >= 3 ? listener : fd;
        unsigned char room[ROOM_MOST];
        for (int i = 0; i < ROOMS; i++) {
            socklen_t length = (socklen_t)rooms[i];
            memset(room, 0xaa, sizeof(room));
            ssize_t n = calls[call](on, (struct sockaddr *)(void *)room, &length);
            address_say(n, room, length);
        }
        socklen_t none = 0, some = 16;
        memset(room, 0xaa, sizeof(room));
        SAY(" %s", told(calls[call](on, NULL, &none)));
        SAY("(%d)", (int)none);
        SAY(" %s", told(calls[call](on, NULL, &some)));
        SAY("(%d)", (int)some);
        address_say(calls[call](on, (struct sockaddr *)(void *)room, NULL), room, 0);
        SAY(",");
    }
    messages_say(fd, false);
    SAY(" %s,", told(recvmsg(fd, NULL, 0)));
    messages_say(fd, true);
    char data[100];
    SAY(", left %s", told(recv(fd, data, sizeof(data), MSG_WAITALL)));
    close(listener);
}
static void rooms_server(int fd)
{
    char data[60] = "";
    if (write(fd, data, sizeof(data)) != sizeof(data))
        _exit(8);
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
    {"restarted, a part was moved", restart_part_client, restart_part_server},
    {"peek, all", peek_all_client, peek_all_server},
    {"mark", mark_client, urgent_server},
    {"wrong pieces", pieces_client, pieces_server},
    {"old signals", old_signals_client, old_signals_server},
    {"signals of libc", libc_signals_client, libc_signals_server},
    {"signals for what comes", async_client, async_server},
    {"restarted when full", restart_full_client, restart_full_server},
    {"stream", stream_client, stream_server},
    {"aio", aio_client, aio_server},
    {"exec", exec_client, exec_server},
    {"exec, bytes are there", left_exec_client, left_server_programs},
    {"exec by children, bytes are there", left_fork_client, left_server_programs},
    {"spawned, bytes are there", left_spawn_client, left_server_programs},
    {"spawned with a descriptor, bytes are there", left_pidfd_client, left_server_programs},
    {"spawned with a copy", spawned_copy_client, spawned_copy_server},
    {"spawned with a copy, bytes are there", left_actions_client, left_server_programs},
    {"system, bytes are there", left_system_client, left_server_programs},
    {"popen, bytes are there", left_popen_client, left_server_programs},
    {"by number", numbers_client, numbers_server},
    {"standard input", stdin_client, stdin_server},
    {"standard input of a program", stdin_program_client, stdin_server},
    {"passed on", pass_client, stream_server},
    {"passed on by sendmmsg", pass_many_client, stream_server},
    {"many messages", many_client, many_server},
    {"several messages", messages_client, messages_server},
    {"forked", fork_client, stream_server},
    {"cloned", clone_client, stream_server},
    {"closed by a child, in a set", child_closes_client, nested_server},
    {"vfork beside fork", vfork_client, vfork_server},
    {"nested", nested_client, nested_server},
    {"not told, in a nested set", untold_client, untold_server},
    {"burst", burst_client, burst_server},
    {"full", full_client, full_server},
    {"full, a program begins", full_exec_client, full_exec_server},
    {"closed set", closed_set_client, nested_server},
    {"shared set", shared_set_client, shared_set_server},
    {"two writers", two_writers_client, full_server},
    {"held back", held_client, held_server},
    {"spliced", splice_client, splice_server},
    {"abortive close", abortive_client, abortive_server},
    {"no more reading", deaf_client, deaf_server},
    {"gone without a word", gone_client, gone_server},
    {"cancelled", cancel_client, cancel_server},
    {"cancelled in sendfile", cancel_sendfile_client, cancel_sendfile_server},
    {"last bytes, and a program begins", last_client, last_server},
    {"begun in vain, then closed", begun_in_vain_client, begun_in_vain_server},
    {"taken out of a set", taken_out_client, taken_out_server},
    {"closed while written", closed_writer_client, closed_writer_server},
    {"closed while read", closed_reader_client, closed_reader_server},
    {"one of two closed while read", closed_copy_client, closed_copy_server},
    {"jumped out of", jumped_client, jumped_server},
    {"shut while written", shut_writer_client, shut_writer_server},
    {"connected anew", anew_client, anew_server},
    {"copied set", copied_set_client, copied_set_server},
    {"member of a polled set stays TCP", polled_set_client, turns_server},
    {"exclusive member stays TCP", exclusive_client, exclusive_server},
    {"members that are refused", refused_member_client, turns_server},
    {"full and killed", full_killed_client, full_killed_server},
    {"half closed and killed", half_killed_client, half_killed_server},
    {"half closed, then closed", half_killed_client, half_closed_server},
    {"half closed and killed, in a set", half_killed_events_client, half_killed_server},
    {"addresses with little room", rooms_client, rooms_server},
    {"many sets", many_sets_client, many_sets_server},
    {"a set too many", unknown_set_client, unknown_set_server},
};

static void run(size_t i)
{
    struct sockaddr_in address;
    int listener = listener_make(&address), status, used_before = strstr(cases[i].name, "stays TCP") ? 0 : 30;
    SAY("%s:", cases[i].name);
    pid_t server = fork();
    if (server == 0) {
        int fd = accept(listener, NULL, NULL);
        close(listener);
        turns(fd, 0, used_before);
        cases[i].server(fd);
        close(fd);
        _exit(0);
    }
    close(listener);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
        exit(1);
    turns(fd, 1, used_before);
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
