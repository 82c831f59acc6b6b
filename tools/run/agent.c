/* The agent, ssh or what the user names: a process that leads to another host by its standard streams. It gets a
 * session of its own, so that signals of the terminal do not reach it, and no means to ask for a password. */
#include "run/job.h"
#include <fcntl.h>
#include <spawn.h>

extern char **environ;

/* What is said to agents that we know. ssh is told never to ask; srun to begin a step beside others that has all of
 * the job's processors there, whatever options for other steps the environment has. */
static const struct known {
    const char *name, *words[12];
    bool no_shell; /* it starts programs, where others give a line to a shell */
    const char *without[12]; /* variables that begin so are not for it */
} known[] = {
    {"ssh", {"-x", "-T", "-oBatchMode=yes", "-oConnectTimeout=30", "-oServerAliveInterval=15"}, false, {NULL}},
    {"srun",
     {"-Q", "-u", "-N1", "-n1", "--overlap", "--mpi=none", "--cpu-bind=none", "--export=NONE", "-w"},
     true,
     {"SRUN_", "SLURM_CPUS_PER_TASK", "SLURM_EXACT", "SLURM_LABELIO", "SLURM_STD", "SLURM_NTASKS_PER_",
      "SLURM_TRES_PER_TASK", "SLURM_MULTI_PROG"}},
};

static void word_add(char **word, int *count, const char *text) { word[(*count)++] = (char *)(uintptr_t)text; }

/* The agent's words, the host, and our own program by its path. */
static char **agent_words(const struct run_options *options, const char *host, const struct known **of_agent)
{
    const struct known *of = NULL;
    static char command[8200], quoted[8100], copy[8100];
    const char *path = vbase_self();
    static char *word[64];
    int count = 0;
    char *rest = copy; /* the words stay in it */
    snprintf(copy, sizeof copy, "%s", options->agent ? options->agent : "ssh");
    for (char *part; count < 40 && (part = strsep(&rest, " "));)
        if (*part)
            word[count++] = part;
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        of = count && strcmp(basename(word[0]), known[i].name) == 0 ? &known[i] : of;
    for (int i = 0; of && of->words[i]; i++)
        word_add(word, &count, of->words[i]);
    for (size_t to = 0; *path && to < sizeof quoted - 5; path++)
        to += (size_t)snprintf(quoted + to, sizeof quoted - to, *path == '\'' ? "'\\''" : "%c", *path);
    snprintf(command, sizeof command, "exec '%s' helper", quoted);
    word_add(word, &count, host);
    if (of && of->no_shell) {
        word_add(word, &count, "/bin/sh");
        word_add(word, &count, "-c");
    }
    word_add(word, &count, command);
    word[count] = NULL;
    *of_agent = of;
    return word;
}

/* Our environment without what is not for this agent. */
static char **agent_environment(const struct known *of)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **list = run_zeros(count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        bool wanted = true;
        for (const char *const *begin = of ? of->without : NULL; begin && *begin; begin++)
            wanted &= strncmp(environ[i], *begin, strlen(*begin)) != 0;
        if (wanted)
            list[kept++] = environ[i];
    }
    return list;
}

/* PIPE: to its stdin, from its stdout, from its stderr. */
static int agent_spawn(struct run_job *job, struct run_host *host, int pipe[3][2])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    sigset_t pipe_signal;
    const struct known *of;
    char **word = agent_words(&job->options, host->name, &of);
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&actions, pipe[i][i > 0], i);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &job->old_mask);
    posix_spawnattr_setsigdefault(&how, &pipe_signal);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    setenv(AGENT_VARIABLE, "1", 1);
    char **environment = agent_environment(of);
    errno = posix_spawnp(&host->agent, word[0], &actions, &how, word, environment);
    int failed = errno;
    free(environment);
    unsetenv(AGENT_VARIABLE);
    errno = failed;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&how);
    return errno ? vbase_fail_errno(ERR_SYSTEM, "cannot start %s", word[0]) : OK;
}

int agent_start(struct run_job *job, struct run_host *host)
{
    int pipe[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}}, error = OK;
    host->agent = 0;
    for (int i = 0; i < 3 && error == OK; i++)
        if (pipe2(pipe[i], O_CLOEXEC) < 0)
            error = vbase_fail_errno(ERR_LIMIT, "pipes to the agent");
    if (error == OK)
        error = agent_spawn(job, host, pipe);
    for (int i = 0; i < 3; i++) {
        base_close(pipe[i][i > 0]);
        if (error != OK)
            base_close(pipe[i][i == 0]);
    }
    if (error != OK) {
        host->agent = 0;
        return error;
    }
    tree_started(job->size + host->number, host->agent);
    sink_wire(&host->wire, pipe[0][1]);
    host->in.fd = pipe[1][0];
    host->complaints.fd = pipe[2][0];
    fcntl(host->complaints.fd, F_SETFL, O_NONBLOCK);
    return OK;
}
