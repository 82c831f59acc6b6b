/* stdio on a connection: libc's streams read and write past our functions, so fdopen makes a stream that calls them.
 * What stdin, stdout and stderr have stays TCP. */
#include "sock/stdio.h"
#include "sock/hooks.h"
#include "sock/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static ssize_t stream_read(void *cookie, char *data, size_t size)
{
    return sock_read((int)(intptr_t)cookie, data, size);
}

static ssize_t stream_write(void *cookie, const char *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = sock_write((int)(intptr_t)cookie, data + done, size - done);
        if (n < 0)
            return done ? (ssize_t)done : 0; /* 0 is what stdio takes for an error here */
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int stream_close(void *cookie) { return sock_close((int)(intptr_t)cookie); }

FILE *sock_fdopen(int fd, const char *mode)
{
    struct sock_file *file = sock_hold(fd);
    if (!file)
        return sock_real.fdopen(fd, mode);
    sock_drop(file);
    cookie_io_functions_t calls = {.read = stream_read, .write = stream_write, .close = stream_close};
    FILE *stream = fopencookie((void *)(intptr_t)fd, mode, calls);
    if (stream)
        stream->_fileno = fd; /* for fileno */
    return stream;
}

void sock_stdio_begins(int fd, struct sock_file *file)
{
    if (likely(fd > STDERR_FILENO))
        return;
    int saved = errno;
    bool by_tcp = sock_stream_never(file);
    FILE *stream = by_tcp || fd != STDIN_FILENO ? NULL : sock_fdopen(fd, "r"); /* what lies there only we can read */
    if (stream)
        stdin = stream;
    errno = saved;
}

static int print_all(int fd, const char *text, int length)
{
    for (int done = 0; done < length;) {
        ssize_t n = sock_write(fd, text + done, (size_t)(length - done));
        if (n < 0)
            return -1;
        done += (int)n;
    }
    return length;
}

int sock_vdprintf(int fd, const char *format, va_list list)
{
    char *text;
    int length = vasprintf(&text, format, list);
    if (length < 0)
        return -1;
    int result = print_all(fd, text, length), why = errno;
    free(text);
    errno = why;
    return result;
}

int sock___vdprintf_chk(int fd, int flag, const char *format, va_list list)
{
    (void)flag;
    return sock_vdprintf(fd, format, list);
}

VEXPORT int hook_dprintf(int fd, const char *format, ...) __asm__("dprintf");
int hook_dprintf(int fd, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = sock_known(fd) ? sock_vdprintf(fd, format, list) : sock_real.vdprintf(fd, format, list);
    va_end(list);
    return n;
}

VEXPORT int hook_dprintf_chk(int fd, int flag, const char *format, ...) __asm__("__dprintf_chk");
int hook_dprintf_chk(int fd, int flag, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = sock_known(fd) ? sock_vdprintf(fd, format, list) : sock_real.__vdprintf_chk(fd, flag, format, list);
    va_end(list);
    return n;
}
