/* Lines of ranks to our stdout and stderr.
 *
 * A line of one rank is never cut by another's: lines are passed on when they are whole. A line that stays unfinished
 * for QUIET_NS (a prompt, a row of dots) is shown. Its rank then has the floor: the others wait FLOOR_NS for the rest
 * of the line; after that whoever speaks begins a new one.
 *
 * A slow reader slows the ranks down, never us: his descriptor is opened anew without blocking where that is possible,
 * past HIGH bytes the ranks' pipes are left unread. A reader that went away costs his output, not the job. */
#include "run/run.h"
#include <sys/stat.h>
#include <time.h>

#define HIGH         (1u << 18)
#define LOW          (1u << 16)
#define LONGEST_LINE (1u << 16)
#define QUIET_NS     100000000ull
#define FLOOR_NS     1000000000ull

/* ---- sinks ---- */

/* Nothing more can be written. A reader who went away did so on purpose; any other cause is told at the end. */
static void sink_break(struct run_job *job, struct run_sink *sink, int cause)
{
    sink->lost = cause == EPIPE ? 0 : cause;
    if (sink->watched)
        epoll_ctl(job->epoll, EPOLL_CTL_DEL, sink->watch.fd, NULL);
    sink->watched = false;
    sink->broken = true;
    sink->bytes.length = 0;
}

/* One write; -1 with EAGAIN when the reader is behind. A descriptor that we could not open anew is asked first, and
 * then given no more than it surely takes. */
static ssize_t put_out(const struct run_sink *sink, const char *data, size_t length)
{
    if (sink->never_blocks)
        return write(sink->watch.fd, data, length);
    ssize_t sent = send(sink->watch.fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0 || errno != ENOTSOCK)
        return sent;
    struct pollfd room = {.fd = sink->watch.fd, .events = POLLOUT};
    if (poll(&room, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(sink->watch.fd, data, length < 256 ? length : 256);
}

/* As much as goes now. False: the reader is behind. */
static bool sink_flush(struct run_job *job, struct run_sink *sink)
{
    size_t done = 0;
    while (done < sink->bytes.length) {
        ssize_t written = put_out(sink, sink->bytes.data + done, sink->bytes.length - done);
        if (written > 0)
            done += (size_t)written;
        else if (written < 0 && errno == EAGAIN)
            break;
        else if (written < 0 && errno != EINTR)
            sink_break(job, sink, errno);
    }
    if (done > 0 && !sink->broken)
        bytes_drop(&sink->bytes, done);
    return sink->bytes.length == 0;
}

static void sink_push(struct run_sink *sink, const char *data, size_t length)
{
    if (!sink->broken)
        bytes_add(&sink->bytes, data, length);
}

/* Bytes for a sink. A helper's lie in frames on the one wire that it has. */
static void put(struct run_job *job, struct run_sink *sink, int which, const char *data, size_t length)
{
    if (job->head.fd >= 0 && length > 0) {
        struct run_frame_header header = {which ? FRAME_ERR : FRAME_OUT, (uint32_t)length};
        sink_push(sink, (const char *)&header, sizeof header);
    }
    sink_push(sink, data, length);
}

/* Whoever left a line open has it ended for him. */
static void end_open_line(struct run_job *job, struct run_sink *sink)
{
    if (!sink->open_line)
        return;
    put(job, sink, sink->open_line->which, "\n", 1);
    sink->open_line->fresh = true;
    sink->open_line = NULL;
}

static void wake_at(struct run_job *job, uint64_t ns)
{
    if (job->line_ns == 0 || ns < job->line_ns)
        job->line_ns = ns;
}

/* Stream number I: two of each rank, then two of each host. */
static struct run_stream *stream_of(const struct run_job *job, int i)
{
    return i < 2 * job->size ? &job->rank[i / 2].out[i % 2] : &job->options.host[i / 2 - job->size].out[i % 2];
}

static int streams(const struct run_job *job) { return 2 * (job->size + job->options.hosts); }

/* Must STREAM wait, because another is in the middle of a line? */
static bool floor_taken(struct run_job *job, const struct run_stream *stream)
{
    const struct run_sink *sink = stream->sink;
    if (!sink->open_line || sink->open_line == stream || vbase_clock_ns() >= sink->open_ns + FLOOR_NS)
        return false;
    wake_at(job, sink->open_ns + FLOOR_NS);
    return true;
}

/* Writes what goes, and watches the sink as long as something is left. */
static void sink_move(struct run_job *job, struct run_sink *sink)
{
    bool empty = sink_flush(job, sink);
    if (empty && sink->watched)
        epoll_ctl(job->epoll, EPOLL_CTL_DEL, sink->watch.fd, NULL);
    if (empty)
        sink->watched = false;
    else if (!sink->watched)
        sink->watched = run_watch_add(job, &sink->watch, EPOLLOUT) == OK;
    if (empty && sink == &job->rank_input)
        remote_more(job);
}

static void sink_ready(struct run_job *job, struct run_watch *watch)
{
    struct run_sink *sink = container_of(watch, struct run_sink, watch);
    sink_move(job, sink);
    if (sink->bytes.length < LOW)
        run_watch_resume(job);
}

/* After new bytes were pushed. */
static void sink_pump(struct run_job *job, struct run_sink *sink)
{
    if (!sink->watched)
        sink_move(job, sink);
}

static void sink_open(struct run_sink *sink, int fd)
{
    struct stat status;
    char path[32];
    *sink = (struct run_sink){.watch = {sink_ready, fd}};
    sink->never_blocks = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode))
        return;
    /* A description of our own: O_NONBLOCK on the one we inherited would be felt by all who share it. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own >= 0) {
        sink->watch.fd = own;
        sink->never_blocks = true;
    }
}

static struct run_sink *sink_for(struct run_job *job, int which)
{
    return &job->sink[job->one_sink || job->head.fd >= 0 ? 0 : which];
}

int output_open(struct run_job *job)
{
    struct stat out, err;
    if (job->head.fd >= 0) { /* its sink is the wire, open already */
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

static void push_prefix(struct run_job *job, struct run_stream *stream)
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
    put(job, stream->sink, stream->which, text, length < sizeof text ? length : sizeof text - 1);
}

/* Bytes of a rank onto its sink; whoever left a line open there has it ended first. */
static void emit(struct run_job *job, struct run_stream *stream, const char *data, size_t length)
{
    struct run_sink *sink = stream->sink;
    if (length == 0)
        return;
    if (sink->open_line != stream)
        end_open_line(job, sink);
    bool ends = data[length - 1] == '\n';
    if (!ends && sink->open_line != stream)
        sink->open_ns = vbase_clock_ns();
    if (ends && sink->open_line) /* the floor is free */
        run_watch_resume(job);
    sink->open_line = ends ? NULL : stream;
    if (stream->rank < 0 || (!job->options.label && !job->options.timestamp)) /* a helper has put it there */
        put(job, sink, stream->which, data, length);
    else
        while (length > 0) {
            const char *end = memchr(data, '\n', length);
            size_t part = end ? (size_t)(end - data) + 1 : length;
            if (stream->fresh)
                push_prefix(job, stream);
            stream->fresh = end != NULL;
            put(job, sink, stream->which, data, part);
            data += part;
            length -= part;
        }
    stream->fresh = ends;
}

static void emit_unfinished(struct run_job *job, struct run_stream *stream)
{
    emit(job, stream, stream->line.data, stream->line.length);
    stream->line.length = 0;
}

static void keep_unfinished(struct run_job *job, struct run_stream *stream, const char *data, size_t length)
{
    if (length == 0)
        return;
    if (stream->line.length == 0) {
        stream->since_ns = vbase_clock_ns();
        wake_at(job, stream->since_ns + QUIET_NS);
    }
    bytes_add(&stream->line, data, length);
    if (stream->line.length >= LONGEST_LINE)
        emit_unfinished(job, stream);
}

static void take(struct run_job *job, struct run_stream *stream, const char *data, size_t length)
{
    const char *last = memrchr(data, '\n', length);
    if (last) {
        size_t whole = (size_t)(last - data) + 1;
        emit_unfinished(job, stream);
        emit(job, stream, data, whole);
        data += whole;
        length -= whole;
    }
    keep_unfinished(job, stream, data, length);
}

static void stream_end(struct run_job *job, struct run_stream *stream)
{
    emit_unfinished(job, stream);
    sink_pump(job, stream->sink);
    run_watch_close(job, &stream->watch);
    free(stream->line.data);
    stream->line = (struct run_bytes){0};
}

/* False: it has ended. */
static bool read_once(struct run_job *job, struct run_stream *stream)
{
    static char bytes[1 << 16];
    ssize_t got = read(stream->watch.fd, bytes, sizeof bytes);
    if (got > 0)
        take(job, stream, bytes, (size_t)got);
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        return false;
    return true;
}

static void stream_ready(struct run_job *job, struct run_watch *watch)
{
    struct run_stream *stream = container_of(watch, struct run_stream, watch);
    if (stream->sink->bytes.length > HIGH || floor_taken(job, stream))
        run_watch_pause(job, watch);
    else if (!read_once(job, stream))
        stream_end(job, stream);
    else
        sink_pump(job, stream->sink);
}

int output_stream(struct run_job *job, struct run_stream *stream, int rank, int fd, int which)
{
    *stream = (struct run_stream){
        .watch = {stream_ready, fd}, .rank = rank, .which = which, .fresh = true, .sink = sink_for(job, which)};
    int error = run_watch_add(job, &stream->watch, EPOLLIN);
    if (error != OK)
        stream->watch.fd = -1; /* still the caller's */
    return error;
}

void output_drain(struct run_job *job, struct run_stream *stream)
{
    struct pollfd there = {.fd = stream->watch.fd, .events = POLLIN};
    if (there.fd < 0)
        return;
    while (stream->sink->bytes.length <= HIGH && poll(&there, 1, 0) > 0)
        if (!read_once(job, stream)) {
            stream_end(job, stream);
            return;
        }
    sink_pump(job, stream->sink);
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
    text[length++] = '\n';
    end_open_line(job, sink);
    put(job, sink, 1, text, (size_t)length);
    sink_pump(job, sink);
}

void output_flush_quiet(struct run_job *job, uint64_t now_ns)
{
    job->line_ns = 0;
    for (int i = 0; i < streams(job); i++) {
        struct run_stream *stream = stream_of(job, i);
        if (stream->line.length == 0 || floor_taken(job, stream))
            continue;
        if (stream->since_ns + QUIET_NS > now_ns) {
            wake_at(job, stream->since_ns + QUIET_NS);
            continue;
        }
        emit_unfinished(job, stream);
        sink_pump(job, stream->sink);
    }
    run_watch_resume(job); /* who waits for the floor: it may be free */
}

void output_push(struct run_job *job, struct run_sink *sink, const char *data, size_t length)
{
    sink_push(sink, data, length);
    sink_pump(job, sink);
}

void output_wire(struct run_sink *sink, int fd)
{
    *sink = (struct run_sink){.watch = {sink_ready, fd}};
    struct stat status;
    sink->never_blocks = fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

bool output_behind(const struct run_job *job)
{
    return job->sink[0].bytes.length > HIGH || job->sink[1].bytes.length > HIGH;
}

void output_take(struct run_job *job, struct run_stream *stream, const char *data, size_t length)
{
    stream->sink = sink_for(job, stream->which);
    take(job, stream, data, length);
    sink_pump(job, stream->sink);
}

void output_end(struct run_job *job, struct run_stream *stream)
{
    if (stream->line.length > 0) {
        emit_unfinished(job, stream);
        sink_pump(job, stream->sink);
    }
}

/* Until all is written, the reader is gone, or a signal says that nobody wants to wait for him. */
static void sink_finish(struct run_job *job, struct run_sink *sink)
{
    while (!sink->broken && sink->watch.fd >= 0 && !sink_flush(job, sink)) {
        struct pollfd either[2] = {{.fd = sink->watch.fd, .events = POLLOUT},
                                   {.fd = job->signals.fd, .events = POLLIN}};
        if (poll(either, 2, 1000) > 0 && either[1].revents) {
            job->signals.ready(job, &job->signals);
            if (job->asked_signal)
                return;
        }
    }
}

bool output_finish(struct run_job *job)
{
    for (int i = 0; i < 2 * job->size; i++) {
        struct run_stream *stream = stream_of(job, i);
        while (stream->watch.fd >= 0) {
            struct pollfd there = {.fd = stream->watch.fd, .events = POLLIN};
            if (poll(&there, 1, 0) <= 0 || !read_once(job, stream))
                stream_end(job, stream);
            if (stream->sink->bytes.length > HIGH)
                sink_finish(job, stream->sink);
        }
    }
    sink_finish(job, &job->sink[0]);
    if (job->sink[0].lost)
        output_line(job, "output of the ranks is lost: %s", strerror(job->sink[0].lost));
    if (!job->one_sink)
        sink_finish(job, &job->sink[1]);
    return !job->sink[0].lost && !job->sink[1].lost;
}
