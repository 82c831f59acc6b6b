/* Descriptors and small files: closing, reading, passing on. */
#pragma once

#include "base/compiler.h"
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef SYS_close_range /* headers of before Linux 5.9 */
#define SYS_close_range 436
#endif

/* FD is negative where there is none. */
static inline void base_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* What the file named by FORMAT begins with, at most SIZE - 1 bytes and a NUL. How many; 0: there is no such file. */
size_t vbase_file_read(char *text, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

/* The path of this program, in static memory; "": not known. */
const char *vbase_self(void);

/* Sends one message on a connected socket with DESCRIPTOR (-1: none), which stays the caller's. FLAGS: of sendmsg.
 * False: it did not go as a whole; errno. */
bool vbase_packet_send(int fd, const void *data, size_t size, int descriptor, int flags) MUST_CHECK;

/* What recvmsg gives. *DESCRIPTOR: the one that came along, close-on-exec, the caller's; -1: none. The kernel lets in
 * no more. */
ssize_t vbase_packet_receive(int fd, void *data, size_t size, int *descriptor, int flags) MUST_CHECK;
