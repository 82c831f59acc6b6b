/* Frames between launchers (kind, length, body; see docs/wire.md), and the growing memory that they lie in. */
#include "run/run.h"

static void *given(void *memory)
{
    if (!memory)
        abort(); /* a few words of a command line or of a frame */
    return memory;
}

void *run_zeros(size_t count, size_t size) { return given(calloc(count, size)); }

void *run_grown(void *list, int count, size_t size) { return given(realloc(list, (size_t)(count + 1) * size)); }

void bytes_add(struct run_bytes *bytes, const void *data, size_t length)
{
    if (bytes->length + length > bytes->capacity) {
        bytes->capacity = 2 * (bytes->length + length) + 256;
        bytes->data = given(realloc(bytes->data, bytes->capacity));
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
    *broken = header->kind < FRAME_JOB || header->kind > FRAME_LAST || header->length > FRAME_MOST;
    return *broken || bytes->length - sizeof *header < header->length ? NULL : bytes->data + sizeof *header;
}

void frame_send(struct run_job *job, struct run_sink *sink, enum run_frame kind, const void *body, size_t length)
{
    struct run_frame_header header = {kind, (uint32_t)length};
    output_push(job, sink, (const char *)&header, sizeof header);
    output_push(job, sink, body, length);
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
