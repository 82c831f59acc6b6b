/* For collective_random.c: types, operations, communicators and calls of collectives as every rank knows them, and what
 * their buffers hold before and after. */
#ifndef TESTS_MPI_COLLECTIVE_MODEL_H
#define TESTS_MPI_COLLECTIVE_MODEL_H

#include "mpi_check.h"
#include <stdbool.h>
#include <stdint.h>

#define RANKS   8
#define CALLS   120
#define PENDING 12 /* calls under way at once, at most */
#define MARK    0x5a

struct random {
    uint64_t state;
};
static unsigned pick(struct random *random, unsigned below)
{
    uint64_t x = random->state += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return (unsigned)((x ^ x >> 31) >> 16) % below;
}

/* ---- types: where the number of an element lies ------------------------------------------------------------------ */

enum { UNSIGNED, GAPPED, SHIFTED, DOUBLE, BYTE, TYPES };
#define SAME_SIGNATURE 3 /* so many first ones */
static const struct {
    int extent, at;
} shape[TYPES] = {{4, 0}, {8, 0}, {12, 4}, {8, 0}, {1, 0}};
static MPI_Datatype types[TYPES];

static void types_make(void)
{
    MPI_Datatype moved;
    types[UNSIGNED] = MPI_UNSIGNED;
    types[DOUBLE] = MPI_DOUBLE;
    types[BYTE] = MPI_UINT8_T;
    MPI_Type_create_resized(MPI_UNSIGNED, 0, shape[GAPPED].extent, &types[GAPPED]);
    MPI_Type_create_hindexed_block(1, 1, (MPI_Aint[]){shape[SHIFTED].at}, MPI_UNSIGNED, &moved);
    MPI_Type_create_resized(moved, 0, shape[SHIFTED].extent, &types[SHIFTED]);
    MPI_Type_free(&moved);
    MPI_Type_commit(&types[GAPPED]);
    MPI_Type_commit(&types[SHIFTED]);
}

static void put(int type, void *buffer, int element, unsigned number)
{
    char *to = (char *)buffer + (size_t)element * (size_t)shape[type].extent + shape[type].at;
    double real = number;
    if (type == BYTE)
        *to = (char)number;
    else
        memcpy(to, type == DOUBLE ? (void *)&real : &number, type == DOUBLE ? sizeof real : sizeof number);
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

enum { SUM, MAX, COMPOSE, OPS };
static MPI_Op ops[OPS];

/* Not commutative: maps x -> a x + b of numbers modulo 2^16, the first one comes first. */
static unsigned composed(unsigned one, unsigned two)
{
    unsigned a = one & 0xFFFF, b = one >> 16, c = two & 0xFFFF, d = two >> 16;
    return (a * c & 0xFFFF) | (b * c + d) << 16;
}
static void compose(void *left, void *right, int *count, MPI_Datatype *type)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    int t = extent == shape[GAPPED].extent ? GAPPED : extent == shape[SHIFTED].extent ? SHIFTED : UNSIGNED;
    for (int i = 0; i < *count; i++) {
        unsigned one, two;
        size_t at = (size_t)i * (size_t)shape[t].extent + (size_t)shape[t].at;
        memcpy(&one, (char *)left + at, sizeof one);
        memcpy(&two, (char *)right + at, sizeof two);
        two = composed(one, two);
        memcpy((char *)right + at, &two, sizeof two);
    }
}

/* ---- rooms: communicators, as this rank sees them ---------------------------------------------------------------- */

enum { ALL, SPLIT, SOME, BETWEEN, BETWEEN_TWIN, MERGED, ALONE, ROOMS };
struct room {
    MPI_Comm comm;
    int side, me;
    int size[2], member[2][RANKS]; /* ranks in the base; of a plain one both sides are the same */
};

enum kind {
    BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW,
    REDUCE, ALLREDUCE, REDUCE_SCATTER_BLOCK, REDUCE_SCATTER, SCAN, EXSCAN, KINDS
};
enum { ROOT = 1, LEAF, EVERY }; /* who does it: of an intercommunicator leaves are the other side, else all */
static const struct {
    unsigned char gives_one, gives_each, gets_one, gets_each; /* a block, or one for each partner */
    bool alike, apart, reduces; /* what comes is for all; blocks have lengths and places; what comes is computed */
} shapes[KINDS] = {
    [BCAST] = {.gives_one = ROOT, .gets_one = LEAF, .alike = true},
    [GATHER] = {.gives_one = LEAF, .gets_each = ROOT, .alike = true},
    [GATHERV] = {.gives_one = LEAF, .gets_each = ROOT, .alike = true, .apart = true},
    [SCATTER] = {.gives_each = ROOT, .gets_one = LEAF},
    [SCATTERV] = {.gives_each = ROOT, .gets_one = LEAF, .apart = true},
    [ALLGATHER] = {.gives_one = EVERY, .gets_each = EVERY, .alike = true},
    [ALLGATHERV] = {.gives_one = EVERY, .gets_each = EVERY, .alike = true, .apart = true},
    [ALLTOALL] = {.gives_each = EVERY, .gets_each = EVERY},
    [ALLTOALLV] = {.gives_each = EVERY, .gets_each = EVERY, .apart = true},
    [ALLTOALLW] = {.gives_each = EVERY, .gets_each = EVERY, .apart = true},
    [REDUCE] = {.gives_one = LEAF, .gets_one = ROOT, .reduces = true},
    [ALLREDUCE] = {.gives_one = EVERY, .gets_one = EVERY, .reduces = true},
    [REDUCE_SCATTER_BLOCK] = {.gives_one = EVERY, .gets_one = EVERY, .reduces = true},
    [REDUCE_SCATTER] = {.gives_one = EVERY, .gets_one = EVERY, .reduces = true},
    [SCAN] = {.gives_one = EVERY, .gets_one = EVERY, .reduces = true},
    [EXSCAN] = {.gives_one = EVERY, .gets_one = EVERY, .reduces = true},
};
enum form { BLOCKING, STARTED, PERSISTENT };

#define BLOCKS RANKS
struct blocks { /* of a buffer; partner -1: all of them */
    int n, total;
    int partner[BLOCKS], counts[BLOCKS], places[BLOCKS], bytes[BLOCKS];
    MPI_Count counts_c[BLOCKS];
    MPI_Aint places_c[BLOCKS], bytes_c[BLOCKS];
    MPI_Datatype type[BLOCKS];
};
struct call {
    enum kind kind;
    enum form form;
    bool wide, in_place;
    int number, room, count, op, root_side, root; /* the root: modulo the size of its side */
    int type[2];                                  /* of what this rank sends and receives */
    struct blocks out, in;
    int shares[RANKS];
    MPI_Count shares_c[RANKS]; /* of a reduction that scatters */
    void *sent, *got;
    size_t bytes[2];
    MPI_Request request;
};
struct program {
    struct random random, mine; /* the same on all ranks; of this one */
    unsigned seed;
    MPI_Comm base;
    int me, ranks;
    struct room room[ROOMS];
    struct call call[CALLS];
    int pending[PENDING], pendings, again[CALLS], agains;
};

static int room_find(struct room *room, int me)
{
    for (room->side = 0; room->side < 2; room->side++)
        for (room->me = 0; room->me < room->size[room->side]; room->me++)
            if (room->member[room->side][room->me] == me)
                return 1;
    room->comm = MPI_COMM_NULL;
    return 0;
}
static void room_plain(struct room *room)
{
    room->size[1] = room->size[0];
    memcpy(room->member[1], room->member[0], sizeof room->member[0]);
}
static bool is_inter(int room) { return room == BETWEEN || room == BETWEEN_TWIN; }

/* ---- the model --------------------------------------------------------------------------------------------------- */

static const struct room *room_of(const struct program *p, const struct call *c) { return &p->room[c->room]; }
static int partners(const struct room *room, int s) { return room->size[!s]; }

/* Element E of what member FROM of side S has for member TO of the other side; -1: for all. */
static unsigned value(const struct program *p, const struct call *c, int s, int from, int to, int e)
{
    unsigned owner = (unsigned)room_of(p, c)->member[s][from];
    uint64_t x =
        ((uint64_t)p->seed << 32 | (unsigned)c->number << 16 | owner << 8 | (unsigned)(to + 1)) + (uint64_t)e * 77777;
    x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9ull;
    return (unsigned)(x >> 40);
}

/* How many elements that is. */
static int length(const struct program *p, const struct call *c, int s, int from, int to)
{
    int unlike = is_inter(c->room) ? s : 0, own = room_of(p, c)->size[s];
    switch (c->kind) {
    case GATHERV:
    case ALLGATHERV: return c->count * ((from + unlike + c->number) % 3);
    case SCATTERV: return c->count * ((to + c->number) % 3);
    case ALLGATHER:
    case ALLTOALL: return c->count * (1 + unlike);
    case ALLTOALLV:
    case ALLTOALLW: return c->count * ((c->in_place ? from * to + from + to : from + 2 * to + unlike) % 3);
    case REDUCE_SCATTER_BLOCK:
    case REDUCE_SCATTER: return is_inter(c->room) ? c->count * own * partners(room_of(p, c), s) : c->count * own;
    default: return c->count;
    }
}
static bool is_scattered(enum kind kind) { return kind == REDUCE_SCATTER || kind == REDUCE_SCATTER_BLOCK; }
/* What rank I of side S gets of a reduction; where it is scattered in parts the first one of several gets nothing. */
static int share(const struct program *p, const struct call *c, int s, int i)
{
    int own = room_of(p, c)->size[s], each = is_inter(c->room) ? c->count * partners(room_of(p, c), s) : c->count;
    if (!is_scattered(c->kind))
        return c->count;
    return c->kind == REDUCE_SCATTER_BLOCK || own == 1 ? each : i == 0 ? 0 : i == 1 ? 2 * each : each;
}

static void block_add(struct blocks *b, int partner, int count, int type, int gap)
{
    int i = b->n++;
    b->partner[i] = partner;
    b->counts[i] = (int)(b->counts_c[i] = count);
    b->places[i] = b->total;
    b->places_c[i] = b->total;
    b->type[i] = types[type];
    b->total += count + gap;
}

static bool is_rooted(enum kind kind) { return shapes[kind].gives_one == LEAF || shapes[kind].gets_one == LEAF; }
static bool is_root(const struct program *p, const struct call *c)
{
    const struct room *room = room_of(p, c);
    return (!is_inter(c->room) || room->side == c->root_side) && room->me == c->root % room->size[room->side];
}
static bool does(const struct program *p, const struct call *c, int who)
{
    bool leaf = is_inter(c->room) ? room_of(p, c)->side != c->root_side : c->kind != BCAST || !is_root(p, c);
    return who == ROOT ? is_root(p, c) : who == LEAF ? leaf : who == EVERY;
}

/* What this rank gives and what it gets. */
static void blocks_make(const struct program *p, struct call *c)
{
    const struct room *room = room_of(p, c);
    int s = room->side, me = room->me, root = c->root % room->size[!s], gap = shapes[c->kind].apart;
    c->out = c->in = (struct blocks){0};
    if (does(p, c, shapes[c->kind].gives_one))
        block_add(&c->out, -1, length(p, c, s, me, -1), c->type[0], 0);
    if (does(p, c, shapes[c->kind].gets_one))
        block_add(&c->in, root, shapes[c->kind].reduces ? share(p, c, s, me) : length(p, c, !s, root, me), c->type[1],
                  0);
    for (int i = 0; i < partners(room, s); i++) {
        if (does(p, c, shapes[c->kind].gives_each))
            block_add(&c->out, i, length(p, c, s, me, i), c->type[0], gap);
        if (does(p, c, shapes[c->kind].gets_each))
            block_add(&c->in, i, length(p, c, !s, i, me), c->type[1], gap);
    }
}

/* The first element of a reduction's result here. */
static int result_first(const struct program *p, const struct call *c)
{
    int first = 0;
    for (int i = 0; i < room_of(p, c)->me && is_scattered(c->kind); i++)
        first += share(p, c, room_of(p, c)->side, i);
    return first;
}
static unsigned reduced(const struct program *p, const struct call *c, int e)
{
    const struct room *room = room_of(p, c);
    int last = c->kind == SCAN ? room->me + 1 : c->kind == EXSCAN ? room->me : room->size[!room->side];
    unsigned result = 0;
    for (int i = 0; i < last; i++) {
        unsigned next = value(p, c, !room->side, i, -1, e);
        if (c->type[0] == BYTE)
            next &= 0xFF;
        result = i == 0         ? next
                 : c->op == SUM ? result + next
                 : c->op == MAX ? (next > result ? next : result)
                                : composed(result, next);
    }
    return result;
}

/* What lies in the buffers before the call, and in that for results after it. */
static void write_out(const struct program *p, const struct call *c, void *buffer, const struct blocks *at, int type)
{
    for (int i = 0; i < c->out.n; i++)
        for (int e = 0; e < c->out.counts[i]; e++)
            put(type, buffer, at->places[i] + e,
                value(p, c, room_of(p, c)->side, room_of(p, c)->me, c->out.partner[i], e));
}
static void write_in(const struct program *p, const struct call *c, void *buffer)
{
    const struct room *room = room_of(p, c);
    int to = shapes[c->kind].alike ? -1 : room->me;
    for (int i = 0; i < c->in.n; i++)
        for (int e = 0; e < c->in.counts[i]; e++)
            put(c->type[1], buffer, c->in.places[i] + e,
                shapes[c->kind].reduces ? reduced(p, c, result_first(p, c) + e)
                                        : value(p, c, !room->side, c->in.partner[i], to, e));
}
/* What is given lies in the receive buffer: where the result comes to, or by itself in the place of the own block. */
static void write_in_place(const struct program *p, const struct call *c, void *buffer)
{
    struct blocks at = c->out;
    if (shapes[c->kind].gives_each)
        at = c->in;
    else if (shapes[c->kind].gets_each)
        at.places[0] = c->in.places[room_of(p, c)->me];
    write_out(p, c, buffer, &at, c->type[1]);
}

#endif
