/* The listener of a node: it accepts connections, and those that prove that they belong to the job are passed on to the
 * rank that they ask for. One port on every chosen card. Opened by the launcher for the ranks of its host, by the
 * lowest rank of a node for all of them, or by a rank for itself; see docs/design.md. A face of vi for the launcher,
 * too.
 *
 * One thread at a time. Nothing blocks. A rank's seat is its end of a pair of sockets (SOCK_SEQPACKET): first comes a
 * call_note, then a call_hello with a socket for each authenticated connection. */
#pragma once

#include "vi/call/cards.h"
#include "vi/call/hello.h"
#include "vi/vi.h"

#define CALL_NEVER UINT64_MAX /* of times, ns */

struct call_listener;

/* What a rank must know to write its address. */
struct call_note {
    uint64_t magic, host; /* vbase_host_identity of the listener: seats are of use in its network namespace alone */
    uint32_t port, zero;
};
_Static_assert(sizeof(struct call_note) == 24, "a note has no holes");
#define CALL_NOTE_MAGIC 0x31726f6f64747600ull

/* The ports that may be listened on, 0 to 0: any. ERR_ARGUMENT: MPIEXEC_PORT_RANGE. */
int call_port_range(uint32_t *low, uint32_t *high) MUST_CHECK;

/* For the ranks that SETUP calls local; of it are used: secret, ranks, local_ranks, local_count. */
int call_listener_open(const struct vi_setup *setup, struct call_listener **listener) MUST_CHECK;
void call_listener_close(struct call_listener *listener);

/* The seat of a local rank, close-on-exec; the caller's from now on. When no copy of it is left, the rank is gone. */
int call_listener_seat(struct call_listener *listener, int local_index);

/* Readable when call_listener_step has something to do. */
int call_listener_descriptor(const struct call_listener *listener);
void call_listener_step(struct call_listener *listener, uint64_t now_ns);

int call_listener_rejected(const struct call_listener *listener); /* that are of no rank of this job */
int call_listener_callers(const struct call_listener *listener); /* unauthenticated connections now */

/* Counts that what came by FD made no sense or had no proof, and logs it now and then. */
void call_refuse(int fd, const char *why);

/* An authenticated connection that is passed on. */
struct call_passed {
    struct list_node node;
    int fd;
    struct call_hello hello;
};
struct call_passed *call_passed_make(int fd, const struct call_hello *hello); /* NULL: no memory; FD stays open */
void call_passed_drop(struct call_passed *passed); /* takes it out of its list; closes and frees it */

/* A message from a seat: 1: an authenticated connection, *fd is the caller's now; 0: nothing now; ERR_LINK_DOWN: the
 * listener is gone. */
int call_seat_take(int seat, struct call_hello *hello, int *fd) MUST_CHECK;
int call_seat_note(int seat, struct call_note *note) MUST_CHECK; /* the first message; ERR_PROTOCOL */

/* An epoll set with a timer in it, both close-on-exec; WORD says that it is the timer. ERR_LIMIT. */
int call_epoll_open(int *epoll, int *timer, uint64_t word) MUST_CHECK;
int call_epoll(int epoll, int what, int fd, uint64_t word) MUST_CHECK; /* epoll_ctl, for reading. ERR_LIMIT */
void call_timer_set(int timer, uint64_t at_ns); /* CALL_NEVER: not at all */
