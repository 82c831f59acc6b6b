/* Waiting of a thread: in a call on one connection, or in poll and select on several. */
#ifndef SOCK_WAIT_H
#define SOCK_WAIT_H

#include "base/compiler.h"
#include <poll.h>

struct sock_file;

#define SOCK_PATIENCE_NS 2000000 /* a writer waits so long for room in the caches before it takes the last level */

/* Until FILE may have bytes (POLLIN) or room (POLLOUT); DEADLINE on the clock of base, 0: none. 0, or -1 with errno
 * EINTR or EAGAIN (the time is over). May return early. LIMITED: the program has set a limit of time, or the call has
 * moved bytes, so that every handler ends it, as in the kernel. */
int sock_wait(struct sock_file *file, short event, uint64_t deadline, bool limited);

/* A thread that waits for FILE at PLACE, where it has said that it sleeps, says so, to be woken there; then it looks,
 * and only then it sleeps. */
struct sock_watch {
    short events;   /* that the kernel is to be asked for */
    uint64_t again; /* ns until it is to look again: nothing may wake it; 0: it will be woken */
};
struct sock_watch sock_watch(struct sock_file *file, short event, int place);
void sock_unwatch(struct sock_file *file, short event, int place);

/* Calls of this thread that may block, each with its file held once, and what it has said about its wait. A jump out of
 * a signal handler and cancellation leave them without a word: their count is given back by what the thread does next
 * here, or by its end. Else a file would never be closed. */
void sock_block(struct sock_file *file, short watched, int place); /* WATCHED: by sock_watch */
void sock_block_plain(struct sock_file *file, bool out);           /* behind sock_plain_begin */
void sock_unblock(unsigned count);                                 /* the last ones have returned */
void sock_blocks_left(void); /* called by a thread that closes, too */

/* There is something in the ring to wake up for. */
bool sock_watch_ready(struct sock_file *file, short event);

/* With the first connection that moves, once: how many processors may be used. */
void sock_spin_prepare(void);
/* Polling before sleep: begins; true as long as it may go on. FOUND ends it: did it pay? */
struct sock_spin {
    uint64_t start, last;
    unsigned yields;
};
bool sock_spin_begin(struct sock_spin *spin);
bool sock_spin_on(struct sock_spin *spin);
void sock_spin_end(struct sock_spin *spin, bool found);

#endif
