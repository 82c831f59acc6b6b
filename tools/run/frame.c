/* Frames between launchers: taken out of the bytes that came, and sent; and the first one, which holds the job. */
#include "run/job.h"
#include <sys/stat.h>

extern char **environ;

const char *frame_next(const struct run_bytes *bytes, struct run_frame_header *header, bool *broken)
{
    if (bytes->length < sizeof *header)
        return NULL;
    memcpy(header, bytes->data, sizeof *header);
    *broken = header->kind < FRAME_JOB || header->kind > FRAME_LAST || header->length > FRAME_MOST;
    return *broken || bytes->length - sizeof *header < header->length ? NULL : bytes->data + sizeof *header;
}

void frame_send(struct run_job *job, struct run_sink *sink, enum run_frame kind, const void *body, size_t length)
{
    struct run_frame_header header = {kind, (uint32_t)length};
    sink_add(sink, &header, sizeof header);
    sink_push(job, sink, body, length);
}

void frame_send_number(struct run_job *job, struct run_sink *sink, enum run_frame kind, int number)
{
    int32_t body = number;
    frame_send(job, sink, kind, &body, sizeof body);
}

int frame_number(const struct run_frame_header *header, const char *body)
{
    int32_t number = 0;
    if (header->length >= sizeof number)
        memcpy(&number, body, sizeof number);
    return number;
}

/* ---- the job ---- */

/* Our folder, by the name that the user gave it where that is it: its real name may not exist on other hosts. */
static const char *folder(char *text, size_t size)
{
    struct stat named, real;
    const char *name = vbase_environment("PWD");
    if (name && *name == '/' && stat(name, &named) == 0 && stat(".", &real) == 0 && named.st_dev == real.st_dev &&
        named.st_ino == real.st_ino)
        return name;
    return getcwd(text, size) ? text : "(a folder that was removed)";
}

/* Another host does not need it where -wdir names folders in full, and no file is named from here. */
static bool folder_is_needed(const struct run_options *options)
{
    bool needed = options->pattern[0] || options->pattern[1] || options->out_directory;
    for (int i = 0; i < options->apps; i++)
        needed |= !options->app[i].directory || *options->app[i].directory != '/';
    return needed;
}

static void order_add_text(struct run_bytes *body, const char *text) { bytes_add(body, text, strlen(text) + 1); }

void order_write(const struct run_job *job, const struct run_host *host, struct run_bytes *body)
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
    order_add_text(body, folder_is_needed(options) ? folder(directory, sizeof directory) : "/");
    order_add_text(body, job->id);
    order_add_text(body, job->space);
    order_add_text(body, options->rankfile ? options->rankfile : "");
    if (options->files.length)
        bytes_add(body, options->files.data, options->files.length);
    bytes_add(body, "", 1);
    for (int i = 0; i < order.variables; i++)
        order_add_text(body, environ[i]);
    for (int i = 0; i < order.words; i++)
        order_add_text(body, job->argv[i]);
    for (int i = 0; i < options->hosts; i++)
        order_add_text(body, options->host[i].name);
}

static bool numbers_are_within(const int32_t *number, int count, int32_t most)
{
    for (int i = 0; i < count; i++)
        if (number[i] < 0 || number[i] > most)
            return false;
    return true;
}

char **order_texts(const struct run_order *order, size_t length)
{
    const int32_t part[] = {order->apps,  order->size,  order->charges, order->variables,
                            order->words, order->hosts, order->here};
    int64_t ranks = 0;
    if (!numbers_are_within(part, ARRAY_LENGTH(part), 1 << 20))
        return NULL;
    int count = ORDER_TEXTS + order->variables + order->words + order->hosts;
    const int32_t *host = order->number + order->apps, *charge = host + order->size;
    const char *at = (const char *)(charge + order->charges), *end = (const char *)order + length;
    if (at > end || order->here >= order->hosts || order->size == 0 || order->words == 0 ||
        !numbers_are_within(order->number, order->apps, order->size) ||
        !numbers_are_within(host, order->size + order->charges, order->hosts - 1))
        return NULL;
    for (int i = 0; i < order->apps; i++)
        ranks += order->number[i];
    for (int i = 0; i < order->charges; i++)
        if (charge[i] == order->here)
            return NULL;
    char **text = run_zeros((size_t)count, sizeof *text);
    for (int i = 0; i < count && at; i++) {
        const char *stop = memchr(at, 0, (size_t)(end - at));
        text[i] = (char *)(uintptr_t)at;
        at = stop ? stop + 1 : NULL;
    }
    return at && ranks == order->size ? text : NULL;
}
