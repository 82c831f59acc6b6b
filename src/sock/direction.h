/* The two directions of a connection that is joined: the one that this side writes (send.c), under link->send, and the
 * one that it reads (receive.c), under link->receive. What is here is done at once: nothing waits, and neither knows of
 * the other, of places that are sets, or of the way back. FILE is held by the caller. */
#ifndef SOCK_DIRECTION_H
#define SOCK_DIRECTION_H

#include "sock/file.h"

#include <limits.h>
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

/* ---- out ---- */

/* Where bytes come from that go out: FETCH stores up to SIZE in memory of the ring and says how many, 0 at the end,
 * -1. */
struct sock_source {
    ssize_t (*fetch)(struct sock_source *source, char *data, size_t size);
    struct sock_pieces *pieces;
    int fd;
    off_t at; /* of a file; -1: what is fetched is gone from there */
    bool past; /* the bytes are to go past the caches */
    bool end;
};

/* The ring is in use now; false: TCP carries. */
bool sock_out_switch(struct sock_file *file);
/* As much as there is room for: bytes, or what the source said instead of the first. */
ssize_t sock_out_store(struct sock_file *file, struct sock_source *source, size_t size, bool patient);
/* Wakes the reader where it waits; true: it is to be told by a bell. */
bool sock_out_wake(struct sock_file *file);
/* Wakes the reader at the other end: one byte by TCP, counted before. */
void sock_out_bell(struct sock_file *file);
void sock_out_end(struct sock_file *file); /* TCP carries for good */

/* The other side has the eventfd of PLACE, and will use it. */
bool sock_place_is_known(const struct sock_file *file, int place);
/* What waits at PLACE is to be woken when there is room: ns until it is to look again, 0: it will be woken. */
uint64_t sock_room_want(struct sock_file *file, int place);
#define SOCK_BLIND_NS 1000000
#define SOCK_HINT_NS  20000000 /* for which a bell is sent that another thread may take */

/* ---- in ---- */

#define ON_ITS_WAY_MS 1000 /* what the other side's kernel has taken */
#define SOCK_WAITED 2
/* The program waits for bytes in our functions: a bell may stay in the socket meanwhile. */
static inline void sock_stream_waits(struct sock_file *file)
{
    if (atomic_load_explicit(&file->link->waited, memory_order_relaxed) != SOCK_WAITED)
        atomic_store_explicit(&file->link->waited, SOCK_WAITED, memory_order_relaxed); /* a hint */
}

/* Both under link->receive. Bells are taken away, as far as the ring is empty: what follows sends one. And bytes are
 * waited for at PLACE from now on (as in the segment); what waits at another one of ours looks again. */
void sock_stream_bells_take(struct sock_file *file);
void sock_stream_place(struct sock_file *file, uint32_t place);

/* What waits for room at the other side looks again; true: it is to be told by TCP. */
bool sock_stream_writer_wake(struct sock_file *file);

/* This side says that it looks before it takes; under link->receive. */
void sock_stream_be_ready(struct sock_file *file);

/* What the functions below may say besides bytes, 0 at the end and -errno: the phase has changed, ask again; the
 * program makes its own call; and the lock was not free in time (sock_lock_soon). */
#define SOCK_NEXT_PHASE LONG_MIN
#define SOCK_IN_PLAIN   (LONG_MIN + 1)
#define SOCK_IN_LOCKED  (LONG_MIN + 2)
void sock_in_enter(struct sock_link *link); /* all that came by TCP has been taken: the ring follows */
ssize_t sock_in_skip(struct sock_file *file); /* takes away the bells behind the ring */
void sock_in_leave(struct sock_file *file); /* the ring is closed: behind the bells TCP goes on */
void sock_in_goes_on(struct sock_link *link);         /* TCP carries for good */
void sock_in_wake(struct sock_file *file);    /* the writer goes on */

/* A read of the program: the bytes that are there, SOCK_IN_PLAIN where TCP carries them, 0 at the end, -errno, and for
 * one that does not wait SOCK_IN_LOCKED. TOTAL bytes have been taken before. One that has taken some, or has WAITED, is
 * not left to TCP any more. */
ssize_t sock_in_take(struct sock_file *file, struct sock_pieces *to, int flags, bool dont_wait,
                     ssize_t total, bool waited);
bool sock_in_at_mark(struct sock_file *file); /* of urgent data: reading stops there */
/* 1: there are bytes, 0: the stream has ended, -errno. LOOK: the socket is asked, too. */
ssize_t sock_in_available(struct sock_file *file, bool look);

/* ---- the end ---- */

/* Under link->receive: what it is, END_NOT where the kernel tells it. */
enum sock_end sock_end_look(struct sock_file *file);
enum sock_end sock_end_look_soon(struct sock_file *file); /* takes the lock; the last answer where it is not got */
/* What TCP would tell to poll where the kernel has told these. */
short sock_end_events(struct sock_file *file, short told);
/* A write that the ring does not take any more: what the call returns, or SOCK_END_KERNEL: the kernel says it. */
#define SOCK_END_KERNEL (-2)
ssize_t sock_end_write(struct sock_file *file, struct sock_source *source, size_t size);

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

#endif
