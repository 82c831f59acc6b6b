/* Completions of verbs, of a device that is a function: those that a queue pair polls at its end are told later, all in
 * order; only requests with something to do are noted, before they are posted; what a device never gives back has
 * failed. */
#include "check.h"
#include "vi/verbs/verbs.h"

enum { MANY = 1000 };

static struct verbs_nic home;
static struct call_peer peer = {.nic = &home.call};
static struct verbs_adapter adapter = {.home = &home};
static struct verbs_vi vi = {.call = {.peer = &peer, .open = true}, .adapter = &adapter, .state = VERBS_UP};
static struct ibverbs_context device;
static struct ibverbs_qp pair;
static struct ibverbs_send_wr posted[VERBS_PLACES];
static uint32_t posts;
static bool noted; /* the one that is posted has something to do */
static uint64_t ready; /* requests that are complete */
static int told[MANY], tells, status_of[MANY];
static char cookie[MANY];

/* Gives the signalled ones of those that are ready, in order. */
static uint64_t given;
static int device_poll(struct ibverbs_cq *cq, int most, struct ibverbs_wc *wc)
{
    int count = 0;
    (void)cq;
    for (; given < ready && count < most; given++)
        if (posted[given % VERBS_PLACES].send_flags & IBVERBS_SEND_SIGNALED)
            wc[count++] = (struct ibverbs_wc){.wr_id = posted[given % VERBS_PLACES].wr_id};
    return count;
}

static int device_post(struct ibverbs_qp *qp, struct ibverbs_send_wr *wr, struct ibverbs_send_wr **bad)
{
    (void)qp;
    (void)bad;
    const struct verbs_place *place = (const struct verbs_place *)(uintptr_t)wr->wr_id;
    CHECK_EQUAL(place->transfer != NULL, noted);
    posted[posts++ % VERBS_PLACES] = *wr;
    return 0;
}

static void done(struct vi *of, void *what, int status)
{
    CHECK(of == &vi.call.vi);
    status_of[tells] = status;
    told[tells++] = (int)((char *)what - cookie);
}

/* NUMBER -1: one with nothing to do. */
static void post(int number)
{
    struct ibverbs_send_wr wr = {.send_flags = 0};
    struct verbs_place place = {.vi = &vi};
    if (number >= 0) {
        place.transfer = calloc(1, sizeof(*place.transfer));
        place.transfer->cookie = &cookie[number];
    }
    noted = number >= 0;
    CHECK_EQUAL(verbs_post(&vi, &wr, 0, number >= 0 ? &place : NULL), OK);
}

static void told_in_order(int count, int status)
{
    CHECK_EQUAL(tells, count);
    for (int i = 0; i < tells; i++) {
        CHECK_EQUAL(told[i], i);
        CHECK_EQUAL(status_of[i], status);
    }
    tells = 0;
}

/* Two full queue pairs share what the completion queue has room for: there is never more under way than it holds. */
static void room_shared(void)
{
    enum { SPARE = 40 };
    struct verbs_vi *pair_of[2];
    adapter.needed = 2 * (int)(VERBS_LEAST + 1);
    adapter.room = adapter.room_most = adapter.needed + SPARE;
    adapter.sessions = 2;
    for (int i = 0; i < 2; i++) {
        pair_of[i] = calloc(1, sizeof(vi));
        *pair_of[i] = (struct verbs_vi){.call = vi.call, .adapter = &adapter, .qp = &pair, .places = VERBS_LEAST};
        while (verbs_room(pair_of[i]) == OK)
            pair_of[i]->posted++;
        CHECK_EQUAL(pair_of[i]->posted, VERBS_LEAST - VERBS_RESERVED + (i ? 0 : SPARE));
        CHECK_EQUAL(adapter.needed, adapter.room);
    }
    pair_of[0]->over = pair_of[0]->posted - VERBS_LEAST / 2 - 1; /* not few enough for its own places */
    verbs_places_less(pair_of[0]);
    CHECK(!verbs_places_more(pair_of[1]));
    pair_of[0]->over++;
    verbs_places_less(pair_of[0]);
    CHECK_EQUAL(verbs_room(pair_of[1]), OK);
    CHECK_EQUAL(pair_of[1]->places, VERBS_LEAST + SPARE);
    CHECK_EQUAL(adapter.needed, adapter.room);
    adapter.room += 1000; /* one takes no more than it has places */
    adapter.room_most += 1000;
    CHECK(verbs_places_more(pair_of[0]));
    CHECK_EQUAL(pair_of[0]->places, VERBS_PLACES);
    CHECK(!verbs_places_more(pair_of[0]));
    CHECK(verbs_places_more(pair_of[1]));
    CHECK_EQUAL(adapter.needed, 2 * (VERBS_PLACES + 1));
    adapter.sessions = 1000; /* what is lent leaves room for the next queue pair */
    adapter.needed = 1000 * (int)(VERBS_LEAST + 1) + (int)TUNED(VERBS_SHARED);
    adapter.room = adapter.room_most = 2 * adapter.needed;
    pair_of[0]->places = VERBS_LEAST;
    CHECK(!verbs_places_more(pair_of[0]));
    adapter.needed--;
    CHECK(verbs_places_more(pair_of[0]));
    CHECK_EQUAL(pair_of[0]->places, VERBS_LEAST + 1);
    free(pair_of[0]);
    free(pair_of[1]);
}

int main(void)
{
    room_shared();
    device.ops.poll_cq = device_poll;
    device.ops.post_send = device_post;
    adapter.port.context = &device;
    home.call.nic.sink.done = done;
    vi.qp = &pair;
    vi.places = VERBS_LEAST;
    for (uint32_t i = 0; i < VERBS_PLACES; i++)
        vi.place[i].vi = &vi;

    for (int round = 0; round < 5; round++) { /* the end of another queue pair polls, then the poll tells */
        for (int i = 0; i < 100; i++)
            post(i);
        ready += 100;
        while (verbs_events_poll(&adapter))
            ;
        CHECK_EQUAL(tells, 0);
        while (verbs_complete(&adapter))
            ;
        told_in_order(100, OK);
        CHECK_EQUAL(vi.over, vi.posted);
    }

    while (vi.posted % TUNED(VERBS_SIGNAL)) /* one of sixteen tells of those before it */
        post(-1);
    uint64_t from = vi.posted;
    for (uint32_t i = 0; i < 3 * TUNED(VERBS_SIGNAL); i++)
        post(-1);
    ready = vi.posted;
    while (verbs_complete(&adapter))
        ;
    CHECK_EQUAL(vi.over, from + 2 * TUNED(VERBS_SIGNAL) + 1);
    CHECK_EQUAL(tells, 0);

    for (int i = 0; i < 3; i++) { /* the device gives nothing back */
        post(i);
        post(-1);
    }
    verbs_places_end(&vi, ERR_LINK_DOWN);
    told_in_order(3, ERR_LINK_DOWN);
    CHECK_EQUAL(vi.over, vi.posted);

    vi.state = VERBS_ENDED; /* and gives it back then */
    ready = vi.posted;
    while (verbs_complete(&adapter))
        ;
    CHECK_EQUAL(tells, 0);
    CHECK_EQUAL(vi.over, vi.posted);
    free(adapter.event);
    free(adapter.event_vi);
    return check_done();
}
