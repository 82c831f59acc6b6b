/* What a family of processes knows of a TCP connection: a family is a process and all that it forks, directly or not, without
 * exec. The memory is anonymous and shared; children inherit it. Nobody outside of the family can reach it.
 *
 * Holders are the processes that have a descriptor of the connection. The kernel does not tell how many there are, so they
 * are counted here: fork adds one, closing the last descriptor takes one away, and a dead one is found by its number. A
 * connection may move to shared memory only while one process holds it: another one, forked before, would go on reading
 * a socket on which nothing comes any more. */
#ifndef SOCK_LINK_H
#define SOCK_LINK_H

#include "base/compiler.h"
#include <stdatomic.h>
#include <sys/types.h>

#define SOCK_HOLDERS 8

enum sock_stage {
    STAGE_FREE,
    STAGE_OPEN,  /* a socket that is not connected, or listens */
    STAGE_PLAIN, /* a connection whose calls are counted */
    STAGE_NEVER, /* stays TCP; the table forgets it */
};

struct sock_link {
    _Atomic uint32_t stage;
    bool active;                            /* this side connected; else it accepted */
    bool lost_count;                        /* more holders than places, or some that cannot be counted */
    _Atomic uint32_t holder[SOCK_HOLDERS];  /* process numbers; with the top bit: a thread that is forking */
    _Atomic uint32_t calls;                 /* that moved data */
    _Atomic uint64_t bytes;
} ALIGNED(64);

struct sock_file;

int sock_family_make(void); /* by the constructor: 0, or there is no memory and nothing is tracked */

/* A connection or socket of this process, held; NULL: no room. */
struct sock_file *sock_link_open(enum sock_stage stage, bool active);
void sock_link_leave(struct sock_link *link); /* the last user in this process has gone */

bool sock_link_alone(struct sock_link *link); /* this process is the only holder */
void sock_link_unknown(struct sock_link *link); /* somebody may hold it that nobody counts */

/* Around a fork, for all connections of this process: before it, in the child, and in the parent where there is no child.
 * What comes from the first is an argument of the others. */
uint32_t sock_family_fork(void);
void sock_family_child(uint32_t mark);
void sock_family_failed(uint32_t mark);

#endif
