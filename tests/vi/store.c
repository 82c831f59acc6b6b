/* How blocks are written: the way follows what samples say, and both ways write the same bytes. */
#include "check.h"
#include "vi/shm/shm.h"

/* A machine: what a line costs by ordinary stores and past the caches, while stores go the one way and the other. */
struct machine {
    double plain[2], past[2];
};
static const struct machine together = {{3, 6}, {9, 6}}, apart = {{30, 30}, {14, 8}}, alike = {{8, 14}, {20, 14}};

static bool copy(struct shm_store *store, const struct machine *machine, uint32_t length)
{
    enum shm_store_way way = shm_store_next(store, length);
    if (way & SHM_STORE_TIMED)
        shm_store_told(store, way, length,
                       (uint64_t)((length / 64 + 8) * (way & SHM_STORE_PAST ? machine->past : machine->plain)[store->past]));
    return way & SHM_STORE_TIMED;
}

/* Copies COPIES blocks; returns how many until the way was WANTED, COPIES + 1 when it never was. */
static uint32_t copies_until(struct shm_store *store, uint32_t length, const struct machine *machine, bool wanted, uint32_t copies)
{
    uint32_t until = copies + 1;

    for (uint32_t i = 1; i <= copies; i++) {
        copy(store, machine, length);
        if (until > copies && store->past == wanted)
            until = i;
    }
    return until;
}

static void follows(uint32_t length)
{
    struct shm_store store = {0};

    CHECK(copies_until(&store, length, &together, true, 100000) > 100000);
    CHECK(copies_until(&store, length, &apart, true, 200) <= 140); /* moved apart */
    CHECK(copies_until(&store, length, &apart, false, 100000) > 100000);
    CHECK(copies_until(&store, length, &together, false, 600) <= 520); /* and together again */
    CHECK(copies_until(&store, length, &apart, true, 200) <= 140);
    CHECK(copies_until(&store, length, &alike, false, 600) <= 520); /* a machine on which both are slow */
    CHECK(copies_until(&store, length, &alike, true, 100000) > 100000);
}

/* By turns whole rounds are told, and past the caches must be better by a quarter, or it is given up. */
static void rounds_are_weighed(void)
{
    static const struct machine near = {{10, 12}, {16, 13}}, even = {{10, 10}, {9, 9}}, far = {{30, 28}, {20, 18}};
    struct shm_store store = {.turns = true};

    CHECK(copies_until(&store, 8192, &near, true, 10000) > 10000);
    CHECK(copies_until(&store, 8192, &even, true, 10000) > 10000);
    CHECK(copies_until(&store, 8192, &far, true, 200) <= 140);
    CHECK(copies_until(&store, 8192, &far, false, 10000) > 10000);
    CHECK(copies_until(&store, 8192, &even, false, 200) <= 140);
    for (int i = 0; i < 10000; i++)
        copy(&store, &far, i % 2 ? 8192 : 8193);
    CHECK(!store.past); /* rounds of two lengths cannot be compared */
}

/* One pair says nothing: a page may have been touched for the first time. */
static void one_is_not_believed(void)
{
    struct shm_store store = {0};

    for (int i = 0; i < 1000; i++)
        copy(&store, store.against ? &together : &apart, 4096);
    CHECK(!store.past);
}

/* Blocks of other lengths between are not compared with each other, and hardly any is timed then. */
static void lengths_are_apart(void)
{
    struct shm_store store = {0};
    int timed = 0;

    for (int i = 0; i < 10000; i++)
        timed += copy(&store, &apart, i % 2 ? 600 : 16000);
    CHECK(timed <= 200);
    for (int i = 0; i < 10000; i++)
        copy(&store, &apart, i % 2 ? 6000 : 9000);
    CHECK(store.past);
}

/* Of what a source writes a row is timed, however long the block. */
static void sources_are_heard(void)
{
    struct shm_store store = {0};

    for (int i = 0; i < 1000; i++) {
        enum shm_store_way way = shm_store_next(&store, SHM_MAX_SEND);
        if (way & SHM_STORE_TIMED)
            shm_store_told(&store, way, SHM_STORE_ROW, way & SHM_STORE_PAST ? 1000 : 4000);
    }
    CHECK(store.past);
}

/* While stores go past the caches, ordinary ones cost two in a hundred at most. */
static void samples_are_rare(void)
{
    struct shm_store store = {0};
    int timed = 0;

    CHECK(copies_until(&store, 16384, &apart, true, 200) <= 200);
    for (int i = 0; i < 100000; i++)
        timed += copy(&store, &apart, 16384);
    CHECK(timed > 0 && timed / 2 * 8 < 100000 / 50);
}

/* Short payload is not worth it, and does not use a sample up. */
static void short_ones_are_plain(void)
{
    struct shm_store store = {.past = true};

    for (int i = 0; i < 100; i++)
        CHECK_EQUAL(shm_store_next(&store, 100), SHM_STORE_PLAIN);
    CHECK_EQUAL(shm_store_next(&store, 4096), SHM_STORE_TIMED);
}

static void writes(enum shm_store_way way, size_t at, const size_t *length, int pieces)
{
    static unsigned char block[20000], source[20000];
    struct iovec piece[3];
    size_t total = 0;

    memset(block, 0xee, sizeof(block));
    for (size_t i = 0; i < sizeof(source); i++)
        source[i] = check_byte((unsigned)at, i);
    for (int i = 0; i < pieces; total += length[i++])
        piece[i] = (struct iovec){length[i] ? source + total : NULL, length[i]};
    uint64_t ns = shm_store(way, (char *)block + at, piece, pieces);
    CHECK(way & SHM_STORE_TIMED ? ns < 1000000000 : ns == 0);
    for (size_t i = 0; i < sizeof(block); i++)
        if (block[i] != (i < at || i >= at + total ? 0xee : source[i - at])) {
            CHECK_EQUAL(i, sizeof(block));
            return;
        }
}

static struct {
    struct vi_source source;
    size_t given;
} numbers;

static void give_numbers(struct vi_source *source, void *to, uint64_t bytes)
{
    CHECK(source == &numbers.source);
    for (uint64_t i = 0; i < bytes; i++)
        ((unsigned char *)to)[i] = check_byte(7, numbers.given + i);
    numbers.given += bytes;
}

/* What a source writes comes in order and once, whichever way, and only where the last row is timed a time is told. */
static void sources_write_the_same(void)
{
    static const size_t length[] = {0, 1, 63, SHM_STORE_ROW - 1, SHM_STORE_ROW, SHM_STORE_ROW + 1, 3 * SHM_STORE_ROW + 17};
    static unsigned char block[4 * SHM_STORE_ROW];

    for (size_t l = 0; l < ARRAY_LENGTH(length); l++)
        for (size_t at = 0; at < 70; at += 23)
            for (int way = SHM_STORE_PLAIN; way <= SHM_STORE_TIMED_PAST; way++) {
                memset(block, 0xee, sizeof(block));
                numbers.source.write = give_numbers;
                numbers.given = 0;
                uint64_t ns = shm_store_source((enum shm_store_way)way, (char *)block + at, &numbers.source, length[l]);
                CHECK(way & SHM_STORE_TIMED ? ns < 1000000000 : ns == 0);
                size_t wrong = 0;
                for (size_t i = 0; i < sizeof(block); i++)
                    wrong += block[i] != (i < at || i >= at + length[l] ? 0xee : check_byte(7, i - at));
                CHECK_EQUAL(wrong, 0);
            }
}

static void all_write_the_same(void)
{
    static const size_t length[][3] = {{16, 512, 0}, {64, 16384, 0}, {16, 0, 5000}, {1, 1023, 7}, {63, 65, 4097}, {500, 500, 500}, {0, 0, 0}};

    for (size_t l = 0; l < sizeof(length) / sizeof(length[0]); l++)
        for (size_t at = 0; at < 70; at += at < 4 ? 1 : 11)
            for (int way = SHM_STORE_PLAIN; way <= SHM_STORE_TIMED_PAST; way++)
                writes((enum shm_store_way)way, at, length[l], 3);
}

int main(void)
{
    follows(1024);
    follows(4096);
    follows(16448);
    rounds_are_weighed();
    one_is_not_believed();
    lengths_are_apart();
    sources_are_heard();
    samples_are_rare();
    short_ones_are_plain();
    all_write_the_same();
    sources_write_the_same();
    return check_done();
}
