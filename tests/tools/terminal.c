/* The launcher at a terminal: typed input reaches rank 0 untouched, Ctrl-C every rank once, Ctrl-Z stops all and they
 * can be continued, a change of the window is told to all. A small shell with job control stands between, as in life.
 * timeout: 60 */
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char seen[1 << 16];
static size_t seen_length;
static int master, report[2], order[2];

/* Everything the terminal shows, for at most MS, until WORDS were shown often enough. */
static int shows(const char *words, int times, int ms)
{
    for (int left = ms; left > 0; left -= 10) {
        int count = 0;
        for (const char *at = seen; (at = strstr(at, words)); at += strlen(words))
            count++;
        if (count >= times)
            return count;
        struct pollfd ready = {.fd = master, .events = POLLIN};
        if (poll(&ready, 1, 10) > 0 && seen_length < sizeof seen - 1) {
            ssize_t got = read(master, seen + seen_length, sizeof seen - 1 - seen_length);
            if (got > 0)
                seen_length += (size_t)got;
        }
        seen[seen_length] = 0;
    }
    fprintf(stderr, "not shown %d times: \"%s\" in:\n%s\n", times, words, seen);
    check_failed++;
    return 0;
}

static void type(const char *keys)
{
    CHECK(write(master, keys, strlen(keys)) == (ssize_t)strlen(keys));
}

/* The shell: the job in the foreground, told to us when it stops or ends; an order continues it. */
static void be_shell(const char *script)
{
    signal(SIGTTOU, SIG_IGN);
    pid_t job = fork();
    if (job == 0) {
        char program[4096];
        setpgid(0, 0);
        tcsetpgrp(0, getpid());
        signal(SIGTTOU, SIG_DFL);
        snprintf(program, sizeof program, "%s/mpiexec", getenv("VIADUCT_BIN"));
        execl(program, "mpiexec", "-n", "3", "bash", "-c", script, (char *)NULL);
        _exit(99);
    }
    setpgid(job, job);
    for (int status;;) {
        char byte;
        if (waitpid(job, &status, WUNTRACED) < 0 && errno == EINTR)
            continue;
        if (write(report[1], &status, sizeof status) < 0 || !WIFSTOPPED(status))
            _exit(0);
        tcsetpgrp(0, getpid());
        if (read(order[0], &byte, 1) != 1)
            _exit(1);
        tcsetpgrp(0, job);
        kill(-job, SIGCONT);
    }
}

/* A new terminal; the child leads its session. */
static pid_t fork_at_terminal(void)
{
    master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    setsid();
    int slave = open(ptsname(master), O_RDWR);
    ioctl(slave, TIOCSCTTY, 0);
    for (int fd = 0; fd < 3; fd++)
        dup2(slave, fd);
    if (slave > 2)
        close(slave);
    return 0;
}

static pid_t begin(const char *script)
{
    seen_length = 0;
    seen[0] = 0;
    CHECK(pipe(report) == 0 && pipe(order) == 0);
    fcntl(report[1], F_SETFD, FD_CLOEXEC);
    pid_t shell = fork_at_terminal();
    if (shell == 0)
        be_shell(script);
    close(report[1]);
    return shell;
}

/* The next thing that happened to the job, -1: nothing within 5 s. */
static int told(void)
{
    int status = -1;
    for (int i = 0; i < 500; i++) { /* the terminal must be read meanwhile, or writers to it wait */
        struct pollfd ready[2] = {{.fd = report[0], .events = POLLIN}, {.fd = master, .events = POLLIN}};
        poll(ready, 2, 10);
        if (ready[1].revents & POLLIN && seen_length < sizeof seen - 1) {
            ssize_t got = read(master, seen + seen_length, sizeof seen - 1 - seen_length);
            seen_length += got > 0 ? (size_t)got : 0;
            seen[seen_length] = 0;
        }
        if (ready[0].revents & POLLIN && read(report[0], &status, sizeof status) == sizeof status)
            return status;
    }
    return -1;
}

static void end(pid_t shell)
{
    waitpid(shell, NULL, 0);
    close(master);
    close(report[0]);
    close(order[0]);
    close(order[1]);
}

static void typed_input(void)
{
    pid_t shell = begin("if [ $PMI_RANK = 0 ]; then test -t 0 && read -p 'name? ' x && echo \"got <$x>\"; else read x; "
                        "echo rest \"<$x>\"; fi");
    shows("name? ", 1, 5000);
    type("bob the builder\n");
    shows("got <bob the builder>", 1, 5000);
    shows("rest <>", 2, 5000);
    CHECK_EQUAL(told(), 0);
    end(shell);
}

static void interrupted(void)
{
    pid_t shell =
        begin("trap 'echo heard $PMI_RANK' INT; echo ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done; exit 0");
    shows("ready", 3, 5000);
    type("\003");
    CHECK_EQUAL(told(), 0); /* they took it well */
    for (int rank = 0; rank < 3; rank++) {
        char words[16];
        snprintf(words, sizeof words, "heard %d", rank);
        CHECK_EQUAL(shows(words, 1, 100), 1);
    }
    end(shell);

    shell = begin("echo ready; exec sleep 30");
    shows("ready", 3, 5000);
    type("\003");
    int status = told();
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    CHECK(strstr(seen, "viaduct:") == NULL); /* whoever types it need not be told */
    end(shell);
}

/* Ctrl-\ asks what the ranks do, also for the one that reads the terminal. */
static void asked(void)
{
    pid_t shell = begin("echo ready; sleep 1; echo went on");
    shows("ready", 3, 5000);
    type("\034");
    CHECK_EQUAL(shows("went on", 3, 5000), 3);
    CHECK_EQUAL(told(), 0);
    end(shell);
}

/* 'T' where the process stands still. */
static char state_of(int pid)
{
    char path[40], line[400];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    const char *end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (file)
        fclose(file);
    return end ? end[2] : '?';
}

static void stopped(void)
{
    pid_t shell = begin("trap 'trap - INT; kill -INT $$' INT; echo \"ready $$.\"; while :; do sleep 0.05; echo alive $PMI_RANK; done");
    int pid[3], count = 0;
    shows(".", 3, 5000);
    for (const char *at = seen; count < 3 && (at = strstr(at, "ready ")); at++)
        count += sscanf(at, "ready %d.", &pid[count]) == 1;
    CHECK_EQUAL(count, 3);
    type("\032");
    int status = told();
    CHECK(status != -1 && WIFSTOPPED(status));
    for (int i = 0; i < count; i++) { /* each stands still */
        for (int tries = 0; tries < 5000 && state_of(pid[i]) != 'T'; tries++)
            usleep(1000);
        CHECK_EQUAL(state_of(pid[i]), 'T');
    }
    seen_length = 0;
    seen[0] = 0;
    CHECK(write(order[1], "c", 1) == 1);
    for (int rank = 0; rank < 3; rank++) {
        char words[16];
        snprintf(words, sizeof words, "alive %d", rank);
        shows(words, 2, 5000);
    }
    type("\003");
    status = told();
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    end(shell);
}

static void window(void)
{
    pid_t shell =
        begin("trap 'echo size $PMI_RANK; exit 0' WINCH; echo ready; for ((i = 0; i < 100; i++)); do sleep 0.05; done");
    struct winsize size = {.ws_row = 33, .ws_col = 77};
    shows("ready", 3, 5000);
    CHECK(ioctl(master, TIOCSWINSZ, &size) == 0);
    shows("size", 3, 5000);
    CHECK_EQUAL(told(), 0);
    end(shell);
}

int main(void)
{
    if (!getenv("VIADUCT_BIN")) {
        puts("VIADUCT_BIN is not set");
        return 77;
    }
    signal(SIGPIPE, SIG_IGN);
    typed_input();
    interrupted();
    asked();
    stopped();
    window();
    return check_done();
}
