/* Native stacks of the ranks of this host, for --get-stack-traces: one gdb attaches to one rank after the other, and
 * its lines are printed as they come. The loop goes on meanwhile. Ranks allow their launcher to trace them, and gdb is
 * its child. What gdb prints of a program is hostile: output_line replaces letters that command a terminal. */
#include "run/stacks.h"
#include "run/job.h"
#include "run/state.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#define PATIENCE_NS  (20 * SECOND_NS)
#define WORDS_FIRST  8  /* of gdb's command line */
#define WORDS_RANK   8  /* four commands */
#define RANKS_LISTED 64 /* one gdb takes about a tenth of a second for each */
#define TEXT_SIZE    64
#define LINE_MOST    65536

extern char **environ;

/* gdb also tells of threads and files that it has found. */
static bool line_is_shown(const char *line)
{
    static const char *const begins[] = {"#",        "Thread ",          "stack of ",
                                         "ptrace: ", "Could not attach", "warning: process"};
    for (size_t i = 0; i < ARRAY_LENGTH(begins); i++)
        if (strncmp(line, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

static void stacks_end(struct run_job *job)
{
    struct run_stacks *stacks = &job->stacks;
    bool end = stacks->then_end;
    stacks_close(job);
    if (end)
        end_timeout(job);
}

static void lines_ready(struct run_job *job, struct run_watch *watch)
{
    struct run_stacks *stacks = &job->stacks;
    char text[4096], *line, *end;
    ssize_t length = read(watch->fd, text, sizeof text);
    if (length < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (length > 0)
        bytes_add(&stacks->bytes, text, (size_t)length);
    while (stacks->bytes.length && (end = memchr(stacks->bytes.data, '\n', stacks->bytes.length))) {
        line = stacks->bytes.data;
        *end = 0;
        if (line_is_shown(line)) {
            output_line(job, "%s%s", *line == '#' ? "    " : "", line);
            stacks->any |= *line == '#';
        }
        bytes_drop(&stacks->bytes, (size_t)(end + 1 - line));
    }
    if (stacks->bytes.length > LINE_MOST) /* it has no end */
        bytes_drop(&stacks->bytes, stacks->bytes.length);
    if (length > 0)
        return;
    if (!stacks->any)
        output_line(job,
                    "gdb printed no stack: check whether \"gdb -p PID\" may attach to a process of this user here");
    stacks_end(job);
}

/* The words for one rank; they lie in TEXT. */
static void commands_add(const struct state_rank *rank, char **word, char text[2][TEXT_SIZE])
{
    snprintf(text[0], TEXT_SIZE, "echo stack of rank %d (pid %d):\\n", rank->rank, (int)rank->pid);
    snprintf(text[1], TEXT_SIZE, "attach %d", (int)rank->pid);
    char *of_rank[WORDS_RANK] = {"-ex", text[0], "-ex", text[1], "-ex", "thread apply all backtrace 64",
                                 "-ex", "detach"};
    memcpy(word, of_rank, sizeof of_rank);
}

static int gdb_start(struct run_job *job, char **word, int output)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t pipe;
    pid_t pid = 0;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    int error = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
                    ?: posix_spawn_file_actions_adddup2(&files, output, 1)
                    ?: posix_spawn_file_actions_adddup2(&files, output, 2)
                    ?: posix_spawnattr_setsigmask(&attributes, &job->old_mask)
                    ?: posix_spawnattr_setsigdefault(&attributes, &pipe)
                    ?: posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
                    ?: posix_spawnp(&pid, "gdb", &files, &attributes, word, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    job->stacks.pid = error ? 0 : pid;
    return error;
}

/* The ranks of ours among ALL that are alive; says which are left out. */
static int ranks_choose(struct run_job *job, const struct state_job *all, const struct state_rank *chosen[RANKS_LISTED])
{
    int count = 0, away = 0, hidden = 0, more = 0;
    for (int i = 0; i < all->count; i++) {
        const struct state_rank *rank = &all->rank[i];
        if (!rank->alive)
            continue;
        if (rank->process == PROCESS_ELSEWHERE)
            hidden++;
        else if (strncmp(rank->host, job->host, sizeof rank->host - 1) != 0)
            away++;
        else if (count == RANKS_LISTED)
            more++;
        else
            chosen[count++] = rank;
    }
    if (away)
        output_line(job, "the stacks of %d ranks on other hosts are not taken: gdb runs on this host alone", away);
    if (hidden)
        output_line(job, "the stacks of %d ranks in other PID namespaces are not taken: gdb cannot find them", hidden);
    if (more)
        output_line(job, "the stacks of %d ranks more are not taken: at most %d are", more, RANKS_LISTED);
    return count;
}

bool stacks_begin(struct run_job *job, const struct state_job *all, bool then_end)
{
    struct run_stacks *stacks = &job->stacks;
    const struct state_rank *chosen[RANKS_LISTED];
    static char text[RANKS_LISTED][2][TEXT_SIZE];
    static char *word[WORDS_FIRST + RANKS_LISTED * WORDS_RANK + 1] = {
        "gdb", "-nx", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off", "-quiet"};
    int ends[2];
    if (stacks->pid) {
        stacks->then_end |= then_end;
        return true;
    }
    int count = ranks_choose(job, all, chosen);
    if (count == 0 || pipe2(ends, O_CLOEXEC) < 0)
        return false;
    for (int i = 0; i < count; i++)
        commands_add(chosen[i], &word[WORDS_FIRST + i * WORDS_RANK], text[i]);
    word[WORDS_FIRST + count * WORDS_RANK] = NULL;
    int error = gdb_start(job, word, ends[1]);
    close(ends[1]);
    stacks->watch = (struct run_watch){lines_ready, ends[0]};
    if (error == 0 && loop_add(&job->loop, &stacks->watch, EPOLLIN) == OK) {
        stacks->then_end = then_end;
        stacks->until_ns = vbase_clock_ns() + PATIENCE_NS;
        return true;
    }
    output_line(job, "no stacks: gdb cannot be started (%s); install gdb", strerror(error ? error : errno));
    close(ends[0]);
    stacks->watch.fd = -1;
    return false;
}

void stacks_tick(struct run_job *job, uint64_t now_ns)
{
    struct run_stacks *stacks = &job->stacks;
    if (!stacks->pid || !loop_due(&job->loop, stacks->until_ns, now_ns))
        return;
    output_line(job, "gdb takes longer than %d s: the stacks that are missing are not taken",
                (int)(PATIENCE_NS / SECOND_NS));
    stacks_end(job);
}

void stacks_close(struct run_job *job)
{
    struct run_stacks *stacks = &job->stacks;
    if (!stacks->pid)
        return;
    if (waitpid(stacks->pid, NULL, WNOHANG) == 0)
        kill(stacks->pid, SIGTERM); /* it lets its rank go; signals_ready reaps it */
    loop_close(&job->loop, &stacks->watch);
    free(stacks->bytes.data);
    *stacks = (struct run_stacks){.watch.fd = -1};
}
