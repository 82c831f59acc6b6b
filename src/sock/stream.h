/* The bytes of a connection that is joined: what read, write and their relatives do with it. Each direction goes TCP,
 * ring, TCP, see docs/design.md. FILE is held by the caller. */
#ifndef SOCK_STREAM_H
#define SOCK_STREAM_H

#include "sock/link.h"
#include "sock/table.h"

#include <poll.h>

static inline bool sock_joined(const struct sock_file *file)
{
    return atomic_load_explicit(&file->link->stage, memory_order_acquire) == STAGE_JOINED;
}
/* The direction that this side writes, and the one that it reads. */
static inline unsigned sock_out(const struct sock_file *file) { return file->link->active ? 0 : 1; }
static inline unsigned sock_in(const struct sock_file *file) { return file->link->active ? 1 : 0; }
static inline struct ring sock_ring_out(const struct sock_file *file)
{
    return (struct ring){file->mapping, sock_out(file)};
}
static inline struct ring sock_ring_in(const struct sock_file *file)
{
    return (struct ring){file->mapping, sock_in(file)};
}

/* What recv and send do, with their flags and errors. A function that returns SOCK_PLAIN has done nothing: the caller
 * makes the program's own call, between sock_plain_begin and sock_plain_end. */
#define SOCK_PLAIN (-2)
#define SOCK_PASS  (-3) /* the same of a call that moves no bytes of the stream: it may be made at any time */
ssize_t sock_stream_receive(struct sock_file *file, int fd, struct sock_pieces *to, int flags);
ssize_t sock_stream_send(struct sock_file *file, int fd, struct sock_pieces *from, int flags);

/* Where bytes come from that go out: FETCH stores up to SIZE in memory of the ring and says how many, 0 at the end,
 * -1. */
struct sock_source {
    ssize_t (*fetch)(struct sock_source *source, char *data, size_t size);
    struct sock_pieces *pieces;
    int fd;
    off_t at;
    bool end;
};
ssize_t sock_stream_fill(struct sock_file *file, int fd, struct sock_source *source, size_t size, int flags);

/* Around a call of the program that goes to TCP, OUT or in. False: there may be none now, the stream is to be asked. */
bool sock_plain_begin(struct sock_link *link, bool out);
void sock_plain_end(struct sock_link *link, bool out);
/* The same as sock_plain_end, behind the call, which has returned RESULT: counts it, and looks for the other end. */
void sock_moved(struct sock_file *file, int fd, bool out, ssize_t result);
/* From now on there is none; false: one is under way. */
bool sock_plain_forbid(struct sock_link *link, bool out);

#define SOCK_WAITED 2
/* The program waits for bytes in our functions: a bell may stay in the socket meanwhile. */
static inline void sock_stream_waits(struct sock_file *file)
{
    if (atomic_load_explicit(&file->link->waited, memory_order_relaxed) != SOCK_WAITED)
        atomic_store_explicit(&file->link->waited, SOCK_WAITED, memory_order_relaxed); /* a hint */
}

/* Both under link->receive. Bells are taken away, as far as the ring is empty: what follows sends one. And bytes are
 * waited for at PLACE from now on (as in the segment); what waits at another one of ours looks again. */
void sock_stream_bells_take(struct sock_file *file, int fd);
void sock_stream_place(struct sock_file *file, uint32_t place);

/* What waits for room at the other side looks again; true: it is to be told by TCP. */
bool sock_stream_writer_wake(struct sock_file *file);

/* This side says that it looks before it takes; under link->receive. */
void sock_stream_be_ready(struct sock_file *file, int fd);

/* Which of POLLIN and POLLOUT are true by the ring alone. *TCP: the events that the kernel is to be asked for. */
short sock_stream_events(struct sock_file *file, short wanted, short *tcp);
/* What is true now, when the kernel has reported these for the socket (0: it was not asked). */
short sock_stream_level(struct sock_file *file, int fd, short wanted, short kernel);
/* The kernel, asked for what sock_stream_events said, has reported these: what the program is to see. */
short sock_stream_from_kernel(struct sock_file *file, int fd, short wanted, short reported);

/* Bytes lie in the ring, as far as one can tell who does not hold link->receive. */
static inline bool sock_stream_filled(const struct sock_file *file)
{
    /* acquire: pairs with ring_publish */
    uint64_t head =
        atomic_load_explicit(&file->mapping.words->direction[sock_in(file)].head, memory_order_acquire) & ~RING_CLOSED;
    return head != atomic_load_explicit(&file->link->taken, memory_order_relaxed);
}

/* Nothing reads any more what this side writes: the kernel has the answer. */
static inline bool sock_stream_reader_gone(const struct sock_file *file)
{
    return atomic_load_explicit(&file->link->shut_out, memory_order_relaxed) ||
           atomic_load_explicit(&file->mapping.words->direction[sock_in(file)].left, memory_order_relaxed);
}
/* The events that tell the end to a thread that waits for EVENTS; and that the kernel has told these. A reader that was
 * killed ends its stream without having said so. */
static inline short sock_stream_end_events(const struct sock_file *file, short events)
{
    bool said = atomic_load(&file->mapping.words->direction[sock_in(file)].ended);
    return events & (POLLIN | POLLRDNORM) || (events && !said) ? POLLRDHUP : 0;
}
static inline void sock_stream_end_seen(struct sock_file *file, short told)
{
    if (told & (POLLERR | POLLHUP) ||
        (told & POLLRDHUP && !atomic_load(&file->mapping.words->direction[sock_in(file)].ended)))
        atomic_store(&file->link->shut_out, true);
}

/* The other side wrote what makes no sense: the connection is reset. */
void sock_stream_break(struct sock_file *file, int fd, const char *what);

/* Bytes that can be read now: those of TCP before the ring, those in the ring, and if that is closed those behind the
 * bells. Under link->receive. */
uint64_t sock_stream_readable(struct sock_file *file, int fd);

/* This side closes its last descriptor. */
void sock_stream_close(struct sock_file *file, int fd);

/* Going back to TCP, each direction for itself; false: bytes lie in the ring that only this process can read. */
void sock_stream_back_out(struct sock_file *file, int fd);
bool sock_stream_back_in(struct sock_file *file, int fd);
/* Where that is false: the bytes are copied to where a new program finds them (rest.h). False: there is no room. */
bool sock_stream_leave_rest(struct sock_file *file, int fd);

#endif
