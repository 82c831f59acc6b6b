/* The head's side of a job on several hosts: an agent (ssh, or what the user names) is started for each other host and
 * leads to a helper there, which is this same program. Everything goes over the agent's standard streams: the job with
 * its secret and its environment to the helper's stdin, never onto a command line; frames come back on stdout. What the
 * agent says on stderr is shown, and is the cause that is told if no helper answers.
 *
 * Nothing here waits: each host has its time, and one that is silent is named while we wait for it. */
#include "run/run.h"
#include "base/build.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/settings.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS   1000000000ull
#define PATIENCE_NS (60 * SECOND_NS) /* until a helper says hello */
#define NAMING_NS   (5 * SECOND_NS)  /* a host that we wait for is named so often */
#define GONE_NS     (3 * SECOND_NS)  /* after KILL: the agent is ended */
#define STATUS_LOST 255

extern char **environ;

/* ---- frames ---- */

void bytes_add(struct run_bytes *bytes, const void *data, size_t length)
{
    if (bytes->length + length > bytes->capacity) {
        bytes->capacity = 2 * (bytes->length + length) + 256;
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (!bytes->data)
            abort();
    }
    if (length)
        memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

void bytes_drop(struct run_bytes *bytes, size_t length)
{
    bytes->length -= length;
    memmove(bytes->data, bytes->data + length, bytes->length);
}

bool bytes_read(struct run_bytes *bytes, int fd)
{
    static char part[1 << 16];
    ssize_t got = read(fd, part, sizeof part);
    if (got > 0)
        bytes_add(bytes, part, (size_t)got);
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

const char *frame_next(const struct run_bytes *bytes, struct run_frame_header *header, bool *broken)
{
    if (bytes->length < sizeof *header)
        return NULL;
    memcpy(header, bytes->data, sizeof *header);
    *broken = header->kind < FRAME_JOB || header->kind > FRAME_DONE || header->length > FRAME_MOST;
    return *broken || bytes->length - sizeof *header < header->length ? NULL : bytes->data + sizeof *header;
}

void frame_send(struct run_job *job, struct run_sink *sink, enum run_frame kind, const void *body, size_t length)
{
    struct run_frame_header header = {kind, (uint32_t)length};
    output_push(job, sink, (const char *)&header, sizeof header);
    output_push(job, sink, body, length);
}

/* ---- the end of a host ---- */

static double seconds_since(uint64_t ns)
{
    return (double)(vbase_clock_ns() - ns) / 1e9;
}

static void let_go(struct run_job *job, struct run_host *host)
{
    struct run_watch *watch[] = {&host->in, &host->complaints, &host->wire.watch};
    output_end(job, &host->out);
    output_end(job, &host->err);
    for (size_t i = 0; i < ARRAY_LENGTH(watch); i++)
        if (watch[i]->fd >= 0)
            run_watch_close(job, watch[i]);
    host->wire.broken = true;
    free(host->wire.data);
    host->wire.data = NULL;
    kill(-host->agent, SIGTERM);
    host->state = HOST_DONE;
    job->away--;
    remote_fence(job);
}

static void hear_complaints(struct run_job *job, struct run_host *host);

/* A host ended without a goodbye: it could not be reached, or it is lost. */
static void lose(struct run_job *job, struct run_host *host, const char *why)
{
    hear_complaints(job, host);
    bool quiet = job->failed || job->ending != ENDING_NO;
    if (!quiet && host->state == HOST_CALLED)
        output_line(job, "cannot start ranks on %s: %s (after %.1f s)", host->name, *host->said ? host->said : why,
                    seconds_since(host->called_ns));
    else if (!quiet)
        output_line(job, "host %s is lost: %s", host->name, *host->said ? host->said : why);
    let_go(job, host);
    run_end(job, STATUS_LOST, SECOND_NS);
}

/* ---- what comes from a host ---- */

/* Lines of the agent: ssh's complaints, and what a shell's start-up files print. */
static void hear_complaints(struct run_job *job, struct run_host *host)
{
    char text[2048];
    ssize_t got = host->complaints.fd >= 0 ? read(host->complaints.fd, text, sizeof text - 1) : 0;
    if (got <= 0)
        return;
    text[got] = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\r\n"));)
        if (*line) {
            snprintf(host->said, sizeof host->said, "%s", line);
            if (host->state == HOST_UP && job->ending == ENDING_NO)
                output_line(job, "%s: %s", host->name, line);
        }
}

static void complaints_ready(struct run_job *job, struct run_watch *watch, uint32_t events)
{
    struct run_host *host = container_of(watch, struct run_host, complaints);
    hear_complaints(job, host);
    if ((events & EPOLLHUP) && !(events & EPOLLIN))
        run_watch_close(job, watch);
}

static void give_input(struct run_job *job);

static int number_in(const char *body, const struct run_frame_header *header)
{
    int32_t number = 0;
    if (header->length >= sizeof number)
        memcpy(&number, body, sizeof number);
    return number;
}

static void obey(struct run_job *job, struct run_host *host, const struct run_frame_header *header, const char *body)
{
    int number = number_in(body, header);
    switch ((enum run_frame)header->kind) {
    case FRAME_OUT:
    case FRAME_ERR:
        output_take(job, header->kind == FRAME_OUT ? &host->out : &host->err, body, header->length);
        break;
    case FRAME_FENCE:
        host->in_fence = true;
        bytes_add(&job->puts, body, header->length);
        remote_fence(job);
        break;
    case FRAME_END:
        run_end(job, number, SECOND_NS);
        break;
    case FRAME_MORE:
        give_input(job);
        break;
    case FRAME_DONE: /* 0: all went well */
        if (number > 0 && !job->failed) {
            job->failed = true;
            job->exit_status = number;
        }
        let_go(job, host);
        break;
    case FRAME_JOB:
    case FRAME_SIGNAL:
    case FRAME_STDIN:
        break;
    }
}

/* A shell's start-up file may print what it likes before the helper's first word. */
static bool hello_heard(struct run_host *host)
{
    const char *at = memmem(host->got.data, host->got.length, HELPER_HELLO, strlen(HELPER_HELLO));
    if (!at)
        return false;
    bytes_drop(&host->got, (size_t)(at - host->got.data) + strlen(HELPER_HELLO));
    host->state = HOST_UP;
    host->said[0] = 0;
    return true;
}

static void host_ready(struct run_job *job, struct run_watch *watch, uint32_t events)
{
    struct run_host *host = container_of(watch, struct run_host, in);
    struct run_frame_header header;
    bool broken = false;
    (void)events;
    if (output_behind(job)) {
        epoll_ctl(job->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
        host->paused = true;
        return;
    }
    bool more = bytes_read(&host->got, watch->fd);
    if (host->state == HOST_CALLED && !hello_heard(host) && more)
        return;
    for (const char *body; host->state == HOST_UP && (body = frame_next(&host->got, &header, &broken));) {
        obey(job, host, &header, body);
        bytes_drop(&host->got, sizeof header + header.length);
    }
    if (host->state != HOST_DONE && (!more || broken))
        lose(job, host, broken ? "what it says makes no sense" : "its helper or the connection to it ended");
}

void remote_resume(struct run_job *job)
{
    for (int i = 0; i < job->options.hosts; i++) {
        struct run_host *host = &job->options.host[i];
        if (host->paused && host->in.fd >= 0 && run_watch_add(job, &host->in, EPOLLIN) == OK)
            host->paused = false;
    }
}

/* ---- fences ---- */

static bool is_away(const struct run_host *host)
{
    return host->state == HOST_CALLED || host->state == HOST_UP;
}

void remote_fence(struct run_job *job)
{
    bool waiting = job->in_barrier > 0, missing = job->in_barrier < job->local;
    const char *ended = NULL;
    for (int i = 0; i < job->options.hosts; i++) {
        const struct run_host *host = &job->options.host[i];
        waiting |= host->in_fence;
        missing |= is_away(host) && !host->in_fence;
        if (host->state == HOST_DONE)
            ended = host->name;
    }
    if (!waiting)
        return;
    if (ended && job->ending == ENDING_NO) {
        output_line(job, "the ranks on %s have ended, but others would wait for them", ended);
        run_end(job, 1, SECOND_NS);
    }
    if (missing || ended)
        return;
    struct run_bytes all = job->puts;
    job->puts = (struct run_bytes){0};
    for (int i = 0; i < job->options.hosts; i++) {
        struct run_host *host = &job->options.host[i];
        if (is_away(host))
            frame_send(job, &host->wire, FRAME_FENCE, all.data, all.length);
        host->in_fence = false;
    }
    pmi_release(job, all.data, all.length);
    free(all.data);
}

/* ---- our standard input, for a rank elsewhere: a piece at a time, the next when it was taken ---- */

static struct run_host *reader_of(struct run_job *job)
{
    int rank = job->options.stdin_rank;
    if (job->options.stdin_to != STDIN_RANK || rank >= job->size || job->rank[rank].host == job->here)
        return NULL;
    return &job->options.host[job->rank[rank].host];
}

static void input_ready(struct run_job *job, struct run_watch *watch, uint32_t events)
{
    struct run_bytes part = {0};
    struct run_host *host = reader_of(job);
    (void)events;
    if (events)
        epoll_ctl(job->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    bool more = bytes_read(&part, watch->fd);
    if (!more)
        watch->fd = -1;
    if (host && is_away(host) && (part.length > 0 || !more))
        frame_send(job, &host->wire, FRAME_STDIN, part.data, part.length); /* empty: the end */
    else if (more)
        give_input(job);
    free(part.data);
}

static void give_input(struct run_job *job)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &job->input};
    if (job->input.fd < 0)
        return;
    if (epoll_ctl(job->epoll, EPOLL_CTL_ADD, job->input.fd, &event) < 0 && errno == EPERM)
        input_ready(job, &job->input, 0); /* a file is always ready */
}

/* ---- signals and time ---- */

void remote_signal(struct run_job *job, int number)
{
    int32_t body = number;
    for (int i = 0; job->head.fd < 0 && i < job->options.hosts; i++) {
        struct run_host *host = &job->options.host[i];
        if (!is_away(host))
            continue;
        frame_send(job, &host->wire, FRAME_SIGNAL, &body, sizeof body);
        if (host->state == HOST_CALLED)
            host->look_ns = vbase_clock_ns(); /* nobody hears it there yet: if it was the end, the agent is ended */
        else if (number == SIGKILL)
            host->look_ns = vbase_clock_ns() + GONE_NS;
    }
}

void remote_tick(struct run_job *job, uint64_t now_ns)
{
    for (int i = 0; i < job->options.hosts; i++) {
        struct run_host *host = &job->options.host[i];
        if (!is_away(host) || host->look_ns == 0 || now_ns < host->look_ns)
            continue;
        host->look_ns = now_ns + NAMING_NS;
        if (job->ending == ENDING_KILL || (host->state == HOST_CALLED && job->ending != ENDING_NO))
            lose(job, host, "it did not end in time");
        else if (host->state == HOST_UP)
            host->look_ns = 0;
        else if (now_ns > host->called_ns + PATIENCE_NS)
            lose(job, host, "no answer");
        else
            output_line(job, "waiting for %s: %s (%.0f s)", host->name, *host->said ? host->said : "no answer yet",
                        seconds_since(host->called_ns));
    }
}

uint64_t remote_next(const struct run_job *job)
{
    uint64_t next = 0;
    for (int i = 0; i < job->options.hosts; i++) {
        const struct run_host *host = &job->options.host[i];
        if (is_away(host) && host->look_ns && (next == 0 || host->look_ns < next))
            next = host->look_ns;
    }
    return next;
}

/* ---- calling ---- */

static const char *agent_of(const struct run_options *options)
{
    static const char *const names[] = {"HYDRA_LAUNCHER_EXEC",      "HYDRA_BOOTSTRAP_EXEC",     "OMPI_MCA_plm_rsh_agent",
                                        "PRTE_MCA_plm_ssh_agent",   "OMPI_MCA_plm_ssh_agent",   "OMPI_MCA_orte_rsh_agent"};
    if (options->agent)
        return options->agent;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *text = vbase_environment(names[i]);
        if (text && *text)
            return text;
    }
    return "ssh";
}

/* The agent's words, the host, and our own program by its path. ssh is told never to ask anybody anything. */
static char **agent_words(const struct run_options *options, const char *host)
{
    static const char *const for_ssh[] = {"-x", "-T", "-oBatchMode=yes", "-oConnectTimeout=30", "-oServerAliveInterval=15"};
    static char command[5000], path[4096];
    static char *word[64];
    int count = 0;
    char *copy = strdup(agent_of(options)), *rest = copy; /* the words stay in it */
    for (char *part; copy && count < 40 && (part = strsep(&rest, " "));)
        if (*part)
            word[count++] = part;
    const char *slash = count ? strrchr(word[0], '/') : NULL;
    for (size_t i = 0; count && strcmp(slash ? slash + 1 : word[0], "ssh") == 0 && i < ARRAY_LENGTH(for_ssh); i++)
        word[count++] = (char *)(uintptr_t)for_ssh[i];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    snprintf(command, sizeof command, "exec '%s' helper", path);
    word[count++] = (char *)(uintptr_t)host;
    word[count++] = command;
    word[count] = NULL;
    return word;
}

static int call(struct run_job *job, struct run_host *host)
{
    int to[2] = {-1, -1}, from[2] = {-1, -1}, said[2] = {-1, -1};
    if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0 || pipe2(said, O_CLOEXEC) < 0)
        return vbase_fail_errno(ERR_LIMIT, "pipes to %s", host->name);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    posix_spawn_file_actions_adddup2(&actions, said[1], 2);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &job->old_mask);
    posix_spawnattr_setsigdefault(&how, &pipe_signal);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    char **word = agent_words(&job->options, host->name);
    int failed = posix_spawnp(&host->agent, word[0], &actions, &how, word, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&how);
    close(to[0]);
    close(from[1]);
    close(said[1]);
    if (failed) {
        errno = failed;
        return vbase_fail_errno(ERR_SYSTEM, "cannot start %s to reach %s", word[0], host->name);
    }
    fcntl(said[0], F_SETFL, O_NONBLOCK);
    output_wire(&host->wire, to[1]);
    host->in = (struct run_watch){host_ready, from[0]};
    host->complaints = (struct run_watch){complaints_ready, said[0]};
    host->out.rank = host->err.rank = -1;
    host->err.which = 1;
    host->out.fresh = host->err.fresh = true;
    host->called_ns = vbase_clock_ns();
    host->look_ns = host->called_ns + NAMING_NS;
    host->state = HOST_CALLED;
    job->away++;
    int error = run_watch_add(job, &host->in, EPOLLIN);
    return error != OK ? error : run_watch_add(job, &host->complaints, EPOLLIN);
}

/* ---- the job, for a helper: texts with their NULs. The order is that of helper.c. ---- */

static void add_text(struct run_bytes *body, const char *text)
{
    bytes_add(body, text, strlen(text) + 1);
}

static void add_number(struct run_bytes *body, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    add_text(body, text);
}

static void add_words(struct run_bytes *body, char **word, int count)
{
    add_number(body, count);
    for (int i = 0; i < count; i++)
        add_text(body, word[i]);
}

static void describe(struct run_job *job, struct run_bytes *body, int argc, char **argv)
{
    char directory[4096];
    int variables = 0;
    bytes_add(body, job->handover.header->secret, SECRET_SIZE);
    add_text(body, getcwd(directory, sizeof directory) ? directory : "/");
    add_text(body, job->id);
    add_text(body, job->space);
    while (environ[variables])
        variables++;
    add_words(body, environ, variables);
    add_words(body, argv, argc);
    add_number(body, job->options.apps);
    for (int i = 0; i < job->options.apps; i++)
        add_number(body, job->options.app[i].count);
    for (int i = 0; i < job->size; i++)
        add_number(body, job->rank[i].host);
}

int remote_start(struct run_job *job, int argc, char **argv)
{
    struct run_bytes body = {0};
    int error = OK;
    for (int i = 0; i < job->options.hosts && error == OK && job->ending == ENDING_NO; i++) {
        struct run_host *host = &job->options.host[i];
        if (host->here || host->ranks == 0)
            continue;
        error = call(job, host);
        if (error != OK)
            break;
        body.length = 0;
        add_text(&body, vbase_build_id);
        add_number(&body, i);
        describe(job, &body, argc, argv);
        frame_send(job, &host->wire, FRAME_JOB, body.data, body.length);
    }
    free(body.data);
    job->input = (struct run_watch){input_ready, reader_of(job) ? 0 : -1};
    give_input(job);
    return error;
}
