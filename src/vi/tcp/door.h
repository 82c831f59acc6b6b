/* The listener of a node, in code called door: it accepts connections, and those that prove that they belong to the job
 * are passed on to the rank that they ask for. One port on every chosen card. Opened by the launcher for the ranks of
 * its host, by the lowest rank of a node for all of them, or by a rank for itself; see docs/design.md. A face of vi for
 * the launcher, too.
 *
 * One thread at a time. Nothing blocks. A rank's seat is its end of a pair of sockets (SOCK_SEQPACKET): first comes a
 * tcp_note, then a tcp_hello with a socket for each authenticated connection. */
#ifndef VI_TCP_DOOR_H
#define VI_TCP_DOOR_H

#include "vi/tcp/cards.h"
#include "vi/tcp/hello.h"
#include "vi/vi.h"

struct tcp_door;

/* What a rank must know to write its address. */
struct tcp_note {
    uint64_t magic, host; /* vbase_host_identity of the listener: seats are of use in its network namespace alone */
    uint32_t port, zero;
};
_Static_assert(sizeof(struct tcp_note) == 24, "a note has no holes");
#define TCP_NOTE_MAGIC 0x31726f6f64747600ull

/* For the ranks that SETUP calls local; of it are used: secret, ranks, local_ranks, local_count. */
int tcp_door_open(const struct vi_setup *setup, struct tcp_door **door) MUST_CHECK;
void tcp_door_close(struct tcp_door *door);

/* The seat of a local rank, close-on-exec; the caller's from now on. When no copy of it is left, the rank is gone. */
int tcp_door_seat(struct tcp_door *door, int local_index);

/* Readable when tcp_door_step has something to do. */
int tcp_door_descriptor(const struct tcp_door *door);
void tcp_door_step(struct tcp_door *door, uint64_t now_ns);

int tcp_door_strangers(const struct tcp_door *door); /* unauthenticated connections now */

/* Counts that what came by FD made no sense or had no proof, and logs it now and then. */
void tcp_refuse(int fd, const char *why);

/* One port on all CARDS, which is written into them; LISTENER: a socket each. */
int tcp_listen(struct tcp_cards *cards, int listener[TCP_CARDS]) MUST_CHECK;

/* The ends of a pair, NEAR the listener's; a note lies in it. */
int tcp_seat_make(const struct tcp_note *note, int rank, int *near, int *far) MUST_CHECK;
/* Passes an authenticated connection on; FD stays the caller's. ERR_AGAIN: no room; ERR_PEER_DEAD: the rank is gone. */
int tcp_seat_pass(int seat, const struct tcp_hello *hello, int fd) MUST_CHECK;
/* A message from a seat: 1: an authenticated connection, *fd is the caller's now; 0: nothing now; ERR_LINK_DOWN: the
 * listener is gone. */
int tcp_seat_take(int seat, struct tcp_hello *hello, int *fd) MUST_CHECK;
int tcp_seat_note(int seat, struct tcp_note *note) MUST_CHECK; /* the first message; ERR_PROTOCOL */

#endif
