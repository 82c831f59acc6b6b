/* The class of a line: what samples say, how soon it follows them, and that messages are whole whichever way they are
 * stored. */
#include "inside.h"

static uint64_t now;

/* What a line costs that is well within a class, in ns, and at its borders. */
#define BORDER_NEAR (TUNED(LINE_NEAR) / 1000.0)
#define BORDER_SLOW (TUNED(LINE_SLOW) / 1000.0)
#define NEAR (0.66 * BORDER_NEAR)
#define FAR (2.1 * BORDER_SLOW)
#define SANE (TUNED(LINE_SANE) / 1000.0)

/* So many samples of 2 KiB whose lines cost NS each. */
static void samples(struct shm_line *line, double ns, int count)
{
    for (int i = 0; i < count; i++)
        shm_line_sampled(line, (uint64_t)(ns * SHM_SAMPLE / CACHE_LINE), now);
}

static void pass_ms(uint64_t ms) { now += vbase_clock_ticks_of_ns(ms * 1000000); }

static void first_samples(void)
{
    const struct { double ns; enum base_class class; } machines[] = {
        {0.4 * BORDER_NEAR, CLASS_NEAR}, {0.9 * BORDER_NEAR, CLASS_NEAR}, {1.1 * BORDER_NEAR, CLASS_SLOW},
        {0.9 * BORDER_SLOW, CLASS_SLOW}, {1.1 * BORDER_SLOW, CLASS_FAR},  {0.45 * SANE, CLASS_FAR}};

    for (size_t i = 0; i < ARRAY_LENGTH(machines); i++) {
        struct shm_line line = {.class = CLASS_SLOW};
        samples(&line, 0.1 * machines[i].ns, 1); /* fetched ahead: the second least counts */
        samples(&line, 2 * machines[i].ns, TUNED(LINE_SAMPLES) - 2);
        CHECK(!line.known);
        samples(&line, machines[i].ns, 1);
        CHECK(line.known);
        CHECK_EQUAL(line.class, machines[i].class);
    }
    struct shm_line line = {.class = CLASS_SLOW};
    samples(&line, 2.5 * SANE, 100); /* interrupted, each of them */
    CHECK(!line.known);
}

static void changes(void)
{
    struct shm_line line = {.class = CLASS_SLOW};

    samples(&line, NEAR, TUNED(LINE_SAMPLES));
    CHECK_EQUAL(line.class, CLASS_NEAR);
    pass_ms(10000);
    for (int i = 0; i < 100; i++) { /* not clearly beyond the border, or not by its second least */
        samples(&line, (1 + TUNED(LINE_BEYOND) / 200.0) * BORDER_NEAR, TUNED(LINE_SAMPLES));
        samples(&line, FAR, TUNED(LINE_SAMPLES) - 2);
        samples(&line, NEAR, 2);
        CHECK(!line.asked);
        samples(&line, NEAR, TUNED(LINE_SAMPLES) - 1);
        CHECK(line.asked); /* the look goes on */
        samples(&line, TUNED(LINE_SAMPLES) > 2 ? FAR : NEAR, 1);
    }
    CHECK_EQUAL(line.class, CLASS_NEAR);
    samples(&line, FAR, TUNED(LINE_SAMPLES));
    CHECK_EQUAL(line.class, CLASS_FAR);
    samples(&line, NEAR, 100); /* so soon again: not before some time has passed */
    CHECK_EQUAL(line.class, CLASS_FAR);
    pass_ms(TUNED(LINE_DWELL) + 1);
    samples(&line, NEAR, TUNED(LINE_SAMPLES));
    CHECK_EQUAL(line.class, CLASS_NEAR);
    pass_ms(TUNED(LINE_DWELL) + 1);
    samples(&line, FAR, 100);
    CHECK_EQUAL(line.class, CLASS_NEAR); /* it takes twice as long now */
    pass_ms(TUNED(LINE_DWELL) + 1);
    samples(&line, FAR, TUNED(LINE_SAMPLES));
    CHECK_EQUAL(line.class, CLASS_FAR);
    for (int i = 0; i < 100; i++) {
        pass_ms(TUNED(LINE_DWELL_MOST) + 1);
        samples(&line, i % 2 ? FAR : NEAR, TUNED(LINE_SAMPLES));
        CHECK_EQUAL(line.class, i % 2 ? CLASS_FAR : CLASS_NEAR);
    }
}

/* Two ranks, connected: the first message has come. */
static struct vi *pair_start(void)
{
    inside_start(2);
    inside_open(0);
    inside_open(1);
    struct vi *vi = inside_connect(0, 1);
    CHECK_EQUAL(inside_send(vi, 0, 8), OK);
    while (vi_poll(inside.nic[1], 4) > 0)
        ;
    return vi;
}

/* Whatever a peer is told to do, messages of any length come whole, from pieces and from sources, too. */
static void stored(enum base_class class)
{
    static unsigned char data[SHM_MAX_SEND];
    struct vi_state state;

    atomic_store(&shm_line_fixed, (int)class);
    struct vi *vi = pair_start();
    CHECK_EQUAL(vi_query(vi, &state), OK);
    CHECK_EQUAL(state.line, class);
    for (unsigned n = 0; n < 4000; n++) {
        size_t length = random_below(n % 3 ? SHM_ROW : SHM_MAX_SEND) + 1, cut = random_below((unsigned)length);
        struct iovec piece[2] = {{data, cut}, {data + cut, length - cut}};
        for (size_t i = 0; i < length; i++)
            data[i] = check_byte(n, i);
        CHECK_EQUAL(vi_send(vi, n, n % 2 ? piece : &(struct iovec){data, length}, n % 2 ? 2 : 1), OK);
        CHECK_EQUAL(shm_stores_past(shm_vi_of(vi), (uint32_t)length),
                    class == CLASS_FAR && length >= TUNED(STORE_PAST_LEAST));
        CHECK_EQUAL(vi_poll(inside.nic[1], 1), 1);
        CHECK_EQUAL(inside.length[1], length);
        CHECK(memcmp(inside.data[1], data, length) == 0);
    }
    inside_stop();
    atomic_store(&shm_line_fixed, -1);
}

static uint32_t lines_sent(struct vi *vi) { return (uint32_t)atomic_load(&shm_vi_of(vi)->out_next); }

/* The last probe is old. Is another one asked for? POLLS: enough for several looks at the clock. */
static bool old(struct shm_line *line, struct vi_nic *nic, unsigned polls)
{
    line->probed_at -= vbase_clock_ticks_of_ns(TUNED_NS(LINE_OLD));
    for (unsigned n = 0; n < polls && !line->asked; n++)
        (void)vi_poll(nic, 4);
    return line->asked;
}

/* One page of a lane is all that a few messages use: no probe touches the others. */
static void first_page(struct vi *vi, struct shm_line *line)
{
    while (lines_sent(vi) < SHM_PAGE / CACHE_LINE) {
        uint32_t before = lines_sent(vi);
        CHECK(!old(line, inside.nic[1], 4 * TUNED(SHM_TICK_POLLS)));
        CHECK_EQUAL(inside_send(vi, 1, 40), OK);
        CHECK_EQUAL(vi_poll(inside.nic[1], 1), 1);
        CHECK_EQUAL(lines_sent(vi) - before, 1);
    }
    CHECK_EQUAL(vi_poll(inside.nic[1], 1), 0);
    CHECK(old(line, inside.nic[1], 10000000));
}

/* Probes come behind messages while they are asked for, one at a time, and nobody sees them. */
static void probes(void)
{
    const uint32_t probe = shm_row_lines(SHM_SAMPLE);
    struct vi *vi = pair_start();
    struct shm_line *line = &shm_nic_of(inside.nic[1])->hot[0]->line;

    first_page(vi, line);
    for (unsigned n = 0; n < 1000 && !line->known; n++) {
        uint32_t before = lines_sent(vi);
        bool asked = line->asked; /* after one that was interrupted not at once */
        CHECK_EQUAL(inside_send(vi, 1, 40), OK);
        CHECK(asked ? lines_sent(vi) - before >= 1 + probe : lines_sent(vi) - before == 1);
        before = lines_sent(vi);
        CHECK_EQUAL(inside_send(vi, 2, 40), OK); /* the one before is not taken */
        CHECK_EQUAL(lines_sent(vi) - before, 1);
        CHECK_EQUAL(vi_poll(inside.nic[1], 1), 1);
        CHECK_EQUAL(vi_poll(inside.nic[1], 1), 1);
        CHECK_EQUAL(vi_poll(inside.nic[1], 1), 0);
        CHECK(old(line, inside.nic[1], 10000000));
    }
    CHECK(line->known);
    CHECK(old(line, inside.nic[1], 10000000));
    uint32_t before = lines_sent(vi);
    CHECK_EQUAL(inside_send(vi, 3, 40), OK);
    CHECK(lines_sent(vi) - before >= 1 + probe);
    CHECK_EQUAL(vi_poll(inside.nic[1], 4), 1);
    CHECK_EQUAL(vi_poll(inside.nic[1], 4), 0);
    inside_stop();
}

/* No other kind of head holds no message. */
static void probe_of_nonsense(void)
{
    struct vi *vi = pair_start();
    struct shm_vi *sender = shm_vi_of(vi);
    for (uint32_t n = lines_sent(vi); n % SHM_LINES < SHM_LINES - 4; n = lines_sent(vi)) {
        CHECK_EQUAL(inside_send(vi, 1, 40), OK);
        while (vi_poll(inside.nic[1], 1) > 0)
            ;
    }
    uint32_t at = lines_sent(vi);
    struct shm_cell *cell = &sender->out[at % SHM_LINES];
    cell->kind = (uint16_t)(SHM_PROBE | sender->turns_out); /* it would go on beyond the ring */
    cell->length = SHM_SAMPLE;
    atomic_store(&cell->published, shm_word(at) + 1);
    while (vi_poll(inside.nic[1], 1) > 0)
        ;
    CHECK(atomic_load(&shm_nic_of(inside.nic[1])->peers[0]->broken));
    inside_stop();
}

int main(void)
{
    CHECK_EQUAL(vbase_settings_read(), OK);
    now = clock_ticks();
    first_samples();
    changes();
    probes();
    probe_of_nonsense();
    stored(CLASS_NEAR);
    stored(CLASS_SLOW);
    stored(CLASS_FAR);
    return check_done();
}
