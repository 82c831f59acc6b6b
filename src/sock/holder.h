/* Which processes of a family hold something: a connection, an epoll set. The kernel does not tell, so they are entered
 * here: a process before it can have a copy of a descriptor, with a mark that it takes for its own number once it runs;
 * it takes its entry away when it has closed the last one, and others take that of a process that has died. There is a
 * number of entries, and what makes it 0 frees what was held, so that this is done once.
 *
 * sock_freeze stops what opens, copies, joins and closes in this process, for the time of a fork: what is counted then
 * is what the child gets. */
#ifndef SOCK_HOLDER_H
#define SOCK_HOLDER_H

#include "base/compiler.h"
#include <stdatomic.h>

#define SOCK_HOLDERS 8

struct sock_holders {
    _Atomic uint32_t count;
    _Atomic uint32_t who[SOCK_HOLDERS]; /* process numbers and marks, 0: none */
    _Atomic bool uncounted;             /* there may be more: in other programs, or than there are entries */
};

extern uint32_t sock_own_pid; /* set with the memory of the family, and by fork */
static inline uint32_t sock_pid(void) { return sock_own_pid; }

/* For a child that is about to be made; another one each time. */
uint32_t sock_mark_make(void);

/* For what is under way in a message, in that place of the family's list (pass.c): it does not die. */
#define SOCK_PASSES 256u
uint32_t sock_mark_of_pass(uint32_t place);

void sock_holders_begin(struct sock_holders *holders); /* of what nobody holds: this process does */
/* By a holder, for another one. */
void sock_holders_add(struct sock_holders *holders, uint32_t who);
void sock_holders_rename(struct sock_holders *holders, uint32_t old, uint32_t new);
/* These take entries away: all of WHO, or all that are dead. True: nobody is left, what was held is to be freed. */
bool sock_holders_leave(struct sock_holders *holders, uint32_t who);
bool sock_holders_sweep(struct sock_holders *holders);
bool sock_holders_have(const struct sock_holders *holders, uint32_t who);
bool sock_holders_others(const struct sock_holders *holders); /* that may have died */
bool sock_holders_alone(struct sock_holders *holders);        /* this process is the only one */

bool sock_process_is_dead(uint32_t pid);

/* Around what opens, copies, joins or closes a descriptor, also one inside of another. No handler of the program runs
 * meanwhile, and the thread is not cancelled. */
void sock_change_begin(void);
void sock_change_end(void);
/* Around a fork, with all signals blocked; the thread is not cancelled. In the child the parent's other threads are not
 * there. */
void sock_freeze(void);
void sock_thaw(void);
uint32_t sock_freezes(void); /* so far: a descriptor may have been copied since it was less */
/* Around a call of libc that makes a child past sock_freeze, at a moment that nobody knows: meanwhile each sock_freezes
 * is one more. */
void sock_unseen_begin(void);
void sock_unseen_end(void);
void sock_unseen_none(void); /* in a child: the parent's other threads are not there */

#endif
