/* Pools against a model: addresses and indices stay, generations change, contents are apart, stale and hostile handles
 * find nothing. */
#include "base/pool.h"
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

static uint64_t random_state = 1234567;
static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(random_state >> 33) % n;
}

static void fill(unsigned char *object, size_t size, unsigned message)
{
    for (size_t i = 0; i < size; i++)
        object[i] = check_byte(message, i);
}

static bool holds(const unsigned char *object, size_t size, unsigned message)
{
    for (size_t i = 0; i < size; i++)
        if (object[i] != check_byte(message, i))
            return false;
    return true;
}

static void against_a_model(size_t size)
{
    enum { LIVE = 1000 };
    static struct {
        void *object;
        uint32_t index, generation;
        unsigned message;
    } live[LIVE], m;
    struct base_pool pool;
    uint32_t count = 0, highest = 0;
    vbase_pool_open(&pool, size, 0);
    for (unsigned step = 1; step < 30000; step++) {
        if (count < LIVE && (count == 0 || random_below(100) < 52)) {
            m.object = vbase_pool_take(&pool);
            CHECK(m.object && (uintptr_t)m.object % 16 == 0);
            m.index = vbase_pool_index(m.object);
            m.generation = vbase_pool_generation(m.object);
            m.message = step;
            highest = m.index > highest ? m.index : highest;
            fill(m.object, size, step);
            live[count++] = m;
            continue;
        }
        uint32_t i = random_below(count);
        m = live[i];
        CHECK(vbase_pool_at(&pool, m.index, m.generation) == m.object);
        CHECK(holds(m.object, size, m.message));
        vbase_pool_give(&pool, m.object);
        CHECK(vbase_pool_at(&pool, m.index, m.generation) == NULL);
        CHECK(vbase_pool_generation(m.object) != m.generation);
        CHECK(vbase_pool_at(&pool, m.index, vbase_pool_generation(m.object)) == NULL); /* nobody has it */
        live[i] = live[--count];
        CHECK_EQUAL(pool.live, count);
    }
    CHECK(highest < LIVE); /* dense */
    vbase_pool_close(&pool);
}

static void last_in_first_out(void)
{
    struct base_pool pool;
    vbase_pool_open(&pool, 24, 0);
    void *a = vbase_pool_take(&pool), *b = vbase_pool_take(&pool);
    CHECK_EQUAL(vbase_pool_index(a), 0);
    CHECK_EQUAL(vbase_pool_index(b), 1);
    vbase_pool_give(&pool, a);
    vbase_pool_give(&pool, b);
    CHECK(vbase_pool_take(&pool) == b);
    CHECK(vbase_pool_take(&pool) == a);
    CHECK_EQUAL(vbase_pool_index(a), 0);
    vbase_pool_close(&pool);
    CHECK(vbase_pool_take(&pool) == NULL); /* closed: nothing more */
}

static void bounded(uint32_t maximum)
{
    struct base_pool pool;
    void *last = NULL;
    vbase_pool_open(&pool, 8, maximum);
    for (uint32_t i = 0; i < maximum; i++) {
        void *object = vbase_pool_take(&pool);
        CHECK(object && vbase_pool_index(object) == i);
        last = object;
    }
    CHECK(vbase_pool_take(&pool) == NULL);
    vbase_pool_give(&pool, last);
    CHECK(vbase_pool_take(&pool) == last);
    CHECK(vbase_pool_take(&pool) == NULL);
    vbase_pool_close(&pool);
}

static void strangers_find_nothing(void)
{
    struct base_pool pool;
    vbase_pool_open(&pool, 48, 0);
    CHECK(vbase_pool_at(&pool, 0, 1) == NULL);
    void *object = NULL;
    for (int i = 0; i < 300; i++)
        object = vbase_pool_take(&pool);
    uint32_t generation = vbase_pool_generation(object);
    CHECK(vbase_pool_at(&pool, 299, generation) == object);
    static const uint32_t index[] = {300, 301, 511, 512, 1023, 1 << 16, 1 << 24, 0x7fffffff, 0x80000000, 0xffffffff};
    static const uint32_t other[] = {0, 2, 0x10001, 0x80000001, 0xffffffff};
    for (size_t i = 0; i < ARRAY_LENGTH(index); i++)
        CHECK(vbase_pool_at(&pool, index[i], 1) == NULL);
    for (size_t i = 0; i < ARRAY_LENGTH(other); i++)
        CHECK(vbase_pool_at(&pool, 299, other[i]) == NULL);
    vbase_pool_close(&pool);
    CHECK(vbase_pool_at(&pool, 0, 1) == NULL);
}

static void generations_go_round(void)
{
    struct base_pool pool;
    vbase_pool_open(&pool, 16, 1);
    uint32_t before = 0;
    for (int i = 0; i < 70000; i++) {
        void *object = vbase_pool_take(&pool);
        uint32_t now = vbase_pool_generation(object);
        CHECK(now >= 1 && now <= 0xffff && now != before);
        before = now;
        vbase_pool_give(&pool, object);
    }
    vbase_pool_close(&pool);
}

/* Readers look up while one thread takes and gives: whatever they find lies where it must. */
static struct base_pool shared;
static _Atomic bool over;
static _Atomic uint32_t newest;
static void *look(void *unused)
{
    (void)unused;
    uint64_t found = 0;
    for (uint32_t i = 0; !atomic_load(&over); i++) {
        uint32_t index = i % (atomic_load(&newest) + 3);
        const char *object = vbase_pool_at(&shared, index, 1);
        if (object) {
            found++;
            CHECK_EQUAL(vbase_pool_index(object), index);
        }
    }
    return (void *)(uintptr_t)(found + 1);
}

static void lookups_beside_taking(void)
{
    pthread_t thread[2];
    void *found;
    vbase_pool_open(&shared, 40, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, look, NULL);
    for (uint32_t i = 0; i < 50000; i++) {
        void *object = vbase_pool_take(&shared);
        atomic_store(&newest, vbase_pool_index(object));
        if (i % 3 == 0)
            vbase_pool_give(&shared, object);
    }
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], &found);
        CHECK(found != NULL);
    }
    vbase_pool_close(&shared);
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 16, 17, 200, 5000};
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
        against_a_model(sizes[i]);
    last_in_first_out();
    bounded(1);
    bounded(255);
    bounded(1000);
    strangers_find_nothing();
    generations_go_round();
    lookups_beside_taking();
    return check_done();
}
