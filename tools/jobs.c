/* viaduct jobs: the jobs of this user on this host; viaduct jobs PID: what each rank does; viaduct stuck: who waits for
 * whom. Jobs are found by the segments that their launchers and ranks hold. Nothing is written, and no process is
 * asked: all is read from the segments and from /proc. */
#include "run/gather.h"
#include "run/state.h"
#include "verbs.h"
#include "vi/shm/segment.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#define JOBS_MOST 256
#define SEGMENT   "/memfd:viaduct (deleted)"
#define LOOK_NS   200000000 /* between two looks: what waits in both is stuck, or waits for one that computes */

/* A segment, which many processes hold. */
struct found {
    ino_t inode;
    int fd;
    pid_t holder;   /* a process that has it */
    pid_t launcher; /* one that is the program viaduct; 0: none that may be seen */
    bool wanted;    /* held by the process that was asked for */
};
struct jobs {
    struct found job[JOBS_MOST];
    int count;
    pid_t asked; /* 0: for none */
};

static bool link_read(const char *path, char text[256])
{
    ssize_t length = readlink(path, text, 255);
    text[length < 0 ? 0 : length] = 0;
    return length > 0;
}

static bool link_is(const char *path, const char *target)
{
    char text[256];
    return link_read(path, text) && strcmp(text, target) == 0;
}

/* The file of a program; while a job ran it may have been replaced. */
static bool program_read(const char *path, char text[256])
{
    static const char gone[] = " (deleted)";
    bool read = link_read(path, text);
    size_t length = read ? strlen(text) : 0, end = sizeof gone - 1;
    if (length > end && strcmp(text + length - end, gone) == 0)
        text[length - end] = 0;
    return read;
}

static bool is_launcher(const char *pid)
{
    char path[64], text[256], mine[256];
    snprintf(path, sizeof path, "/proc/%.20s/exe", pid);
    return program_read(path, text) && program_read("/proc/self/exe", mine) &&
           strcmp(basename(text), basename(mine)) == 0;
}

/* A launcher made the segment, and may write; this command and others like it look at it. */
static bool is_written(const char *descriptor)
{
    struct stat status;
    return lstat(descriptor, &status) == 0 && (status.st_mode & S_IWUSR);
}

/* The job whose segment it is: a new one keeps the descriptor. */
static struct found *job_of(struct jobs *jobs, int fd)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return NULL;
    for (int i = 0; i < jobs->count; i++)
        if (jobs->job[i].inode == status.st_ino) {
            close(fd);
            return &jobs->job[i];
        }
    if (jobs->count == JOBS_MOST)
        return NULL;
    jobs->job[jobs->count] = (struct found){.inode = status.st_ino, .fd = fd};
    return &jobs->job[jobs->count++];
}

static void process_look(const char *pid, struct jobs *jobs)
{
    char path[600];
    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *descriptors = opendir(path);
    for (struct dirent *entry; descriptors && (entry = readdir(descriptors));) {
        snprintf(path, sizeof path, "/proc/%s/fd/%s", pid, entry->d_name);
        int fd = link_is(path, SEGMENT) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        struct found *job = fd >= 0 ? job_of(jobs, fd) : NULL;
        if (!job) {
            base_close(fd);
            continue;
        }
        job->holder = job->holder ? job->holder : (pid_t)atoi(pid);
        job->wanted |= jobs->asked && atoi(pid) == (int)jobs->asked;
        if (is_written(path) && is_launcher(pid) && (!job->launcher || atoi(pid) < (int)job->launcher))
            job->launcher = (pid_t)atoi(pid);
    }
    if (descriptors)
        closedir(descriptors);
}

static void jobs_find(struct jobs *jobs)
{
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            process_look(entry->d_name, jobs);
    if (processes)
        closedir(processes);
}

static void jobs_close(struct jobs *jobs)
{
    for (int i = 0; i < jobs->count; i++)
        close(jobs->job[i].fd);
}

/* ---- what the cards have sent ------------------------------------------------------------------------------------ */

/* Jobs over other networks count their own cards. */
static bool shares_network(int segment)
{
    struct state_job job;
    char path[64], mine[256];
    bool shares = false;
    if (state_read(segment, &job) != OK || !link_read("/proc/self/ns/net", mine))
        return false;
    for (int i = 0; i < job.count && !shares; i++) {
        if (job.rank[i].process == PROCESS_ELSEWHERE)
            continue;
        snprintf(path, sizeof path, "/proc/%d/ns/net", (int)job.rank[i].pid);
        shares = link_is(path, mine);
    }
    state_free(&job);
    return shares;
}

void jobs_count_cards(uint64_t sent[COUNT_CARDS])
{
    struct base_counters counters;
    struct jobs jobs = {.count = 0};
    off_t at;
    jobs_find(&jobs);
    for (int i = 0; i < jobs.count; i++) {
        bool shares = shares_network(jobs.job[i].fd);
        for (int rank = 0; shares && shm_segment_counters(jobs.job[i].fd, rank, &at) == OK; rank++)
            if (pread(jobs.job[i].fd, &counters, sizeof counters, at) == (ssize_t)sizeof counters)
                for (int card = 0; card < COUNT_CARDS; card++)
                    sent[card] += (&counters.card0)[card];
    }
    jobs_close(&jobs);
}

/* ---- viaduct jobs ------------------------------------------------------------------------------------------------ */

/* The program of a rank, printable. */
static void program_name(const struct state_rank *rank, char *name, size_t size)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)rank->pid);
    FILE *file = rank->process == PROCESS_ELSEWHERE ? NULL : fopen(path, "re");
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
    }
    snprintf(name, size, "%s", *text ? basename(text) : "?");
    for (char *letter = name; *letter; letter++)
        if (*letter < ' ' || *letter > '~')
            *letter = '?';
}

/* Since the process was started. */
static double age_of(pid_t pid)
{
    char path[64], text[1024];
    unsigned long long start = 0;
    double up = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re"), *uptime = fopen("/proc/uptime", "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = 0;
    const char *behind = strrchr(text, ')');
    for (int field = 2; behind && field < 22; field++)
        behind = strchr(behind + 1, ' ');
    if (behind)
        start = strtoull(behind + 1, NULL, 10);
    if (uptime && fscanf(uptime, "%lf", &up) != 1)
        up = 0;
    if (file)
        fclose(file);
    if (uptime)
        fclose(uptime);
    double age = up - (double)start / (double)sysconf(_SC_CLK_TCK);
    return age > 0 ? age : 0;
}

static const char *job_word(const struct state_job *job)
{
    int waits = 0, alive = 0, stopped = 0;
    for (int i = 0; i < job->count; i++) {
        alive += job->rank[i].alive;
        waits += job->rank[i].alive && job->rank[i].wait.kind != WAITS_NOT;
        stopped += job->rank[i].process == 'T' || job->rank[i].process == 't';
    }
    return !alive             ? "has ended"
           : stopped == alive ? "is stopped"
           : waits == alive   ? "all wait"
           : waits            ? "some wait"
                              : "runs";
}

static void job_print(const struct found *found)
{
    struct state_job job;
    char program[40] = "?", ranks[40] = "?";
    int error = state_read(found->fd, &job);
    pid_t pid = found->launcher ? found->launcher : found->holder;
    if (job.count)
        program_name(&job.rank[0], program, sizeof program);
    if (job.count && !found->launcher && job.rank[0].process != PROCESS_ELSEWHERE)
        pid = job.rank[0].pid;
    if (!error)
        snprintf(ranks, sizeof ranks, job.count == job.ranks ? "%d" : "%d of %d", job.count, job.ranks);
    printf("%8d  %-20s %-12s %9.0f s  %s\n", (int)pid, program, ranks, age_of(pid),
           error       ? "of another build of Viaduct"
           : job.count ? job_word(&job)
                       : "starts");
    state_free(&job);
}

/* Of all hosts, where the launcher is ours and answers; else of this one. */
static int states_of(const struct found *found, struct state_job *job)
{
    bool asked = found->launcher && !state_is_stopped(found->launcher);
    int error = asked ? gather_ask(found->launcher, job) : ERR_NOT_FOUND;
    return error == ERR_NOT_FOUND ? state_read(found->fd, job) : error;
}

static void line_print(void *to, const char *text) { fprintf(to, "%s\n", text); }

/* Ranks of other hosts are known to our launcher alone. */
static void seen_print(const struct found *found, const struct state_job *job)
{
    if (found->launcher && state_is_stopped(found->launcher))
        printf("the launcher (process %d) is stopped, so ranks of other hosts are not seen\n", (int)found->launcher);
    if (!found->launcher && job->count && job->count < job->ranks)
        printf("%d of %d ranks are seen, those of this host: the job was started by another launcher than Viaduct's "
               "mpiexec, so look on its other hosts, too\n",
               job->count, job->ranks);
}

static void refuse_other_build(const struct found *found, const char *verb)
{
    char path[64], program[256] = "the viaduct that is installed with its library";
    snprintf(path, sizeof path, "/proc/%d/exe", (int)found->launcher);
    if (found->launcher)
        (void)link_read(path, program);
    vbase_plain(program, strlen(program));
    fprintf(stderr, "viaduct %s: the job of process %d uses another build of Viaduct than this program: call %s\n",
            verb, (int)(found->launcher ? found->launcher : found->holder), program);
}

static bool is_of_another_user(pid_t pid)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return geteuid() != 0 && stat(path, &status) == 0 && status.st_uid != geteuid();
}

/* The one job that is meant; NULL: the reason was printed. */
static const struct found *job_asked(const struct jobs *jobs, const char *verb, const char *word)
{
    const struct found *found = NULL;
    int mine = 0;
    off_t at;
    for (int i = 0; i < jobs->count; i++)
        if (!word || jobs->job[i].wanted) {
            found = &jobs->job[i];
            mine++;
        }
    if (mine == 1 && shm_segment_counters(found->fd, 0, &at) == OK)
        return found;
    if (mine == 1)
        refuse_other_build(found, verb);
    else if (word && kill(jobs->asked, 0) < 0 && errno == ESRCH)
        fprintf(stderr, "viaduct %s: there is no process %s; viaduct jobs lists the jobs\n", verb, word);
    else if (word && is_of_another_user(jobs->asked))
        fprintf(stderr, "viaduct %s: process %s belongs to another user: only that user and root may look at it\n",
                verb, word);
    else if (word)
        fprintf(stderr,
                "viaduct %s: process %s is neither the launcher nor a rank of a job; viaduct jobs lists the jobs\n",
                verb, word);
    else
        fprintf(stderr, mine ? "viaduct %s: %d jobs run here: give the PID of one; viaduct jobs lists them\n"
                             : "viaduct %s: no job of this user runs here\n", verb, mine);
    return NULL;
}

static int usage(const char *verb, const char *text)
{
    printf("usage: viaduct %s [PID]\n\n%s", verb, text);
    return 0;
}

/* The PID in the arguments, 0: none; false: they make no sense. */
static bool pid_read(int argc, char **argv, pid_t *pid)
{
    char *end;
    long number = argc > 1 ? strtol(argv[1], &end, 10) : 0;
    *pid = (pid_t)number;
    if (argc < 2 || (argc == 2 && number > 0 && number <= INT_MAX && !*end))
        return true;
    fprintf(stderr, "viaduct %s: %s is no PID\n", argv[0], argc > 2 ? argv[2] : argv[1]);
    return false;
}

int job_segment(const char *verb, const char *word, pid_t *holder)
{
    struct jobs jobs = {.count = 0};
    char *words[] = {(char *)(uintptr_t)verb, (char *)(uintptr_t)word, NULL};
    if (!pid_read(word ? 2 : 1, words, &jobs.asked))
        return -1;
    jobs_find(&jobs);
    const struct found *found = job_asked(&jobs, verb, word);
    int segment = found ? fcntl(found->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (found)
        *holder = found->launcher ? found->launcher : found->holder;
    jobs_close(&jobs);
    return segment;
}

int verb_jobs(int argc, char **argv)
{
    struct jobs jobs = {.count = 0};
    struct state_job job;
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return usage("jobs", "The jobs of this user on this host. With the PID of a launcher or of a rank: what each\n"
                             "of its ranks does, for how long, and what it has used.\n");
    if (!pid_read(argc, argv, &jobs.asked))
        return 2;
    jobs_find(&jobs);
    if (!jobs.asked) {
        printf("%8s  %-20s %-12s %11s  %s\n", "PID", "PROGRAM", "RANKS HERE", "SINCE", "STATE");
        for (int i = 0; i < jobs.count; i++)
            job_print(&jobs.job[i]);
        jobs_close(&jobs);
        return 0;
    }
    const struct found *found = job_asked(&jobs, argv[0], argv[1]);
    bool read = found && states_of(found, &job) == OK;
    if (read) {
        state_list(&job, line_print, stdout);
        seen_print(found, &job);
        if (!job.count)
            fprintf(stderr, "viaduct jobs: %s\n", state_nothing);
        state_free(&job);
    } else if (found) {
        fprintf(stderr, "viaduct jobs: %s\n", vbase_error_detail());
    }
    jobs_close(&jobs);
    return read ? 0 : 1;
}

/* ---- viaduct stuck ----------------------------------------------------------------------------------------------- */

int verb_stuck(int argc, char **argv)
{
    struct jobs jobs = {.count = 0};
    struct state_job earlier, job = {.count = 0};
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return usage("stuck",
                     "Says which ranks of a job wait for which, and why that will not end: cycles, messages that\n"
                     "almost match, ranks that have left, collectives that differ, ranks that all others wait for.\n"
                     "Looks twice, a fifth of a second apart. Status 0: nothing waits so long; 1: something does.\n");
    if (!pid_read(argc, argv, &jobs.asked))
        return 2;
    jobs_find(&jobs);
    const struct found *found = job_asked(&jobs, argv[0], argc > 1 ? argv[1] : NULL);
    int error = found ? states_of(found, &earlier) : ERR_NOT_FOUND, status = 2;
    if (error == OK) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        error = states_of(found, &job);
        status = !error && stuck_explain(&job, &earlier, line_print, stdout) ? 1 : 0;
        if (!error && !job.count)
            error = vbase_fail(ERR_NOT_FOUND, "%s", state_nothing);
        else if (!error && !status)
            printf("no rank is stuck: of %d ranks none waits for long\n", job.count);
        if (!error)
            seen_print(found, &job);
        state_free(&earlier);
        state_free(&job);
    }
    if (found && error)
        fprintf(stderr, "viaduct stuck: %s\n", vbase_error_detail());
    jobs_close(&jobs);
    return error ? 2 : status;
}
