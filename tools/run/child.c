/* One rank: its descriptors, its place, exec.
 *
 * vfork, not fork: the child borrows our memory until exec, so a start costs the same however large we are, and it can
 * tell us by a variable why exec failed. Between vfork and exec only system calls are made and only `spawn` is written.
 * All descriptors of ours are close-on-exec; the child removes that flag from those that its rank inherits.
 *
 * The C library looks for the program, as a shell would; the current folder comes last, as other launchers do. */
#include "run/job.h"
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

/* What the child is told, and what it tells. */
struct spawn {
    const struct run_job *job;
    struct run_rank *rank;
    struct run_environment *environment;
    struct boot_seat *seat;
    const cpu_set_t *cpus;
    pid_t launcher;
    int stream[3], pmi, listener; /* stream -1: ours stays; listener -1: none */
    volatile int failed;      /* errno of what failed, 0: exec happened */
    const char *volatile what; /* NULL: its folder */
};

__attribute__((noreturn)) static void child_fail(struct spawn *spawn, const char *what)
{
    spawn->what = what;
    spawn->failed = errno;
    _exit(127);
}

static void child_give(struct spawn *spawn, int from, int to)
{
    if (from >= 0 && from != to && dup2(from, to) < 0)
        child_fail(spawn, "its standard streams");
    if (from == to)
        fcntl(to, F_SETFD, 0);
}

/* In the child. Dies with us, even if we died just before it asked for that. */
__attribute__((noreturn)) static void child_become_rank(struct spawn *spawn)
{
    spawn->seat->child = (uint32_t)getpid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != spawn->launcher)
        _exit(127);
    if (spawn->rank->own_group)
        setpgid(0, 0);
    else
        signal(SIGQUIT, SIG_IGN); /* from the terminal it asks the launcher for a report, and the job goes on */
    for (int i = 0; i < 3; i++)
        child_give(spawn, spawn->stream[i], i);
    const int inherited[] = {spawn->pmi, spawn->listener, spawn->job->handover.fd, spawn->job->node_fd,
                             spawn->job->profile.fd};
    for (size_t i = 0; i < ARRAY_LENGTH(inherited); i++)
        fcntl(inherited[i], F_SETFD, 0); /* -1: there is none, which does no harm */
    if (spawn->cpus && sched_setaffinity(0, sizeof *spawn->cpus, spawn->cpus) < 0)
        child_fail(spawn, "its processors (--bind-to)");
    if (spawn->rank->app->directory && chdir(spawn->rank->app->directory) < 0)
        child_fail(spawn, NULL);
    if (spawn->job->old_limit) {
        struct rlimit limit;
        if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
            limit.rlim_cur = spawn->job->old_limit;
            setrlimit(RLIMIT_NOFILE, &limit);
        }
    }
    if (!spawn->job->pipe_ignored)
        signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &spawn->job->old_mask, NULL);
    execvpe(*spawn->rank->app->argv, spawn->rank->app->argv, spawn->environment->list);
    child_fail(spawn, "the program");
}

/* execvpe searches the PATH of the calling process, so that is set for the moment of the call. */
static pid_t child_spawn(struct spawn *spawn)
{
    char **ours = environ, *search[] = {spawn->environment->search, NULL};
    environ = search;
    pid_t pid = vfork();
    if (pid == 0)
        child_become_rank(spawn);
    environ = ours;
    return pid;
}

static int file_open(const char *pattern, const struct run_job *job, int rank, int empty)
{
    char path[4096];
    vbase_expand(path, sizeof path, pattern, rank, job->host);
    for (char *slash = path + 1; (slash = strchr(slash, '/')); *slash++ = '/') { /* its folders too */
        *slash = 0;
        mkdir(path, 0777);
    }
    int fd = open(path, O_WRONLY | O_CREAT | empty | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return vbase_fail_errno(ERR_SYSTEM, "cannot write the output of rank %d to %s", rank, path);
    return fd;
}

static bool is_file_of_one(const struct run_options *options, const char *pattern)
{
    return options->out_directory || strstr(pattern, "%r");
}

int child_files_begin(const struct run_job *job)
{
    for (int i = 0; i < 2; i++) {
        const char *pattern = job->options.pattern[i];
        if (!pattern || is_file_of_one(&job->options, pattern) || (strstr(pattern, "%h") ? !job->local : !!job->told))
            continue;
        int fd = file_open(pattern, job, 0, O_TRUNC);
        if (fd < 0)
            return fd;
        close(fd);
    }
    return OK;
}

/* What stdout (WHICH 0) or stderr of the rank is to be: a file of its own, our own descriptor, or a pipe to us. Or an
 * error. */
static int stream_open(struct run_job *job, struct run_rank *rank, int which)
{
    const char *pattern = job->options.pattern[which];
    char in_directory[4096];
    int ends[2];
    if (job->options.out_directory) {
        int width = snprintf(NULL, 0, "%d", job->size - 1);
        snprintf(in_directory, sizeof in_directory, "%s/1/rank.%0*d/%s", job->options.out_directory, width, rank->rank,
                 which == 0 ? "stdout" : "stderr");
        pattern = in_directory;
    }
    if (pattern)
        return file_open(pattern, job, rank->rank, is_file_of_one(&job->options, pattern) ? O_TRUNC : 0);
    if (job->direct_output) {
        int fd = fcntl(which + 1, F_DUPFD_CLOEXEC, 3);
        return fd >= 0 ? fd : vbase_fail_errno(ERR_LIMIT, "a descriptor for the output of rank %d", rank->rank);
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return vbase_fail_errno(ERR_LIMIT, "a pipe for the output of rank %d", rank->rank);
    int error = output_stream(job, &rank->out[which], rank->rank, ends[0], which);
    if (error == OK)
        return ends[1];
    close(ends[0]);
    close(ends[1]);
    return error;
}

/* Its standard streams. Both outputs share one where they end in the same place, which also keeps their order. */
static int streams_open(struct run_job *job, struct run_rank *rank, int stream[3])
{
    const struct run_options *options = &job->options;
    bool to_pipes = !options->pattern[0] && !options->pattern[1] && !options->out_directory && !job->direct_output;
    if (options->stdin_rank != rank->rank)
        stream[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (options->stdin_rank != rank->rank && stream[0] < 0)
        return vbase_fail_errno(ERR_SYSTEM, "/dev/null for the input of rank %d", rank->rank);
    stream[1] = stream_open(job, rank, 0);
    if (stream[1] >= 0)
        stream[2] = options->merge || (to_pipes && job->one_sink) ? stream[1] : stream_open(job, rank, 1);
    return stream[1] < 0 ? stream[1] : stream[2] < 0 ? stream[2] : OK;
}

/* What to do about a program that does not start; "": nothing comes to mind. */
static const char *start_remedy(const char *name)
{
    static const char *const source[][2] = {
        {".c", "; it is a source file: mpicc makes a program of it"},
        {".cc", "; it is a source file: mpicxx makes a program of it"},
        {".cpp", "; it is a source file: mpicxx makes a program of it"},
        {".cxx", "; it is a source file: mpicxx makes a program of it"},
        {".C", "; it is a source file: mpicxx makes a program of it"},
        {".py", "; start it as: python3 FILE, or make it executable (chmod +x)"},
        {".sh", "; start it as: sh FILE, or make it executable (chmod +x)"},
    };
    const char *end = strrchr(basename(name), '.');
    struct stat status;
    for (size_t i = 0; end && i < ARRAY_LENGTH(source); i++)
        if (strcmp(end, source[i][0]) == 0)
            return source[i][1];
    if (stat(name, &status) == 0 && S_ISDIR(status.st_mode))
        return "; it is a folder";
    return errno == EACCES ? "; chmod +x makes a file executable" : "";
}

static int spawn_explain(const struct spawn *spawn)
{
    errno = spawn->failed;
    const char *name = spawn->rank->app->argv[0];
    if (!spawn->what)
        return vbase_fail_errno(ERR_SYSTEM, "cannot start rank %d: it cannot go to the folder %s (-wdir)",
                                spawn->rank->rank, spawn->rank->app->directory);
    if (strcmp(spawn->what, "the program") == 0 && errno == ENOENT && strchr(name, '/') == NULL)
        return vbase_fail(ERR_NOT_FOUND, "cannot start %s: no such program, neither in PATH nor in this folder", name);
    if (strcmp(spawn->what, "the program") == 0) {
        int error = errno == ENOENT ? ERR_NOT_FOUND : ERR_SYSTEM;
        return vbase_fail(error, "cannot start %s: %s%s", name, strerror(spawn->failed),
                          error == ERR_NOT_FOUND ? "" : start_remedy(name));
    }
    return vbase_fail_errno(ERR_SYSTEM, "cannot start rank %d: %s", spawn->rank->rank, spawn->what);
}

int child_start(struct run_job *job, struct run_rank *rank, struct run_environment *environment)
{
    int wire[2], error;
    struct spawn spawn = {.job = job,
                          .rank = rank,
                          .environment = environment,
                          .launcher = getpid(),
                          .seat = &job->handover.seat[rank->seat],
                          .stream = {-1, -1, -1},
                          .cpus = binding_of(&job->binding, rank->seat)};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wire) < 0)
        return vbase_fail_errno(ERR_LIMIT, "a connection to rank %d", rank->rank);
    rank->pmi.fd = wire[0];
    spawn.pmi = wire[1];
    spawn.listener = job->listener ? call_listener_seat(job->listener, rank->seat) : -1;
    error = loop_add(&job->loop, &rank->pmi, EPOLLIN) ?: streams_open(job, rank, spawn.stream);
    if (error != OK)
        goto close_all;
    rank->own_group = !(spawn.stream[0] < 0 && isatty(0));
    environment_for(environment, job, rank->rank, wire[1], spawn.listener);
    pid_t pid = child_spawn(&spawn);
    if (pid < 0) {
        error = vbase_fail_errno(ERR_LIMIT, "cannot make a process for rank %d (ulimit -u, or pids.max of a container)",
                                 rank->rank);
        goto close_all;
    }
    rank->pid = pid;
    rank->state = RANK_RUNNING;
    job->running++;
    if (rank->own_group)
        tree_started(rank->rank, pid);
    if (spawn.failed)
        error = spawn_explain(&spawn);

close_all:
    if (spawn.stream[2] == spawn.stream[1])
        spawn.stream[2] = -1;
    const int given[] = {spawn.stream[0], spawn.stream[1], spawn.stream[2], spawn.listener, wire[1]};
    for (size_t i = 0; i < ARRAY_LENGTH(given); i++)
        base_close(given[i]);
    return error;
}
