/* Waiting of a thread: in a call on one connection, or in poll and select on several. */
#ifndef SOCK_WAIT_H
#define SOCK_WAIT_H

#include "base/compiler.h"
#include <poll.h>

struct sock_file;

#define SOCK_PATIENCE_NS 2000000 /* a writer waits so long for room in the caches before it takes the last level */

/* Until FILE may have bytes (POLLIN) or room (POLLOUT); DEADLINE on the clock of base, 0: none. 0, or -1 with errno
 * EINTR or EAGAIN (the time is over). May return early. */
int sock_wait(struct sock_file *file, int fd, short event, uint64_t deadline);

/* A thread that waits for FILE at PLACE, where it has said that it sleeps, says so, to be woken there; then it looks,
 * and only then it sleeps. */
struct sock_watch {
    short events;   /* that the kernel is to be asked for */
    uint64_t again; /* ns until it is to look again: nothing may wake it; 0: it will be woken */
};
struct sock_watch sock_watch(struct sock_file *file, int fd, short event, int place);
void sock_unwatch(struct sock_file *file, short event, int place);

/* The same for room, of whatever waits at PLACE: ns until it is to look again. */
uint64_t sock_room_want(struct sock_file *file, int place);
#define SOCK_BLIND_NS 1000000

/* There is something in the ring to wake up for. */
bool sock_watch_ready(struct sock_file *file, short event);

/* Polling before sleep: begins; true as long as it may go on. FOUND ends it: did it pay? */
struct sock_spin {
    uint64_t start, last;
    unsigned yields;
};
bool sock_spin_begin(struct sock_spin *spin);
bool sock_spin_on(struct sock_spin *spin);
void sock_spin_end(struct sock_spin *spin, bool found);

#endif
