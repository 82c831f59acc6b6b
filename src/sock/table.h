/* Which descriptors of this process are ours: the table that every hook looks at first. A descriptor that is no TCP
 * connection, and one that was given up, has no entry: it costs one load. */
#ifndef SOCK_TABLE_H
#define SOCK_TABLE_H

#include "base/compiler.h"
#include <stdatomic.h>

#define SOCK_DESCRIPTORS (1u << 20)
#define SOCK_FILES       65536u
#define SOCK_OWN         (SOCK_FILES - 1) /* the entry of a descriptor of the preload itself */

/* 0, the number of a file (file.h), SOCK_OWN, or SOCK_FILES and the number of an epoll set (link.h) */
extern _Atomic uint32_t sock_table[SOCK_DESCRIPTORS];

static inline bool sock_known(int fd)
{
    /* relaxed: a descriptor reaches another thread by the program's own means, which order this, too */
    return (uint32_t)fd < SOCK_DESCRIPTORS && atomic_load_explicit(&sock_table[fd], memory_order_relaxed) != 0;
}

int sock_table_end(void); /* all descriptors of the program that are in the table are below */
uint32_t sock_table_set(int fd, uint32_t entry); /* returns the entry before; FD is below SOCK_DESCRIPTORS */

/* A descriptor of the preload: high, close-on-exec, and the program cannot close it. Keeping closes FD and gives its
 * new number, -1: none is left. */
int sock_own_keep(int fd);
int sock_own_copy(int fd); /* the same, FD stays open */
void sock_own_close(int fd);
bool sock_table_is_own(int fd);
int sock_table_own_next(int from); /* the next one at or behind FROM; -1: none */

/* The program's limit of descriptors is raised for the moment in which the preload takes a number behind it. Not while
 * the lock is held, by a call of the program for its limit; nor, for longer, while a child is made, which would inherit
 * it. The last one is for that child, where other threads of its parent are not there. */
void sock_limit_lock(void);
void sock_limit_unlock(void);
void sock_limit_stay(void);
void sock_limit_free(void);
void sock_limit_child(void);

#endif
