/* The inside of the node's segment: every byte that two processes share, who writes it, and where it lies.
 *
 *   header     one page, written once by the maker, and a line that tells how many sleep
 *   entries    one per rank: [bell] [bitmap, 512 ranks a line] [identity]
 *   counters   BASE_COUNTERS_SIZE per rank
 *   credits    a line for each (sender, receiver), sender-major: what a sender reads of all its lanes lies together
 *   turns      a line for each pair of ranks, lower-major; rows are odd, or all that a rank polls would fall into one
 *              place of its cache
 *   lanes      256 lines for each (receiver, sender), receiver-major
 *   heaps      the eager blocks of each rank
 *   shared     a slice per rank for memory that peers can map; each process maps the slices it needs, when it does
 *
 * All offsets follow from the number of ranks and from shared_each; the header is read once and must agree. What peers
 * write is hostile: it is read once into a local variable and checked before use. */
#pragma once

#include "base/compiler.h"
#include "base/counters.h"
#include <stdatomic.h>
#include <stddef.h>

#define SHM_MAGIC     0x6d68732d74637564ull
#define SHM_PAGE      4096u

struct shm_header {
    uint64_t magic, build, ranks, shared_each, size;
    _Atomic uint32_t asleep ALIGNED(CACHE_LINE); /* processes that sleep: counted by each, a hint */
};

/* A lane is a ring of lines. A message is a head of one line, with up to SHM_INLINE bytes, or a bundle of short
 * messages that follow each other and have one header and one length; or a row: a head and its payload, which goes on
 * in the lines behind; or it says where its block lies. Written by the sender of the lane alone. `published` says which
 * lap of the ring the head belongs to, and how many messages it holds, and is stored last: a reader that sees a message
 * counted also sees the message. The sender may add to the head that it wrote last; that head is complete once the next
 * one is written. A line that was payload, or skipped, is cleaned before it may be taken for a head: see lane.c. */
#define SHM_LINES  256u /* of a lane; a power of two */
#define SHM_INLINE 48u
#define SHM_BUNDLE 7u /* messages of a head, at most */
#define SHM_ROW    2112u /* bytes of a row, at most: 2 KiB and the engine's envelope */
struct shm_cell {
    uint64_t header;
    uint16_t length; /* of a message's data */
    uint16_t kind;
    _Atomic uint32_t published; /* lap, from 1, * 8 + messages; release, pairs with shm_poll */
    union {
        uint8_t data[SHM_INLINE]; /* of a row it goes on behind the cell */
        struct {
            uint32_t offset, length; /* in the sender's heap */
        } block;
    };
} ALIGNED(CACHE_LINE);
_Static_assert(sizeof(struct shm_cell) == CACHE_LINE, "a cell is a cache line");

static inline uint32_t shm_row_lines(uint32_t length)
{
    return (uint32_t)(offsetof(struct shm_cell, data) + length + CACHE_LINE - 1) / CACHE_LINE;
}

/* Never 0: a page that nobody wrote holds no message. The last two hold none: SKIP is what is left of the ring, PROBE a
 * row of SHM_SAMPLE bytes that the receiver times. The bits from TURN on count the messages that went by turn before,
 * see shm_turn_of. */
enum shm_kind {
    SHM_DATA = 1, SHM_BLOCK, SHM_IMMEDIATE, SHM_GOODBYE, SHM_ROWED, SHM_SKIP, SHM_PROBE,
    SHM_TURN = 0x100
};
#define SHM_SAMPLE 2048u

/* What a receiver tells one sender. Written by the receiver alone. */
struct shm_credit {
    _Atomic uint32_t consumed; /* lines taken so far * 8 + messages of the next, modulo 2^32; release, pairs with
                                  shm_lane_harvest */
    _Atomic uint32_t hot;      /* SHM_HOT: the receiver polls this lane, else set your bit in its bitmap; SHM_ASKED:
                                * send a probe; the bits from SHM_CLASS_SHIFT on: the class of the line to us, plus
                                * one, as it has measured; 0: unknown */
} ALIGNED(CACHE_LINE);

#define SHM_HOT         1u
#define SHM_ASKED       2u
#define SHM_CLASS_SHIFT 8

/* LISTENING: asleep on a descriptor, see doorbell.c */
enum shm_mark { SHM_AWAKE, SHM_SOON, SHM_ASLEEP, SHM_LISTENING };
struct shm_bell {
    _Atomic uint32_t bell; /* counted up by each sender that rings; the futex */
    _Atomic uint32_t mark; /* enum shm_mark; by the owner, and ASLEEP or LISTENING -> SOON by the sender that rings */
    _Atomic uint32_t processor; /* where the owner last waited, and 1; 0: nowhere; by the owner, a hint */
} ALIGNED(CACHE_LINE);

/* Written by the owner at open, state last (release). A place serves one life. */
enum shm_entry { SHM_ENTRY_FREE, SHM_ENTRY_OPENING, SHM_ENTRY_OPEN, SHM_ENTRY_CLOSED };
struct shm_identity {
    _Atomic uint32_t state; /* enum shm_entry */
    uint32_t pid;
    uint64_t cookie_address; /* where the cookie lies in the owner's own memory */
    uint64_t cookie[2];
} ALIGNED(CACHE_LINE);

/* Memory for payload above SHM_ROW, of each rank: see heap.c. */
#define SHM_MAX_SEND  65600u /* 64 KiB and the engine's envelope */
#define SHM_SLAB      69632u /* whole pages, one of the longest block */
#define SHM_SLABS     64u
#define SHM_HEAP_SIZE (SHM_SLABS * SHM_SLAB)
_Static_assert(SHM_SLAB >= SHM_MAX_SEND && SHM_SLAB % SHM_PAGE == 0, "a slab holds a block");

/* The view of one process. */
struct shm_segment {
    char *base;
    size_t mapped; /* everything up to the shared slices */
    int fd;
    uint32_t ranks, entry_size, words; /* words: of a bitmap */
    uint64_t entries, counters, credits, turns, lanes, heaps, shared, shared_each, size;
};

/* Where everything lies for this many ranks. */
void shm_segment_plan(struct shm_segment *segment, uint32_t ranks, uint64_t shared_each);
/* Maps a segment that was made for RANKS; checks seals, size and header. FD stays the caller's. */
int shm_segment_open(int fd, uint32_t ranks, struct shm_segment *segment) MUST_CHECK;
void shm_segment_close(struct shm_segment *segment);

static inline struct shm_bell *shm_bell_of(const struct shm_segment *s, uint32_t rank)
{
    return (struct shm_bell *)(void *)(s->base + s->entries + (uint64_t)rank * s->entry_size);
}
/* The bitmap of a receiver: a bit per sender; or-ed by senders, swapped with 0 by the owner. */
static inline _Atomic uint64_t *shm_bits_of(const struct shm_segment *s, uint32_t rank)
{
    return (_Atomic uint64_t *)(void *)(shm_bell_of(s, rank) + 1);
}
static inline struct shm_identity *shm_identity_of(const struct shm_segment *s, uint32_t rank)
{
    return (struct shm_identity *)(void *)((char *)shm_bell_of(s, rank) + s->entry_size) - 1;
}
static inline void *shm_counters_of(const struct shm_segment *s, uint32_t rank)
{
    return s->base + s->counters + (uint64_t)rank * BASE_COUNTERS_SIZE;
}
static inline struct shm_credit *shm_credit_of(const struct shm_segment *s, uint32_t sender, uint32_t receiver)
{
    return (struct shm_credit *)(void *)(s->base + s->credits) + (uint64_t)sender * s->ranks + receiver;
}
static inline struct shm_cell *shm_lane_of(const struct shm_segment *s, uint32_t receiver, uint32_t sender)
{
    return (struct shm_cell *)(void *)(s->base + s->lanes) + ((uint64_t)receiver * s->ranks + sender) * SHM_LINES;
}
/* Beside its two lanes each pair has one line that both write, by turns: the side that has read a message there writes
 * the next one. So two ranks that answer each other write a line that they have just read, and not one that the other
 * one polls: this saves one transfer between the caches of two processors. `published` counts the turns; the first one
 * is the lower rank's. In the order of a sender's messages, a message by turn stands behind the heads that count one
 * turn less, and before those that count it. */
static inline struct shm_cell *shm_turn_of(const struct shm_segment *s, uint32_t a, uint32_t b)
{
    uint32_t lower = a < b ? a : b, higher = a < b ? b : a;
    return (struct shm_cell *)(void *)(s->base + s->turns) + (uint64_t)lower * (s->ranks | 1) + higher;
}
static inline char *shm_heap_of(const struct shm_segment *s, uint32_t rank)
{
    return s->base + s->heaps + (uint64_t)rank * SHM_HEAP_SIZE;
}
