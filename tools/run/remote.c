/* Other hosts, as their caller sees them: the head, or a helper in the middle of the tree. Each is reached by an agent
 * (agent.c), which leads to a helper there, this same program. Everything goes over the agent's standard streams: the
 * job with its secret and its environment to the helper's stdin, never onto a command line; frames come back on stdout.
 * What the agent prints on stderr is shown, and is the reported cause if no helper answers.
 *
 * The tree: a launcher calls the first FANOUT of the hosts that it must see called, and deals the others to these in
 * turn. A host that a helper cannot reach is called by the head itself: its user may have a key to every host where the
 * hosts have none to each other.
 *
 * Nothing here blocks: each host has its time limit, and a silent one is named meanwhile. */
#include "run/job.h"
#include <poll.h>

#define PATIENCE    60 /* s, until a helper's first word, and without a further frame; --patience */
#define NAMING_NS   (5 * SECOND_NS) /* a host that we wait for is named so often */
#define AGAIN_NS    SECOND_NS       /* with --patience, a host that was not reached is called again */
#define FANOUT      32 /* a call costs processor time of its caller, a level of the tree costs waiting */
#define STATUS_LOST 255

static void host_call(struct run_job *job, struct run_host *host);

static double seconds_since(uint64_t ns) { return (double)(vbase_clock_ns() - ns) / 1e9; }

uint64_t remote_patience(const struct run_job *job)
{
    return (uint64_t)(job->options.patience ? job->options.patience : PATIENCE) * SECOND_NS;
}

/* ---- the end of a host ---- */

static void host_hang_up(struct run_job *job, struct run_host *host)
{
    struct run_watch *watch[] = {&host->in, &host->complaints, &host->wire.watch};
    for (size_t i = 0; i < ARRAY_LENGTH(watch); i++)
        if (watch[i]->fd >= 0)
            loop_close(&job->loop, watch[i]);
    host->wire.broken = true;
    free(host->wire.bytes.data);
    host->wire.bytes = (struct run_bytes){0};
    if (host->agent > 0)
        kill(-host->agent, SIGTERM);
}

/* STATE: done, or not called, so that another launcher can. */
static void host_let_go(struct run_job *job, struct run_host *host, enum run_host_state state)
{
    output_end(job, &host->out[0]);
    output_end(job, &host->out[1]);
    host_hang_up(job, host);
    host->state = state;
    job->away--;
    fence_check(job);
}

void remote_forget(struct run_job *job)
{
    for (int i = 0; i < job->options.hosts; i++)
        if (host_is_away(&job->options.host[i]))
            host_let_go(job, &job->options.host[i], HOST_DONE);
}

static bool complaints_read(struct run_job *job, struct run_host *host);

/* A helper could not reach one of its hosts: the head is to call it. */
static void host_pass_to_head(struct run_job *job, struct run_host *host)
{
    struct run_bytes body = {0};
    bytes_add(&body, &host->number, sizeof host->number);
    bytes_add(&body, host->charge, (size_t)host->charges * sizeof(int));
    frame_send(job, &job->sink[0], FRAME_MISSED, body.data, body.length);
    free(body.data);
    host_let_go(job, host, HOST_NOT_CALLED);
}

/* A host ended without DONE: it could not be reached, or it is lost. */
static void host_lose(struct run_job *job, struct run_host *host, const char *why)
{
    (void)complaints_read(job, host);
    bool called = host->state != HOST_UP, goes_on = job->options.keep_going && job->ending == ENDING_NO;
    bool quiet = (job->failed && !goes_on) || job->ending != ENDING_NO;
    if (!quiet && called && vbase_clock_ns() < host->called_ns + (uint64_t)job->options.patience * SECOND_NS) {
        host_hang_up(job, host);
        host->state = HOST_RESTING;
        host->again_ns = vbase_clock_ns() + AGAIN_NS;
        return;
    }
    if (!quiet && called && job->head.fd >= 0) {
        host_pass_to_head(job, host);
        return;
    }
    if (!quiet && called)
        output_line(job, "cannot start ranks on %s: %s (after %.1f s)", host->name, *host->said ? host->said : why,
                    seconds_since(host->called_ns));
    else if (!quiet)
        output_line(job, "host %s is lost: %s", host->name, *host->said ? host->said : why);
    if (goes_on && !called)
        death_spread_host(job, host);
    host_let_go(job, host, HOST_DONE);
    if (called || !goes_on)
        end_begin(job, job->asked_signal ? STATUS_SIGNAL + job->asked_signal : STATUS_LOST, SECOND_NS);
}

/* ---- what comes from a host ---- */

/* Lines of the agent: ssh's complaints, and what a shell's start-up files print. False: the end. */
static bool complaints_read(struct run_job *job, struct run_host *host)
{
    char text[2048];
    ssize_t got = host->complaints.fd >= 0 ? read(host->complaints.fd, text, sizeof text - 1) : 0;
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    text[got] = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\r\n"));)
        if (*line) {
            line += strncmp(line, "viaduct: ", 9) == 0 ? 9 : 0; /* ours begins with the same */
            snprintf(host->said, sizeof host->said, "%s", line);
            if (host->state == HOST_UP && job->ending == ENDING_NO)
                output_line(job, "%s: %s", host->name, line);
        }
    return true;
}

static void complaints_ready(struct run_job *job, struct run_watch *watch)
{
    if (!complaints_read(job, container_of(watch, struct run_host, complaints)))
        loop_close(&job->loop, watch);
}

/* The head calls what a helper could not reach; launchers between them update their tree. */
static void host_adopt(struct run_job *job, const int *number, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (number[i] < 0 || number[i] >= job->options.hosts)
            return;
    for (size_t i = 0; i < count; i++)
        job->options.host[number[i]].via = number[0];
    if (job->head.fd >= 0)
        frame_send(job, &job->sink[0], FRAME_MISSED, number, count * sizeof(int));
    if (job->head.fd >= 0 || count == 0 || host_is_away(&job->options.host[number[0]]) || job->ending != ENDING_NO)
        return;
    struct run_host *host = &job->options.host[number[0]];
    host->charges = (int)count - 1;
    host->charge = run_zeros(count, sizeof(int));
    memcpy(host->charge, number + 1, (count - 1) * sizeof(int));
    host->called_ns = 0;
    host_call(job, host);
}

static void host_obey(struct run_job *job, struct run_host *host, const struct run_frame_header *header,
                      const char *body)
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
        fence_check(job);
        break;
    case FRAME_END:
        end_begin(job, number, SECOND_NS);
        break;
    case FRAME_MORE:
        input_more(job);
        break;
    case FRAME_MISSED:
        host_adopt(job, numbers, count);
        break;
    case FRAME_DEATH:
        death_spread(job, numbers, count);
        break;
    case FRAME_STATE:
        gather_heard(job, body, header->length);
        break;
    case FRAME_REPORT:
        profile_heard(job, body, header->length);
        break;
    case FRAME_DONE: /* 0: all went well */
        if (number > 0)
            end_status(job, number);
        (void)complaints_read(job, host); /* its last words */
        host_let_go(job, host, HOST_DONE);
        break;
    case FRAME_ALIVE:
    case FRAME_JOB:
    case FRAME_SIGNAL:
    case FRAME_STDIN:
        break;
    }
}

/* Start-up files of a shell may print anything before the helper's first word. */
static bool host_says_hello(struct run_host *host)
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
        loop_pause(&job->loop, watch);
        return;
    }
    bool more = bytes_read(&host->got, watch->fd);
    if (host->state == HOST_CALLED && !host_says_hello(host) && more)
        return;
    if (host->state == HOST_UP && job->ending != ENDING_KILL)
        host->look_ns = vbase_clock_ns() + remote_patience(job);
    for (const char *body; host->state == HOST_UP && (body = frame_next(&host->got, &header, &broken));) {
        host_obey(job, host, &header, body);
        bytes_drop(&host->got, sizeof header + header.length);
    }
    if (host_is_away(host) && (!more || broken))
        host_lose(job, host,
                  broken ? "it sent an invalid frame: install the same Viaduct on all hosts"
                         : "its helper or the connection to it ended");
}

/* ---- time ---- */

/* When a host that has not answered is looked at next: it is named, or given up. */
static uint64_t host_next_look(const struct run_job *job, const struct run_host *host, uint64_t now_ns)
{
    uint64_t last = host->called_ns + remote_patience(job);
    return now_ns < last && last < now_ns + NAMING_NS ? last : now_ns + NAMING_NS;
}

static bool host_has_spoken(const struct run_host *host)
{
    struct pollfd there = {.fd = host->in.fd, .events = POLLIN};
    return poll(&there, 1, 0) > 0;
}

static void host_look_at(struct run_job *job, struct run_host *host, uint64_t now_ns)
{
    host->look_ns = host_next_look(job, host, now_ns);
    if (job->ending == ENDING_KILL || (host->state != HOST_UP && job->ending != ENDING_NO))
        host_lose(job, host, "it did not end in time");
    else if (host->state == HOST_UP && host_has_spoken(host)) /* it was us who slept */
        host->look_ns = now_ns + remote_patience(job);
    else if (host->state == HOST_UP)
        host_lose(job, host, "it has been silent for too long");
    else if (now_ns >= host->called_ns + remote_patience(job))
        host_lose(job, host, "no answer");
    else
        output_line(job, "waiting for %s: %s (%.0f s)", host->name, *host->said ? host->said : "no answer yet",
                    seconds_since(host->called_ns));
}

void remote_tick(struct run_job *job, uint64_t now_ns)
{
    for (int i = 0; i < job->options.hosts; i++) {
        struct run_host *host = &job->options.host[i];
        if (host->state == HOST_RESTING && job->ending == ENDING_NO && loop_due(&job->loop, host->again_ns, now_ns))
            host_call(job, host);
        if (host_is_away(host) && loop_due(&job->loop, host->look_ns, now_ns))
            host_look_at(job, host, now_ns);
    }
}

/* ---- calling ---- */

static void host_call(struct run_job *job, struct run_host *host)
{
    struct run_bytes body = {0};
    host->in.ready = host_ready;
    host->complaints.ready = complaints_ready;
    host->got.length = 0;
    int error = agent_start(job, host) ?: loop_add(&job->loop, &host->in, EPOLLIN);
    if (error == OK)
        error = loop_add(&job->loop, &host->complaints, EPOLLIN);
    if (host->state == HOST_NOT_CALLED)
        job->away++;
    host->state = HOST_CALLED;
    if (!host->called_ns) {
        host->called_ns = vbase_clock_ns();
        host->look_ns = host_next_look(job, host, host->called_ns);
    }
    if (error != OK) {
        host_lose(job, host, vbase_error_detail());
        return;
    }
    order_write(job, host, &body);
    frame_send(job, &host->wire, FRAME_JOB, body.data, body.length);
    if (job->deaths)
        death_send_all(job, &host->wire);
    free(body.data);
}

/* Deals the hosts that we must see called, and calls the first ones. */
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
    job->alive_ns = vbase_clock_ns() + remote_patience(job) / ALIVE_PART;
    for (int i = 0; i < job->charges && i < fanout && job->ending == ENDING_NO; i++)
        host_call(job, &job->options.host[job->charge[i]]);
    input_start(job);
}
