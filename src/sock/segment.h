/* The memory that two programs share for one connection: a sealed memfd with a page of words and, for each direction,
 * the levels of its ring. docs/wire.md draws it. The side that accepted makes it, the side that connected maps what
 * it is handed; both then close the descriptor.
 *
 * The first three pages (words, and the smallest level of both directions) are mapped beside those of other
 * connections, so that an idle connection costs no page table of its own; the whole is mapped a second time, and
 * weighs nothing before it is touched. All words can be written by the other side at any time: what is read is
 * checked. */
#ifndef SOCK_SEGMENT_H
#define SOCK_SEGMENT_H

#include "base/compiler.h"
#include <stdatomic.h>

#define SEGMENT_MAGIC   0x6b636f7374636475ull /* "udctsock" */
#define SEGMENT_VERSION 2u
#define SEGMENT_PAGE    4096u
#define SEGMENT_SMALL   (3 * SEGMENT_PAGE)

#define RING_LEVELS   5
#define RING_HOT      3 /* the largest level that is used for good; the next is for bytes that the reader lets lie */
#define RING_TURNS    8 /* changes of level that the reader has not made yet */
#define RING_CLOSED   (1ull << 63) /* in head: no byte follows */
#define BELLS_ENDED   (1ull << 63) /* in bells: none follows */
#define SWITCH_NEVER   (~0ull)
#define SWITCH_REFUSED (~1ull) /* by the reader: the writer stays with TCP */
#define NO_PLACE      0u /* in `place`, `known`: none; else a place's number plus 1 */
#define EACH_WRITE    (~0u) /* in `place`: none, and every write has a bell */
#define ROOM_NOT      0u /* in `room`: nobody waits */
#define ROOM_BELL     1u /* by a byte on the TCP socket, if it can be sent; else a place's number plus 2 */

enum { LEFT_CLEAN = 1, LEFT_RESET };

struct sock_direction {
    /* written by the writer, but for the closing bit */
    _Atomic uint64_t head ALIGNED(64); /* bytes ever stored, RING_CLOSED */
    _Atomic uint64_t turns; /* changes of level so far */
    _Atomic uint64_t since; /* clock_ticks when the reader's bit was set last: tells which connection was ready first */
    _Atomic uint64_t turn[RING_TURNS] ALIGNED(64); /* the last of them: offset * 8 + level */
    /* written by the reader */
    _Atomic uint64_t tail ALIGNED(64); /* bytes ever taken */
    /* written rarely */
    _Atomic uint64_t at ALIGNED(64); /* writer: offset in TCP's stream where the ring begins */
    _Atomic uint64_t turns_seen;     /* reader: the changes of level that it has made */
    _Atomic uint32_t ready;          /* reader: it looks at bytes before it takes them, the writer may switch */
    _Atomic uint32_t place;          /* reader: where it waits */
    _Atomic uint32_t room;           /* writer: where it waits for room; the reader takes this away and wakes it */
    _Atomic uint32_t ended;          /* writer: it has said, or is about to say, that no byte follows */
    _Atomic uint32_t left;           /* writer: it has closed its socket, in order or by a reset */
    _Atomic uint64_t taken;          /* reader: the number of bells that it has taken, or is about to take, away */
    _Atomic uint64_t bells ALIGNED(64); /* bytes sent on TCP since the switch, counted before, BELLS_ENDED */
};

struct sock_segment {
    uint64_t magic;
    uint32_t version;
    uint32_t size;            /* of the whole */
    uint64_t cookie[2];       /* of the sockets: the one that connected, the one that accepted */
    _Atomic uint32_t joined;  /* the side that connected has it */
    _Atomic uint32_t bit[2];  /* the number of the connection in the board of each side */
    _Atomic uint32_t known[2]; /* by each side: the place of the other one whose eventfd it has */
    struct sock_direction direction[2]; /* 0: from the side that connected */
};
_Static_assert(sizeof(struct sock_segment) <= SEGMENT_PAGE, "the words outgrew their page");

/* What one process has mapped. */
struct sock_mapping {
    struct sock_segment *words;
    char *whole; /* the second mapping */
};

/* Memory without the program's allocator, whose lock somebody may hold: in a handler, in a child of fork. */
void *sock_pages_take(size_t size);
void sock_pages_leave(void *pages); /* or NULL */

uint32_t sock_level_size(unsigned level);
/* Where a level of a direction begins. */
char *sock_level_data(const struct sock_mapping *mapping, unsigned direction, unsigned level);
/* Commits the pages of a level, so that storing there cannot fail. */
bool sock_level_commit(const struct sock_mapping *mapping, unsigned direction, unsigned level);

/* A new segment, mapped for the connection with this NUMBER; its descriptor, close-on-exec, or -1. */
int sock_segment_make(uint32_t number, const uint64_t cookie[2], struct sock_mapping *mapping);
/* Checks and maps what the other side has made; false: it is not what it should be, or there is no room. */
bool sock_segment_take(int fd, uint32_t number, const uint64_t cookie[2], struct sock_mapping *mapping);
void sock_segment_leave(uint32_t number, struct sock_mapping *mapping);

#endif
