/* Hostile memory: a peer that writes anything anywhere in the segment. Nothing crashes, nothing outside the segment is
 * read, and plain nonsense is told once, as such.
 * timeout: 120 */
#include "inside.h"

/* One kind of nonsense in the next cell: told down, counted, and the lane is dead. */
static void nonsense(uint16_t kind, uint16_t length, uint32_t offset, uint32_t block_length)
{
    uint64_t refused = vbase_counters->refused;
    struct shm_segment s;
    struct shm_cell *cell;
    struct vi *vi, *again;
    struct vi_address back = {.peer = 1};

    inside_start(2);
    inside_open(0);
    inside_open(1);
    vi = inside_connect(1, 0);
    CHECK_EQUAL(inside_send(vi, 0, 8), OK);
    while (!inside.got[0])
        vi_poll(inside.nic[0], 16);
    CHECK_EQUAL(shm_segment_open(inside.fd, 2, &s), OK);
    cell = &shm_lane_of(&s, 0, 1)[1];
    cell->kind = kind;
    cell->length = length;
    cell->block.offset = offset;
    cell->block.length = block_length;
    atomic_store(&cell->published, shm_word(1) + 1);
    for (int n = 0; n < 10; n++)
        vi_poll(inside.nic[0], 16);
    CHECK_EQUAL(inside.got[0], 1);
    CHECK_EQUAL(inside.down[0], 1);
    CHECK_EQUAL(inside.cause, ERR_PROTOCOL);
    CHECK_EQUAL(vbase_counters->refused - refused, 1);
    CHECK_EQUAL(vi_connect(inside.nic[0], &back, NULL, &again), ERR_LINK_DOWN);
    shm_segment_close(&s);
    inside_stop();
}

/* The next message would be that of line NUMBER. */
static void stand_at(struct vi *there, struct vi *here, uint64_t number)
{
    atomic_store(&shm_vi_of(there)->out_next, number);
    atomic_store(&shm_vi_of(there)->out_seen, number);
    atomic_store(&shm_vi_of(here)->told_line->consumed, (uint32_t)number * (SHM_BUNDLE + 1));
    shm_in_begin(shm_vi_of(here), number);
    shm_vi_of(here)->told = (uint32_t)number * (SHM_BUNDLE + 1);
}

static void told_down(struct shm_cell *cell, uint64_t number)
{
    atomic_store(&cell->published, shm_word(number) + 1);
    for (int n = 0; n < 10; n++)
        vi_poll(inside.nic[0], 16);
    CHECK_EQUAL(inside.down[0], 1);
    CHECK_EQUAL(inside.cause, ERR_PROTOCOL);
}

/* A row that goes on behind the end of the ring. */
static void row_beyond(void)
{
    inside_start(2);
    inside_open(0);
    inside_open(1);
    struct vi *vi = inside_connect(1, 0), *back = inside_connect(0, 1);
    stand_at(vi, back, SHM_LINES - 10);
    struct shm_cell *cell = &shm_vi_of(vi)->out[SHM_LINES - 10];
    CHECK_EQUAL(inside_send(vi, 0, 0), OK); /* it calls the receiver */
    cell->kind = SHM_ROWED;
    cell->length = 10 * CACHE_LINE - 15; /* one byte too many */
    told_down(cell, SHM_LINES - 10);
    CHECK_EQUAL(inside.got[0], 0);
    inside_stop();
}

/* Nothing left of the ring twice in a row: that has no end. */
static void ring_skipped(void)
{
    inside_start(2);
    inside_open(0);
    inside_open(1);
    struct vi *vi = inside_connect(1, 0);
    inside_connect(0, 1);
    CHECK_EQUAL(inside_send(vi, 0, 0), OK);
    struct shm_cell *cell = shm_vi_of(vi)->out;
    cell->kind = SHM_SKIP;
    told_down(cell, 0);
    CHECK_EQUAL(inside.got[0], 0);
    inside_stop();
}

/* More credit than there were lines: the sender must not overwrite what was not read. */
static void too_much_credit(void)
{
    struct vi *vi;
    struct shm_credit *credit;
    int error;

    inside_start(2);
    inside_open(0);
    inside_open(1);
    vi = inside_connect(0, 1);
    credit = (struct shm_credit *)shm_vi_of(vi)->credit;
    atomic_store(&credit->consumed, 1000 * (SHM_BUNDLE + 1));
    while ((error = inside_send(vi, 0, 8)) == OK)
        ;
    CHECK_EQUAL(error, ERR_LINK_DOWN);
    vi_poll(inside.nic[0], 16);
    CHECK_EQUAL(inside.down[0], 1);
    inside_stop();
}

/* Ever more messages of no length in one cell, then a length: whatever was believed so far, nothing outside the cell is
 * shown. */
static bool received_here(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count)
{
    const struct shm_vi *lane = shm_vi_of(vi);
    const char *from = data, *first = (const char *)lane->in[lane->in_next % SHM_LINES].data;

    (void)header;
    CHECK(from >= first && count <= SHM_BUNDLE && from + count * length <= first + SHM_INLINE);
    inside.got[vi->nic->rank] += count;
    return false;
}

static void endless_bundle(void)
{
    struct shm_cell *cell;
    struct vi *vi;
    uint32_t word;

    inside_start(2);
    inside_open(0);
    inside_open(1);
    vi = inside_connect(1, 0);
    inside_connect(0, 1);
    inside.nic[0]->sink.received = received_here;
    CHECK_EQUAL(inside_send(vi, 0, 0), OK);
    while (vi_poll(inside.nic[0], 16) > 0)
        ;
    cell = shm_vi_of(vi)->out;
    word = atomic_load(&cell->published);
    for (int n = 0; n < 20000; n++) { /* past 2^17 messages */
        atomic_store(&cell->published, word += n ? 7 : 5);
        vi_poll(inside.nic[0], 16);
    }
    cell->length = 32768;
    for (int n = 0; n < 16; n++) {
        atomic_store(&cell->published, ++word);
        vi_poll(inside.nic[0], 16);
    }
    CHECK(inside.got[0] <= SHM_BUNDLE);
    inside_stop();
}

static void scribble(const struct shm_segment *s)
{
    static const uint32_t words[] = {0, 1, 2, 3, 4, 0x00010001, 0xffffffff, 0x80000000, 0x40000030, 0x00300001};
    char *place[] = {(char *)shm_lane_of(s, 0, 1), (char *)shm_lane_of(s, 1, 0), (char *)shm_credit_of(s, 0, 1),
                     (char *)shm_credit_of(s, 1, 0), (char *)shm_bell_of(s, 0), (char *)shm_bell_of(s, 1),
                     shm_heap_of(s, 1), shm_counters_of(s, 0), (char *)shm_turn_of(s, 0, 1)};
    size_t length[] = {SHM_LINES * CACHE_LINE, SHM_LINES * CACHE_LINE, CACHE_LINE, CACHE_LINE, s->entry_size,
                       s->entry_size, SHM_HEAP_SIZE, BASE_COUNTERS_SIZE, CACHE_LINE};
    unsigned which = random_below(ARRAY_LENGTH(place));
    uint32_t word = random_below(2) ? words[random_below(ARRAY_LENGTH(words))] : random_below(1u << 24) * 257u;

    if (which < 2 && random_below(2)) { /* a cell that will be believed for a moment */
        struct shm_cell *cell = (struct shm_cell *)(void *)place[which] + random_below(SHM_LINES);
        cell->kind = (uint16_t)(random_below(9) | random_below(3) * SHM_TURN);
        cell->length = (uint16_t)random_below(random_below(2) ? 80 : 3000);
        cell->block.offset = word;
        cell->block.length = random_below(2) ? random_below(20000) : word;
        atomic_store(&cell->published, random_below(2) << 31 | (8 * (1 + random_below(4)) + random_below(8)));
        return;
    }
    if (which == ARRAY_LENGTH(place) - 1 && random_below(2)) { /* a turn that may be the next one */
        struct shm_cell *cell = (struct shm_cell *)(void *)place[which];
        cell->length = (uint16_t)random_below(80);
        atomic_store(&cell->published, atomic_load(&cell->published) + random_below(3));
        return;
    }
    memcpy(place[which] + random_below((unsigned)length[which] / 4) * 4, &word, 4);
}

static void touch(struct vi *vi)
{
    struct vi_state state;
    struct vi_wait wait;

    (void)vi_query(vi, &state);
    if (random_below(10) == 0)
        (void)vi_arm(vi->nic, VI_ARM_SLEEP, &wait);
    if (random_below(3) == 0)
        (void)vi_arm(vi->nic, VI_ARM_AWAKE, NULL);
    if (random_below(50) == 0)
        vi_disconnect(vi);
    (void)inside_send(vi, 1, random_below(3) ? random_below(48) : random_below(SHM_MAX_SEND));
    CHECK(vi_poll(vi->nic, 1 + (int)random_below(200)) >= 0);
}

static void fuzz(unsigned seed)
{
    struct shm_segment s;
    struct vi *vi[2];

    random_state = seed;
    inside_start(2);
    inside_open(0);
    inside_open(1);
    CHECK_EQUAL(shm_segment_open(inside.fd, 2, &s), OK);
    vi[0] = inside_connect(0, 1);
    vi[1] = inside_connect(1, 0);
    for (int n = 0; n < 300; n++) {
        if (random_below(3) == 0)
            scribble(&s);
        touch(vi[random_below(2)]);
    }
    CHECK(inside.down[0] <= 1 + 300 / 20 && inside.down[1] <= 1 + 300 / 20);
    shm_segment_close(&s);
    inside_stop();
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;

    CHECK_EQUAL(vbase_settings_read(), OK);
    nonsense(0, 8, 0, 0);
    nonsense(77, 8, 0, 0);
    nonsense(SHM_DATA, 49, 0, 0);
    nonsense(SHM_DATA, 65535, 0, 0);
    nonsense(SHM_BLOCK, 8, SHM_HEAP_SIZE, 1);
    nonsense(SHM_BLOCK, 8, SHM_HEAP_SIZE - 10, 11);
    nonsense(SHM_BLOCK, 8, 0xffffffff, 2);
    nonsense(SHM_BLOCK, 8, 0, SHM_MAX_SEND + 1);
    nonsense(SHM_BLOCK, 8, 64, 0xffffffff);
    nonsense(SHM_ROWED, SHM_INLINE, 0, 0);
    nonsense(SHM_ROWED, SHM_ROW + 1, 0, 0);
    nonsense(SHM_ROWED | 0x80, 65535, 0, 0);
    row_beyond();
    ring_skipped();
    too_much_credit();
    endless_bundle();
    unsigned first = (unsigned)check_seed();
    for (unsigned seed = first; seed - first < rounds; seed++)
        fuzz(seed);
    return check_done();
}
