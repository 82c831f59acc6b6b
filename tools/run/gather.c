/* Gathers what the ranks of all hosts do: see gather.h. A launcher that is asked reads its own segment, asks the hosts
 * that it has called, and answers when all have, or after a second with what is there.
 *
 * A tool asks by an abstract socket that is named by the launcher's PID. The kernel says who asks: this user, or root.
 * It is read from until the answer's end; nothing that it says matters. */
#include "run/gather.h"
#include "run/job.h"
#include "run/state.h"
#include <sys/socket.h>
#include <sys/un.h>

#define PATIENCE_NS SECOND_NS

struct answer {
    char build[16]; /* another one is laid out otherwise */
    int32_t ranks, count;
};

static socklen_t listener_name(pid_t launcher, struct sockaddr_un *name)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "viaduct-run-%d", (int)launcher);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* ---- the end of a round ------------------------------------------------------------------------------------------ */

static void line_output(void *job, const char *text) { output_line(job, "%s", text); }

static struct state_job gathered(struct run_job *job)
{
    struct run_bytes *bytes = &job->gather.ranks;
    return (struct state_job){job->size, (int)(bytes->length / sizeof(struct state_rank)), (void *)bytes->data};
}

static void client_answer(struct run_job *job, int client)
{
    struct state_job all = gathered(job);
    struct answer head = {.ranks = all.ranks, .count = all.count};
    memcpy(head.build, vbase_build_id, sizeof head.build);
    struct iovec part[2] = {{&head, sizeof head}, {all.rank, (size_t)all.count * sizeof *all.rank}};
    struct msghdr message = {.msg_iov = part, .msg_iovlen = 2};
    /* one call, limited by the time of the socket: a tool that does not read gets a part, and says so */
    (void)!sendmsg(client, &message, MSG_NOSIGNAL);
    close(client);
}

static void gather_end(struct run_job *job)
{
    struct run_gather *gather = &job->gather;
    struct state_job all = gathered(job);
    state_sort(&all);
    for (int i = 0; i < gather->clients; i++)
        client_answer(job, gather->client[i]);
    if (gather->for_head)
        frame_send(job, &job->sink[0], FRAME_STATE, gather->ranks.data, gather->ranks.length);
    if (gather->for_report || gather->for_end) {
        if (all.count == 0)
            output_line(job, "%s", state_nothing);
        state_list(&all, line_output, job);
        (void)stuck_explain(&all, NULL, line_output, job);
    }
    if (gather->for_hint)
        hint_judge(job, &all);
    bool end = gather->for_end, report = gather->for_report || end;
    gather->under_way = gather->for_head = gather->for_report = gather->for_end = gather->for_hint = false;
    gather->clients = 0;
    gather->until_ns = 0;
    if (report && job->options.stack_traces && stacks_begin(job, &all, end))
        end = false; /* it ends after them */
    bytes_drop(&gather->ranks, gather->ranks.length);
    if (end)
        end_timeout(job);
}

/* ---- a round ----------------------------------------------------------------------------------------------------- */

static void own_ranks_add(struct run_job *job)
{
    struct state_job own;
    if (job->node_fd < 0 || state_read(job->node_fd, &own) != OK)
        return;
    for (int i = 0; i < own.count; i++)
        snprintf(own.rank[i].host, sizeof own.rank[i].host, "%.31s", job->host);
    bytes_add(&job->gather.ranks, own.rank, (size_t)own.count * sizeof *own.rank);
    state_free(&own);
}

static void round_start(struct run_job *job)
{
    struct run_gather *gather = &job->gather;
    if (gather->under_way)
        return;
    gather->under_way = true;
    gather->owed = 0;
    gather->until_ns = vbase_clock_ns() + PATIENCE_NS;
    own_ranks_add(job);
    for (int i = 0; i < job->options.hosts; i++) {
        struct run_host *host = &job->options.host[i];
        if (host->state == HOST_UP && host->wire.watch.fd >= 0) {
            frame_send(job, &host->wire, FRAME_STATE, NULL, 0);
            gather->owed++;
        }
    }
}

void gather_begin(struct run_job *job, enum gather_for what)
{
    job->gather.for_head |= what == GATHER_HEAD;
    job->gather.for_report |= what == GATHER_REPORT;
    job->gather.for_end |= what == GATHER_END;
    job->gather.for_hint |= what == GATHER_HINT;
    round_start(job);
    gather_tick(job, vbase_clock_ns());
}

void gather_heard(struct run_job *job, const char *ranks, size_t length)
{
    struct run_gather *gather = &job->gather;
    if (!gather->under_way || gather->owed == 0 || length % sizeof(struct state_rank))
        return;
    bytes_add(&gather->ranks, ranks, length);
    gather->owed--;
    gather_tick(job, vbase_clock_ns());
}

void gather_tick(struct run_job *job, uint64_t now_ns)
{
    struct run_gather *gather = &job->gather;
    if (gather->under_way && (gather->owed == 0 || loop_due(&job->loop, gather->until_ns, now_ns)))
        gather_end(job);
}

/* ---- tools that ask ---------------------------------------------------------------------------------------------- */

static void listener_ready(struct run_job *job, struct run_watch *watch)
{
    struct run_gather *gather = &job->gather;
    struct ucred who;
    socklen_t size = sizeof who;
    struct timeval patience = {.tv_sec = 1};
    int client = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0)
        return;
    bool ours = getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
                (who.uid == geteuid() || who.uid == 0);
    if (!ours || gather->clients == GATHER_CLIENTS) {
        close(client);
        return;
    }
    (void)setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    gather->client[gather->clients++] = client;
    round_start(job);
    gather_tick(job, vbase_clock_ns());
}

void gather_open(struct run_job *job)
{
    struct sockaddr_un name;
    socklen_t length = listener_name(getpid(), &name);
    int fd = job->head.fd >= 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    job->gather.listener = (struct run_watch){listener_ready, fd};
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, length) == 0 && listen(fd, GATHER_CLIENTS) == 0 &&
        loop_add(&job->loop, &job->gather.listener, EPOLLIN) == OK)
        return;
    if (fd >= 0)
        LOG_INFO("viaduct jobs and stuck see the ranks of this host alone: %s", strerror(errno));
    base_close(fd);
    job->gather.listener.fd = -1;
}

void gather_close(struct run_job *job)
{
    base_close(job->gather.listener.fd);
    for (int i = 0; i < job->gather.clients; i++)
        close(job->gather.client[i]);
    free(job->gather.ranks.data);
    free(job->hint.seen.data);
}

/* ---- the tool's side --------------------------------------------------------------------------------------------- */

static bool read_whole(int fd, void *data, size_t length)
{
    return length == 0 || recv(fd, data, length, MSG_WAITALL) == (ssize_t)length;
}

static int answer_read(int fd, struct state_job *out)
{
    struct answer head;
    if (!read_whole(fd, &head, sizeof head) || memcmp(head.build, vbase_build_id, sizeof head.build) != 0 ||
        head.count < 0 || head.ranks < 0 || head.count > 1 << 22)
        return ERR_NOT_FOUND;
    *out = (struct state_job){head.ranks, head.count, calloc((size_t)head.count + 1, sizeof *out->rank)};
    if (!out->rank)
        return vbase_fail(ERR_MEMORY, "no memory for the states of %d ranks", head.count);
    if (read_whole(fd, out->rank, (size_t)head.count * sizeof *out->rank))
        return OK;
    state_free(out);
    return vbase_fail(ERR_PROTOCOL, "the launcher ended before its answer was complete");
}

int gather_ask(pid_t launcher, struct state_job *out)
{
    struct sockaddr_un name;
    struct ucred who;
    struct timeval patience = {.tv_sec = 5};
    socklen_t length = listener_name(launcher, &name), size = sizeof who;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error = ERR_NOT_FOUND;
    /* who holds the name must be the launcher: names of this kind are anybody's */
    if (fd >= 0 && connect(fd, (struct sockaddr *)&name, length) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.pid == launcher) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        error = answer_read(fd, out);
    }
    base_close(fd);
    return error;
}
