/* The PMI-1 server: one connection to each rank, one command at a time.
 *
 * Our own ranks use it seldom (they have the handover); programs built with MPICH and its kin live on it. Everything a
 * rank says may be garbage: it is answered with an error or its connection is closed, and nobody else notices. */
#include "run/run.h"
#include "base/error.h"
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEY_MAX        HANDOVER_KEY_MAX
#define VALUE_MAX      HANDOVER_VALUE_MAX
#define NAME_MAX_BYTES 256

static void hang_up(struct run_job *job, struct run_rank *rank)
{
    run_watch_close(job, &rank->pmi);
    free(rank->lines);
    rank->lines = NULL;
}

/* Lock-step: the answer always fits the socket of somebody who waits for it; one that does not listen is hung up on. */
static void answer(struct run_rank *rank, const char *format, ...) PRINTF_LIKE(2, 3);
static void answer(struct run_rank *rank, const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (rank->pmi.fd >= 0 && length > 0 && (size_t)length < sizeof text &&
        send(rank->pmi.fd, text, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL) != length)
        shutdown(rank->pmi.fd, SHUT_RDWR); /* its end is read next, and hung up on */
}

static void on_init(struct run_job *job, struct run_rank *rank, const char *line)
{
    int version = 0, subversion = 0;
    (void)job;
    bool known = vboot_line_int(line, "pmi_version", &version) && vboot_line_int(line, "pmi_subversion", &subversion);
    if (!known || version != 1) {
        answer(rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n");
        return;
    }
    rank->wire = WIRE_JOINED;
    answer(rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
}

static void on_maxes(struct run_job *job, struct run_rank *rank, const char *line)
{
    (void)job, (void)line;
    answer(rank, "cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d\n", NAME_MAX_BYTES, KEY_MAX, VALUE_MAX);
}

static void on_appnum(struct run_job *job, struct run_rank *rank, const char *line)
{
    (void)line;
    answer(rank, "cmd=appnum appnum=%d\n", (int)(rank->app - job->options.app));
}

static void on_universe(struct run_job *job, struct run_rank *rank, const char *line)
{
    (void)line;
    answer(rank, "cmd=universe_size size=%d\n", job->options.universe ? job->options.universe : job->size);
}

static void on_space(struct run_job *job, struct run_rank *rank, const char *line)
{
    (void)line;
    answer(rank, "cmd=my_kvsname kvsname=%s\n", job->space);
}

static void on_put(struct run_job *job, struct run_rank *rank, const char *line)
{
    char key[KEY_MAX], value[VALUE_MAX];
    if (!vboot_line_text(line, "key", key, sizeof key) || !vboot_line_text(line, "value", value, sizeof value))
        answer(rank, "cmd=put_result rc=-1 msg=key_or_value_missing_or_too_long\n");
    else if (vboot_kvs_put(&job->kvs, key, value) != OK)
        answer(rank, "cmd=put_result rc=-1 msg=out_of_memory\n");
    else {
        if (job->options.hosts > 1 || job->head.fd >= 0) {
            bytes_add(&job->puts, key, strlen(key) + 1);
            bytes_add(&job->puts, value, strlen(value) + 1);
        }
        answer(rank, "cmd=put_result rc=0 msg=success\n");
    }
}

static void on_get(struct run_job *job, struct run_rank *rank, const char *line)
{
    char key[KEY_MAX];
    const char *value = vboot_line_text(line, "key", key, sizeof key) ? vboot_kvs_get(&job->kvs, key) : NULL;
    if (value)
        answer(rank, "cmd=get_result rc=0 msg=success value=%s\n", value);
    else
        answer(rank, "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
}

static void on_barrier(struct run_job *job, struct run_rank *rank, const char *line)
{
    (void)line;
    if (rank->in_barrier)
        return; /* it did not wait for the answer: once is enough */
    rank->in_barrier = true;
    job->in_barrier++;
    remote_fence(job);
}

/* PUTS: what was put elsewhere, as key and value in turn, each with its NUL. */
void pmi_release(struct run_job *job, const char *puts, size_t length)
{
    const char *end = puts + length;
    for (const char *key = puts; key < end;) {
        const char *value = memchr(key, 0, (size_t)(end - key));
        const char *stop = value ? memchr(value + 1, 0, (size_t)(end - value - 1)) : NULL;
        if (!stop || vboot_kvs_put(&job->kvs, key, value + 1) != OK)
            break;
        key = stop + 1;
    }
    job->in_barrier = 0;
    for (int i = 0; i < job->size; i++) {
        if (job->rank[i].in_barrier)
            answer(&job->rank[i], "cmd=barrier_out\n");
        job->rank[i].in_barrier = false;
    }
}

static void on_finalize(struct run_job *job, struct run_rank *rank, const char *line)
{
    (void)job, (void)line;
    rank->wire = WIRE_LEFT;
    answer(rank, "cmd=finalize_ack\n");
}

static void on_abort(struct run_job *job, struct run_rank *rank, const char *line)
{
    int status = 1;
    if (!vboot_line_int(line, "exitcode", &status) || (status & 255) == 0)
        status = 1;
    (void)job; /* judged when it is dead, or by run_aborts if it lingers */
    rank->aborted = true;
    rank->abort_status = status & 255;
    report_death(job, rank);
}

static void on_publish(struct run_job *job, struct run_rank *rank, const char *line)
{
    char name[NAME_MAX_BYTES], port[VALUE_MAX];
    bool good = vboot_line_text(line, "service", name, sizeof name) &&
                vboot_line_text(line, "port", port, sizeof port) && vboot_kvs_put(&job->names, name, port) == OK;
    answer(rank, "cmd=publish_result rc=%d msg=%s\n", good ? 0 : -1, good ? "success" : "not_published");
}

static void on_unpublish(struct run_job *job, struct run_rank *rank, const char *line)
{
    char name[NAME_MAX_BYTES];
    bool good = vboot_line_text(line, "service", name, sizeof name) && vboot_kvs_remove(&job->names, name);
    answer(rank, "cmd=unpublish_result rc=%d msg=%s\n", good ? 0 : -1, good ? "success" : "service_not_found");
}

static void on_lookup(struct run_job *job, struct run_rank *rank, const char *line)
{
    char name[NAME_MAX_BYTES];
    const char *port = vboot_line_text(line, "service", name, sizeof name) ? vboot_kvs_get(&job->names, name) : NULL;
    if (port)
        answer(rank, "cmd=lookup_result rc=0 msg=success port=%s\n", port);
    else
        answer(rank, "cmd=lookup_result rc=-1 msg=service_not_found\n");
}

/* mcmd=spawn ... endcmd: the lines between are passed over, only the last is answered. */
static void on_endcmd(struct run_job *job, struct run_rank *rank, const char *line)
{
    (void)job, (void)line;
    answer(rank, "cmd=spawn_result rc=-1 msg=this_launcher_starts_no_ranks_later errcodes=1\n");
}

static const struct command {
    const char *name;
    void (*act)(struct run_job *job, struct run_rank *rank, const char *line);
} commands[] = {
    {"init", on_init},
    {"get_maxes", on_maxes},
    {"get_appnum", on_appnum},
    {"get_universe_size", on_universe},
    {"get_my_kvsname", on_space},
    {"put", on_put},
    {"get", on_get},
    {"barrier_in", on_barrier},
    {"finalize", on_finalize},
    {"abort", on_abort},
    {"publish_name", on_publish},
    {"unpublish_name", on_unpublish},
    {"lookup_name", on_lookup},
};

static void obey(struct run_job *job, struct run_rank *rank, const char *line)
{
    if (strcmp(line, "endcmd") == 0) {
        on_endcmd(job, rank, line);
        return;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
        if (vboot_line_is(line, commands[i].name)) {
            commands[i].act(job, rank, line);
            return;
        }
    /* A line of a spawn, or something we never heard of: those who expect an answer find the connection closed. */
    char name[40];
    if (vboot_line_text(line, "cmd", name, sizeof name))
        answer(rank, "cmd=%s_result rc=-1 msg=unknown_command\n", name);
}

/* False: the connection has nothing more now, or is closed. */
static bool serve_once(struct run_job *job, struct run_rank *rank)
{
    if (!rank->lines && !(rank->lines = calloc(1, sizeof *rank->lines)))
        return false;
    struct pollfd there = {.fd = rank->pmi.fd, .events = POLLIN};
    if (rank->pmi.fd < 0 || poll(&there, 1, 0) <= 0)
        return false;
    long got = vboot_lines_fill(rank->lines, rank->pmi.fd);
    if (got <= 0) {
        hang_up(job, rank);
        return false;
    }
    for (const char *line; rank->lines && (line = vboot_lines_next(rank->lines));)
        obey(job, rank, line);
    return rank->pmi.fd >= 0;
}

void pmi_ready(struct run_job *job, struct run_watch *watch, uint32_t events)
{
    (void)events;
    serve_once(job, container_of(watch, struct run_rank, pmi));
}

void pmi_drain(struct run_job *job, struct run_rank *rank)
{
    while (serve_once(job, rank))
        ;
    job->in_barrier -= rank->in_barrier;
    rank->in_barrier = false;
    if (rank->pmi.fd >= 0)
        hang_up(job, rank);
}

void pmi_close(struct run_job *job)
{
    for (int i = 0; i < job->size; i++)
        if (job->rank[i].pmi.fd >= 0)
            hang_up(job, &job->rank[i]);
    vboot_kvs_close(&job->kvs);
    vboot_kvs_close(&job->names);
}
