/* Runs a script of the tests:  family COMMAND...
 * What the script starts belongs to it, also what goes a way of its own: orphans come to this process (child subreaper). When
 * the script ends, nobody may be left. What is left gets two seconds, is named, ended by its pid, and fails the test.
 * The script finds FAMILY, our pid: its processes are those below. See tests/lib/shell. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The processes whose parent we are: whatever was left comes to us at last. 0: none. */
static int children(pid_t *pids, int most)
{
    char path[64];
    int n = 0, pid;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    while (file && n < most && fscanf(file, "%d", &pid) == 1)
        pids[n++] = pid;
    if (file)
        fclose(file);
    return n;
}

static void child_name(pid_t pid)
{
    char path[64], line[400] = "";
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(line, 1, sizeof line - 1, file) : 0;
    for (size_t i = 0; i + 1 < n; i++)
        if (line[i] == 0)
            line[i] = ' ';
    if (file)
        fclose(file);
    printf("    %d %s\n", (int)pid, line);
}

/* Takes leave of all children; of those that stay, by force. */
static int leave(void)
{
    struct timespec moment = {.tv_nsec = 20000000};
    pid_t pids[256];
    int wrong = 0, n;
    for (int round = 0; round < 600; round++) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        n = children(pids, 256);
        if (n == 0 && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
            return wrong;
        if (round >= 100) {
            if (!wrong)
                printf("WRONG: the script has ended, these processes are left:\n");
            wrong = 1;
            for (int i = 0; i < n; i++) {
                child_name(pids[i]);
                kill(pids[i], SIGKILL);
            }
        }
        nanosleep(&moment, NULL);
    }
    return 1;
}

int main(int argc, char **argv)
{
    char self[24];
    int status = 0;
    if (argc < 2 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return 2;
    snprintf(self, sizeof self, "%d", (int)getpid());
    setenv("FAMILY", self, 1);
    pid_t script = fork();
    if (script == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    for (pid_t pid = 0; pid != script;)
        if ((pid = waitpid(-1, &status, 0)) < 0 && errno != EINTR)
            return 2;
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return leave() && (status == 0 || status == 77) ? 1 : status;
}
