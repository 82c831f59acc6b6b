/* What epoll.c does for other hooks. */
#ifndef SOCK_EPOLL_H
#define SOCK_EPOLL_H

#include "sock/set.h"

/* FD, a descriptor of FILE, is about to be closed. */
void sock_set_closing(struct sock_file *file, int fd);
/* FD, a set, is waited for by another way than epoll_wait. */
void sock_set_nested(int fd);
void sock_set_make_plain(struct sock_set *set, uint32_t number);
void sock_set_copied(int from, int to);
void sock_set_closed(int fd);

#endif
