/* What is behind the descriptors of this process. Files are memory that never goes away, so that a call may look at one
 * that another thread is closing: sock_hold counts it, and looks at the table again. Several descriptors (dup) may name
 * one file.
 *
 * A call holds its file from the first look to the last, whatever becomes of the number that the program gave. Below
 * the hooks nothing knows that number: sock_fd says by which one the kernel has the connection now. It changes under
 * both locks of the connection, when the program closes that number: to another descriptor of the program, or to a copy
 * of our own that lasts until the last call under way has ended. Only then the connection is closed, as the kernel
 * does it. */
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
    _Atomic int fd;               /* one of them, or ours when they are closed and calls are under way */
    struct sock_link *link;       /* what the family knows of it; same number as the file */
    struct sock_mapping mapping;  /* the segment, once it is joined */
    struct sock_peer *peer;       /* whom to wake; NULL: by TCP */
    uint32_t mark;                /* of the last child that has it from here */

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

/* A connection of the family that this process did not have, held by the caller; one thread at a time. */
struct sock_file *sock_file_adopt(uint32_t number);

struct sock_file *sock_hold(int fd); /* NULL: not ours (any more) */
void sock_drop(struct sock_file *file);
struct sock_file *sock_hold_number(uint32_t number); /* whatever has that number now; NULL: nothing */

/* The descriptor for system calls of our own. It stays what it is while a lock of the connection is held; without one
 * it is good for calls that may find another socket, and for a call that begins at once. -1: none is left. */
static inline int sock_fd(const struct sock_file *file)
{
    return atomic_load_explicit(&file->fd, memory_order_relaxed);
}

/* FILE, held, is from now on behind FD as well. */
void sock_file_add(int fd, struct sock_file *file);
/* FD is not ours any more; true: it was the last descriptor of FILE here. */
bool sock_file_remove(int fd, struct sock_file *file);
int sock_file_another(const struct sock_file *file, int fd); /* another descriptor than FD; -1: none */
/* Drops FILE, of which FD was a descriptor that is about to be closed. */
void sock_file_close(int fd, struct sock_file *file);

/* Around a fork, for all that this process holds, while it is frozen: before it, and in the child. Then, in the
 * parent, which child it is, 0: there is none. The mark that comes from the first is an argument of the others. */
uint32_t sock_family_fork(void);
void sock_family_child(uint32_t mark);
void sock_family_made(uint32_t mark, uint32_t child);

#endif
