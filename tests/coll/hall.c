/* A hall of threads: every rank computes the same bits in every epoch, and nobody leaves before all have come. Broadcasts,
 * many in a row and between visits, bring the root's bytes; where it sent too many, the receiver says so. Nobody reads a
 * desk or shown memory too late, also if some do not wait. Visits on several tracks are under way at once and end in any
 * order.
 * apart: 1 takes: 20 timeout: 300 presets: release asan tsan */
#include "coll/hall.h"
#include "../check.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define RANKS 7
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define EPOCHS 300 /* a sanitizer finds in few what it finds in many */
#else
#define EPOCHS 3000
#endif
#define MOST (40u << 10) /* bytes of an exchanged block: more than a desk's share */

static void *memory, *wide, *bodies, *desks;
static bool crowd;
static int ranks, epochs;
static _Atomic int inside[EPOCHS];

/* ---- msg, for threads that share all memory ---- */

int vmsg_share_open(struct msg_context *context, int tag, uint64_t bytes, bool willing, struct msg_share **share)
{
    (void)context, (void)tag, (void)bytes, (void)willing, (void)share;
    return ERR_UNSUPPORTED;
}
void *vmsg_share_memory(const struct msg_share *share) { return (void *)(uintptr_t)share; }
void vmsg_share_close(struct msg_share *share) { (void)share; }
void vmsg_share_forget(struct msg_share *share) { (void)share; }
bool vmsg_share_reads(struct msg_share *share) { (void)share; return true; }
int vmsg_share_await(struct msg_share *share, struct msg_request *request, bool (*ready)(void *owner))
{
    (void)share, (void)request, (void)ready;
    return ERR_UNSUPPORTED;
}
int vmsg_share_wait(struct msg_share *share, bool (*ready)(void *owner), void *owner)
{
    (void)share;
    while (!ready(owner))
        sched_yield();
    return OK;
}
void vmsg_share_wake(struct msg_share *share, int rank) { (void)share, (void)rank; }
void vmsg_share_wake_all(struct msg_share *share) { (void)share; }
int vmsg_share_show(struct msg_share *share, const void *base, uint64_t bytes, struct msg_shown *shown)
{
    (void)share;
    shown->key[0] = (uintptr_t)base;
    shown->key[1] = bytes;
    return OK;
}
void vmsg_share_hide(struct msg_shown *shown) { (void)shown; }
int vmsg_share_read(struct msg_share *share, int rank, const uint64_t *key, uint64_t offset, void *to, uint64_t bytes)
{
    (void)share, (void)rank;
    if (offset + bytes > key[1])
        return ERR_ARGUMENT;
    memcpy(to, (const char *)(uintptr_t)key[0] + offset, bytes);
    return OK;
}

/* ---- */

/* Left operand is the higher rank's, as for kernels; the values make every other order visible in the last bits. */
static void add(const void *in, void *inout, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double a, b;
        memcpy(&a, (const char *)in + 8 * i, 8);
        memcpy(&b, (char *)inout + 8 * i, 8);
        a += b;
        memcpy((char *)inout + 8 * i, &a, 8);
    }
}

static double value(int rank, int epoch, size_t i) { return 1.0 / (rank + 1) + epoch * 1e-3 + (double)i * 1e9; }

static void visit_set(struct coll_visit *visit, struct coll_hall *hall, int track)
{
    *visit = (struct coll_visit){.hall = hall, .track = &hall->track[track]};
}

static void sum_set(struct coll_visit *visit, const double *in, double *out, size_t count, bool waits)
{
    visit->kernel = count ? add : NULL;
    visit->own = (const char *)in;
    visit->out = (char *)out;
    visit->size = 8;
    visit->count = count;
    vcoll_visit_reduces(visit, waits);
}

static void sum_check(const double *sum, size_t count, int e)
{
    for (size_t i = 0; i < count; i++) {
        double expected = value(0, e, i);
        for (int r = 1; r < ranks; r++)
            expected = value(r, e, i) + expected;
        CHECK(memcmp(&expected, &sum[i], 8) == 0);
    }
}

static unsigned char cast_byte(int cast, size_t i) { return (unsigned char)(cast * 7 + (int)i * 13 + 1); }

/* Number E of a run; the last rank, where it is not the root, has room for one byte less now and then. */
static void broadcast(struct coll_hall *hall, int e)
{
    static _Thread_local unsigned char data[5 * HALL_BODY];
    size_t bytes = e % 13 == 0 ? HALL_BODY * (size_t)(e % 4) + (size_t)e % 777 + HALL_CAST + 2
                               : 2 + (size_t)e % (HALL_CAST - 1);
    int root = e / 5 % ranks;
    bool shorter = e % 11 == 0 && hall->rank == ranks - 1 && root != ranks - 1;
    uint64_t total = 0;
    memset(data, 0, bytes + 1);
    for (size_t i = 0; i < bytes && hall->rank == root; i++)
        data[i] = cast_byte(e, i);
    struct type_buffer buffer = {data, bytes - shorter, NULL};
    int error = vcoll_cast(hall, root, &buffer, &total);
    CHECK_EQUAL(total, bytes);
    if (total > HALL_CAST) {
        CHECK_EQUAL(error, OK);
        error = vcoll_cast_long(hall, root, &buffer, total);
    }
    CHECK_EQUAL(error, shorter ? ERR_TRUNCATED : OK);
    for (size_t i = 0; i <= bytes; i++)
        CHECK_EQUAL(data[i], i < bytes - shorter ? cast_byte(e, i) : 0);
}

/* Each gives a block to each; then the same to all. */
static void exchange(struct coll_hall *hall, int e, enum coll_way way)
{
    static _Thread_local unsigned char out[RANKS][MOST], in[RANKS][MOST];
    size_t shares = (unsigned)ranks, full[] = {HALL_WIDE / shares, HALL_DATA / shares, HALL_DATA}; /* of a block */
    size_t bytes = way == COLL_BLOCK ? full[e / 6 % 3] - (size_t)e % 5 : (size_t)e * 977 % MOST;
    bool all = e % 2;
    struct coll_group group = {.rank = hall->rank, .size = ranks, .hall = hall};
    struct coll_call call = {.kind = all ? COLL_ALLGATHER : COLL_ALLTOALL, .group = &group};
    call.send = (struct coll_side){.base = out, .count = bytes};
    call.receive = (struct coll_side){.base = in, .count = bytes};
    unsigned char *given = out[0], *got = in[0];
    for (int s = 0; s < ranks; s++)
        memset(given + (size_t)s * bytes, e + hall->rank * 3 + s * 7, bytes);
    struct coll_visit visit;
    visit_set(&visit, hall, way == COLL_DIRECT ? e % HALL_TRACKS : 0);
    visit.call = &call;
    vcoll_visit_exchanges(&visit, way);
    CHECK_EQUAL(vcoll_visit_run(&visit), OK);
    memset(out, 0, sizeof out / 8); /* the others have read it */
    for (int r = 0; r < ranks; r++)
        for (size_t i = 0; i < bytes; i += bytes / 7 + 1)
            CHECK_EQUAL(got[(size_t)r * bytes + i], (unsigned char)(e + r * 3 + (all ? 0 : hall->rank * 7)));
}

/* One on each track, and a second one behind the first on one of them: each rank looks at them in an order of its own. */
static void together(struct coll_hall *hall, int e)
{
    struct coll_visit visit[HALL_TRACKS];
    double in[HALL_TRACKS][3], out[HALL_TRACKS][3];
    bool over[HALL_TRACKS] = {false};
    for (int v = 0; v < HALL_TRACKS; v++) {
        visit_set(&visit[v], hall, v ? v : 3);
        for (size_t i = 0; i < 3; i++)
            in[v][i] = value(hall->rank, e + v, i);
        sum_set(&visit[v], in[v], out[v], 3, true);
        vcoll_visit_start(&visit[v]);
    }
    for (int left = HALL_TRACKS, v = hall->rank; left; v = (v + 1 + hall->rank % 3 * 2) % HALL_TRACKS) {
        if (!over[v] && vcoll_visit_advance(&visit[v])) {
            over[v] = true;
            left--;
            sum_check(out[v], 3, e + v);
        } else if (!over[v])
            sched_yield();
    }
}

static void *member(void *argument)
{
    struct coll_hall hall = {.rank = (int)(intptr_t)argument, .ranks = ranks, .crowd = crowd,
                             .bodies = {.memory = bodies}, .desks = {.memory = desks}};
    (void)vcoll_hall_lay_out(&hall, memory);
    hall.track[0].wide = wide;
    for (int e = 0; e < epochs; e++) {
        size_t count = (size_t)(e % 8) * (e % 24 == 23 ? 19 : 1); /* 0: a barrier; or 133 of the 136 that fit */
        double data[HALL_WIDE / 8], sum[HALL_WIDE / 8];
        for (size_t i = 0; i < count; i++)
            data[i] = value(hall.rank, e, i);
        atomic_fetch_add(&inside[e], 1);
        int root = e % 5 == 0 ? e % ranks : -1;
        bool mine = root < 0 || root == hall.rank;
        struct coll_visit visit;
        visit_set(&visit, &hall, 0);
        sum_set(&visit, data, e % 3 ? sum : data, count, mine);
        CHECK_EQUAL(vcoll_visit_run(&visit), OK);
        if (mine) {
            CHECK_EQUAL(atomic_load(&inside[e]), ranks);
            sum_check(e % 3 ? sum : data, count, e);
        }
        if (e % 4 == 0)
            exchange(&hall, e / 4, e / 8 % 3 == 0 ? COLL_DIRECT : e / 8 % 3 == 1 ? COLL_BLOCK : COLL_DESK);
        if (e % 4 == 1)
            together(&hall, e);
        for (int cast = 0; cast < e % 90; cast += 9)
            broadcast(&hall, 90 * e + cast);
    }
    return NULL;
}

static void meet(int n, bool as_crowd)
{
    static time_t start;
    pthread_t thread[RANKS];
    start = start ? start : time(NULL);
    epochs = time(NULL) - start < 15 ? EPOCHS : 64; /* where a yield takes long there are fewer */
    ranks = n;
    crowd = as_crowd;
    struct coll_hall sizes = {.ranks = n};
    size_t bytes = vcoll_hall_lay_out(&sizes, NULL);
    memory = aligned_alloc(CACHE_LINE, bytes);
    memset(memory, 0, bytes);
    wide = aligned_alloc(CACHE_LINE, hall_wide_size(n));
    bodies = aligned_alloc(CACHE_LINE, HALL_CASTS * HALL_BODY);
    desks = aligned_alloc(CACHE_LINE, hall_desks_size(n));
    memset(inside, 0, sizeof inside);
    for (int r = 0; r < n; r++)
        pthread_create(&thread[r], NULL, member, (void *)(intptr_t)r);
    for (int r = 0; r < n; r++)
        pthread_join(thread[r], NULL);
    free(memory);
    free(wide);
    free(bodies);
    free(desks);
}

int main(void)
{
    for (int n = 1; n <= RANKS; n += 2) {
        meet(n, true);
        meet(n, false);
    }
    meet(2, true);
    meet(2, false);
    return check_done();
}
