/* Meetings of threads: every rank computes the same bits in every epoch, and nobody leaves before all have come. Broadcasts, many in a
 * row and between meetings, bring the root's bytes; where it sent too many, the receiver says so. Nobody reads a desk too late, also if
 * some do not wait.
 * takes: 20 timeout: 300 presets: release asan tsan */
#include "base/error.h"
#include "coll/meeting.h"
#include "../check.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define RANKS 7
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define EPOCHS 600 /* a sanitizer finds in few what it finds in many */
#else
#define EPOCHS 3000
#endif

static struct meeting_hall *hall;
static char *annex;
static bool crowd;
static int ranks, epochs;
static _Atomic int inside[EPOCHS];

static int wait_here(void *owner, bool (*ready)(void *), void *context)
{
    (void)owner;
    while (!ready(context))
        sched_yield();
    return 0;
}

static void wake_nobody(void *owner) { (void)owner; }

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

static unsigned char cast_byte(int cast, size_t i) { return (unsigned char)(cast * 7 + (int)i * 13 + 1); }

/* Number E of a run; the last rank, where it is not the root, has room for one byte less now and then. */
static void broadcast(struct meeting *meeting, int e)
{
    static _Thread_local unsigned char data[5 * MEETING_BODY];
    size_t bytes = e % 13 == 0 ? MEETING_BODY * (size_t)(e % 4) + (size_t)e % 777 + MEETING_CAST + 2
                               : 2 + (size_t)e % (MEETING_CAST - 1);
    int root = e / 5 % ranks;
    bool shorter = e % 11 == 0 && meeting->rank == ranks - 1 && root != ranks - 1;
    uint64_t total = 0;
    memset(data, 0, bytes + 1);
    for (size_t i = 0; i < bytes && meeting->rank == root; i++)
        data[i] = cast_byte(e, i);
    struct type_buffer buffer = {data, bytes - shorter, NULL};
    int error = vcoll_meeting_bcast(meeting, root, &buffer, &total);
    CHECK_EQUAL(total, bytes);
    if (total > MEETING_CAST) {
        CHECK_EQUAL(error, OK);
        error = vcoll_meeting_bcast_long(meeting, root, &buffer, total);
    }
    CHECK_EQUAL(error, shorter ? ERR_TRUNCATED : OK);
    for (size_t i = 0; i <= bytes; i++)
        CHECK_EQUAL(data[i], i < bytes - shorter ? cast_byte(e, i) : 0);
}

/* Everybody lays something on his desk; who does not wait looks at nothing. */
static void step(struct meeting *meeting, int e)
{
    char *desk;
    size_t last = meeting_desk_size(ranks) - 1;
    bool waits = (e + meeting->rank) % 3 != 0;
    CHECK_EQUAL(vcoll_meeting_step_begin(meeting, &desk), OK);
    desk[0] = (char)(e + meeting->rank);
    desk[last] = (char)(e * 3 + meeting->rank);
    CHECK_EQUAL(vcoll_meeting_step_end(meeting, waits), OK);
    for (int r = 0; waits && r < ranks; r++) {
        CHECK_EQUAL(vcoll_meeting_desk(meeting, r)[0], (char)(e + r));
        CHECK_EQUAL(vcoll_meeting_desk(meeting, r)[last], (char)(e * 3 + r));
    }
}

static void *member(void *argument)
{
    struct meeting meeting = {.hall = hall, .annex = annex, .rank = (int)(intptr_t)argument, .ranks = ranks, .crowd = crowd,
                              .wait = wait_here, .wake = wake_nobody};
    for (int e = 0; e < epochs; e++) {
        size_t count = (size_t)(e % 8) * (e % 24 == 23 ? 19 : 1); /* 0: a barrier; or 133 of the 135 that fit */
        double data[MEETING_DATA / 8];
        for (size_t i = 0; i < count; i++)
            data[i] = value(meeting.rank, e, i);
        atomic_fetch_add(&inside[e], 1);
        int root = e % 5 == 0 ? e % ranks : -1;
        bool mine = root < 0 || root == meeting.rank;
        CHECK_EQUAL(vcoll_meeting_reduce(&meeting, root, add, data, 8, count), 0);
        if (mine)
            CHECK_EQUAL(atomic_load(&inside[e]), ranks);
        for (size_t i = 0; i < count && mine; i++) {
            double expected = value(0, e, i);
            for (int r = 1; r < ranks; r++)
                expected = value(r, e, i) + expected;
            CHECK(memcmp(&expected, &data[i], 8) == 0);
        }
        for (int i = 0; i < e % 4; i++)
            step(&meeting, e + i);
        for (int cast = 0; cast < e % 90; cast += 9)
            broadcast(&meeting, 90 * e + cast);
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
    hall = aligned_alloc(CACHE_LINE, meeting_size(n));
    memset(hall, 0, meeting_size(n));
    annex = aligned_alloc(CACHE_LINE, meeting_annex_size(n));
    memset(inside, 0, sizeof inside);
    for (int r = 0; r < n; r++)
        pthread_create(&thread[r], NULL, member, (void *)(intptr_t)r);
    for (int r = 0; r < n; r++)
        pthread_join(thread[r], NULL);
    free(hall);
    free(annex);
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
