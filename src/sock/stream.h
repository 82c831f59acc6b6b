/* The bytes of a connection that is joined: what read, write and their relatives do with it. Each direction goes TCP,
 * ring, TCP, see docs/design.md. FILE is held by the caller. */
#ifndef SOCK_STREAM_H
#define SOCK_STREAM_H

#include "sock/direction.h"

/* What recv and send do, with their flags and errors. A function that returns SOCK_PLAIN has done nothing: the caller
 * makes the program's own call, between sock_plain_begin and sock_plain_end. */
#define SOCK_PLAIN (-2)
#define SOCK_PASS  (-3) /* the same of a call that moves no bytes of the stream: it may be made at any time */
ssize_t sock_stream_receive(struct sock_file *file, struct sock_pieces *to, int flags);
ssize_t sock_stream_send(struct sock_file *file, struct sock_pieces *from, int flags);
ssize_t sock_stream_fill(struct sock_file *file, struct sock_source *source, size_t size, int flags);

/* Which of POLLIN and POLLOUT are true by the ring alone. *TCP: the events that the kernel is to be asked for. */
short sock_stream_events(struct sock_file *file, short wanted, short *tcp);
/* What is true now, when the kernel has reported these for the socket (0: it was not asked). */
short sock_stream_level(struct sock_file *file, short wanted, short kernel);
/* The kernel, asked for what sock_stream_events said, has reported these: what the program is to see. */
short sock_stream_from_kernel(struct sock_file *file, short wanted, short reported);

/* The connection is reset, as connecting to nothing does; whatever the socket is connected to later is TCP. */
void sock_stream_reset(struct sock_file *file);
/* The other side wrote what makes no sense: the connection is reset. */
void sock_stream_break(struct sock_file *file, const char *what);

/* Bytes that can be read now: those of TCP before the ring, those in the ring, and if that is closed those behind the
 * bells. Under link->receive. */
uint64_t sock_stream_readable(struct sock_file *file);

/* This process closes it: no call is under way. */
void sock_stream_close(struct sock_file *file);

/* FILE is never to be in a ring (any more), because the kernel has to carry all; false: bytes lie in its ring that have
 * to be read first. */
bool sock_stream_never(struct sock_file *file);
/* Going back to TCP, each direction for itself; false: bytes lie in the ring that only this process can read. */
void sock_stream_back_out(struct sock_file *file);
bool sock_stream_back_in(struct sock_file *file);
/* Where that is false: the bytes are copied to where a new program finds them (rest.h). False: there is no room. */
bool sock_stream_leave_rest(struct sock_file *file);

#endif
