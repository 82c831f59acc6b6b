/* The life of a job: job_prepare, job_start, job_serve, end. */
#include "run/job.h"
#include "verbs.h"
#include "vi/shm/segment.h"
#include "vi/vi.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#define DESERTER_TICK_NS  (SECOND_NS / 2)
#define SPARE_DESCRIPTORS 20
#define START_BATCH       16
#define LOOK_GAP_NS       5000 /* for each rank, between two searches of all ranks for dead ones */
#define LISTENER_DESCRIPTORS 100 /* unauthenticated connections, and proven ones not yet taken */

enum {
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_NOT_RUNNABLE = 126,
    STATUS_NOT_FOUND = 127
};

/* ---- ranks ---- */

/* What it says over PMI: one read, or ALL of it. */
static void rank_hear(struct run_job *job, struct run_rank *rank, bool all)
{
    enum pmi_event event;
    do {
        event = pmi_serve(job, rank);
        if (event == PMI_BARRIER) {
            output_drain(job, rank); /* before what others write when they have left the fence */
            fence_check(job);
        } else if (event == PMI_ABORT)
            report_death(job, rank);
    } while (event > PMI_MORE || (all && event == PMI_MORE));
}

static void rank_ready(struct run_job *job, struct run_watch *watch)
{
    rank_hear(job, container_of(watch, struct run_rank, pmi), false);
}

static void ranks_reap(struct run_job *job)
{
    job->look_ns = 0;
    for (int i = 0; i < job->size; i++) {
        struct run_rank *rank = &job->rank[i];
        siginfo_t what = {0};
        if (rank->state != RANK_RUNNING || waitid(P_PID, (id_t)rank->pid, &what, WEXITED | WNOHANG | WNOWAIT) < 0 ||
            what.si_pid == 0)
            continue;
        rank->state = RANK_DEAD;
        job->running--;
        rank->status = what.si_code == CLD_EXITED ? (what.si_status & 255) << 8
                                                  : what.si_status | (what.si_code == CLD_DUMPED ? 0x80 : 0);
        rank_hear(job, rank, true);
        job->in_barrier -= rank->in_barrier;
        rank->in_barrier = false;
        if (rank->pmi.fd >= 0)
            pmi_hang_up(job, rank);
        report_death(job, rank);
    }
    report_deserters(job);
    fence_check(job);
    job->looked_ns = vbase_clock_ns();
}

/* Ranks that end one after the other are looked for together. */
static void ranks_reap_soon(struct run_job *job)
{
    uint64_t at = job->looked_ns + (uint64_t)job->size * LOOK_GAP_NS;
    if (vbase_clock_ns() >= at)
        ranks_reap(job);
    else
        job->look_ns = at;
}

/* ---- signals ---- */

static bool is_rank(const struct run_job *job, pid_t pid)
{
    for (int i = 0; i < job->size; i++)
        if (job->rank[i].pid == pid)
            return true;
    return false;
}

static bool is_kept(const struct run_job *job, pid_t pid) { return pid == job->watchdog || is_rank(job, pid); }

/* An orphan of a rank that came to us, or an agent, and others whose death was told by the same signal. Behind a dead
 * rank, which stays, none is found. */
static void orphans_reap(const struct run_job *job, pid_t told)
{
    siginfo_t dead = {.si_pid = told};
    bool more = !is_kept(job, told);
    while (more) {
        waitpid(dead.si_pid, NULL, WNOHANG);
        more = waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT) == 0 && dead.si_pid > 0 &&
               !is_kept(job, dead.si_pid);
    }
}

static void signals_ready(struct run_job *job, struct run_watch *watch)
{
    struct signalfd_siginfo got;
    bool dead = false;
    while (read(watch->fd, &got, sizeof got) == sizeof got) {
        int number = (int)got.ssi_signo;
        bool from_terminal = got.ssi_code == SI_KERNEL;
        if (number == SIGCHLD) {
            dead = true;
            orphans_reap(job, (pid_t)got.ssi_pid);
        } else if (number == SIGQUIT || number == SIGUSR2)
            gather_begin(job, GATHER_REPORT);
        else if (number == SIGINT || number == SIGTERM || number == SIGHUP)
            end_asked(job, number, from_terminal);
        else
            end_signal(job, number, from_terminal);
        if (number == SIGTSTP)
            raise(SIGSTOP); /* we stop, too; when we are continued we continue the ranks */
    }
    if (dead) {
        tree_guard_again(job);
        ranks_reap_soon(job);
    }
}

/* The epoll and the first in it, signals. What was ignored when we came stays ignored, by us and by the ranks. */
static int events_open(struct run_job *job)
{
    static const int heard[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,  SIGTSTP,
                                SIGCONT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD};
    struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
    sigset_t set;
    sigaction(SIGCHLD, &action, NULL);
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LENGTH(heard); i++)
        if (sigaction(heard[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&set, heard[i]);
    sigprocmask(SIG_BLOCK, &set, &job->old_mask);
    job->pipe_ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
    job->signals = (struct run_watch){signals_ready, signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (job->signals.fd < 0)
        return vbase_fail_errno(ERR_LIMIT, "signalfd");
    return loop_open(&job->loop) ?: loop_add(&job->loop, &job->signals, EPOLLIN);
}

/* ---- preparing ---- */

/* Two or three descriptors a rank for its output and its connection; one where the system allows no more: then ranks
 * write to our own outputs. */
static int descriptors_count(struct run_job *job)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return OK;
    uint64_t full = (uint64_t)job->size * (job->one_sink || job->options.merge ? 2 : 3) + SPARE_DESCRIPTORS;
    uint64_t least = (uint64_t)job->size + SPARE_DESCRIPTORS;
    if (job->local < job->size)
        full += 2 * (uint64_t)job->local + LISTENER_DESCRIPTORS;
    if (limit.rlim_cur < full && limit.rlim_cur < limit.rlim_max) {
        job->old_limit = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max < full ? limit.rlim_max : full;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur < least)
        return vbase_fail(ERR_LIMIT, "%d ranks need %llu open files in the launcher, the limit is %llu (ulimit -n)",
                          job->size, (unsigned long long)least, (unsigned long long)limit.rlim_cur);
    job->direct_output = limit.rlim_cur < full;
    return OK;
}

static int id_make(struct run_job *job)
{
    uint64_t random[2];
    const char *outer = vbase_environment(HANDOVER_ID_VARIABLE);
    int error = vbase_random(random, sizeof random);
    if (error != OK)
        return error;
    size_t length = outer ? strlen(outer) : 0;
    if (length > 100)
        outer += length - 100; /* jobs further out than that find us by process group */
    snprintf(job->id, sizeof job->id, "%s%s%016llx", outer ? outer : "", outer ? "/" : "",
             (unsigned long long)random[0]);
    if (!*job->space) /* else a helper was told */
        snprintf(job->space, sizeof job->space, "viaduct_%016llx", (unsigned long long)random[1]);
    if (gethostname(job->host, sizeof job->host - 1) < 0)
        snprintf(job->host, sizeof job->host, "this host");
    return OK;
}

static int ranks_make(struct run_job *job)
{
    long total = 0;
    if (job->told && job->told->apps != job->options.apps)
        return vbase_fail(
            ERR_PROTOCOL,
            "this host read the command line otherwise than the first launcher: install the same Viaduct on all hosts");
    for (int i = 0; job->told && i < job->options.apps; i++)
        job->options.app[i].count = job->told->number[i];
    for (int i = 0; i < job->options.apps; i++)
        total += job->options.app[i].count;
    if (total > RANKS_MOST)
        return vbase_fail(ERR_LIMIT, "%ld ranks are more than a million", total);
    job->size = (int)total;
    job->rank = calloc((size_t)total, sizeof *job->rank);
    if (!job->rank)
        return vbase_fail(ERR_MEMORY, "no memory for %ld ranks", total);
    for (int i = 0, rank = 0; i < job->options.apps; i++)
        for (int j = 0; j < job->options.app[i].count; j++, rank++)
            job->rank[rank] = (struct run_rank){.rank = rank,
                                                .app = &job->options.app[i],
                                                .out = {{.watch.fd = -1}, {.watch.fd = -1}},
                                                .pmi = {rank_ready, -1}};
    return hosts_place(job);
}

/* Which ranks are where, as PMI writes it: "(vector,(host,1,ranks),...)"; nothing if it is too long. */
static void mapping_write(const struct run_job *job, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "(vector");
    for (int i = 0, run; i < job->size && used < size - 40; i += run) {
        for (run = 1; i + run < job->size && job->rank[i + run].host == job->rank[i].host;)
            run++;
        used += (size_t)snprintf(text + used, size - used, ",(%d,1,%d)", job->rank[i].host, run);
    }
    if (used >= size - 40)
        text[0] = 0;
    else
        snprintf(text + used, size - used, ")");
}

/* What the ranks inherit, and the few facts that every PMI program asks for. */
static int handover_make(struct run_job *job)
{
    int local = job->local > 0 ? job->local : 1;
    int error = vboot_handover_create(job->size, local, &job->handover);
    if (error != OK)
        return error;
    for (int i = 0; i < job->size; i++)
        if (job->rank[i].host == job->here) {
            job->handover.seat[job->rank[i].seat].appnum = (int32_t)(job->rank[i].app - job->options.app);
            job->handover.header->rank[job->rank[i].seat] = (uint32_t)i;
        }
    if (job->told)
        memcpy(job->handover.header->secret, job->told->secret, SECRET_SIZE);
    job->handover.header->survives = job->options.keep_going;
    job->handover.header->universe = job->options.universe ? job->options.universe : job->size;
    if (shm_segment_create(local, &job->node_fd) != OK)
        job->node_fd = -1; /* programs that are no ranks run anyway; ranks report what is missing */
    char mapping[900];
    mapping_write(job, mapping, sizeof mapping);
    return vboot_kvs_put(&job->kvs, "PMI_process_mapping", mapping);
}

static void listener_ready(struct run_job *job, struct run_watch *watch)
{
    (void)watch;
    call_listener_step(job->listener, vbase_clock_ns());
}

/* Ranks of other hosts connect to ours at one port. Where descriptors are short, or there is no network, each rank has
 * its own. */
static int listener_open(struct run_job *job)
{
    struct vi_setup setup = {.ranks = (uint32_t)job->size,
                             .secret = job->handover.header->secret,
                             .local_ranks = (const int *)job->handover.header->rank,
                             .local_count = (uint32_t)job->local};
    if (job->local == 0 || job->size == 1 || !vi_listener_needed((uint32_t)job->local, (uint32_t)job->size))
        return OK;
    int error = call_listener_open(&setup, &job->listener);
    if (error == ERR_LIMIT || error == ERR_UNSUPPORTED) {
        LOG_INFO("each rank of this host listens by itself, the launcher does not: %s", vbase_error_detail());
        return OK;
    }
    if (error != OK)
        return error;
    job->at_listener = (struct run_watch){listener_ready, call_listener_descriptor(job->listener)};
    return loop_add(&job->loop, &job->at_listener, EPOLLIN);
}

static int job_prepare(struct run_job *job)
{
    static int (*const step[])(struct run_job * job) = {
        ranks_make,        id_make,     binding_plan, output_open,   ranks_fit,
        descriptors_count, events_open, tree_guard,   handover_make, profile_open, listener_open,
    };
    int error = OK;
    for (size_t i = 0; i < ARRAY_LENGTH(step) && error == OK; i++)
        error = step[i](job);
    return error;
}

/* ---- serving ---- */

static void job_tick(struct run_job *job)
{
    uint64_t now = vbase_clock_ns();
    job->loop.wake_ns = UINT64_MAX;
    if (loop_due(&job->loop, job->line_ns, now))
        output_flush_quiet(job, now);
    if (loop_due(&job->loop, job->deadline_ns, now)) {
        job->deadline_ns = 0;
        if (job->ending == ENDING_NO) {
            output_line(job, "the time allowed (%.3g s) is over: the job is ended",
                        (double)job->options.timeout_ns / 1e9);
            gather_begin(job, GATHER_END);
        }
    }
    gather_tick(job, now);
    hint_tick(job, now);
    stacks_tick(job, now);
    profile_tick(job, now);
    if (loop_due(&job->loop, job->kill_ns, now))
        end_at_once(job);
    if (loop_due(&job->loop, job->look_ns, now))
        ranks_reap(job);
    if (job->sink[0].lost == EPIPE && job->head.fd < 0 && job->ending == ENDING_NO) {
        output_line(job, "standard output was closed by its reader: job terminated");
        end_begin(job, STATUS_SIGNAL + SIGPIPE, SECOND_NS);
    }
    remote_tick(job, now);
    head_tick(job, now);
    if (job->silent) {
        report_deserters(job);
        (void)loop_due(&job->loop, now + DESERTER_TICK_NS, now); /* another may have come into MPI by then */
    }
}

static void job_serve_once(struct run_job *job, bool wait)
{
    job_tick(job);
    loop_step(&job->loop, job, wait);
}

static void job_serve(struct run_job *job)
{
    ranks_reap(job);
    while (job->running > 0 || job->away > 0)
        job_serve_once(job, true);
}

/* ---- starting ---- */

static int app_start(struct run_job *job, struct run_app *app, struct run_rank *first)
{
    struct run_environment environment;
    int error = OK;
    environment_build(&environment, job, app);
    for (int i = 0; i < app->count && error == OK && job->ending == ENDING_NO; i++) {
        if (first[i].host != job->here)
            continue;
        error = child_start(job, &first[i], &environment);
        if (i % START_BATCH == START_BATCH - 1)
            job_serve_once(job, false); /* the first may have failed already, or a signal came */
    }
    environment_free(&environment);
    return error;
}

static void job_start(struct run_job *job)
{
    struct run_rank *first = job->rank;
    int error = (job->head.fd >= 0 ? head_listen(job) : OK) ?: child_files_begin(job);
    if (error == OK)
        remote_start(job);
    for (int i = 0; i < job->options.apps && error == OK; first += job->options.app[i++].count)
        error = app_start(job, &job->options.app[i], first);
    job->started = true;
    if (error != OK) {
        output_line(job, "%s%s%s", vbase_error_detail(), job->options.hosts > 1 || job->head.fd >= 0 ? ": on " : "",
                    job->options.hosts > 1 || job->head.fd >= 0 ? job->host : "");
        end_begin(job, error == ERR_NOT_FOUND ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE, 0);
    }
}

static int job_status(const struct run_job *job)
{
    if (job->failed)
        return job->exit_status;
    if (!job->asked_signal)
        return 0;
    for (int i = 0; i < job->size; i++) /* the end was asked for; did the ranks end well all the same? */
        if (job->rank[i].status != 0 || (job->rank[i].host == job->here && job->rank[i].state == RANK_WAITING))
            return STATUS_SIGNAL + job->asked_signal;
    return 0;
}

/* Descriptors 0 to 2 must be open, or a pipe of ours would become a rank's standard output. Ranks inherit them: a
 * descriptor of the library would become the standard input of one that has none. */
static void standard_descriptors_fill(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd < 3);
    if (fd >= 3)
        close(fd);
}

int run_job(struct run_job *job, int argc, char **argv)
{
    int error = vbase_settings_read() ?: vi_settings_check();
    job->options.told = job->told != NULL;
    job->argc = argc;
    job->argv = argv;
    if (error == OK)
        error = options_read(&job->options, argc, argv);
    if (error == OK && job->told_rankfile)
        error = rankfile_parse(&job->options, job->told_rankfile);
    if (error == 1)
        return 0;
    bool understood = error == OK;
    if (understood)
        error = job_prepare(job);
    if (error != OK) {
        fprintf(stderr, "viaduct: %s\n", vbase_error_detail());
        return !understood || error == ERR_ARGUMENT ? STATUS_USAGE : STATUS_NOT_RUNNABLE;
    }
    map_report(job);
    gather_open(job);
    if (job->options.timeout_ns && job->head.fd < 0) {
        job->deadline_ns = vbase_clock_ns() + job->options.timeout_ns;
        job->reader_ns = job->deadline_ns;
    }
    job->oom_kills = vbase_oom_kills();
    job_start(job);
    mpir_publish(job);
    job_serve(job);
    tree_clear(job);
    report_all(job);
    profile_finish(job, job_status(job));
    if (job->listener && call_listener_rejected(job->listener) > 0)
        output_line(job, "%d connections to %s were rejected: they came from outside of the job (VIADUCT_LOG=info)",
                    call_listener_rejected(job->listener), job->host);
    if (job->listener && vbase_counters->left > 0)
        LOG_INFO("%llu connections to %s were closed by the other side before they were authenticated",
                 (unsigned long long)vbase_counters->left, job->host);
    gather_close(job);
    stacks_close(job);
    bool written = output_finish(job);
    pmi_close(job);
    int status = job_status(job);
    if (!status && !written) /* or a signal has ended the writing */
        status = job->asked_signal ? STATUS_SIGNAL + job->asked_signal : STATUS_FAILED;
    if (job->head.fd >= 0) {
        frame_send_number(job, &job->sink[0], FRAME_DONE, status);
        written = output_finish(job);
    }
    return status;
}

int verb_run(int argc, char **argv)
{
    static struct run_job job = {.head.fd = -1, .input.fd = -1, .rank_input.watch.fd = -1};
    standard_descriptors_fill();
    return run_job(&job, argc, argv);
}
