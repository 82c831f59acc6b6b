/* coll/hall: collectives of a group on one node, in memory that its ranks share.
 *
 *   left       members that will not come any more, at the end
 *   64 slots   { cast, length, 240 bytes }   written by the root of that broadcast
 *   a line a rank      broadcasts taken      written by that rank
 *   8 tracks:
 *     arrived          how many have arrived, all epochs together   written by all, by atomic addition
 *                      epochs in which a rank withdrew              written by that rank
 *     result           { epoch, 56 bytes }                          written by the last to arrive
 *     block 2r+p       { epoch, 56 bytes }, p = epoch modulo 2      written by rank r
 *
 * and annexes: for what does not fit beside the epochs of the first track, at the first call that needs it; and, after
 * a few calls with larger payload, one for broadcasts and one for all others:
 *
 *   wide 2r+p  1088 bytes, and as much for the result
 *   64 bodies  16 KiB, behind the slots      written by the root
 *   desk 2r+p  8 to 128 KiB                  written by rank r, in epochs of the first track
 *
 * A call that is carried out there is a *visit* (visit.c): rounds in which each rank lays something down, arrives, and
 * takes from the others when all have arrived. Each round is an epoch of a track. A visit never blocks: blocking calls
 * wait until it may go on, all others are a step of a schedule.
 *
 * Numbers only grow and nothing is cleared, so no epoch can be mistaken for the next. The rules that this rests on
 * stand in docs/design.md, section 3.
 *
 * A broadcast is no visit (cast.c): the root fills slots and goes on, and a rank that is late takes many at once.
 *
 * What is read here was written by ranks of the own job that share the segment; no length that is read decides what is
 * copied beyond a slot, a body or the reader's own buffer. */
#pragma once

#include "coll/choose.h"
#include "coll/make.h"

#define HALL_TRACKS 8           /* the first is for blocking calls */
#define HALL_DATA 56            /* bytes beside an epoch */
#define HALL_WIDE 1088          /* bytes of more, of the first track */
#define HALL_CAST 240           /* bytes of a broadcast that lie in its slot */
#define HALL_CASTS 64           /* slots */
#define HALL_BODY (16u << 10)
#define HALL_DESK_MOST (128u << 10)
#define HALL_DESK_LEAST (8u << 10)
#define HALL_DESKS (2u << 20)   /* all of them together, if that leaves as much as the least for each */

struct hall_block {
    _Atomic uint64_t epoch;
    unsigned char data[HALL_DATA];
} ALIGNED(CACHE_LINE);
_Static_assert(sizeof(struct hall_block) == CACHE_LINE, "one line");

struct hall_cast {
    _Atomic uint64_t number;
    uint64_t bytes; /* of the whole broadcast */
    unsigned char data[HALL_CAST];
} ALIGNED(CACHE_LINE);
_Static_assert(sizeof(struct hall_cast) == 4 * CACHE_LINE, "whole lines");

struct hall_line {
    _Atomic uint64_t count;
    _Atomic uint64_t without[2]; /* of a track: the last epochs, even and odd, in which a rank withdrew */
    _Atomic bool withdrawn;      /* of a track: one ever did */
} ALIGNED(CACHE_LINE);

/* in shared memory, zeroed before the first use; the tracks lie behind it */
struct hall_memory {
    struct hall_line left;
    struct hall_cast cast[HALL_CASTS];
    struct hall_line taken[];
};

/* A row of epochs, as one rank sees it. Only the visit whose turn it is touches it. */
struct hall_track {
    struct hall_line *arrived;
    struct hall_block *block; /* the result, and two of each rank */
    unsigned char *wide;      /* more of each; NULL: there is none (yet) */
    uint64_t epoch;           /* of the round before */
    uint64_t settled;         /* all have arrived in this one */
    int seen;                 /* of the epoch that is waited for: ranks before this one have come */
    uint32_t tickets;         /* visits so far */
    _Atomic uint32_t serving; /* whose turn it is */
};

struct hall_annex {
    char *memory; /* NULL: there is none (yet) */
    struct msg_share *share;
    uint32_t needs; /* calls that needed it, until it may be opened */
};

struct coll_hall {
    struct hall_memory *memory;
    struct hall_annex wide, bodies, desks;
    int rank, ranks;
    bool crowd;  /* more ranks than processors */
    bool reads;  /* all members can read the memory of all */
    struct hall_track track[HALL_TRACKS];
    uint64_t casts; /* slots so far */
    struct msg_share *share;
    const struct coll_plan *plan;
    uint32_t turn;              /* the track of the last call that does not block */
    uint32_t kept;              /* tracks of persistent calls, as all members agreed */
    _Atomic uint32_t given;     /* of these: not needed here any more */
    _Atomic uint32_t users;     /* the group, and visits of schedules: the last frees it */
};

/* A call that is carried out in a hall. */
struct coll_visit {
    const struct coll_call *call;
    struct coll_hall *hall;
    struct hall_track *track;
    void *owner;     /* the schedule that it is a step of */
    uint32_t ticket;
    int error;       /* the first; the visit goes on, because others wait for it */
    bool here;       /* arrived in this round */
    uint64_t round, rounds;
    uint64_t takes;  /* rounds of which this rank needs what the others lay down */
    void (*lay)(struct coll_visit *visit); /* NULL: nothing */
    void (*take)(struct coll_visit *visit);
    /* Reductions: elements of SIZE bytes; what this rank gives, and where the result goes (NULL: nowhere). */
    type_kernel *kernel;
    const char *own;
    char *out;
    size_t size, count;
    int operands;     /* those of so many ranks, from the first on, are combined */
    /* exchange.c */
    struct type_buffer gives; /* all that this rank gives */
    char *mine;       /* where the sums go that this rank makes; NULL: nowhere */
    bool direct;      /* straight from the memory of the others */
    bool same;        /* each rank gives the same to all */
    bool shows;       /* `shown` is */
    uint64_t piece;   /* bytes of each part that a round moves over desks */
    uint64_t laid;    /* bytes that each gives in all, in its block; 0: not there */
    void *memory;     /* for what may not lie in the program's; NULL: none is needed, or there is none */
    struct msg_shown shown;
};

static inline size_t hall_desk_size(int ranks)
{
    size_t each = HALL_DESKS / 2 / (unsigned)ranks / CACHE_LINE * CACHE_LINE;
    return each < HALL_DESK_LEAST ? HALL_DESK_LEAST : each > HALL_DESK_MOST ? HALL_DESK_MOST : each;
}

/* Bytes of a desk for each partner: whole lines, unless there are too many partners for that. */
static inline size_t hall_desk_share(int ranks)
{
    size_t share = hall_desk_size(ranks) / (unsigned)ranks;
    return share < CACHE_LINE ? share : share / CACHE_LINE * CACHE_LINE;
}

static inline size_t hall_wide_size(int ranks) { return (1 + 2 * (size_t)ranks) * HALL_WIDE; }

static inline size_t hall_desks_size(int ranks) { return 2 * (size_t)ranks * hall_desk_size(ranks); }

static inline char *hall_desk(const struct coll_hall *hall, int rank, uint64_t epoch)
{
    return hall->desks.memory + (2 * (size_t)rank + (epoch & 1)) * hall_desk_size(hall->ranks);
}

/* Which block is a rank's, or the result. */
#define HALL_RESULT 0u
static inline size_t hall_place(int rank, uint64_t epoch) { return 1 + 2 * (size_t)rank + (epoch & 1); }

/* Where BYTES of a block lie. */
static inline void *hall_data(const struct hall_track *track, size_t place, size_t bytes)
{
    return bytes <= HALL_DATA ? track->block[place].data : track->wide + place * HALL_WIDE;
}

/* One number is what most of the small calls move: a call of memcpy takes longer than that. False: it is something
 * else, and nothing was copied. */
static inline bool hall_copy_word(void *to, const void *from, size_t bytes)
{
    if (bytes == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else if (bytes == sizeof(uint32_t))
        memcpy(to, from, sizeof(uint32_t));
    else
        return false;
    return true;
}

/* ---- visit.c ---- */

size_t vcoll_hall_lay_out(struct coll_hall *hall, struct hall_memory *memory); /* NULL: only says how many bytes */

/* Does what can be done now; true: all. */
bool vcoll_visit_advance(struct coll_visit *visit) MUST_CHECK;
/* It can go on. For vmsg_share_await. */
bool vcoll_visit_ready(void *visit) MUST_CHECK;
/* Takes its place behind the visits that its track has; it may be used again when it is over. */
void vcoll_visit_start(struct coll_visit *visit);
/* Until it is over: the blocking form. */
int vcoll_visit_run(struct coll_visit *visit) MUST_CHECK;
/* This rank has no memory for it: it goes through all rounds, lays nothing down and takes nothing, and all that take
 * in a round have ERR_MEMORY. */
void vcoll_visit_withdraw(struct coll_visit *visit);

/* What number COUNT elements of SIZE bytes come to: those of all ranks, combined in their order. No KERNEL: a barrier.
 * They are at most what a block of the track holds. WAITS: this rank needs the result, or that all have come. */
void vcoll_visit_reduces(struct coll_visit *visit, bool waits);
/* The same of the ranks up to this one, or below it. */
void vcoll_visit_scans(struct coll_visit *visit);

static inline bool coll_is_scan(enum coll_kind kind) { return kind == COLL_SCAN || kind == COLL_EXSCAN; }

/* Of so many ranks, from the first on, a rank gets the values. */
static inline int coll_operands(const struct coll_visit *visit)
{
    return coll_is_scan(visit->call->kind) ? visit->hall->rank + (visit->call->kind == COLL_SCAN) : visit->hall->ranks;
}

static inline void coll_visit_note(struct coll_visit *visit, int error)
{
    if (!visit->error)
        visit->error = error;
}

/* ---- exchange.c: what is larger ---- */

void vcoll_visit_exchanges(struct coll_visit *visit, enum coll_way way);
void vcoll_visit_end(struct coll_visit *visit); /* gives memory back */

/* ---- cast.c ---- */

/* Tells how many bytes the root's buffer has, and moves them if they are no more than HALL_CAST. ERR_TRUNCATED where
 * the root sent more than BUFFER holds, ERR_ARGUMENT where less: all that fits has come then. */
int vcoll_cast(struct coll_hall *hall, int root, const struct type_buffer *buffer, uint64_t *total) MUST_CHECK;
/* Moves more, where there is an annex. */
int vcoll_cast_long(struct coll_hall *hall, int root, const struct type_buffer *buffer, uint64_t total) MUST_CHECK;
/* The outcome of a broadcast of CAME bytes at a rank with ROOM: OK, ERR_TRUNCATED, ERR_ARGUMENT. */
int vcoll_cast_told(int root, uint64_t came, uint64_t room) MUST_CHECK;
void vcoll_hall_leave(struct coll_visit *visit); /* that vcoll_hall_enter has given, for good (visit.c) */
void vcoll_hall_drop(struct coll_hall *hall);     /* one user less; the last one frees it (visit.c) */

/* ---- hall.c ---- */

/* The hall of a call that a schedule carries out, and a track for it; false: by messages. FORM is not COLL_ANY.
 * ABLE: this rank has the memory that it takes. Members of a persistent call agree on that: where one is not, *ERROR
 * is set and nothing is entered. */
bool vcoll_hall_enter(const struct coll_call *call, struct coll_visit *visit, bool able, int *error);
/* The part of a rank that has no memory for such a call; false: it goes by messages. */
bool vcoll_hall_withdraw(const struct coll_call *call);
