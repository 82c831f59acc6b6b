/* The ring: every byte once and in order through all levels, with a thread at each end; a full ring, closing from both
 * sides, and words in which the other side wrote nonsense. */
#include "check.h"
#include "sock/ring.h"
#include "sock/segment.h"
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { TOTAL = 24 << 20 };

static struct ring here, there;

static unsigned char pattern(uint64_t at) { return (unsigned char)((at * 0x9E3779B97F4A7C15ull) >> 56); }

static uint64_t draw(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

static void pair(void)
{
    const uint64_t cookie[2] = {11, 22}, other[2] = {11, 23};
    int fd = sock_segment_make(1, cookie, &here.mapping);
    CHECK(fd >= 0);
    CHECK(!sock_segment_take(fd, 2, other, &there.mapping));
    CHECK(sock_segment_take(fd, 2, cookie, &there.mapping));
    CHECK(!sock_segment_take(0, 3, cookie, &there.mapping));
    close(fd);
    here.number = there.number = 0;
}

static void unpair(void)
{
    sock_segment_leave(1, &here.mapping);
    sock_segment_leave(2, &there.mapping);
}

static void *writer(void *patient)
{
    struct ring_writer state = {0};
    uint64_t seed = check_seed();
    for (uint64_t at = 0; at < TOTAL;) {
        char *data;
        size_t most = 1 + draw(&seed) % (draw(&seed) % 4 ? 400 : 40000);
        if (most > TOTAL - at)
            most = TOTAL - at;
        bool room = ring_has_room(&here, &state, patient != NULL);
        size_t size = ring_reserve(&here, &state, most, patient != NULL, &data);
        CHECK(size || !room); /* or it would try for ever */
        for (size_t i = 0; i < size; i++)
            data[i] = (char)pattern(at + i);
        if (size == 0)
            sched_yield();
        else if (!ring_publish(&here, &state, size))
            CHECK(!"closed");
        at += size;
    }
    ring_close(&here);
    return NULL;
}

static void *reader(void *unused)
{
    (void)unused;
    struct ring_reader state = {0};
    uint64_t seed = ~check_seed(), wrong = 0;
    while (state.tail < TOTAL) {
        const char *data;
        long size = ring_next(&there, &state, &data);
        CHECK(size >= 0);
        if (size > (long)(draw(&seed) % 60000 + 1))
            size = (long)(draw(&seed) % (uint64_t)size + 1);
        for (long i = 0; i < size; i++)
            wrong += (unsigned char)data[i] != pattern(state.tail + (uint64_t)i);
        if (size > 0)
            ring_take(&there, &state, (size_t)size);
        else
            sched_yield();
        if (draw(&seed) % 4096 == 0)
            usleep(3000); /* the writer fills all levels */
    }
    CHECK_EQUAL(wrong, 0);
    return NULL;
}

static void stream(void *patient)
{
    pthread_t threads[2];
    pair();
    pthread_create(&threads[0], NULL, writer, patient);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    CHECK(ring_closed(&there));
    unpair();
}

/* Writes until nothing fits: how much that was. */
static uint64_t fill(struct ring_writer *state, bool patient)
{
    uint64_t total = 0;
    char *data;
    for (size_t size; (size = ring_reserve(&here, state, 1 << 20, patient, &data)) > 0; total += size) {
        for (size_t i = 0; i < size; i++)
            data[i] = (char)pattern(state->head + i);
        CHECK(ring_publish(&here, state, size));
    }
    return total;
}

static uint64_t drain(struct ring_reader *state)
{
    uint64_t total = 0;
    const char *data;
    for (long size; (size = ring_next(&there, state, &data)) > 0; total += (uint64_t)size) {
        for (long i = 0; i < size; i++)
            CHECK_EQUAL((unsigned char)data[i], pattern(state->tail + (uint64_t)i));
        ring_take(&there, state, (size_t)size);
    }
    return total;
}

static void levels(void)
{
    struct ring_writer out = {0};
    struct ring_reader in = {0};
    pair();
    CHECK_EQUAL(fill(&out, true), 4096 + 16384 + 65536 + 262144);
    CHECK(!ring_has_room(&here, &out, true));
    CHECK(ring_has_room(&here, &out, false));
    CHECK_EQUAL(fill(&out, false), 4194304);
    CHECK(!ring_writable(&here, &out));
    CHECK_EQUAL(drain(&in), 4096 + 16384 + 65536 + 262144 + 4194304);
    CHECK_EQUAL(fill(&out, true), 262144); /* back where the caches are */
    CHECK_EQUAL(drain(&in), 262144);
    CHECK_EQUAL(fill(&out, true), 262144);
    CHECK(!ring_close_empty(&there, &in));
    CHECK_EQUAL(drain(&in), 262144);
    CHECK(ring_close_empty(&there, &in));
    CHECK(ring_close_empty(&there, &in));
    char *data;
    CHECK(ring_reserve(&here, &out, 10, true, &data) == 10);
    CHECK(!ring_publish(&here, &out, 10));
    unpair();
}

/* Whatever the words say, nothing outside of the levels is touched, and the reader ends or says so. */
static void nonsense(void)
{
    uint64_t seed = check_seed();
    for (int round = 0; round < 20000; round++) {
        struct ring_writer out = {0};
        struct ring_reader in = {0};
        if (round % 1000 == 0)
            pair();
        struct sock_direction *words = ring_words(&here);
        uint64_t value[4];
        for (int i = 0; i < 4; i++)
            value[i] = draw(&seed) >> (draw(&seed) % 64);
        atomic_store(&words->head, value[0]);
        atomic_store(&words->turn[0], value[1]);
        atomic_store(&words->turns, draw(&seed) % 3);
        atomic_store(&words->tail, value[2]);
        atomic_store(&words->turns_seen, draw(&seed) % 2 ? 0 : value[3]);
        const char *from;
        char *to;
        long there_is = ring_next(&there, &in, &from);
        CHECK(there_is >= RING_BROKEN && there_is <= 4194304);
        unsigned sum = 0;
        for (long i = 0; i < there_is; i += 997)
            sum += (unsigned char)from[i];
        bool room = ring_has_room(&here, &out, false);
        size_t size = ring_reserve(&here, &out, 1 << 23, false, &to);
        CHECK_EQUAL(size > 0, room);
        if (size)
            memset(to, (int)sum, size > 4096 ? 4096 : size);
        if (round % 1000 == 999)
            unpair();
    }
}

static void pieces(void)
{
    char data[8] = "";
    struct iovec each[4] = {{data, 3}, {data, 0}, {data + 3, 5}, {data, 0}};
    struct sock_pieces all = {each, 4, 0};
    for (size_t n = 0; n <= 8; n++) {
        CHECK_EQUAL(sock_pieces_copy(&all, NULL, n), n);
        CHECK_EQUAL(sock_pieces_left(&all), 8 - n);
        sock_pieces_back(&all, n);
        CHECK_EQUAL(sock_pieces_left(&all), 8);
    }
}

int main(void)
{
    pieces();
    stream(NULL);
    stream(&here);
    levels();
    nonsense();
    return check_done();
}
