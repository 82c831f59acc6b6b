/* Other hosts, as seen by whoever calls them: the head, or a helper in the middle of the tree. Each is reached by an agent
 * (agent.c), which leads to a helper there, this same program. Everything goes over the agent's standard streams: the job
 * with its secret and its environment to the helper's stdin, never onto a command line; frames come back on stdout. What
 * the agent says on stderr is shown, and is the cause that is told if no helper answers.
 *
 * Who calls whom: the hosts that somebody is charged with are dealt like cards to the first FANOUT of them, which he
 * calls. A host that a helper cannot reach is called by the head itself: its user may have a key to every host where the
 * hosts have none to each other.
 *
 * Nothing here waits: each host has its time, and one that is silent is named while we wait for it. */
#include "run/run.h"

#define SECOND_NS   1000000000ull
#define PATIENCE    60 /* s: until a helper says hello, and with one that has said nothing more; --patience */
#define ALIVE_PART  4 /* of it: how often each says that it is alive */
#define NAMING_NS   (5 * SECOND_NS) /* a host that we wait for is named so often */
#define AGAIN_NS    SECOND_NS       /* with --patience, a host that was not reached is called again */
#define GONE_NS     (3 * SECOND_NS) /* after KILL: the agent is ended */
#define FANOUT      32 /* a call costs its caller some 20 ms of a processor and a key; 1,056 hosts are two calls away */
#define STATUS_LOST 255

extern char **environ;

static void call(struct run_job *job, struct run_host *host);

static double seconds_since(uint64_t ns) { return (double)(vbase_clock_ns() - ns) / 1e9; }

static uint64_t patience(const struct run_job *job)
{
    return (uint64_t)(job->options.patience ? job->options.patience : PATIENCE) * SECOND_NS;
}

static bool is_away(const struct run_host *host)
{
    return host->state == HOST_CALLED || host->state == HOST_UP || host->state == HOST_RESTING;
}

/* ---- the end of a host ---- */

static void hang_up(struct run_job *job, struct run_host *host)
{
    struct run_watch *watch[] = {&host->in, &host->complaints, &host->wire.watch};
    for (size_t i = 0; i < ARRAY_LENGTH(watch); i++)
        if (watch[i]->fd >= 0)
            run_watch_close(job, watch[i]);
    host->wire.broken = true;
    free(host->wire.bytes.data);
    host->wire.bytes = (struct run_bytes){0};
    if (host->agent > 0)
        kill(-host->agent, SIGTERM);
}

/* STATE: done, or not called: then somebody else will. */
static void let_go(struct run_job *job, struct run_host *host, enum run_host_state state)
{
    output_end(job, &host->out[0]);
    output_end(job, &host->out[1]);
    hang_up(job, host);
    host->state = state;
    job->away--;
    remote_fence(job);
}

void remote_forget(struct run_job *job)
{
    for (int i = 0; i < job->options.hosts; i++)
        if (is_away(&job->options.host[i]))
            let_go(job, &job->options.host[i], HOST_DONE);
}

static bool hear_complaints(struct run_job *job, struct run_host *host);

/* A helper could not reach one of its hosts: the head is to do it. */
static void pass_to_head(struct run_job *job, struct run_host *host)
{
    struct run_bytes body = {0};
    bytes_add(&body, &host->number, sizeof host->number);
    bytes_add(&body, host->charge, (size_t)host->charges * sizeof(int));
    frame_send(job, &job->sink[0], FRAME_MISSED, body.data, body.length);
    free(body.data);
    let_go(job, host, HOST_NOT_CALLED);
}

/* All dead that we know of, and the status that the job will have. */
static void tell_dead(struct run_job *job, struct run_sink *wire)
{
    struct run_bytes body = {0};
    bytes_add(&body, &job->exit_status, sizeof job->exit_status);
    for (int i = 0; i < job->size; i++)
        if (job->rank[i].mourned)
            bytes_add(&body, &i, sizeof i);
    frame_send(job, wire, FRAME_DEATH, body.data, body.length);
    free(body.data);
}

void remote_death(struct run_job *job, const int *said, size_t count)
{
    int known = job->deaths;
    for (size_t i = 1; i < count; i++) {
        int rank = said[i];
        if (rank < 0 || rank >= job->size || job->rank[rank].mourned)
            continue;
        job->rank[rank].mourned = true;
        job->deaths++;
        vboot_handover_dead(&job->handover, rank);
    }
    if (job->deaths == known)
        return; /* an echo */
    if (job->ending == ENDING_NO)
        run_failed(job, said[0]);
    for (int i = 0; i < job->options.hosts; i++)
        if (is_away(&job->options.host[i]))
            tell_dead(job, &job->options.host[i].wire);
    if (job->head.fd >= 0)
        tell_dead(job, &job->sink[0]);
    remote_fence(job);
}

/* Its ranks, and those of the hosts below it, whose launchers end with it. */
static void mourn(struct run_job *job, const struct run_host *host)
{
    int *dead = run_zeros((size_t)job->size + 1, sizeof *dead);
    size_t count = 0;
    dead[count++] = STATUS_LOST;
    for (int i = 0; i < job->size; i++)
        if (job->options.host[job->rank[i].host].via == host->number)
            dead[count++] = i;
    remote_death(job, dead, count);
    free(dead);
}

/* A host ended without a goodbye: it could not be reached, or it is lost. */
static void lose(struct run_job *job, struct run_host *host, const char *why)
{
    (void)hear_complaints(job, host);
    bool called = host->state != HOST_UP, goes_on = job->options.keep_going && job->ending == ENDING_NO;
    bool quiet = (job->failed && !goes_on) || job->ending != ENDING_NO;
    if (!quiet && called && vbase_clock_ns() < host->called_ns + (uint64_t)job->options.patience * SECOND_NS) {
        hang_up(job, host);
        host->state = HOST_RESTING;
        host->again_ns = vbase_clock_ns() + AGAIN_NS;
        return;
    }
    if (!quiet && called && job->head.fd >= 0) {
        pass_to_head(job, host);
        return;
    }
    if (!quiet && called)
        output_line(job, "cannot start ranks on %s: %s (after %.1f s)", host->name, *host->said ? host->said : why,
                    seconds_since(host->called_ns));
    else if (!quiet)
        output_line(job, "host %s is lost: %s", host->name, *host->said ? host->said : why);
    if (goes_on && !called)
        mourn(job, host);
    let_go(job, host, HOST_DONE);
    if (called || !goes_on)
        run_end(job, STATUS_LOST, SECOND_NS);
}

/* ---- what comes from a host ---- */

/* Lines of the agent: ssh's complaints, and what a shell's start-up files print. False: the end. */
static bool hear_complaints(struct run_job *job, struct run_host *host)
{
    char text[2048];
    ssize_t got = host->complaints.fd >= 0 ? read(host->complaints.fd, text, sizeof text - 1) : 0;
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    text[got] = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\r\n"));)
        if (*line) {
            line += strncmp(line, "viaduct: ", 9) == 0 ? 9 : 0; /* so begins ours, too */
            snprintf(host->said, sizeof host->said, "%s", line);
            if (host->state == HOST_UP && job->ending == ENDING_NO)
                output_line(job, "%s: %s", host->name, line);
        }
    return true;
}

static void complaints_ready(struct run_job *job, struct run_watch *watch)
{
    if (!hear_complaints(job, container_of(watch, struct run_host, complaints)))
        run_watch_close(job, watch);
}

/* The head takes over what a helper could not do; those between learn who is below whom no more. */
static void adopt(struct run_job *job, const int *number, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (number[i] < 0 || number[i] >= job->options.hosts)
            return;
    for (size_t i = 0; i < count; i++)
        job->options.host[number[i]].via = number[0];
    if (job->head.fd >= 0)
        frame_send(job, &job->sink[0], FRAME_MISSED, number, count * sizeof(int));
    if (job->head.fd >= 0 || count == 0 || is_away(&job->options.host[number[0]]) || job->ending != ENDING_NO)
        return;
    struct run_host *host = &job->options.host[number[0]];
    host->charges = (int)count - 1;
    host->charge = run_zeros(count, sizeof(int));
    memcpy(host->charge, number + 1, (count - 1) * sizeof(int));
    host->called_ns = 0;
    call(job, host);
}

static void obey(struct run_job *job, struct run_host *host, const struct run_frame_header *header, const char *body)
{
    const int *numbers = (const int *)(const void *)body; /* aligned: frames lie at the front */
    size_t count = header->length / sizeof *numbers;
    int number = frame_number(header, body);
    switch ((enum run_frame)header->kind) {
    case FRAME_OUT:
    case FRAME_ERR:
        output_take(job, &host->out[header->kind == FRAME_ERR], body, header->length);
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
        remote_more(job);
        break;
    case FRAME_MISSED:
        adopt(job, numbers, count);
        break;
    case FRAME_DEATH:
        remote_death(job, numbers, count);
        break;
    case FRAME_DONE: /* 0: all went well */
        if (number > 0)
            run_failed(job, number);
        (void)hear_complaints(job, host); /* its last words */
        let_go(job, host, HOST_DONE);
        break;
    case FRAME_ALIVE:
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

static void host_ready(struct run_job *job, struct run_watch *watch)
{
    struct run_host *host = container_of(watch, struct run_host, in);
    struct run_frame_header header;
    bool broken = false;
    if (output_behind(job)) {
        run_watch_pause(job, watch);
        return;
    }
    bool more = bytes_read(&host->got, watch->fd);
    if (host->state == HOST_CALLED && !hello_heard(host) && more)
        return;
    if (host->state == HOST_UP && job->ending != ENDING_KILL)
        host->look_ns = vbase_clock_ns() + patience(job);
    for (const char *body; host->state == HOST_UP && (body = frame_next(&host->got, &header, &broken));) {
        obey(job, host, &header, body);
        bytes_drop(&host->got, sizeof header + header.length);
    }
    if (is_away(host) && (!more || broken))
        lose(job, host, broken ? "what it says makes no sense" : "its helper or the connection to it ended");
}

/* ---- fences ---- */

/* All are in: PUTS, as key and value in turn, is what they have put. */
void remote_release(struct run_job *job, const char *puts, size_t length)
{
    job->fence_told = false;
    for (int i = 0; i < job->options.hosts; i++) {
        struct run_host *host = &job->options.host[i];
        if (is_away(host))
            frame_send(job, &host->wire, FRAME_FENCE, puts, length);
        host->in_fence = false;
    }
    pmi_release(job, puts, length);
}

/* Have all of ours arrived, here and below? Then a helper says so, and the head lets all go on. After a death nobody waits: each
 * launcher tells its own ranks that not all will come. */
void remote_fence(struct run_job *job)
{
    if (job->deaths) {
        pmi_release(job, "", 0);
        return;
    }
    bool waiting = job->in_barrier > 0, missing = job->in_barrier < job->local;
    const char *ended = missing && job->started && job->running == 0 ? job->host : NULL;
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
    if (missing || ended || job->fence_told)
        return;
    struct run_bytes all = job->puts;
    job->puts = (struct run_bytes){0};
    if (job->head.fd >= 0) {
        job->fence_told = true;
        frame_send(job, &job->sink[0], FRAME_FENCE, all.data, all.length);
    } else
        remote_release(job, all.data, all.length);
    free(all.data);
}

/* ---- standard input, for a rank elsewhere: a piece at a time, the next when it was taken ---- */

static struct run_host *reader_of(struct run_job *job)
{
    int rank = job->options.stdin_rank;
    if (rank < 0 || rank >= job->size || job->rank[rank].host == job->here)
        return NULL;
    return &job->options.host[job->options.host[job->rank[rank].host].via];
}

bool remote_input(struct run_job *job, const char *data, size_t length)
{
    struct run_host *host = reader_of(job);
    if (!host || !is_away(host))
        return false;
    frame_send(job, &host->wire, FRAME_STDIN, data, length);
    return true;
}

static void input_ready(struct run_job *job, struct run_watch *watch)
{
    struct run_bytes part = {0};
    epoll_ctl(job->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    bool more = bytes_read(&part, watch->fd);
    if (!more)
        watch->fd = -1;
    if (part.length == 0 && more)
        remote_more(job);
    else
        (void)remote_input(job, part.data, part.length); /* empty: the end */
    free(part.data);
}

void remote_more(struct run_job *job)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &job->input};
    if (job->head.fd >= 0)
        frame_send(job, &job->sink[0], FRAME_MORE, NULL, 0);
    else if (job->input.fd >= 0 && epoll_ctl(job->epoll, EPOLL_CTL_ADD, job->input.fd, &event) < 0 && errno == EPERM)
        input_ready(job, &job->input); /* a file is always ready */
}

/* ---- signals and time ---- */

void remote_signal(struct run_job *job, int number)
{
    for (int i = 0; i < job->options.hosts; i++) {
        struct run_host *host = &job->options.host[i];
        if (!is_away(host))
            continue;
        frame_send_number(job, &host->wire, FRAME_SIGNAL, number);
        if (host->state != HOST_UP)
            host->look_ns = vbase_clock_ns(); /* nobody hears it there yet: if it was the end, the agent is ended */
        else if (number == SIGKILL)
            host->look_ns = vbase_clock_ns() + GONE_NS;
    }
}

static bool has_something(const struct run_host *host)
{
    struct pollfd there = {.fd = host->in.fd, .events = POLLIN};
    return poll(&there, 1, 0) > 0;
}

static void look_at(struct run_job *job, struct run_host *host, uint64_t now_ns)
{
    host->look_ns = now_ns + NAMING_NS;
    if (job->ending == ENDING_KILL || (host->state != HOST_UP && job->ending != ENDING_NO))
        lose(job, host, "it did not end in time");
    else if (host->state == HOST_UP && has_something(host)) /* it was we who slept */
        host->look_ns = now_ns + patience(job);
    else if (host->state == HOST_UP)
        lose(job, host, "it has been silent for too long");
    else if (now_ns > host->called_ns + patience(job))
        lose(job, host, "no answer");
    else
        output_line(job, "waiting for %s: %s (%.0f s)", host->name, *host->said ? host->said : "no answer yet",
                    seconds_since(host->called_ns));
}

/* To all whom we have called, and to who has called us: whoever hears nothing more ends. The head's silence is counted in
 * turns of our own: time that we slept with it is not held against it. */
static void say_alive(struct run_job *job, uint64_t now_ns)
{
    job->alive_ns = now_ns + patience(job) / ALIVE_PART;
    for (int i = 0; i < job->options.hosts; i++)
        if (job->options.host[i].state == HOST_UP)
            frame_send(job, &job->options.host[i].wire, FRAME_ALIVE, NULL, 0);
    if (job->head.fd < 0)
        return;
    frame_send(job, &job->sink[0], FRAME_ALIVE, NULL, 0);
    if (!job->head_rests && job->head_silent++ == ALIVE_PART)
        helper_orphaned(job);
}

void remote_tick(struct run_job *job, uint64_t now_ns)
{
    for (int i = 0; i < job->options.hosts; i++) {
        struct run_host *host = &job->options.host[i];
        if (host->state == HOST_RESTING && job->ending == ENDING_NO && run_due(job, host->again_ns, now_ns))
            call(job, host);
        if (is_away(host) && run_due(job, host->look_ns, now_ns))
            look_at(job, host, now_ns);
    }
    if ((job->head.fd >= 0 || job->away > 0) && run_due(job, job->alive_ns, now_ns))
        say_alive(job, now_ns);
}

/* ---- the job, for a helper (see helper.c) ---- */

static void add_text(struct run_bytes *body, const char *text) { bytes_add(body, text, strlen(text) + 1); }

static void describe(const struct run_job *job, struct run_bytes *body, const struct run_host *host)
{
    const struct run_options *options = &job->options;
    char directory[4096];
    struct run_order order = {.apps = options->apps, .size = job->size, .hosts = options->hosts, .here = host->number,
                              .charges = host->charges, .words = job->argc};
    memcpy(order.build, vbase_build_id, sizeof order.build);
    memcpy(order.secret, job->handover.header->secret, SECRET_SIZE);
    while (environ[order.variables])
        order.variables++;
    bytes_add(body, &order, sizeof order);
    for (int i = 0; i < options->apps; i++)
        bytes_add(body, &options->app[i].count, sizeof(int));
    for (int i = 0; i < job->size; i++)
        bytes_add(body, &job->rank[i].host, sizeof(int));
    bytes_add(body, host->charge, (size_t)host->charges * sizeof(int));
    add_text(body, getcwd(directory, sizeof directory) ? directory : "/");
    add_text(body, job->id);
    add_text(body, job->space);
    for (int i = 0; i < order.variables; i++)
        add_text(body, environ[i]);
    for (int i = 0; i < order.words; i++)
        add_text(body, job->argv[i]);
    for (int i = 0; i < options->hosts; i++)
        add_text(body, options->host[i].name);
}

/* ---- calling ---- */

static void call(struct run_job *job, struct run_host *host)
{
    struct run_bytes body = {0};
    host->in.ready = host_ready;
    host->complaints.ready = complaints_ready;
    host->got.length = 0;
    int error = agent_start(job, host) ?: run_watch_add(job, &host->in, EPOLLIN);
    if (error == OK)
        error = run_watch_add(job, &host->complaints, EPOLLIN);
    if (host->state == HOST_NOT_CALLED)
        job->away++;
    host->state = HOST_CALLED;
    if (!host->called_ns) {
        host->called_ns = vbase_clock_ns();
        host->look_ns = host->called_ns + NAMING_NS;
    }
    if (error != OK) {
        lose(job, host, vbase_error_detail());
        return;
    }
    describe(job, &body, host);
    frame_send(job, &host->wire, FRAME_JOB, body.data, body.length);
    if (job->deaths)
        tell_dead(job, &host->wire);
    free(body.data);
}

/* Deals what we are charged with, and calls the first ones. */
void remote_start(struct run_job *job)
{
    int fanout = job->options.fanout ? job->options.fanout : FANOUT;
    for (int i = 0; i < job->charges; i++) {
        struct run_host *host = &job->options.host[job->charge[i]], *via = &job->options.host[job->charge[i % fanout]];
        host->via = job->charge[i % fanout];
        if (host == via) {
            int most = (job->charges - i - 1) / fanout + 1;
            host->charge = run_zeros((size_t)most, sizeof(int));
        } else
            via->charge[via->charges++] = job->charge[i];
    }
    job->alive_ns = vbase_clock_ns() + patience(job) / ALIVE_PART;
    for (int i = 0; i < job->charges && i < fanout && job->ending == ENDING_NO; i++)
        call(job, &job->options.host[job->charge[i]]);
    job->input = (struct run_watch){input_ready, job->head.fd < 0 && reader_of(job) ? 0 : -1};
    if (job->input.fd >= 0)
        remote_more(job);
}
