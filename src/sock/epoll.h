/* Epoll sets with connections that are joined.
 *
 * The kernel's registration stays, so that sets may be nested, shared by fork and passed on. For a joined connection
 * it is changed: it carries a tag of ours instead of the program's datum, and tells changes only (edge-triggered).
 * Such a change sets the connection's bit at the place of the set, as peers do; what is ready is found out from the
 * bits alone. A set without a place has level-triggered registrations, and what the kernel tells is looked at one by
 * one. */
#ifndef SOCK_EPOLL_H
#define SOCK_EPOLL_H

#include "sock/table.h"

/* FILE has been joined: if it is in a set, its registration is changed. */
void sock_set_joined(struct sock_file *file);
/* Nobody waits for FILE but its set: peers wake that. Under link->receive. */
void sock_set_place(struct sock_file *file);
int sock_set_place_of(struct sock_file *file); /* -1: none */
void sock_set_refresh(struct sock_file *file); /* its direction out has gone back to TCP: the kernel tells of room */
/* A write did not fit: the set is woken when there is room. */
void sock_set_wants_room(struct sock_file *file);
/* FILE is closed here; FD was one of its descriptors, and REST another one or -1. */
void sock_set_closing(struct sock_file *file, int fd, int rest);
/* FD, a set, is waited for by another way than epoll_wait. */
void sock_set_nested(int fd);
bool sock_is_set(int fd);
void sock_set_copied(int from, int to);
void sock_set_closed(int fd);

#endif
