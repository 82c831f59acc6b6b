/* Between epoll.c and epoll_wait.c. */
#ifndef SOCK_SET_H
#define SOCK_SET_H

#include "base/compiler.h"

struct sock_set;

struct sock_set *sock_set_of(int fd); /* NULL: not a set that we know */
bool sock_tag_is_ours(uint64_t data, uint32_t *number); /* number 0: an eventfd */
void sock_set_make_plain(struct sock_set *set, uint32_t number);

#endif
