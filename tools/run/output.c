/* Lines of ranks to our stdout and stderr.
 *
 * A line of one rank is never cut by another's: lines are passed on when they are whole. A line that stays unfinished
 * for QUIET_NS (a prompt, a row of dots) is shown. Its rank then has the floor: the others wait FLOOR_NS for the rest
 * of the line; after that the next output of another rank begins a new one.
 *
 * A slow reader slows the ranks down, never us: past SINK_HIGH bytes the ranks' pipes are left unread. When the reader
 * of stdout closed its end the job ends, as a program does by SIGPIPE. */
#include "run/output.h"
#include "run/frame.h"
#include "run/job.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>

#define LONGEST_LINE (1u << 16)
#define QUIET_NS     100000000ull
#define FLOOR_NS     SECOND_NS
#define READER_NS    (3 * SECOND_NS) /* for what is left of the output when the time allowed is over */

/* Bytes for a sink. A helper sends them to the head in frames. */
static void sink_put_lines(struct run_job *job, struct run_sink *sink, int which, const char *data, size_t length)
{
    if (job->head.fd >= 0 && length > 0) {
        struct run_frame_header header = {which ? FRAME_ERR : FRAME_OUT, (uint32_t)length};
        sink_add(sink, &header, sizeof header);
    }
    sink_add(sink, data, length);
}

/* Ends the line that a stream left open. */
static void line_end_open(struct run_job *job, struct run_sink *sink)
{
    if (!sink->open_line)
        return;
    sink_put_lines(job, sink, sink->open_line->which, "\n", 1);
    sink->open_line->fresh = true;
    sink->open_line = NULL;
}

static void line_wake_at(struct run_job *job, uint64_t ns)
{
    if (job->line_ns == 0 || ns < job->line_ns)
        job->line_ns = ns;
}

/* Stream number I: two of each rank, then two of each host. */
static struct run_stream *stream_of(const struct run_job *job, int i)
{
    return i < 2 * job->size ? &job->rank[i / 2].out[i % 2] : &job->options.host[i / 2 - job->size].out[i % 2];
}

static int stream_count(const struct run_job *job) { return 2 * (job->size + job->options.hosts); }

/* Must STREAM wait, because another is in the middle of a line? */
static bool floor_is_taken(struct run_job *job, const struct run_stream *stream)
{
    const struct run_sink *sink = stream->sink;
    if (!sink->open_line || sink->open_line == stream || vbase_clock_ns() >= sink->open_ns + FLOOR_NS)
        return false;
    line_wake_at(job, sink->open_ns + FLOOR_NS);
    return true;
}

static struct run_sink *sink_for(struct run_job *job, int which)
{
    return &job->sink[job->one_sink || job->head.fd >= 0 ? 0 : which];
}

int output_open(struct run_job *job)
{
    struct stat out, err;
    if (job->head.fd >= 0) { /* its sink leads to the head and is open already */
        job->sink[1].watch.fd = -1;
        return OK;
    }
    job->one_sink = fstat(1, &out) == 0 && fstat(2, &err) == 0 && out.st_dev == err.st_dev && out.st_ino == err.st_ino;
    sink_open(&job->sink[0], 1);
    if (!job->one_sink)
        sink_open(&job->sink[1], 2);
    return OK;
}

/* ---- streams ---- */

static void stream_put_prefix(struct run_job *job, struct run_stream *stream)
{
    char text[512] = "";
    size_t length = 0;
    if (job->options.timestamp) {
        struct timespec now;
        struct tm parts;
        clock_gettime(CLOCK_REALTIME, &now);
        localtime_r(&now.tv_sec, &parts);
        length = (size_t)snprintf(text, sizeof text, "%02d:%02d:%02d.%03ld ", parts.tm_hour, parts.tm_min, parts.tm_sec,
                          now.tv_nsec / 1000000);
    }
    if (job->options.label)
        length += vbase_expand(text + length, sizeof text - length, job->options.label, stream->rank, job->host);
    sink_put_lines(job, stream->sink, stream->which, text, length < sizeof text ? length : sizeof text - 1);
}

/* Bytes of a rank onto its sink; a line that another stream left open there is ended first. */
static void stream_emit(struct run_job *job, struct run_stream *stream, const char *data, size_t length)
{
    struct run_sink *sink = stream->sink;
    if (length == 0)
        return;
    if (sink->open_line != stream)
        line_end_open(job, sink);
    bool ends = data[length - 1] == '\n';
    if (!ends && sink->open_line != stream)
        sink->open_ns = vbase_clock_ns();
    if (ends && sink->open_line) /* the floor is free */
        loop_resume(&job->loop);
    sink->open_line = ends ? NULL : stream;
    if (stream->rank < 0 || (!job->options.label && !job->options.timestamp)) /* a helper has put it there */
        sink_put_lines(job, sink, stream->which, data, length);
    else
        while (length > 0) {
            const char *end = memchr(data, '\n', length);
            size_t part = end ? (size_t)(end - data) + 1 : length;
            if (stream->fresh)
                stream_put_prefix(job, stream);
            stream->fresh = end != NULL;
            sink_put_lines(job, sink, stream->which, data, part);
            data += part;
            length -= part;
        }
    stream->fresh = ends;
}

static void stream_emit_unfinished(struct run_job *job, struct run_stream *stream)
{
    stream_emit(job, stream, stream->line.data, stream->line.length);
    stream->line.length = 0;
}

static void stream_keep_unfinished(struct run_job *job, struct run_stream *stream, const char *data, size_t length)
{
    if (length == 0)
        return;
    if (stream->line.length == 0) {
        stream->since_ns = vbase_clock_ns();
        line_wake_at(job, stream->since_ns + QUIET_NS);
    }
    bytes_add(&stream->line, data, length);
    if (stream->line.length >= LONGEST_LINE)
        stream_emit_unfinished(job, stream);
}

static void stream_take(struct run_job *job, struct run_stream *stream, const char *data, size_t length)
{
    const char *last = memrchr(data, '\n', length);
    if (last) {
        size_t whole = (size_t)(last - data) + 1;
        stream_emit_unfinished(job, stream);
        stream_emit(job, stream, data, whole);
        data += whole;
        length -= whole;
    }
    stream_keep_unfinished(job, stream, data, length);
}

static void stream_end(struct run_job *job, struct run_stream *stream)
{
    stream_emit_unfinished(job, stream);
    sink_pump(job, stream->sink);
    loop_close(&job->loop, &stream->watch);
    free(stream->line.data);
    stream->line = (struct run_bytes){0};
}

/* False: it has ended. */
static bool stream_read(struct run_job *job, struct run_stream *stream)
{
    static char bytes[1 << 16];
    ssize_t got = read(stream->watch.fd, bytes, sizeof bytes);
    if (got > 0)
        stream_take(job, stream, bytes, (size_t)got);
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        return false;
    return true;
}

static void stream_ready(struct run_job *job, struct run_watch *watch)
{
    struct run_stream *stream = container_of(watch, struct run_stream, watch);
    if (stream->sink->bytes.length > SINK_HIGH || floor_is_taken(job, stream))
        loop_pause(&job->loop, watch);
    else if (!stream_read(job, stream))
        stream_end(job, stream);
    else
        sink_pump(job, stream->sink);
}

int output_stream(struct run_job *job, struct run_stream *stream, int rank, int fd, int which)
{
    *stream = (struct run_stream){
        .watch = {stream_ready, fd}, .rank = rank, .which = which, .fresh = true, .sink = sink_for(job, which)};
    fcntl(fd, F_SETFL, O_NONBLOCK); /* an event may be of bytes that were drained in the same round */
    int error = loop_add(&job->loop, &stream->watch, EPOLLIN);
    if (error != OK)
        stream->watch.fd = -1; /* still the caller's */
    return error;
}

static void stream_drain(struct run_job *job, struct run_stream *stream)
{
    struct pollfd there = {.fd = stream->watch.fd, .events = POLLIN};
    if (there.fd < 0)
        return;
    while (stream->sink->bytes.length <= SINK_HIGH && poll(&there, 1, 0) > 0)
        if (!stream_read(job, stream)) {
            stream_end(job, stream);
            return;
        }
    sink_pump(job, stream->sink);
}

void output_drain(struct run_job *job, struct run_rank *rank)
{
    stream_drain(job, &rank->out[0]);
    stream_drain(job, &rank->out[1]);
}

void output_line(struct run_job *job, const char *format, ...)
{
    char text[4096];
    struct run_sink *sink = sink_for(job, 1);
    int length = snprintf(text, sizeof text, "viaduct: ");
    va_list list;
    va_start(list, format);
    length += vsnprintf(text + length, sizeof text - (size_t)length - 1, format, list);
    va_end(list);
    if ((size_t)length > sizeof text - 2)
        length = sizeof text - 2;
    vbase_plain(text, (size_t)length); /* ranks, hosts and agents had their say in it */
    text[length++] = '\n';
    line_end_open(job, sink);
    sink_put_lines(job, sink, 1, text, (size_t)length);
    sink_pump(job, sink);
}

void output_flush_quiet(struct run_job *job, uint64_t now_ns)
{
    job->line_ns = 0;
    for (int i = 0; i < stream_count(job); i++) {
        struct run_stream *stream = stream_of(job, i);
        if (stream->line.length == 0 || floor_is_taken(job, stream))
            continue;
        if (stream->since_ns + QUIET_NS > now_ns) {
            line_wake_at(job, stream->since_ns + QUIET_NS);
            continue;
        }
        stream_emit_unfinished(job, stream);
        sink_pump(job, stream->sink);
    }
    loop_resume(&job->loop); /* streams that wait for the floor: it may be free */
}

bool output_behind(const struct run_job *job)
{
    return job->sink[0].bytes.length > SINK_HIGH || job->sink[1].bytes.length > SINK_HIGH;
}

void output_take(struct run_job *job, struct run_stream *stream, const char *data, size_t length)
{
    stream->sink = sink_for(job, stream->which);
    stream_take(job, stream, data, length);
    sink_pump(job, stream->sink);
}

void output_end(struct run_job *job, struct run_stream *stream)
{
    if (stream->line.length > 0) {
        stream_emit_unfinished(job, stream);
        sink_pump(job, stream->sink);
    }
}

static bool reader_is_late(const struct run_job *job) { return job->reader_ns && vbase_clock_ns() >= job->reader_ns; }

/* Until all is written, the reader is gone, a signal asks for the end, or the time allowed is over. */
static void sink_finish(struct run_job *job, struct run_sink *sink)
{
    while (!sink->broken && sink->watch.fd >= 0 && !sink_flush(job, sink)) {
        struct pollfd either[2] = {{.fd = sink->watch.fd, .events = POLLOUT},
                                   {.fd = job->signals.fd, .events = POLLIN}};
        if (reader_is_late(job)) {
            end_status(job, STATUS_TIMEOUT);
            return;
        }
        if (poll(either, 2, job->reader_ns ? 100 : 1000) > 0 && either[1].revents) {
            job->signals.ready(job, &job->signals);
            if (job->asked_signal)
                return;
        }
    }
}

/* What is above SINK_HIGH when the time is over stays in the pipes, and is lost. */
bool output_finish(struct run_job *job)
{
    uint64_t now = vbase_clock_ns();
    if (job->reader_ns)
        job->reader_ns = (job->reader_ns > now ? job->reader_ns : now) + READER_NS;
    for (int i = 0; i < 2 * job->size; i++) {
        struct run_stream *stream = stream_of(job, i);
        while (stream->watch.fd >= 0) {
            struct pollfd there = {.fd = stream->watch.fd, .events = POLLIN};
            bool more = poll(&there, 1, 0) > 0 && stream_read(job, stream);
            if (stream->sink->bytes.length > SINK_HIGH)
                sink_finish(job, stream->sink);
            if (!more || (stream->sink->bytes.length > SINK_HIGH && reader_is_late(job)))
                stream_end(job, stream);
        }
    }
    sink_finish(job, &job->sink[0]);
    if (job->sink[0].lost == EPIPE && !job->failed)
        output_line(job, "output of the ranks is lost: %s", strerror(EPIPE));
    else if (job->sink[0].bytes.length > 0 && !job->asked_signal && job->head.fd < 0)
        output_line(job, "output of the ranks is lost: its reader has not read it in the time allowed");
    if (!job->one_sink)
        sink_finish(job, &job->sink[1]);
    bool left = job->sink[0].bytes.length > 0 || (!job->one_sink && job->sink[1].bytes.length > 0);
    return !job->sink[0].lost && !job->sink[1].lost && !left;
}
