/* Which descriptors of this process are ours: the table that every hook looks at first, and the file behind an entry.
 *
 * A descriptor that is no TCP connection, and one that was given up, has no entry: it costs one load. Files are
 * memory of the process that never goes away, so that a call may look at one that another thread is closing:
 * sock_hold counts it, and looks at the table again. Several descriptors (dup) may name one file. */
#ifndef SOCK_TABLE_H
#define SOCK_TABLE_H

#include "sock/find.h"
#include "sock/segment.h"
#include <stdatomic.h>

#define SOCK_DESCRIPTORS (1u << 20)
#define SOCK_FILES       65536u
#define SOCK_OWN         (SOCK_FILES - 1) /* the entry of a descriptor of the preload itself */

struct sock_link;
struct sock_peer;

struct sock_file {
    _Atomic uint32_t users;       /* descriptors, and calls under way; the last one frees the file */
    _Atomic uint32_t descriptors; /* of this process */
    struct sock_link *link;       /* what the family knows of it; same number as the file */
    struct sock_mapping mapping;  /* the segment, once it is joined */
    struct sock_peer *peer;       /* whom to wake; NULL: by TCP */

    /* while the other end is looked for, see meet.c; one thread at a time */
    _Atomic bool meeting;
    uint8_t step;
    int channel; /* to the other end, or where it is to call; 0: none */
    int told_place; /* of this process: the other end has been sent its eventfd; -1: none */
    uint32_t first_step;
    uint64_t first_time;
    _Atomic uint32_t next_step; /* data calls of the connection before it is tried again */
    struct sock_owner owner;
};

/* 0, the number of a file, SOCK_OWN, or SOCK_FILES and the number of an epoll set (epoll.h) */
extern _Atomic uint32_t sock_table[SOCK_DESCRIPTORS];
extern struct sock_file sock_files[SOCK_FILES];

static inline bool sock_known(int fd)
{
    /* relaxed: a descriptor reaches another thread by the program's own means, which order this, too */
    return (uint32_t)fd < SOCK_DESCRIPTORS && atomic_load_explicit(&sock_table[fd], memory_order_relaxed) != 0;
}

int sock_table_end(void); /* all descriptors of the program that are in the table are below */

struct sock_file *sock_hold(int fd); /* NULL: not ours (any more) */
void sock_drop(struct sock_file *file);

/* FILE, held, is from now on behind FD as well. */
void sock_table_add(int fd, struct sock_file *file);
/* FD is not ours any more; true: it was the last descriptor of FILE here. */
bool sock_table_remove(int fd, struct sock_file *file);

void sock_table_set(int fd, uint32_t entry); /* of an epoll set */

/* FD belongs to the preload: the program cannot close it, and everything else passes. */
void sock_table_own(int fd);
void sock_table_disown(int fd);
bool sock_table_is_own(int fd);
int sock_table_own_next(int from); /* the next one at or behind FROM; -1: none */

/* The file with this number, held by the caller; it must be free. */
struct sock_file *sock_file_open(uint32_t number, struct sock_link *link);

#endif
