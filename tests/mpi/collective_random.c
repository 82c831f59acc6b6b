/* Random programs of collectives against a serial model. All ranks make the same program from a seed: communicators
 * that overlap (duplicates, splits, groups, intercommunicators, what these merge to), and a list of calls of all kinds in
 * all forms, with types that differ from rank to rank. Many are under way at once; each rank completes them in an order
 * and in ways of its own, and starts the persistent ones again in an order of its own. All bytes of all buffers are
 * compared with the model. Then the same by two threads, each on communicators of its own.
 * takes: 5 everywhere: 1 2 3 5 8
 * timeout: 120 */
#include "collective_model.h"
#include <pthread.h>
#include <unistd.h>

static bool delays;

/* ---- communicators ----------------------------------------------------------------------------------------------- */

static void rooms_split(struct program *p, int *color)
{
    struct room *room = &p->room[SPLIT];
    int key[RANKS];
    for (int r = 0; r < p->ranks; r++) {
        color[r] = (int)pick(&p->random, 2);
        key[r] = (int)pick(&p->random, 100);
    }
    MPI_Comm_split(p->base, color[p->me], key[p->me], &room->comm);
    for (int k = 0; k < 100; k++)
        for (int r = 0; r < p->ranks; r++)
            if (color[r] == color[p->me] && key[r] == k)
                room->member[0][room->size[0]++] = r;
    room_plain(room);
    room_find(room, p->me);
}

static void rooms_some(struct program *p)
{
    struct room *room = &p->room[SOME];
    MPI_Group all, some;
    for (int r = p->ranks - 1; r >= 0; r--)
        if (pick(&p->random, 3))
            room->member[0][room->size[0]++] = r;
    room_plain(room);
    if (room_find(room, p->me)) {
        MPI_Comm_group(p->base, &all);
        MPI_Group_incl(all, room->size[0], room->member[0], &some);
        CHECK_OK(MPI_Comm_create_group(p->base, some, 3, &room->comm));
        MPI_Group_free(&all);
        MPI_Group_free(&some);
    }
}

/* Two groups of the split one, or parts of the ranks where it is one group. */
static void rooms_between(struct program *p, const int *color)
{
    struct room *room = &p->room[BETWEEN], *merged = &p->room[MERGED];
    MPI_Comm half;
    MPI_Request request;
    int side_of[RANKS];
    for (int r = 0; r < p->ranks; r++) {
        side_of[r] = r == 0 ? 0 : r == p->ranks - 1 ? 1 : color[r];
        room->member[side_of[r]][room->size[side_of[r]]++] = r;
    }
    if (p->ranks == 1) {
        room->comm = p->room[BETWEEN_TWIN].comm = merged->comm = MPI_COMM_NULL;
        return;
    }
    room_find(room, p->me);
    MPI_Comm_split(p->base, room->side, p->me, &half);
    int leader[2] = {(int)pick(&p->random, (unsigned)room->size[0]), (int)pick(&p->random, (unsigned)room->size[1])};
    CHECK_OK(MPI_Intercomm_create(half, leader[room->side], p->base, room->member[!room->side][leader[!room->side]], 9,
                                  &room->comm));
    MPI_Comm_free(&half);
    p->room[BETWEEN_TWIN] = *room;
    CHECK_OK(MPI_Comm_idup(room->comm, &p->room[BETWEEN_TWIN].comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Intercomm_merge(room->comm, room->side == 0, &merged->comm));
    for (int s = 1; s >= 0; s--)
        for (int i = 0; i < room->size[s]; i++)
            merged->member[0][merged->size[0]++] = room->member[s][i];
    room_plain(merged);
    room_find(merged, p->me);
}

static void rooms_open(struct program *p)
{
    int color[RANKS];
    struct room *all = &p->room[ALL], *alone = &p->room[ALONE];
    MPI_Comm_dup(p->base, &all->comm);
    for (int r = 0; r < p->ranks; r++)
        all->member[0][all->size[0]++] = r;
    room_plain(all);
    room_find(all, p->me);
    MPI_Comm_split(p->base, p->me, 0, &alone->comm); /* not of MPI_COMM_SELF: both threads would use that one */
    alone->member[0][alone->size[0]++] = p->me;
    room_plain(alone);
    room_find(alone, p->me);
    rooms_split(p, color);
    rooms_some(p);
    rooms_between(p, color);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void buffers_fill(const struct program *p, struct call *c)
{
    memset(c->sent, MARK, c->bytes[0]);
    memset(c->got, MARK, c->bytes[1]);
    write_out(p, c, c->sent, &c->out, c->type[0]);
    if (c->in_place && shapes[c->kind].gives_each != ROOT)
        write_in_place(p, c, c->got);
}
static void buffers_make(const struct program *p, struct call *c)
{
    int in = c->in_place && c->out.total > c->in.total ? c->out.total : c->in.total;
    c->bytes[0] = (size_t)(c->out.total + 1) * (size_t)shape[c->type[0]].extent;
    c->bytes[1] = (size_t)(in + 1) * (size_t)shape[c->type[1]].extent;
    c->sent = malloc(c->bytes[0]);
    c->got = malloc(c->bytes[1]);
    buffers_fill(p, c);
}

static void buffers_check(const struct program *p, const struct call *c)
{
    void *sent = malloc(c->bytes[0]), *got = malloc(c->bytes[1]);
    size_t compared = c->bytes[1];
    memset(sent, MARK, c->bytes[0]);
    memset(got, MARK, c->bytes[1]);
    write_out(p, c, sent, &c->out, c->type[0]);
    if ((c->in_place && shapes[c->kind].gives_each == ROOT) || (c->kind == EXSCAN && room_of(p, c)->me == 0)) {
        compared = 0; /* nothing comes in */
    } else if (c->in_place) {
        write_in_place(p, c, got);
        if (is_scattered(c->kind)) /* what lies behind the result is nothing */
            compared = (size_t)c->in.total * (size_t)shape[c->type[1]].extent;
    }
    write_in(p, c, got);
    bool right_sent = memcmp(sent, c->sent, c->bytes[0]) == 0, right_got = memcmp(got, c->got, compared) == 0;
    CHECK(right_sent);
    CHECK(right_got);
    if (!right_sent || !right_got)
        fprintf(stderr,
                "rank %d of %d, seed %u: call %d: kind %d, form %d, room %d, %d elements, types %d, %d, op %d%s%s\n",
                p->me, p->ranks, p->seed, c->number, c->kind, c->form, c->room, c->count, c->type[0], c->type[1], c->op,
                c->wide ? ", wide" : "", c->in_place ? ", in place" : "");
    free(sent);
    free(got);
}

#define ARGUMENTS(...) __VA_ARGS__
#define CALL_ONE(run, start, prepare, ...)                                                                             \
    (c->form == BLOCKING  ? run(__VA_ARGS__, comm)                                                                     \
     : c->form == STARTED ? start(__VA_ARGS__, comm, &c->request)                                                      \
                          : prepare(__VA_ARGS__, comm, MPI_INFO_NULL, &c->request))
/* NARROW and WIDER are arguments in parentheses. */
#define CALL(Name, name, narrow, wider)                                                                                \
    error = c->wide ? CALL_ONE(MPI_##Name##_c, MPI_I##name##_c, MPI_##Name##_init_c, ARGUMENTS wider)                  \
                    : CALL_ONE(MPI_##Name, MPI_I##name, MPI_##Name##_init, ARGUMENTS narrow)
#define CALL_BOTH(Name, name, ...) CALL(Name, name, (__VA_ARGS__), (__VA_ARGS__))
#define NARROW(b)                  (b).counts, (b).places
#define WIDE(b)                    (b).counts_c, (b).places_c

static void in_bytes(struct blocks *b, int type)
{
    for (int i = 0; i < b->n; i++) {
        b->bytes[i] = b->places[i] * shape[type].extent;
        b->bytes_c[i] = b->bytes[i];
    }
}

/* Arrays are used until a call is complete: they lie in it. */
static int call_moves(struct call *c, MPI_Comm comm, int root)
{
    MPI_Datatype s = types[c->type[0]], r = types[c->type[1]];
    struct blocks *out = &c->out, *in = &c->in;
    int error = MPI_SUCCESS, gives = out->n ? out->counts[0] : 0, takes = in->n ? in->counts[0] : 0;
    bool gives_all = c->in_place;
    void *from = gives_all ? MPI_IN_PLACE : c->sent, *into = c->got;
    if (c->in_place && shapes[c->kind].gives_each == ROOT)
        from = c->sent, into = MPI_IN_PLACE;
    switch (c->kind) {
    case BCAST:
        if (out->n)
            CALL_BOTH(Bcast, bcast, c->sent, gives, s, root);
        else
            CALL_BOTH(Bcast, bcast, c->got, takes, r, root);
        break;
    case GATHER: CALL_BOTH(Gather, gather, from, gives, s, into, takes, r, root); break;
    case GATHERV:
        CALL(Gatherv, gatherv, (from, gives, s, into, NARROW(*in), r, root),
             (from, gives, s, into, WIDE(*in), r, root));
        break;
    case SCATTER: CALL_BOTH(Scatter, scatter, from, gives, s, into, takes, r, root); break;
    case SCATTERV:
        CALL(Scatterv, scatterv, (from, NARROW(*out), s, into, takes, r, root),
             (from, WIDE(*out), s, into, takes, r, root));
        break;
    case ALLGATHER: CALL_BOTH(Allgather, allgather, from, gives, s, into, takes, r); break;
    case ALLGATHERV:
        CALL(Allgatherv, allgatherv, (from, gives, s, into, NARROW(*in), r), (from, gives, s, into, WIDE(*in), r));
        break;
    case ALLTOALL: CALL_BOTH(Alltoall, alltoall, from, gives, s, into, takes, r); break;
    case ALLTOALLV:
        CALL(Alltoallv, alltoallv, (from, NARROW(*out), s, into, NARROW(*in), r),
             (from, WIDE(*out), s, into, WIDE(*in), r));
        break;
    default:
        in_bytes(out, c->type[0]);
        in_bytes(in, c->type[1]);
        CALL(Alltoallw, alltoallw, (from, out->counts, out->bytes, out->type, into, in->counts, in->bytes, in->type),
             (from, out->counts_c, out->bytes_c, out->type, into, in->counts_c, in->bytes_c, in->type));
    }
    return error;
}

static int call_reduces(struct call *c, MPI_Comm comm, int root)
{
    MPI_Datatype type = types[c->type[0]];
    MPI_Op op = ops[c->op];
    void *from = c->in_place ? MPI_IN_PLACE : c->sent;
    int error = MPI_SUCCESS, n = c->count;
    switch (c->kind) {
    case REDUCE: CALL_BOTH(Reduce, reduce, from, c->got, n, type, op, root); break;
    case ALLREDUCE: CALL_BOTH(Allreduce, allreduce, from, c->got, n, type, op); break;
    case REDUCE_SCATTER_BLOCK:
        CALL_BOTH(Reduce_scatter_block, reduce_scatter_block, from, c->got, c->shares[0], type, op);
        break;
    case REDUCE_SCATTER:
        CALL(Reduce_scatter, reduce_scatter, (from, c->got, c->shares, type, op),
             (from, c->got, c->shares_c, type, op));
        break;
    case SCAN: CALL_BOTH(Scan, scan, from, c->got, n, type, op); break;
    default: CALL_BOTH(Exscan, exscan, from, c->got, n, type, op);
    }
    return error;
}

static int call_barrier(struct call *c, MPI_Comm comm)
{
    return c->form == BLOCKING  ? MPI_Barrier(comm)
           : c->form == STARTED ? MPI_Ibarrier(comm, &c->request)
                                : MPI_Barrier_init(comm, MPI_INFO_NULL, &c->request);
}

/* The next call: what all draw alike, then what each draws for itself. */
static void call_make(struct program *p, struct call *c, int number)
{
    static const int counts[] = {0, 1, 1, 3, 17, 17, 200, 200, 3000, 20000};
    struct random *all = &p->random;
    *c = (struct call){.number = number, .request = MPI_REQUEST_NULL};
    c->room = (int)pick(all, ROOMS);
    c->kind = pick(all, is_inter(c->room) ? SCAN : KINDS);
    c->form = pick(all, 3);
    c->count = counts[pick(all, 10)];
    c->op = (int)pick(all, OPS);
    c->root_side = (int)pick(all, 2);
    c->root = (int)pick(all, 100);
    c->in_place = pick(all, 3) == 0 && !is_inter(c->room) && c->kind != BCAST && c->kind != BARRIER;
    c->type[0] = c->type[1] = (int)pick(all, TYPES);
    if (shapes[c->kind].reduces) {
        if (c->type[0] == GAPPED || c->type[0] == SHIFTED)
            c->op = COMPOSE;
        else if (c->op == COMPOSE)
            c->type[0] = c->type[1] = UNSIGNED;
    } else if (c->type[0] < SAME_SIGNATURE) {
        c->type[0] = (int)pick(&p->mine, SAME_SIGNATURE);
        c->type[1] = (int)pick(&p->mine, SAME_SIGNATURE);
    }
    c->wide = pick(&p->mine, 2);
    const struct room *room = room_of(p, c);
    if (room->comm == MPI_COMM_NULL)
        return;
    if (is_rooted(c->kind) && !is_root(p, c))
        c->in_place = false;
    for (int i = 0; i < room->size[room->side]; i++)
        c->shares[i] = (int)(c->shares_c[i] = share(p, c, room->side, i));
    blocks_make(p, c);
    buffers_make(p, c);
}

/* Ranks come late by turns. */
static void delay(struct program *p)
{
    if (delays && pick(&p->mine, 12) == 0)
        usleep(pick(&p->mine, 400));
}

static void call_begin(struct program *p, struct call *c)
{
    delay(p);
    const struct room *room = room_of(p, c);
    int root = c->root % room->size[is_inter(c->room) ? c->root_side : room->side];
    if (is_inter(c->room) && room->side == c->root_side)
        root = is_root(p, c) ? MPI_ROOT : MPI_PROC_NULL;
    CHECK_OK(c->kind == BARRIER        ? call_barrier(c, room->comm)
             : shapes[c->kind].reduces ? call_reduces(c, room->comm, root)
                                       : call_moves(c, room->comm, root));
    if (c->form == PERSISTENT)
        CHECK_OK(MPI_Start(&c->request));
}

static void call_end(struct program *p, struct call *c)
{
    buffers_check(p, c);
    if (c->form == PERSISTENT) {
        p->again[p->agains++] = c->number;
    } else {
        free(c->sent);
        free(c->got);
    }
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

static void pending_end(struct program *p, int i)
{
    struct call *c = &p->call[p->pending[i]];
    p->pending[i] = p->pending[--p->pendings];
    call_end(p, c);
}

/* One at least of those under way, in one of the ways that there are. */
static void complete(struct program *p)
{
    MPI_Request request[PENDING];
    int at = (int)pick(&p->mine, (unsigned)p->pendings), index[PENDING], n = p->pendings, flag = 0, done = 0;
    bool ended[PENDING] = {false};
    for (int i = 0; i < n; i++)
        request[i] = p->call[p->pending[i]].request;
    switch (pick(&p->mine, 5)) {
    case 0: CHECK_OK(MPI_Wait(&request[at], MPI_STATUS_IGNORE)); break;
    case 1: CHECK_OK(MPI_Waitany(n, request, &at, MPI_STATUS_IGNORE)); break;
    case 2:
        while (!flag)
            CHECK_OK(MPI_Test(&request[at], &flag, MPI_STATUS_IGNORE));
        break;
    case 3:
        CHECK_OK(MPI_Waitsome(n, request, &done, index, MPI_STATUSES_IGNORE));
        at = index[0];
        break;
    default:
        CHECK_OK(MPI_Waitall(n, request, MPI_STATUSES_IGNORE));
        for (done = 0; done < n; done++)
            index[done] = done;
    }
    for (int i = 0; i < n; i++)
        p->call[p->pending[i]].request = request[i];
    ended[at] = true;
    for (int i = 0; i < done; i++)
        ended[index[i]] = true;
    for (int i = n - 1; i >= 0; i--)
        if (ended[i])
            pending_end(p, i);
}

/* The persistent ones once more, begun in an order of this rank's own, and a blocking call while they are under way. */
static void persistent_again(struct program *p)
{
    int order[CALLS], n = p->agains, sum, one = 1;
    while (p->pendings)
        complete(p);
    n = p->agains;
    for (int i = 0; i < n; i++) {
        int o = (int)pick(&p->mine, (unsigned)i + 1);
        order[i] = i;
        order[i] = order[o];
        order[o] = i;
    }
    for (int i = 0; i < n; i++) {
        struct call *c = &p->call[p->again[order[i]]];
        buffers_fill(p, c);
        CHECK_OK(MPI_Start(&c->request));
    }
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, p->room[ALL].comm));
    CHECK_EQUAL(sum, p->ranks);
    for (int i = 0; i < n; i++) {
        struct call *c = &p->call[p->again[i]];
        CHECK_OK(MPI_Wait(&c->request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&c->request));
        buffers_check(p, c);
        free(c->sent);
        free(c->got);
    }
    p->agains = 0;
}

static void run(struct program *p)
{
    rooms_open(p);
    for (int i = 0; i < CALLS; i++) {
        struct call *c = &p->call[i];
        call_make(p, c, i);
        if (p->room[c->room].comm != MPI_COMM_NULL) {
            while (p->pendings == PENDING)
                complete(p);
            call_begin(p, c);
            if (c->form == BLOCKING)
                call_end(p, c);
            else
                p->pending[p->pendings++] = i;
            if (p->pendings && pick(&p->mine, 3) == 0)
                complete(p);
        }
        if (i % 40 == 39 || i == CALLS - 1)
            persistent_again(p);
    }
    for (int i = 0; i < ROOMS; i++)
        if (p->room[i].comm != MPI_COMM_NULL)
            CHECK_OK(MPI_Comm_free(&p->room[i].comm));
}

struct worker {
    MPI_Comm base;
    unsigned first, programs;
};
static void *work(void *argument)
{
    const struct worker *worker = argument;
    for (unsigned i = 0; i < worker->programs; i++) {
        struct program *p = calloc(1, sizeof *p);
        unsigned seed = worker->first + i;
        p->random.state = p->seed = seed;
        p->mine.state = (uint64_t)seed * 1000 + (unsigned)rank;
        p->base = worker->base;
        p->me = rank;
        p->ranks = size;
        run(p);
        free(p);
    }
    return NULL;
}

static void two_threads(unsigned first, unsigned few)
{
    pthread_t thread;
    MPI_Comm base[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &base[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &base[1]);
    struct worker one = {base[0], first + 1000, few}, two = {base[1], first + 2000, few};
    pthread_create(&thread, NULL, work, &two);
    work(&one);
    pthread_join(thread, NULL);
    MPI_Comm_free(&base[0]);
    MPI_Comm_free(&base[1]);
}

static unsigned number_of(const char *variable, unsigned otherwise)
{
    const char *text = getenv(variable);
    return text ? (unsigned)strtoul(text, NULL, 0) : otherwise;
}

int main(void)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    types_make();
    ops[SUM] = MPI_SUM;
    ops[MAX] = MPI_MAX;
    MPI_Op_create(compose, 0, &ops[COMPOSE]);
    /* RANDOM_PROGRAMS: more of them, for a long run; RANDOM_FIRST: the one that failed; RANDOM_DELAYS: ranks come late */
    delays = getenv("RANDOM_DELAYS") != NULL;
    unsigned first = number_of("RANDOM_FIRST", (unsigned)check_seed()), programs = number_of("RANDOM_PROGRAMS", 1);
    work(&(struct worker){MPI_COMM_WORLD, first, programs});
    two_threads(first, (programs + 1) / 2);
    MPI_Op_free(&ops[COMPOSE]);
    MPI_Type_free(&types[GAPPED]);
    MPI_Type_free(&types[SHIFTED]);
    return check_finalize();
}
