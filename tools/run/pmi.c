/* The PMI-1 server: one connection to each rank, one command at a time.
 *
 * Our own ranks use it seldom (they have the handover); programs built with MPICH and the like need it. A rank may send
 * anything: it gets an error or its connection is closed, and no other rank notices. */
#include "run/job.h"
#include <poll.h>
#include <sys/socket.h>

#define KEY_MAX        HANDOVER_KEY_MAX
#define VALUE_MAX      HANDOVER_VALUE_MAX
#define NAME_MAX_BYTES 256

struct command {
    const char *name;
    void (*act)(struct run_job *job, struct run_rank *rank, const struct command *asked, const char *line);
    const char *answer, *key, *value; /* of those that keep and find: what is answered, what its words are called */
    enum pmi_event event;
};

void pmi_hang_up(struct run_job *job, struct run_rank *rank)
{
    loop_close(&job->loop, &rank->pmi);
    free(rank->lines);
    rank->lines = NULL;
}

/* Lock-step: the answer always fits the socket of a rank that waits for it; a rank that does not read is hung up on. */
PRINTF_LIKE(2, 3) static void rank_answer(struct run_rank *rank, const char *format, ...)
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

static void init_obey(struct run_job *job, struct run_rank *rank, const struct command *asked, const char *line)
{
    int version = 0, subversion = 0;
    (void)job, (void)asked;
    bool known = vboot_line_int(line, "pmi_version", &version) && vboot_line_int(line, "pmi_subversion", &subversion);
    if (!known || version != 1) {
        rank_answer(rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n");
        return;
    }
    rank->wire = SEAT_JOINED;
    rank_answer(rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
}

static bool is_names(const struct command *asked)
{
    return strcmp(asked->key, "service") == 0; /* else the key-value space */
}

/* put, publish_name: KEY and VALUE for later. */
static void put_obey(struct run_job *job, struct run_rank *rank, const struct command *asked, const char *line)
{
    char key[NAME_MAX_BYTES], value[VALUE_MAX];
    bool names = is_names(asked);
    if (!vboot_line_text(line, asked->key, key, names ? sizeof key : KEY_MAX) ||
        !vboot_line_text(line, asked->value, value, sizeof value))
        rank_answer(rank, "cmd=%s rc=-1 msg=%s_or_%s_missing_or_too_long\n", asked->answer, asked->key, asked->value);
    else if (vboot_kvs_put(names ? &job->names : &job->kvs, key, value) != OK)
        rank_answer(rank, "cmd=%s rc=-1 msg=out_of_memory\n", asked->answer);
    else {
        if (!names && (job->options.hosts > 1 || job->head.fd >= 0)) {
            bytes_add(&job->puts, key, strlen(key) + 1);
            bytes_add(&job->puts, value, strlen(value) + 1);
        }
        rank_answer(rank, "cmd=%s rc=0 msg=success\n", asked->answer);
    }
}

/* get, lookup_name, unpublish_name: what lies there. */
static void get_obey(struct run_job *job, struct run_rank *rank, const struct command *asked, const char *line)
{
    char key[NAME_MAX_BYTES];
    struct boot_kvs *space = is_names(asked) ? &job->names : &job->kvs;
    const char *value = vboot_line_text(line, asked->key, key, sizeof key) ? vboot_kvs_get(space, key) : NULL;
    if (!value)
        rank_answer(rank, "cmd=%s rc=-1 msg=%s_not_found value=unknown\n", asked->answer, asked->key);
    else if (asked->value)
        rank_answer(rank, "cmd=%s rc=0 msg=success %s=%s\n", asked->answer, asked->value, value);
    else
        rank_answer(rank, "cmd=%s rc=%d\n", asked->answer, vboot_kvs_put(space, key, NULL) == OK ? 0 : -1);
}

static void barrier_obey(struct run_job *job, struct run_rank *rank, const struct command *asked, const char *line)
{
    (void)asked, (void)line;
    if (rank->in_barrier)
        return; /* it did not wait for the answer: once is enough */
    rank->in_barrier = true;
    job->in_barrier++;
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
            rank_answer(&job->rank[i], "cmd=barrier_out%s\n", job->deaths ? " rc=-1" : "");
        job->rank[i].in_barrier = false;
    }
}

static void finalize_obey(struct run_job *job, struct run_rank *rank, const struct command *asked, const char *line)
{
    (void)job, (void)asked, (void)line;
    rank->wire = SEAT_LEFT;
    rank_answer(rank, "cmd=finalize_ack\n");
}

static void abort_obey(struct run_job *job, struct run_rank *rank, const struct command *asked, const char *line)
{
    int status = 1;
    (void)job, (void)asked;
    if (!vboot_line_int(line, "exitcode", &status) || (status & 255) == 0)
        status = 1;
    rank->aborted = true;
    rank->abort_status = status & 255;
}

static const struct command commands[] = {
    {"init", init_obey},
    {"put", put_obey, "put_result", "key", "value"},
    {"get", get_obey, "get_result", "key", "value"},
    {"barrier_in", barrier_obey, .event = PMI_BARRIER},
    {"finalize", finalize_obey},
    {"abort", abort_obey, .event = PMI_ABORT},
    {"publish_name", put_obey, "publish_result", "service", "port"},
    {"lookup_name", get_obey, "lookup_result", "service", "port"},
    {"unpublish_name", get_obey, "unpublish_result", "service", NULL},
};

/* What the job is; else a line of a spawn ("mcmd=spawn" ... "endcmd": only the last is answered), or something that we
 * never heard of. */
static void rank_answer_question(const struct run_job *job, struct run_rank *rank, const char *line)
{
    char name[40];
    if (vboot_line_is(line, "get_maxes"))
        rank_answer(rank, "cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d\n", NAME_MAX_BYTES, KEY_MAX, VALUE_MAX);
    else if (vboot_line_is(line, "get_appnum"))
        rank_answer(rank, "cmd=appnum appnum=%d\n", (int)(rank->app - job->options.app));
    else if (vboot_line_is(line, "get_universe_size"))
        rank_answer(rank, "cmd=universe_size size=%d\n", job->options.universe ? job->options.universe : job->size);
    else if (vboot_line_is(line, "get_my_kvsname"))
        rank_answer(rank, "cmd=my_kvsname kvsname=%s\n", job->space);
    else if (strcmp(line, "endcmd") == 0)
        rank_answer(rank, "cmd=spawn_result rc=-1 msg=this_launcher_starts_no_ranks_later errcodes=1\n");
    else if (vboot_line_text(line, "cmd", name, sizeof name))
        rank_answer(rank, "cmd=%s_result rc=-1 msg=unknown_command\n", name);
}

static enum pmi_event rank_obey(struct run_job *job, struct run_rank *rank, const char *line)
{
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
        if (vboot_line_is(line, commands[i].name)) {
            commands[i].act(job, rank, &commands[i], line);
            return commands[i].event;
        }
    rank_answer_question(job, rank, line);
    return PMI_QUIET;
}

/* At most one read, so that a rank that never stops cannot keep us from the others. */
enum pmi_event pmi_serve(struct run_job *job, struct run_rank *rank)
{
    struct pollfd there = {.fd = rank->pmi.fd, .events = POLLIN};
    if (there.fd < 0 || (!rank->lines && !(rank->lines = calloc(1, sizeof *rank->lines))))
        return PMI_QUIET;
    for (bool has_read = false;; has_read = true) {
        enum pmi_event event = PMI_QUIET;
        for (const char *line; event == PMI_QUIET && (line = vboot_lines_next(rank->lines));)
            event = rank_obey(job, rank, line);
        if (event != PMI_QUIET || has_read)
            return event != PMI_QUIET ? event : PMI_MORE;
        if (poll(&there, 1, 0) <= 0)
            return PMI_QUIET;
        if (vboot_lines_fill(rank->lines, rank->pmi.fd) <= 0) {
            pmi_hang_up(job, rank);
            return PMI_QUIET;
        }
    }
}

void pmi_close(struct run_job *job)
{
    for (int i = 0; i < job->size; i++)
        if (job->rank[i].pmi.fd >= 0)
            pmi_hang_up(job, &job->rank[i]);
    vboot_kvs_close(&job->kvs);
    vboot_kvs_close(&job->names);
}
