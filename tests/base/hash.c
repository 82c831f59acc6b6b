/* The map against a plain array: random puts, replacements and removals over keys that collide on purpose. */
#include "base/error.h"
#include "base/hash.h"
#include "check.h"

enum { KEYS = 700 };
static uint64_t key[KEYS];
static void *model[KEYS];
static uint64_t random_state = 42;
static unsigned random_below(unsigned n)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(random_state >> 33) % n;
}

static void against_a_model(void)
{
    struct base_map map = {0};
    uint32_t count = 0;
    for (int step = 0; step < 200000; step++) {
        unsigned i = random_below(KEYS);
        /* the map swells and shrinks */
        if (random_below(100) < (step / 20000 % 2 ? 35u : 65u)) {
            void *value = (void *)(uintptr_t)(1 + random_below(1000000));
            count += model[i] == NULL;
            model[i] = value;
            CHECK_EQUAL(vbase_map_put(&map, key[i], value), OK);
        } else {
            count -= model[i] != NULL;
            CHECK(vbase_map_remove(&map, key[i]) == model[i]);
            model[i] = NULL;
        }
        CHECK_EQUAL(map.count, count);
        if (step % 1000 == 0)
            for (int j = 0; j < KEYS; j++)
                CHECK(vbase_map_get(&map, key[j]) == model[j]);
    }
    CHECK(map.capacity >= 1024 && map.capacity <= 2048); /* removals leave no dead behind that would make it grow */
    vbase_map_close(&map);
    CHECK(map.entry == NULL && map.count == 0 && map.capacity == 0);
}

static void edges(void)
{
    struct base_map map = {0};
    CHECK(vbase_map_get(&map, 0) == NULL);
    CHECK(vbase_map_remove(&map, 0) == NULL);
    CHECK_EQUAL(vbase_map_put(&map, 0, NULL), ERR_ARGUMENT);
    CHECK_EQUAL(vbase_map_put(&map, 0, &map), OK);
    CHECK_EQUAL(vbase_map_put(&map, UINT64_MAX, &edges), OK);
    CHECK(vbase_map_get(&map, 0) == &map);
    CHECK(vbase_map_get(&map, UINT64_MAX) == (void *)&edges);
    CHECK(vbase_map_get(&map, 1) == NULL);
    vbase_map_close(&map);
}

static void bytes(void)
{
    unsigned char text[64];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = check_byte(1, i);
    static uint64_t seen[65 * 9];
    size_t n = 0;
    for (size_t length = 0; length <= sizeof(text); length++) {
        seen[n++] = vbase_hash_bytes(text, length);
        for (size_t bit = 0; bit < 8 && length > 0; bit++) {
            text[length - 1] ^= 1 << bit;
            seen[n++] = vbase_hash_bytes(text, length);
            text[length - 1] ^= 1 << bit;
        }
        CHECK(vbase_hash_bytes(text, length) == seen[n - (length > 0 ? 9 : 1)]);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(seen[i] != seen[j]);
    CHECK(vbase_hash_bytes("\0", 1) != vbase_hash_bytes("\0\0", 2));
}

int main(void)
{
    for (uint64_t i = 0; i < KEYS; i++)
        key[i] = i % 3 == 0 ? i : i % 3 == 1 ? i << 32 : i << 50; /* small, and only high bits */
    against_a_model();
    edges();
    bytes();
    return check_done();
}
