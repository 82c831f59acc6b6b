/* What a family of processes knows of a TCP connection: a family is a process and all that it forks, directly or not,
 * without exec. The memory is anonymous and shared; children inherit it. Nobody outside of the family can reach it.
 *
 * Holders are the processes that have a descriptor of the connection. The kernel does not tell how many there are, so
 * they are counted here: fork adds one, closing the last descriptor takes one away, and a dead one is found by its
 * number. A connection may move to shared memory only while one process holds it: another one, forked before, would
 * go on reading a socket on which nothing comes any more. */
#ifndef SOCK_LINK_H
#define SOCK_LINK_H

#include "sock/table.h"
#include "sock/ring.h"
#include "sock/tcp.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#define SOCK_HOLDERS 8

enum sock_stage {
    STAGE_FREE,
    STAGE_OPEN,   /* a socket that is not connected, or listens */
    STAGE_PLAIN,  /* a connection whose calls are counted */
    STAGE_JOINED, /* it has a segment; each direction has a phase */
};

enum sock_reason { /* for which it is TCP */
#define REASON(name, text) name,
#include "sock/reason.def"
};

enum sock_phase {
    PHASE_TCP,  /* before the switch */
    PHASE_RING,
    PHASE_SKIP, /* reader: the ring is done with, bells lie before the next byte */
    PHASE_REST, /* reader: what the ring had lies in memory that a new program has as well (rest.h) */
    PHASE_BACK, /* TCP for good */
};

struct sock_link {
    _Atomic uint32_t stage;
    _Atomic uint32_t holder[SOCK_HOLDERS]; /* process numbers; with the top bit: a thread that is forking */
    /* from here on cleared when a link is opened */
    bool active;                           /* this side connected; else it accepted */
    bool lost_count;                       /* more holders than places, or some that cannot be counted */
    bool never;                            /* an option that shared memory cannot keep */
    _Atomic bool nonblocking;
    _Atomic bool shut_in, shut_out;        /* by shutdown; shut_out also when the kernel will refuse what is sent */
    _Atomic bool many;                     /* in more than one epoll set */
    _Atomic uint32_t owner;                /* the process that waits for it; two: `many` */
    _Atomic uint32_t calls;                /* that moved data */
    _Atomic uint64_t bytes;
    _Atomic uint32_t sending, receiving;   /* threads in calls that move data past the locks */
    _Atomic bool strict_out, strict_in;    /* there may be none */
    uint64_t receive_limit, send_limit;    /* SO_RCVTIMEO and SO_SNDTIMEO in ns, 0: none */
    _Atomic uint32_t reason;               /* enum sock_reason, until it is joined */
    _Atomic uint64_t rung;                 /* bells sent */
    struct sock_ends ends;                 /* once the other end is looked for */

    /* under `send` */
    pthread_mutex_t send ALIGNED(64);
    _Atomic uint32_t out_phase;
    struct ring_writer writer;
    int kept[SOCK_TCP_KEPT]; /* what the program has set, while the ring carries (tcp.h) */

    /* under `receive` */
    pthread_mutex_t receive ALIGNED(64);
    _Atomic uint32_t in_phase;
    struct ring_reader reader;
    _Atomic uint64_t rest;     /* name of what is read before TCP goes on, 0: nothing */
    _Atomic uint64_t consumed; /* bytes taken from the socket */
    _Atomic uint64_t taken;    /* bytes taken from the ring, for those that look without the lock */
    uint64_t looked;   /* ticks: when the socket was last looked at for its end */
    uint32_t empty_reads, polls; /* in a row; how often there were many */
    uint64_t empty_since;        /* ticks: the first of them */
    _Atomic uint32_t waited;     /* in our functions, fewer than so many empty reads ago */
    uint32_t waiting;  /* threads that wait for bytes */
    int error;         /* that the kernel has told us, and tells once; the program has not heard it */
    uint64_t counted;  /* ticks: when the holders were last counted */

    /* its place in an epoll set (epoll.h), changed under `receive` */
    _Atomic uint32_t set; /* number of the set, 0: none */
    int set_fd;           /* the descriptor that was registered */
    _Atomic uint32_t set_events;
    _Atomic uint64_t set_data;
    _Atomic bool set_spent;         /* one-shot, and reported */
    _Atomic uint32_t set_reported;  /* events that the kernel has told */
    uint32_t kernel_set; /* where the kernel has it registered with our tag: generation and number; 0: nowhere */
    uint32_t kernel_events;
    int kernel_fd;
} ALIGNED(64);


/* An epoll set. A set that two processes wait in, or that is waited for as a member of another one, has no place. */
struct sock_set {
    _Atomic uint32_t descriptors; /* 0: free */
    _Atomic bool tagged;          /* the kernel may report tags of ours: since a connection in it joined */
    _Atomic uint32_t owner;       /* the process that waits in it */
    _Atomic int place;            /* of the owner, -1: none yet */
    _Atomic bool plain;           /* without a place for good */
    _Atomic uint32_t blind;       /* a connection wants room, and its other side may not wake us: ms to the next look */
    _Atomic uint32_t sleepers;    /* threads asleep in it */
    uint32_t generation;          /* counts the uses of this memory */
    int fd;
    uint32_t cursor, rounds; /* where the next look begins; calls since the kernel was asked */
} ALIGNED(64);
#define SOCK_SETS 4096u

/* Connections that were given up, of which nothing else is left; the last ones. */
struct sock_given_up {
    struct sock_ends ends;
    uint32_t reason;
};
#define SOCK_GIVEN_UP 4096u

/* The memory of a family: a memfd that its processes keep open, and that others may read, which is how `viaduct sock
 * --list` finds them. */
struct sock_family {
    uint64_t magic;
    uint32_t size; /* of this structure */
    uint32_t after; /* calls before a connection is looked at */
    _Atomic uint32_t next; /* where the search for a free link begins */
    _Atomic uint32_t high; /* all links in use are below */
    _Atomic uint32_t given_up_count;
    struct sock_given_up given_up[SOCK_GIVEN_UP];
    struct sock_link link[SOCK_FILES];
    struct sock_set set[SOCK_SETS];
};
#define SOCK_FAMILY_MAGIC 0x316c696d61667376ull /* "vsfamil1" */
#define SOCK_FAMILY_NAME  "viaduct-links"

void sock_link_given_up(const struct sock_ends *ends, enum sock_reason reason);

struct sock_link *sock_link_at(uint32_t number);
uint32_t sock_link_end(void); /* all numbers in use are below */
struct sock_set *sock_set_at(uint32_t number); /* 0 < number < SOCK_SETS */

bool sock_family_make(void); /* if there is none: with the first socket or set. False: nothing is tracked */

/* A connection or socket of this process, held; NULL: no room. */
struct sock_file *sock_link_open(enum sock_stage stage, bool active);
void sock_link_leave(struct sock_link *link); /* the last user in this process has gone */

/* The lock of a direction. A process that died with it is no obstacle: what it left is put in order. No signal
 * handler of the program runs while one is held. */
void sock_lock_make(pthread_mutex_t *lock); /* in memory that processes share */
void sock_lock(pthread_mutex_t *lock);
void sock_unlock(pthread_mutex_t *lock);

static inline uint32_t sock_pid(void)
{
    extern uint32_t sock_own_pid; /* set at the start and by fork */
    return sock_own_pid;
}

bool sock_process_is_dead(uint32_t pid);
bool sock_link_alone(struct sock_link *link); /* this process is the only holder */
/* The same for a caller that asks often: it may hear late that another holder has died. Under link->receive. */
bool sock_link_alone_lately(struct sock_link *link);
void sock_link_unknown(struct sock_link *link); /* somebody may hold it that nobody counts */

/* Around a fork, for all connections of this process: before it, in the child, and in the parent where there is no
 * child. What comes from the first is an argument of the others. */
uint32_t sock_family_fork(void);
void sock_family_child(uint32_t mark);
void sock_family_failed(uint32_t mark);

#endif
