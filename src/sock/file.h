/* What is behind the descriptors of this process. Files are memory that never goes away, so that a call may look at one
 * that another thread is closing: sock_hold counts it, and looks at the table again. Several descriptors (dup) may name
 * one file. */
#ifndef SOCK_FILE_H
#define SOCK_FILE_H

#include "sock/find.h"
#include "sock/link.h"
#include "sock/segment.h"
#include "sock/table.h"

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

extern struct sock_file sock_files[SOCK_FILES];

/* The memory of the family is made with the first socket or set, if it may be; false: nothing is tracked. */
bool sock_family_open(void);
/* A connection or socket of this process, held; NULL: no room. */
struct sock_file *sock_file_open(enum sock_stage stage, bool active);

struct sock_file *sock_hold(int fd); /* NULL: not ours (any more) */
void sock_drop(struct sock_file *file);

/* FILE, held, is from now on behind FD as well. */
void sock_file_add(int fd, struct sock_file *file);
/* FD is not ours any more; true: it was the last descriptor of FILE here. */
bool sock_file_remove(int fd, struct sock_file *file);

/* Around a fork, for all connections of this process: before it, in the child, and in the parent where there is no
 * child. What comes from the first is an argument of the others. */
uint32_t sock_family_fork(void);
void sock_family_child(uint32_t mark);
void sock_family_failed(uint32_t mark);

#endif
