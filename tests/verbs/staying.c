/* Sends from where they lie (VI_STAYS), on the double of libibverbs: their memory is there, and registered, until the
 * device has sent all of it, whatever happens meanwhile. Run by staying.sh. */
#include "vi/suite.h"
#include "verbs/double.h"

enum { FRAMES = 8, LENGTH = 8192, HEAD = 16, STEP = HEAD + LENGTH, RING = FRAMES * STEP };

static size_t one_length(int from, int to, uint64_t number)
{
    (void)from, (void)to, (void)number;
    return LENGTH;
}

/* Rank 0 is connected, and one frame has come. */
static void meet(void)
{
    suite.length = one_length;
    if (suite.rank == 0) {
        suite_connect(1);
        suite_send(1);
        SUITE_WAIT(suite.vi[1]->name);
        CHECK(vi_caps(suite.vi[1])->stays && vi_caps(suite.vi[1])->stays <= LENGTH);
    } else {
        SUITE_WAIT(suite.got[0] == 1);
    }
    suite_barrier();
}

static void frame_send(const struct vi_region *region, uint64_t place)
{
    uint64_t number = suite.sent[1]++;
    uint8_t *at = (uint8_t *)region->address + place * STEP + HEAD;
    struct vi_staying staying = {{at, LENGTH}, region};
    for (size_t i = 0; i < LENGTH; i++)
        at[i] = check_byte(suite_id(0, 1, number), i);
    memcpy(at - HEAD, &number, sizeof number);
    CHECK_EQUAL(vi_send_as(suite.vi[1], number, &staying.piece, 1, VI_STAYS), OK);
    CHECK(memcmp(at - HEAD, &number, sizeof number) == 0);
}

/* Frees what is free, and writes over it. */
static void memory_stir(void)
{
    void *block[64];
    for (size_t i = 0; i < ARRAY_LENGTH(block); i++) {
        block[i] = aligned_alloc(4096, (RING | 4095) + 1);
        memset(block[i], 0xEE, RING);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(block); i++)
        free(block[i]);
}

static uint32_t ring_make(struct vi_region *region)
{
    CHECK_EQUAL(vi_reg(suite.vi[1]->nic, NULL, RING, region), OK);
    return (uint32_t)region->key.word[0];
}

/* A ring of frames that the device sends late, and that is given back meanwhile: its key. */
static uint32_t ring_under_way(void)
{
    struct vi_region region;
    uint32_t key = ring_make(&region);
    double_late(true);
    for (uint64_t i = 0; i < FRAMES; i++)
        frame_send(&region, i);
    vi_dereg(&region);
    return key;
}

/* A ring that has grown goes while its frames are under way. */
static void grows(void)
{
    meet();
    if (suite.rank == 0) {
        uint32_t key = ring_under_way();
        memory_stir();
        CHECK(double_good(key));
        double_late(false);
        SUITE_WAIT(!double_good(key));
    } else {
        SUITE_WAIT(suite.got[0] == 1 + FRAMES);
    }
    suite_barrier();
    CHECK_EQUAL(suite.down[1 - suite.rank], 0);
}

/* The other side has it, and says so, before it is complete: its place is used again, then the ring goes. */
static void acknowledged(void)
{
    meet();
    if (suite.rank == 0) {
        struct vi_region region;
        uint32_t key = ring_make(&region);
        double_hold(true);
        for (uint64_t i = 1; i <= 3; i++) {
            frame_send(&region, 0);
            SUITE_WAIT(suite.got[1] == i);
        }
        vi_dereg(&region);
        suite_poll();
        CHECK(double_good(key)); /* it may still be sent once more */
        double_hold(false);
        SUITE_WAIT(!double_good(key));
    } else {
        for (uint64_t i = 1; i <= 3; i++) {
            SUITE_WAIT(suite.got[0] == 1 + i);
            suite_send(0);
        }
    }
    suite_barrier();
    CHECK_EQUAL(suite.down[1 - suite.rank], 0);
}

/* The rail is lost with all of it under way. */
static void lost(void)
{
    meet();
    if (suite.rank == 0) {
        uint32_t key = ring_under_way();
        CHECK(double_good(key));
        vi_disconnect_abruptly(suite.vi[1]);
        suite.vi[1] = NULL;
        double_late(false);
        SUITE_WAIT(!double_good(key));
    } else {
        SUITE_WAIT(suite.down[0] == 1);
        CHECK_EQUAL(suite.got[0], 1);
    }
    suite_barrier();
}

int main(void)
{
    static const struct vi_provider verbs = {"verbs", &verbs_ops, .devices = ""};
    int failed = 0;
    CHECK_EQUAL(vbase_settings_read(), OK);
    failed += !suite_case(&verbs, NULL, 2, "grows", grows);
    failed += !suite_case(&verbs, NULL, 2, "acknowledged", acknowledged);
    failed += !suite_case(&verbs, NULL, 2, "lost", lost);
    return failed > 0 || check_done();
}
