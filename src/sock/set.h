/* Epoll sets with connections that are joined: where a set waits, and how its members are registered.
 *
 * The kernel's registration stays, so that sets may be nested, shared by fork and passed on. For a joined connection
 * it is changed: it carries a tag of ours instead of the program's datum, and tells changes only (edge-triggered).
 * Such a change sets the connection's bit at the place of the set, as peers do; what is ready is found out from the
 * bits alone.
 *
 * A connection in a set that is plain, or in none that we know, is never moved to the ring: the kernel alone can tell
 * of it. A set becomes plain when it can have no place, another process waits in it, or it is waited for by another
 * way than epoll_wait. Then its members go back to TCP. Those that have bytes in their ring are read to the end first;
 * until then their registrations are level-triggered, and what the kernel tells is looked at one by one. The kernel
 * may tell what the program is not to hear: of a one-shot member that was reported, or events that it has not asked
 * for. It would tell the same again at once, so that member is edge-triggered (quiet) until there is something; and so
 * is one that the program has registered so, once it has been told. */
#ifndef SOCK_SET_H
#define SOCK_SET_H

#include "sock/file.h"

struct sock_set *sock_set_of(int fd); /* NULL: not a set that we know */
bool sock_is_set(int fd);
bool sock_set_own(struct sock_set *set); /* this process waits in it, and no other one */
bool sock_tag_is_ours(uint64_t data, uint32_t *number); /* number 0: an eventfd */

/* FILE, if it is in a set, may be joined; the set has a place then. */
bool sock_set_may_join(struct sock_file *file);
/* FILE has been joined: if it is in a set, its registration is changed. False: it has to go back. */
bool sock_set_joined(struct sock_file *file);
/* Nobody waits for FILE but its set: peers wake that. Under link->receive. */
void sock_set_place(struct sock_file *file);
int sock_set_place_of(struct sock_file *file); /* -1: none */
void sock_set_refresh(struct sock_file *file); /* its direction out has gone back to TCP: the kernel tells of room */
/* A write did not fit: the set is woken when there is room. */
void sock_set_wants_room(struct sock_file *file);
/* The lock of a direction was not free in time, and the process that has it tells nobody when it goes on, or dies: the
 * set tells the program to ask again. */
void sock_set_ask_again(struct sock_file *file);

/* The kernel's registration as it has to be; and away with it. Under link->receive. */
int sock_set_register(struct sock_file *file, uint32_t number);
void sock_set_kernel_forget(struct sock_link *link);

#endif
