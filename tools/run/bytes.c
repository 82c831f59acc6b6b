/* Growing buffers, for command lines, frames and output. */
#include "run/bytes.h"

static void *memory_checked(void *memory)
{
    if (!memory)
        abort(); /* a few words of a command line or of a frame */
    return memory;
}

void *run_zeros(size_t count, size_t size) { return memory_checked(calloc(count, size)); }

void *run_grown(void *list, int count, size_t size)
{
    return memory_checked(realloc(list, (size_t)(count + 1) * size));
}

void bytes_add(struct run_bytes *bytes, const void *data, size_t length)
{
    if (bytes->length + length > bytes->capacity) {
        bytes->capacity = 2 * (bytes->length + length) + 256;
        bytes->data = memory_checked(realloc(bytes->data, bytes->capacity));
    }
    if (length)
        memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

void bytes_drop(struct run_bytes *bytes, size_t length)
{
    if (!length)
        return; /* there may be no memory yet */
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
