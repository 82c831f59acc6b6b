/* No process is left behind, however we end.
 *
 *   a rank                dies with us (PR_SET_PDEATHSIG), leads a process group of its own
 *   what a rank started   is ours when its parent dies (we are a subreaper); in the rank's group unless it left
 *   older children        of a shell that became us by exec: they are not the job's, and stay
 *   our own SIGKILL       is seen by the watchdog, a small child of ours that waits for a pipe to close: it kills the
 *                         groups, then every process that carries the job's id in its environment, until there is none
 *
 * The rank that reads our terminal stays in our own group: else the terminal would stop it. */
#include "run/job.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define CLEAR_NS 2000000000ull
#define SWEEPS   200

/* Pids of the groups of ranks, then of agents: ours and the watchdog's alone, shared before it is made. */
static _Atomic pid_t *group;

/* Children that we had before: of a shell that became us. They are not the job's. */
static struct {
    pid_t *pid;
    int count;
} older;

static void time_pass(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

/* Does the process carry our id in the environment that it was started with? That may have any length. */
static bool process_carries(const char *pid, const char *mark)
{
    static char text[1 << 16];
    char path[64];
    size_t kept = 0, most = strlen(mark) - 1;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got; fd >= 0 && !found && (got = read(fd, text + kept, sizeof text - kept)) > 0;) {
        size_t length = kept + (size_t)got;
        found = memmem(text, length, mark, most + 1) != NULL;
        kept = length < most ? length : most;
        memmove(text, text + length - kept, kept); /* the mark may begin there */
    }
    base_close(fd);
    return found;
}

static bool process_is_child(const char *pid)
{
    char text[512], *name;
    int parent;
    return vbase_file_read(text, sizeof text, "/proc/%.20s/stat", pid) && (name = strrchr(text, ')')) &&
           sscanf(name, ") %*c %d", &parent) == 1 && parent == getpid();
}

static bool process_is_older(int pid)
{
    for (int i = 0; i < older.count; i++)
        if (older.pid[i] == pid)
            return true;
    return false;
}

static void older_note(void)
{
    siginfo_t any;
    DIR *proc = waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) == 0 ? opendir("/proc") : NULL;
    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        int pid;
        if (vboot_number(entry->d_name, &pid) && process_is_child(entry->d_name)) {
            older.pid = run_grown(older.pid, older.count, sizeof *older.pid);
            older.pid[older.count++] = pid;
        }
    }
    if (proc)
        closedir(proc);
}

/* A child of ours that began in a rank, whose parent has died. Agents, and what they leave behind (a connection that
 * ssh keeps), carry a mark. */
static bool process_is_orphan(const char *pid)
{
    return process_is_child(pid) && !process_carries(pid, AGENT_VARIABLE "=");
}

/* Kills every process of the job, when all ranks are dead. How many there were. The last part of the id is this job's;
 * those before it are of jobs around us. */
static int job_sweep(const struct run_job *job)
{
    const char *mark = basename(job->id);
    DIR *proc = opendir("/proc");
    int killed = 0;
    if (!proc)
        return 0;
    for (struct dirent *entry; (entry = readdir(proc));) {
        int pid;
        if (vboot_number(entry->d_name, &pid) && pid > 1 && pid != getpid() && !process_is_older(pid) &&
            (process_is_orphan(entry->d_name) || process_carries(entry->d_name, mark)) && kill(pid, SIGKILL) == 0)
            killed++;
    }
    closedir(proc);
    return killed;
}

static int group_count(const struct run_job *job) { return job->size + job->options.hosts; }

static void groups_kill(int count)
{
    for (int i = 0; i < count; i++) {
        pid_t leader = atomic_load_explicit(&group[i], memory_order_relaxed); /* its writer is dead or is us */
        if (leader > 1)
            kill(-leader, SIGKILL);
    }
}

/* The watchdog's whole life. It closes all but the pipe: readers of our output must see its end. */
__attribute__((noreturn)) static void watchdog_run(const struct run_job *job, int pipe_end)
{
    char byte;
    ssize_t got;
    setsid();
    prctl(PR_SET_NAME, "viaduct-watch");
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (pipe_end != 3)
        dup2(pipe_end, 3);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    syscall(SYS_close_range, 4u, ~0u, 0u);
    do
        got = read(3, &byte, 1);
    while (got < 0 && errno == EINTR);
    groups_kill(group_count(job));
    for (int i = 0; i < SWEEPS && job_sweep(job) > 0; i++) {
        groups_kill(group_count(job));
        time_pass(i < 10 ? 2 : 20);
    }
    _exit(0);
}

static int watchdog_start(struct run_job *job)
{
    static int pipe_end = -1; /* open until we are gone */
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return vbase_fail_errno(ERR_LIMIT, "a pipe to the watchdog");
    pid_t pid = fork();
    if (pid == 0)
        watchdog_run(job, ends[0]);
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return vbase_fail_errno(ERR_LIMIT, "a process for the watchdog");
    }
    base_close(pipe_end);
    pipe_end = ends[1];
    job->watchdog = pid;
    return OK;
}

int tree_guard(struct run_job *job)
{
    size_t bytes = (size_t)group_count(job) * sizeof *group;
    group = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (group == MAP_FAILED)
        return vbase_fail_errno(ERR_MEMORY, "memory for %d process groups", job->size);
    older_note();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return watchdog_start(job);
}

void tree_guard_again(struct run_job *job)
{
    if (waitpid(job->watchdog, NULL, WNOHANG) == job->watchdog && watchdog_start(job) != OK)
        LOG_WARN("the watchdog has died: if this launcher is killed, ranks may stay behind (%s)", vbase_error_detail());
}

void tree_started(int place, pid_t leader)
{
    atomic_store_explicit(&group[place], leader, memory_order_relaxed); /* read once we are dead */
}

/* A signal from the terminal has reached our own group already. */
void tree_signal(struct run_job *job, int signal, bool from_terminal)
{
    for (int i = 0; i < job->size; i++) {
        struct run_rank *rank = &job->rank[i];
        if (rank->state != RANK_RUNNING)
            continue;
        if (!rank->own_group && !from_terminal)
            kill(rank->pid, signal);
        else if (rank->own_group && kill(-rank->pid, signal) < 0)
            kill(rank->pid, signal); /* between vfork and setpgid there is no group yet */
    }
}

/* All ranks are dead, none is reaped: their group ids are still theirs. Agents are asked to end. */
void tree_clear(struct run_job *job)
{
    groups_kill(job->size);
    for (int i = 0; i < job->size; i++)
        if (job->rank[i].pid > 0)
            waitpid(job->rank[i].pid, NULL, 0);
    kill(job->watchdog, SIGKILL);
    waitpid(job->watchdog, NULL, 0);
    uint64_t end = vbase_clock_ns() + CLEAR_NS;
    for (;;) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid > 0)
            continue;
        if (pid < 0 || vbase_clock_ns() > end)
            break; /* no child is left, and all orphans became our children */
        if (job_sweep(job) == 0 && older.count)
            break; /* only those are left */
        time_pass(1);
    }
}
