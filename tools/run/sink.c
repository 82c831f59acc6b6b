/* Writing to descriptors that may be slow, without ever blocking: a sink keeps what does not go at once. */
#include "run/sink.h"
#include "run/job.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Nothing more can be written. A reader that is gone ends the job, see run.c; or it is reported at the end. */
static void sink_break(struct run_job *job, struct run_sink *sink, int cause)
{
    sink->lost = cause;
    if (sink->watched)
        loop_remove(&job->loop, &sink->watch);
    sink->watched = false;
    sink->broken = true;
    sink->bytes.length = 0;
    if (job->head.fd < 0 && sink == &job->sink[0] && cause != EPIPE)
        output_line(job, "output of the ranks is lost: %s", strerror(cause));
}

/* One write; -1 with EAGAIN when the reader is behind. A descriptor that we could not open again without blocking is
 * asked first, and then given no more than it surely takes. */
static ssize_t sink_write(const struct run_sink *sink, const char *data, size_t length)
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

bool sink_flush(struct run_job *job, struct run_sink *sink)
{
    size_t done = 0;
    while (done < sink->bytes.length) {
        ssize_t written = sink_write(sink, sink->bytes.data + done, sink->bytes.length - done);
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

/* Writes what goes, and watches the sink as long as something is left. */
static void sink_move(struct run_job *job, struct run_sink *sink)
{
    bool empty = sink_flush(job, sink);
    if (empty && sink->watched)
        loop_remove(&job->loop, &sink->watch);
    if (empty)
        sink->watched = false;
    else if (!sink->watched)
        sink->watched = loop_add(&job->loop, &sink->watch, EPOLLOUT) == OK;
    if (empty && sink->wanted)
        sink->wanted(job);
}

static void sink_ready(struct run_job *job, struct run_watch *watch)
{
    struct run_sink *sink = container_of(watch, struct run_sink, watch);
    sink_move(job, sink);
    if (sink->bytes.length < SINK_LOW)
        loop_resume(&job->loop);
}

void sink_add(struct run_sink *sink, const void *data, size_t length)
{
    if (!sink->broken)
        bytes_add(&sink->bytes, data, length);
}

void sink_pump(struct run_job *job, struct run_sink *sink)
{
    if (!sink->watched)
        sink_move(job, sink);
}

void sink_push(struct run_job *job, struct run_sink *sink, const void *data, size_t length)
{
    sink_add(sink, data, length);
    sink_pump(job, sink);
}

void sink_open(struct run_sink *sink, int fd)
{
    struct stat status;
    char path[32];
    *sink = (struct run_sink){.watch = {sink_ready, fd}};
    sink->never_blocks = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode))
        return;
    /* An open file description of our own: O_NONBLOCK on the inherited one would reach all processes that share it. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own >= 0) {
        sink->watch.fd = own;
        sink->never_blocks = true;
    }
}

void sink_wire(struct run_sink *sink, int fd)
{
    *sink = (struct run_sink){.watch = {sink_ready, fd}};
    struct stat status;
    sink->never_blocks = fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}
