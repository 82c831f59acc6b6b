/* What a family of processes knows of a TCP connection: a family is a process and all that it forks, directly or not,
 * without exec. The memory is a memfd, shared; children inherit it. Nobody outside of the family can write there.
 *
 * A connection may move to shared memory only while one process holds it (holder.h): another one, forked before, would
 * go on reading a socket on which nothing comes any more. */
#ifndef SOCK_LINK_H
#define SOCK_LINK_H

#include "sock/find.h"
#include "sock/holder.h"
#include "sock/ring.h"
#include "sock/table.h"
#include "sock/tcp.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

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

enum sock_end { /* of the connection, where this side tells it instead of the kernel (end.c) */
    END_NOT,
    END_QUIET,  /* nothing follows, and one write more can be sent */
    END_RESET,
    END_BROKEN, /* nothing follows, and that write was sent */
};

struct sock_link {
    _Atomic uint32_t stage;
    struct sock_holders holders;           /* free when nobody is left */
    /* from here on cleared when a link is opened */
    bool active;                           /* this side connected; else it accepted */
    _Atomic bool never;                    /* it has or is what shared memory cannot keep */
    bool special;                          /* it has an option of that kind, as what it accepts has */
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
    _Atomic bool bell_due;                 /* one could not be sent */
    _Atomic bool sent_all;                 /* by TCP: the other end's kernel has it */
    struct sock_ends ends;                 /* once the other end is looked for */

    /* under `send` */
    pthread_mutex_t send ALIGNED(64);
    _Atomic uint32_t out_phase;
    struct ring_writer writer;
    uint64_t asked_tail, asked; /* how far the reader was, and ticks, when it was last looked for; writes since then */
    uint32_t unasked;
    uint32_t pieces; /* large ones that were stored */
    bool far;        /* the reader's cache is, as the last piece told that was timed */
    int kept[SOCK_TCP_KEPT]; /* what the program has set, while the ring carries (tcp.h) */

    /* under `receive` */
    pthread_mutex_t receive ALIGNED(64);
    _Atomic uint32_t in_phase;
    struct ring_reader reader;
    _Atomic uint64_t rest;     /* name of what is read before TCP goes on, 0: nothing */
    _Atomic uint64_t consumed; /* bytes taken from the socket */
    _Atomic uint64_t taken;    /* bytes taken from the ring, for those that look without the lock */
    uint64_t looked;   /* ticks: when the socket was last looked at for its end */
    _Atomic uint32_t end; /* enum sock_end */
    uint32_t empty_reads, polls; /* in a row; how often there were many */
    uint64_t empty_since;        /* ticks: the first of them */
    _Atomic uint32_t waited;     /* in our functions, fewer than so many empty reads ago */
    _Atomic uint32_t waiting; /* threads that wait for bytes */
    _Atomic int error; /* that the kernel has told us, or would tell, once; the program has not heard it. A bell may
                        * leave one without the lock (send.c) */
    uint64_t counted;  /* ticks: when the holders were last counted */

    /* its place in an epoll set (epoll.h), changed under `receive` */
    _Atomic uint32_t set; /* number of the set, 0: none */
    int set_fd;           /* the descriptor that was registered */
    _Atomic uint32_t set_events;
    _Atomic uint64_t set_data;
    _Atomic bool set_spent;         /* one-shot, and reported */
    _Atomic bool set_quiet;         /* without a place: the kernel is to tell changes only (set.h) */
    _Atomic uint32_t set_reported;  /* events that the kernel has told */
    uint32_t kernel_set; /* where the kernel has it registered with our tag: generation and number; 0: nowhere */
    uint32_t kernel_events;
    int kernel_fd;
} ALIGNED(64);

/* An epoll set. A set that two processes wait in, or that is waited for as a member of another one, has no place. */
struct sock_set {
    _Atomic bool used;
    struct sock_holders holders;  /* free when nobody is left */
    _Atomic uint32_t descriptors; /* of the owner */
    _Atomic bool tagged;          /* the kernel may report tags of ours: since a connection in it joined */
    _Atomic uint32_t owner;       /* the process that waits in it */
    _Atomic int place;            /* of the owner, -1: none yet */
    _Atomic bool plain;           /* without a place for good */
    _Atomic uint32_t blind;       /* a connection wants room, and its other side may not wake us: ms to the next look */
    _Atomic uint32_t sleepers;    /* threads asleep in it */
    _Atomic bool news;            /* a registration of which the kernel has not been asked yet */
    _Atomic uint32_t generation;  /* counts the uses of this memory */
    int fd;
    _Atomic bool foreign;         /* it has, or had, a member that is no connection, or one of two sets */
    _Atomic bool mixed;           /* that, or one of which the kernel carries a direction */
    uint32_t cursor, rounds; /* where the next look begins; calls since the kernel was asked, */
    uint64_t asked, looked;  /* and when; when `mixed` was looked up */
    bool full;               /* the kernel's events left no room for those of rings */
} ALIGNED(64);
#define SOCK_SETS 4096u

/* Connections that were given up, of which nothing else is left; the last ones. */
struct sock_given_up {
    struct sock_ends ends;
    uint32_t reason;
};
#define SOCK_GIVEN_UP 4096u

/* A connection that is under way in a message. */
struct sock_pass {
    _Atomic uint64_t what; /* number of the link, below a count of all passes; 0: free, SOCK_PASS_BUSY: being changed */
    _Atomic uint64_t cookie; /* of its socket */
};
#define SOCK_PASS_BUSY (~0ull)

/* The memory of a family: a memfd that its processes keep open, and that others may read, which is how `viaduct sock
 * --list` finds them. */
struct sock_family {
    uint64_t magic;
    uint32_t size; /* of this structure */
    uint32_t after; /* calls before a connection is looked at */
    _Atomic uint32_t next; /* where the search for a free link begins */
    _Atomic uint32_t high; /* all links in use are below */
    _Atomic uint32_t sets; /* and all sets */
    _Atomic uint32_t given_up_count;
    _Atomic uint32_t passes; /* so far */
    _Atomic uint32_t refused; /* that came to a meeting, or had its name, and were not the other end */
    struct sock_pass pass[SOCK_PASSES];
    struct sock_given_up given_up[SOCK_GIVEN_UP];
    struct sock_link link[SOCK_FILES];
    struct sock_set set[SOCK_SETS];
};
#define SOCK_FAMILY_MAGIC 0x316c696d61667376ull /* "vsfamil1" */
#define SOCK_FAMILY_NAME  "viaduct-links"

void sock_link_refused(void);
void sock_link_given_up(const struct sock_ends *ends, enum sock_reason reason);

bool sock_family_is_there(void);
bool sock_family_make(void); /* false: no memory */
/* This process has given up rights that others of the family may have (rights.h). */
bool sock_family_exceeds(void);
/* Memory that no other process has takes the place of the family's: what this process holds goes along. What others
 * hold as well is uncounted in both from then on, and is not joined. By the only thread, with all signals blocked;
 * false: nothing has changed. */
bool sock_family_renew(void);
struct sock_link *sock_link_at(uint32_t number);
uint32_t sock_link_end(void); /* all numbers in use are below */
uint32_t sock_link_hint(void); /* where the search for a free one begins */
struct sock_set *sock_set_at(uint32_t number); /* 0 < number < SOCK_SETS */
uint32_t sock_sets_end(void);
/* A direction is the kernel's: the set that it is in, if any, has to ask for it. */
void sock_link_by_kernel(const struct sock_link *link);
bool sock_set_is_mixed(uint32_t number); /* looked up anew */
/* The number of a new set, held by this process; 0: there is none. And nobody holds it any more. */
uint32_t sock_set_take(void);
void sock_set_free(uint32_t number);

struct sock_pass *sock_pass_at(uint32_t place);
uint32_t sock_passes(void); /* so far */
uint32_t sock_pass_next(void); /* counts one more: how many there were */

/* The link with this number, held by this process; NULL: it is in use. */
struct sock_link *sock_link_take(uint32_t number, enum sock_stage stage, bool active);
void sock_link_leave(struct sock_link *link); /* the last user in this process has gone */
void sock_link_drop(struct sock_link *link, uint32_t mark); /* what the mark stood for has gone */
void sock_family_sweep(void); /* frees links and sets that only dead processes hold; it may have done so lately */
/* Whether the program waits, and for how long, as its socket FD says. */
void sock_link_settings(struct sock_link *link, int fd);

/* The lock of a direction. A process that died with it is no obstacle: what it left is put in order. No signal
 * handler of the program runs while one is held. */
void sock_lock_make(pthread_mutex_t *lock); /* in memory that processes share */
void sock_lock(pthread_mutex_t *lock);
void sock_unlock(pthread_mutex_t *lock);
/* The same for a call that does not wait: LOCK, or NULL. Then the holder keeps it too long, it may have been stopped. A
 * call says EAGAIN, a question for readiness is answered with yes: nothing would tell it later. */
pthread_mutex_t *sock_lock_soon(pthread_mutex_t *lock);
void sock_unlock_got(pthread_mutex_t *got); /* what sock_lock_soon gave */

bool sock_link_alone(struct sock_link *link); /* this process is the only holder */
/* The same for a caller that asks often: it may hear late that another holder has died. Under link->receive. */
bool sock_link_alone_lately(struct sock_link *link);
/* Somebody may hold it that nobody counts; without link->receive. A join looks at the holders under that lock. */
void sock_link_unknown(struct sock_link *link);

/* Around a call of the program that goes to TCP, OUT or in. False: there may be none now, the stream is to be asked. */
bool sock_plain_begin(struct sock_link *link, bool out);
void sock_plain_end(struct sock_link *link, bool out);
/* From now on there is none; false: one is under way. */
bool sock_plain_forbid(struct sock_link *link, bool out);

#endif
