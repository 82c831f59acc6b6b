/* Where processes wait, and how they are woken. A place is an epoll set, or a thread that is in a call that blocks. The
 * places of a process lie on its board, a memfd that peers of the same user map: for each place a mark (does it
 * sleep) and a bit for each connection (may it have bytes, or room). Each place has an eventfd, of which peers have a
 * copy.
 *
 *   peer                                   owner of the place
 *   publishes in the ring                  clears the bit of a connection, then looks at its ring again
 *   sets the bit; if it was clear:         sets the mark, looks at the bits again, then sleeps
 *     looks at the mark; if it is set:
 *       clears it, writes to the eventfd
 *
 * tests/sock/mark.pml is the model. All steps are seq_cst: each side stores one word and loads the other's. */
#ifndef SOCK_PLACE_H
#define SOCK_PLACE_H

#include "base/compiler.h"
#include <stdatomic.h>

#define SOCK_PLACES 64

struct sock_board; /* the memory */

/* The board of this process, made when it is first needed: its number (random, not 0) and descriptor. */
bool sock_board_open(uint64_t *id, int *fd);
void sock_board_child(void); /* after fork: the parent's is not ours */

int sock_place_open(void); /* -1: none is free, or no descriptor */
void sock_place_close(int place);
int sock_place_event(int place); /* the eventfd */
int sock_place_thread(void);     /* of this thread; -1: none */

bool sock_place_bit(int place, uint32_t bit);
void sock_place_set(int place, uint32_t bit); /* by the owner: as a peer would */
void sock_place_wake(int place); /* by another thread of the owner; a number that is no place: nothing */
void sock_places_wake(void);     /* all that sleep */
bool sock_place_clear(int place, uint32_t bit); /* it was set */
/* The next bit that is set at or behind FROM; SOCK_FILES: none. */
uint32_t sock_place_next(int place, uint32_t from);

void sock_place_sleep(int place); /* from now on peers wake it; the caller looks at what it waits for once more */
void sock_place_awake(int place);
void sock_place_drain(int place); /* empties the eventfd */

/* What a process knows of another one's board. */
struct sock_peer;
struct sock_peer *sock_peer_take(uint64_t id, int fd); /* counted; NULL: no room. The descriptor stays the caller's */
void sock_peer_leave(struct sock_peer *peer);
/* Its eventfd of that place, ours from now on; false: no descriptor is left. */
bool sock_peer_event(struct sock_peer *peer, int place, int fd);

/* After something was published for the connection with this bit at that place; true: the caller wakes it by TCP. */
bool sock_peer_wake(struct sock_peer *peer, uint32_t place, uint32_t bit, _Atomic uint64_t *since);

#endif
