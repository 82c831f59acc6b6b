/* What the kernel answers to calls with addresses that cannot be read, and about handlers; knows nothing of Viaduct.
 * Prints a line for each. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

static void say(const char *what, int result) { printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done"); }

static void handler(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
}

static void handler_once(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = (int)(SA_SIGINFO | SA_RESETHAND | SA_RESTART)}, now;
    const int flags[] = {SA_SIGINFO, (int)SA_RESETHAND, SA_RESTART};
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &now);
    printf("a handler that ran once:%s", now.sa_handler == SIG_DFL ? " default" : "");
    for (int i = 0; i < 3; i++)
        printf(" %s", now.sa_flags & flags[i] ? "kept" : "lost");
    printf(", mask %s\n", sigismember(&now.sa_mask, SIGUSR2) ? "kept" : "lost");
}

int main(void)
{
    char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr none = {.sa_family = AF_UNSPEC}, peer;
    socklen_t length = sizeof(address);
    int pair[2], option;
    say("poll without sockets", poll((struct pollfd *)(void *)nowhere, 1, 0));
    say("a pair of sockets", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    say("sendmsg without TCP", (int)sendmsg(pair[0], (struct msghdr *)(void *)nowhere, 0));
    struct mmsghdr messages = {.msg_len = 0};
    say("recvmmsg without TCP", recvmmsg(pair[0], &messages, 1, MSG_DONTWAIT, (struct timespec *)(void *)nowhere));
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), caller = socket(AF_INET, SOCK_STREAM, 0);
    say("bind", bind(listener, (struct sockaddr *)&address, length));
    say("listen", listen(listener, 4));
    say("getsockname", getsockname(listener, (struct sockaddr *)&address, &length));
    say("connect", connect(caller, (struct sockaddr *)(void *)nowhere, length));
    say("accept of none", accept(listener, &peer, (socklen_t *)(void *)nowhere));
    say("connect", connect(caller, (struct sockaddr *)&address, length));
    say("accept", accept(listener, &peer, (socklen_t *)(void *)nowhere));
    say("setsockopt", setsockopt(caller, SOL_SOCKET, SO_KEEPALIVE, nowhere, sizeof(int)));
    say("getsockopt", getsockopt(caller, SOL_SOCKET, SO_KEEPALIVE, &option, (socklen_t *)(void *)nowhere));
    say("connect to nothing", connect(caller, &none, sizeof(none)));
    say("connect anew", connect(caller, (struct sockaddr *)&address, length));
    handler_once();
    return 0;
}
