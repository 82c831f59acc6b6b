/* Many lanes: idle ones turn cold and are heard all the same; memory is touched only between ranks that talk. */
#include "inside.h"

static void spin_us(unsigned us)
{
    uint64_t until = vbase_clock_ns() + us * 1000ull;

    while (vbase_clock_ns() < until)
        vi_poll(inside.nic[0], 16);
}

static void cooling(void)
{
    enum { SENDERS = 99 };
    struct vi *vi[SENDERS + 1];
    struct shm_nic *nic;

    inside_start(SENDERS + 1);
    for (int i = 0; i <= SENDERS; i++)
        inside_open(i);
    nic = shm_nic_of(inside.nic[0]);
    for (int i = 1; i <= SENDERS; i++) {
        vi[i] = inside_connect(i, 0);
        CHECK_EQUAL(inside_send(vi[i], 1, 8), OK);
    }
    while (inside.got[0] < SENDERS)
        vi_poll(inside.nic[0], 16);
    CHECK_EQUAL(nic->hot_count, SENDERS);
    CHECK_EQUAL(inside.called, SENDERS);
    for (int n = 0; n < 2000 && nic->hot_count > 10; n++) { /* ten of them stay busy */
        for (int i = 1; i <= 10; i++)
            CHECK_EQUAL(inside_send(vi[i], 2, 8), OK);
        spin_us(30);
    }
    CHECK(nic->hot_count <= 16);
    for (int i = 1; i <= 10; i++)
        CHECK(shm_vi_of(vi[i])->credit->hot);
    uint64_t before = inside.got[0];
    int cold = 0;
    for (int i = 1; i <= SENDERS; i++) {
        cold += !shm_vi_of(vi[i])->credit->hot;
        CHECK_EQUAL(inside_send(vi[i], 3, 100), OK);
        for (int n = 0; n < 3; n++)
            vi_poll(inside.nic[0], 16);
        CHECK_EQUAL(inside.from[0], i);
        CHECK_EQUAL(inside.got[0], before + (uint64_t)i);
    }
    CHECK(cold >= 35);
    CHECK_EQUAL(inside.called, SENDERS);
    inside_stop();
}

/* A sender who saw "hot" just before his lane turned cold sets no bit: the sweep before sleeping still finds him. */
static void unheard(void)
{
    struct vi *vi;
    struct vi_wait wait;
    struct shm_nic *nic;

    inside_start(2);
    inside_open(0);
    inside_open(1);
    nic = shm_nic_of(inside.nic[0]);
    vi = inside_connect(1, 0);
    CHECK_EQUAL(inside_send(vi, 1, 8), OK);
    while (inside.got[0] < 1)
        vi_poll(inside.nic[0], 16);
    nic->hot_count = 0; /* left, while the sender still believes in "hot" */
    for (int i = 0; i < 2; i++)
        if (atomic_load(&nic->peers[i]))
            atomic_load(&nic->peers[i])->place = SHM_NOWHERE;
    CHECK_EQUAL(inside_send(vi, 2, 8), OK);
    CHECK_EQUAL(vi_poll(inside.nic[0], 16), 0);
    CHECK_EQUAL(vi_arm(inside.nic[0], VI_ARM_SOON, NULL), OK);
    spin_us(100);
    CHECK_EQUAL(vi_arm(inside.nic[0], VI_ARM_SLEEP, &wait), ERR_AGAIN);
    CHECK_EQUAL(vi_poll(inside.nic[0], 16), 1);
    CHECK_EQUAL(inside.header[0], 2);
    inside_stop();
}

/* A thousand ranks: hundreds of gigabytes of addresses, a few pages of memory. */
static void thousand(void)
{
    static const int speakers[] = {0, 1, 500, 998, 999};
    long before = inside_resident();

    inside_start(1000);
    for (size_t i = 0; i < ARRAY_LENGTH(speakers); i++)
        inside_open(speakers[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(speakers); i++)
        for (size_t k = 0; k < ARRAY_LENGTH(speakers); k++)
            if (i != k)
                CHECK_EQUAL(inside_send(inside_connect(speakers[i], speakers[k]), i, 200), OK);
    for (size_t i = 0; i < ARRAY_LENGTH(speakers); i++) {
        while (vi_poll(inside.nic[speakers[i]], 16) > 0)
            ;
        CHECK_EQUAL(inside.got[speakers[i]], 4);
    }
    CHECK(inside_resident() - before < 2000);
    inside_stop();
}

int main(void)
{
    CHECK_EQUAL(vbase_settings_read(), OK);
    cooling();
    unheard();
    thousand();
    return check_done();
}
