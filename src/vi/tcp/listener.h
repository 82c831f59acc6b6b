/* The listener of a node: it accepts connections, and those that prove that they belong to the job are passed on to the
 * rank that they ask for. One port on every chosen card. Opened by the launcher for the ranks of its host, by the
 * lowest rank of a node for all of them, or by a rank for itself; see docs/design.md. A face of vi for the launcher,
 * too.
 *
 * One thread at a time. Nothing blocks. A rank's seat is its end of a pair of sockets (SOCK_SEQPACKET): first comes a
 * tcp_note, then a tcp_hello with a socket for each authenticated connection. */
#pragma once

#include "vi/tcp/cards.h"
#include "vi/tcp/hello.h"
#include "vi/vi.h"

struct tcp_listener;

/* What a rank must know to write its address. */
struct tcp_note {
    uint64_t magic, host; /* vbase_host_identity of the listener: seats are of use in its network namespace alone */
    uint32_t port, zero;
};
_Static_assert(sizeof(struct tcp_note) == 24, "a note has no holes");
#define TCP_NOTE_MAGIC 0x31726f6f64747600ull

/* For the ranks that SETUP calls local; of it are used: secret, ranks, local_ranks, local_count. */
int tcp_listener_open(const struct vi_setup *setup, struct tcp_listener **listener) MUST_CHECK;
void tcp_listener_close(struct tcp_listener *listener);

/* The seat of a local rank, close-on-exec; the caller's from now on. When no copy of it is left, the rank is gone. */
int tcp_listener_seat(struct tcp_listener *listener, int local_index);

/* Readable when tcp_listener_step has something to do. */
int tcp_listener_descriptor(const struct tcp_listener *listener);
void tcp_listener_step(struct tcp_listener *listener, uint64_t now_ns);

int tcp_listener_callers(const struct tcp_listener *listener); /* unauthenticated connections now */

/* Counts that what came by FD made no sense or had no proof, and logs it now and then. */
void tcp_refuse(int fd, const char *why);

/* A message from a seat: 1: an authenticated connection, *fd is the caller's now; 0: nothing now; ERR_LINK_DOWN: the
 * listener is gone. */
int tcp_seat_take(int seat, struct tcp_hello *hello, int *fd) MUST_CHECK;
int tcp_seat_note(int seat, struct tcp_note *note) MUST_CHECK; /* the first message; ERR_PROTOCOL */
