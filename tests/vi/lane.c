/* Lanes and blocks from inside: laps wrap, credit flows, blocks rotate, and nothing is held that was given back. */
#include "inside.h"

static void two_start(void)
{
    inside_start(2);
    inside_open(0);
    inside_open(1);
}

/* From the first to the second, which has not answered: what follows takes the lane. */
static struct vi *lane_start(void)
{
    two_start();
    struct vi *vi = inside_connect(0, 1);
    CHECK_EQUAL(inside_send(vi, 1, 8), OK);
    while (vi_poll(inside.nic[1], 4) > 0)
        ;
    return vi;
}

/* Nothing comes to it until it gives all credit that it owes. */
static void poll_idle(int receiver)
{
    for (uint64_t n = 0; n < TUNED(SHM_IDLE_POLLS);)
        n = vi_poll(inside.nic[receiver], 1) > 0 ? 0 : n + 1;
}

/* A credit is 32 bits of a count of eighths: past 2^29 cells. */
static void wrap(void)
{
    struct vi *there, *back;

    two_start();
    there = inside_connect(0, 1);
    back = inside_connect(1, 0);
    for (int side = 0; side < 2; side++) {
        struct shm_vi *vi = shm_vi_of(side ? back : there);
        uint64_t start = (1ull << 29) - 300;
        start -= start % SHM_LINES;
        atomic_store(&vi->out_next, start);
        atomic_store(&vi->out_seen, start);
        shm_in_begin(vi, start);
        atomic_store(&vi->told_line->consumed, (uint32_t)start * 8);
    }
    for (uint64_t n = 0; n < 200000; n++) {
        CHECK_EQUAL(inside_send(there, n, 8), OK);
        while (vi_poll(inside.nic[1], 4) > 0)
            ;
        CHECK_EQUAL(inside.header[1], n);
        CHECK_EQUAL(inside.got[1], n + 1);
        if (n % 1000 == 0) { /* rare cells on the way back: their credit is old when they are read */
            CHECK_EQUAL(inside_send(back, n, 8), OK);
            if (n % 3000 == 0)
                while (vi_poll(inside.nic[0], 4) > 0)
                    ;
        }
    }
    inside_stop();
}

/* Bytes sent until a block is used again. */
static size_t rotation_of(struct vi *vi, size_t size)
{
    const void *first = NULL;
    for (size_t n = 0; n < 5000; n++) {
        CHECK_EQUAL(inside_send(vi, 1, size), OK);
        CHECK_EQUAL(vi_poll(inside.nic[1], 4), 1);
        if (inside.data[1] == first)
            return n * size;
        first = first ? first : inside.data[1];
    }
    return 5000 * size;
}

/* Blocks come in turn: memory is used again only after some slabs of others. */
static void rotation(void)
{
    static const size_t sizes[] = {SHM_ROW + 1, 4096, 5000, 16448, SHM_MAX_SEND};
    struct vi *vi = lane_start();
    for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++)
        CHECK(rotation_of(vi, sizes[s]) >= 128u << 10);
    inside_stop();
}

/* Pages that messages of SIZE bytes touch for the first time: each is sent and taken COUNT times. */
static size_t pages_of(struct vi *vi, size_t size, int count)
{
    static unsigned char seen[SHM_HEAP_SIZE / SHM_PAGE];
    size_t pages = 0;

    for (int n = 0; n < count; n++) {
        CHECK_EQUAL(inside_send(vi, 1, size), OK);
        CHECK_EQUAL(vi_poll(inside.nic[1], 4), 1);
        const char *data = inside.data[1], *base = shm_heap_of(&shm_nic_of(inside.nic[1])->segment, 0);
        for (size_t page = (size_t)(data - base) / SHM_PAGE; page <= (size_t)(data + size - 1 - base) / SHM_PAGE; page++) {
            pages += !seen[page];
            seen[page] = 1;
        }
    }
    return pages;
}

/* A page that one size has paid for serves all others, and few are paid for at first. */
static void pages_are_shared(void)
{
    static const size_t sizes[] = {4000, 8000, 16000, 3000, 9000};
    struct vi *vi = lane_start();
    /* the pool grows after so many */
    size_t first = pages_of(vi, 64000, (int)(TUNED(SHM_POOL_FIRST) * (TUNED(SHM_POOL_ROUNDS) - 1)));
    CHECK(first <= TUNED(SHM_POOL_FIRST) * SHM_SLAB / SHM_PAGE);
    (void)pages_of(vi, SHM_MAX_SEND, (int)(2 * SHM_SLABS * TUNED(SHM_POOL_ROUNDS))); /* all of the pool */
    for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++)
        CHECK(pages_of(vi, sizes[s], 2000) <= SHM_SLABS); /* the last page of a slab is left over by the longest block */
    inside_stop();
}

/* All memory in flight on several lanes: "try again", counted; all comes back. */
static void exhaustion(void)
{
    enum { RECEIVERS = 9, LENGTH = 60000 };
    uint64_t before = vbase_counters->blocks_empty, sent = 0, got = 0;
    struct vi *vi[RECEIVERS + 1];
    struct shm_heap *heap;

    inside_start(RECEIVERS + 1);
    for (int i = 0; i <= RECEIVERS; i++)
        inside_open(i);
    for (int i = 1; i <= RECEIVERS; i++)
        vi[i] = inside_connect(0, i);
    heap = &shm_nic_of(inside.nic[0])->heap;
    for (int round = 0; round < 3; round++) {
        int error;
        for (int i = 1; i < RECEIVERS; i++) {
            for (int n = 0; n < 120 && (error = inside_send(vi[i], 7, LENGTH)) == OK; n++)
                sent++;
            CHECK(error == ERR_AGAIN || error == VI_HELD || error == OK);
        }
        while ((error = inside_send(vi[RECEIVERS], 7, LENGTH)) == OK)
            sent++;
        if (sent - got == heap->most) /* else the last receiver holds some */
            CHECK(error == (shm_vi_of(vi[RECEIVERS])->blocks_out ? ERR_AGAIN : VI_HELD));
        CHECK(sent - got >= RECEIVERS - 1 && sent - got <= heap->most);
        CHECK_EQUAL(inside_send(vi[RECEIVERS], 7, 400), OK); /* a row needs none of it */
        got = 0;
        for (int i = 1; i <= RECEIVERS; i++) {
            while (vi_poll(inside.nic[i], 100) > 0)
                ;
            got += inside.got[i];
        }
        CHECK_EQUAL(got, ++sent);
    }
    CHECK(vbase_counters->blocks_empty - before >= 3);
    for (int i = 1; i <= RECEIVERS; i++)
        CHECK_EQUAL(inside_send(vi[i], 7, LENGTH), OK); /* blocks come back from lanes that nobody uses now */
    inside_stop();
}

/* What one peer holds for hours does not keep a message from another one. */
static void held_by_others(void)
{
    struct vi *busy, *waits;
    int error;

    inside_start(3);
    for (int i = 0; i < 3; i++)
        inside_open(i);
    busy = inside_connect(0, 1);
    waits = inside_connect(0, 2);
    while ((error = inside_send(busy, 1, 60000)) == OK)
        ;
    CHECK_EQUAL(error, ERR_AGAIN); /* its own fault */
    for (int n = 0; n < 100; n++) {
        CHECK_EQUAL(inside_send(waits, 2, 60000), OK); /* the pool grows for it */
        CHECK_EQUAL(vi_poll(inside.nic[2], 4), 1);
        poll_idle(2);
    }
    inside_stop();
}

/* Rows of all lengths, short messages between them, whatever they left in the lines: every one comes once, whole. */
static void rows(void)
{
    static unsigned char data[SHM_ROW];
    uint64_t sent = 0, header[256];
    size_t length[256];
    struct vi *vi;

    random_state = 5;
    vi = lane_start();
    inside.got[1] = 0;
    for (int round = 0; round < 300000; round++) {
        size_t at = sent % 256, n = random_below(3) ? random_below(60) : random_below(SHM_ROW + 1);
        /* payload that looks like a head of this lap or the next */
        uint32_t word = shm_word(atomic_load(&shm_vi_of(vi)->out_next) + random_below(2) * SHM_LINES) + 1 + random_below(7);
        for (size_t i = 0; i + 4 <= n; i += 4)
            memcpy(data + i, &word, 4);
        if (n)
            data[n - 1] = (unsigned char)sent;
        struct iovec piece[2] = {{data, n / 2}, {data + n / 2, n - n / 2}};
        int error = sent - inside.got[1] < 200 ? random_below(2) ? vi_send(vi, sent, piece, 2)
                                                                 : vi_send(vi, sent, &(struct iovec){data, n}, 1) : ERR_AGAIN;
        if (error == OK) {
            header[at] = sent++;
            length[at] = n;
        }
        CHECK(error == OK || error == ERR_AGAIN);
        if (error == OK && random_below(3))
            continue;
        uint64_t before = inside.got[1];
        int budget = 1 + (int)random_below(5), count = random_below(2) ? vi_poll(inside.nic[1], budget)
                                                                        : vi_poll_only(inside_connect(1, 0), 1);
        CHECK_EQUAL(inside.got[1], before + (uint64_t)count);
        CHECK(count <= budget && (count > 0) == (before != sent));
        if (!count)
            continue;
        at = (inside.got[1] - 1) % 256;
        CHECK_EQUAL(inside.header[1], header[at]);
        CHECK_EQUAL(inside.length[1], length[at]);
        if (length[at] > 48) /* of a line it may have been added to */
            CHECK_EQUAL(((const unsigned char *)inside.data[1])[length[at] - 1], (unsigned char)(inside.got[1] - 1));
    }
    CHECK(sent > 50000);
    inside_stop();
}

/* Lines at the end of the ring that rows always skip keep what lay there, until it looks like a head of a later lap. */
static void skipped(void)
{
    struct vi *vi = lane_start();
    struct shm_vi *own = shm_vi_of(vi);
    uint64_t sent = inside.got[1], behind = 0;

    while (atomic_load(&own->out_next) < SHM_LINES) {
        behind = atomic_load(&own->out_next) + 1;
        CHECK_EQUAL(inside_send(vi, sent++, 512), OK);
        while (vi_poll(inside.nic[1], 4) > 0)
            ;
    }
    CHECK(behind < SHM_LINES && atomic_load(&own->out_next) > SHM_LINES);
    for (uint64_t line = behind; line < SHM_LINES; line++)
        atomic_store(&own->out[line].published, shm_word(SHM_LINES + line) + 1);
    while (atomic_load(&own->out_next) < 2 * SHM_LINES) {
        CHECK_EQUAL(inside_send(vi, sent++, 8), OK);
        while (vi_poll(inside.nic[1], 4) > 0)
            ;
        CHECK_EQUAL(inside.got[1], sent);
    }
    inside_stop();
}

/* Explicit credit alone keeps a one-way stream alive, and an idle receiver owes nothing. */
static void one_way(void)
{
    struct vi *vi;

    two_start();
    vi = inside_connect(0, 1);
    for (uint64_t n = 0; n < 500; n++) {
        CHECK_EQUAL(inside_send(vi, n, n % 100), OK);
        CHECK_EQUAL(vi_poll(inside.nic[1], 1), 1);
    }
    CHECK_EQUAL(atomic_load(&shm_vi_of(vi)->turn->published), 1);
    poll_idle(1);
    CHECK_EQUAL(atomic_load(&shm_vi_of(vi)->credit->consumed), atomic_load(&shm_vi_of(vi)->out_next) * 8);
    inside_stop();
}

/* Short messages of one header share cells. Whatever is sent between, however little is taken at a time, and wherever the
 * receiver stands when the sender adds: every one comes once, in order. */
static void bundles(void)
{
    static const size_t lengths[] = {0, 1, 4, 7, 8, 12, 16, 24, 25, 48, 100};
    static unsigned state = 7;
    uint64_t header[64];
    size_t length[64];
    unsigned char sent = 0, got = 0;
    struct vi *vi = lane_start();
    for (int round = 0; round < 100000; round++) {
        unsigned pick = (state = state * 1103515245u + 12345u) >> 16;
        if (pick % 3 && (unsigned char)(sent - got) < 60) {
            char data[100];
            unsigned char at = sent++ % 64;
            bool same = sent > 1 && pick / 4 % 8;
            header[at] = same ? header[(at + 63) % 64] : pick;
            length[at] = same ? length[(at + 63) % 64] : lengths[pick / 64 % ARRAY_LENGTH(lengths)];
            struct iovec piece = {memset(data, at, sizeof(data)), length[at]};
            CHECK_EQUAL(vi_send(vi, header[at], &piece, 1), OK);
        } else {
            uint64_t before = inside.got[1];
            int budget = 1 + (int)(pick / 4 % 5);
            int count = pick / 64 % 2 ? vi_poll(inside.nic[1], budget) : vi_poll_only(inside_connect(1, 0), 1);
            CHECK(count <= budget);
            CHECK_EQUAL(inside.got[1], before + (uint64_t)count);
            CHECK_EQUAL(count > 0, got != sent);
            got += (unsigned char)count;
            unsigned char last = (unsigned char)(got - 1) % 64;
            CHECK_EQUAL(inside.header[1], count ? header[last] : inside.header[1]);
            CHECK_EQUAL(inside.length[1], count ? length[last] : inside.length[1]);
            if (count && length[last])
                CHECK_EQUAL(*((const unsigned char *)inside.data[1] + length[last] - 1), last);
        }
    }
    inside_stop();
}

/* Six messages of 8 bytes move one cell, and credit is given for part of one. */
static void bundle_credit(void)
{
    struct vi *vi;

    two_start();
    vi = inside_connect(0, 1);
    CHECK_EQUAL(inside_send(vi, 5, 8), OK); /* by turn; nobody answers, so the others take the lane */
    for (int n = 1; n <= 20; n++) {
        CHECK_EQUAL(inside_send(vi, 5, 8), OK);
        while (inside.got[1] <= (uint64_t)n)
            vi_poll(inside.nic[1], 1);
        poll_idle(1);
        CHECK_EQUAL(atomic_load(&shm_vi_of(vi)->credit->consumed), (uint32_t)(n / 6 * 8 + n % 6));
    }
    CHECK_EQUAL(atomic_load(&shm_vi_of(vi)->out_next), 4);
    inside_stop();
}

/* A sink that disconnects inside, in the middle of a bundle: nothing more of this session comes, and the next one is whole. */
static bool received_last(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count)
{
    (void)data, (void)length;
    inside.got[vi->nic->rank] += header == 5 ? 1 : count;
    inside.header[vi->nic->rank] = header;
    if (header == 5)
        vi_disconnect(vi);
    return false;
}

static void left_within(const char *script)
{
    struct vi *vi;

    inside_start(2);
    fault_words = script;
    inside_open(0);
    inside_open(1);
    inside.nic[1]->sink.received = received_last;
    vi = inside_connect(0, 1);
    CHECK_EQUAL(inside_send(inside_connect(1, 0), 7, 0), OK);
    for (int n = 0; n < 5; n++)
        CHECK_EQUAL(inside_send(vi, 5, 8), OK);
    for (int n = 0; n < 20; n++)
        vi_poll(inside.nic[1], 16);
    CHECK_EQUAL(inside.got[1], 1);
    for (int n = 0; n < 20; n++)
        vi_poll(inside.nic[0], 16);
    CHECK_EQUAL(inside.down[0], 1);
    CHECK_EQUAL(inside_send(vi, 5, 8), ERR_LINK_DOWN);
    vi_disconnect(vi);
    vi = inside_connect(0, 1);
    for (int n = 0; n < 3; n++)
        CHECK_EQUAL(inside_send(vi, 6, 8), OK);
    for (int n = 0; n < 20; n++)
        vi_poll(inside.nic[1], 16);
    CHECK_EQUAL(inside.got[1], 4);
    CHECK_EQUAL(inside.header[1], 6);
    inside_stop();
}

/* Two that answer each other write one line, and the lanes stay as they are. Turns are 32 bits of a count from FIRST on. */
static void by_turns(uint64_t first)
{
    struct vi *side[2];

    two_start();
    for (uint64_t i = 0; i < 2; i++) {
        struct shm_vi *vi = shm_vi_of(side[i] = inside_connect((int)i, 1 - (int)i));
        atomic_store(&vi->turn_out, i ? 0 : first);
        vi->turn_in = first + 1 - i;
    }
    CHECK_EQUAL(inside_send(side[1], 0, 8), OK); /* it is not its turn: by the lane */
    CHECK_EQUAL(vi_poll(inside.nic[0], 1), 1);
    for (uint64_t n = 0; n < 1000; n++) {
        struct shm_vi *from = shm_vi_of(side[n % 2]);
        int to = 1 - (int)(n % 2);
        CHECK_EQUAL(inside_send(&from->vi, n, n % 5 * 12), OK);
        CHECK_EQUAL(atomic_load(&from->turn->published), (uint32_t)(first + n));
        CHECK_EQUAL(n % 2 || n == 0 ? vi_poll(inside.nic[to], 16) : vi_poll_only(side[to], 1), 1);
        CHECK_EQUAL(inside.header[to], n);
        CHECK_EQUAL(inside.length[to], n % 5 * 12);
        CHECK_EQUAL(vi_poll(inside.nic[to], 16), 0);
    }
    CHECK_EQUAL(atomic_load(&shm_vi_of(side[0])->out_next), 0);
    CHECK_EQUAL(atomic_load(&shm_vi_of(side[1])->out_next), 1);
    inside_stop();
}

/* What went by turn stands between what the lane holds from before and from behind it. */
static void turn_between(int before, int behind, bool same)
{
    struct vi *there, *back;

    two_start();
    there = inside_connect(0, 1);
    back = inside_connect(1, 0);
    CHECK_EQUAL(inside_send(there, 0, 8), OK); /* the first turn; the next one is the peer's */
    for (int n = 0; n < before; n++)
        CHECK_EQUAL(inside_send(there, same ? 7 : (uint64_t)n, n % 3 ? 8 : same ? 8 : 200), OK);
    CHECK_EQUAL(vi_poll(inside.nic[1], 1), 1);
    CHECK_EQUAL(inside_send(back, 0, 8), OK);
    CHECK_EQUAL(vi_poll(inside.nic[0], 1), 1);
    CHECK_EQUAL(inside_send(there, 1000, 8), OK); /* by turn */
    for (int n = 0; n < behind; n++)
        CHECK_EQUAL(inside_send(there, same ? 7 : 2000 + (uint64_t)n, n % 3 ? 8 : same ? 8 : 200), OK);
    CHECK_EQUAL(atomic_load(&shm_vi_of(there)->turn->published), 3);
    for (int n = 0; n < before + 1 + behind; n++) {
        uint64_t header = n == before ? 1000 : same ? 7 : n < before ? (uint64_t)n : 2000 + (uint64_t)(n - before - 1);
        CHECK_EQUAL(n % 2 ? vi_poll(inside.nic[1], 1) : vi_poll_only(inside_connect(1, 0), 1), 1);
        CHECK_EQUAL(inside.header[1], header);
    }
    CHECK_EQUAL(vi_poll(inside.nic[1], 1), 0);
    inside_stop();
}

/* Both send and take as it comes, short and long, much and little at a time: each way all comes once, in order, and is known to be
 * taken. */
static void two_ways(void)
{
    static uint64_t header[2][64];
    static size_t length[2][64];
    uint64_t sent[2] = {0};
    struct vi *side[2];

    random_state = 11;
    two_start();
    side[0] = inside_connect(0, 1);
    side[1] = inside_connect(1, 0);
    for (int from = 0; from < 2; from++) { /* a lane is looked at alone when it is known */
        CHECK_EQUAL(inside_send(side[from], 0, 0), OK);
        CHECK_EQUAL(vi_poll(inside.nic[1 - from], 1), 1);
        sent[from]++;
    }
    for (int round = 0; round < 300000; round++) {
        unsigned from = random_below(2), to = 1 - from, at = sent[from] % 64;
        if (random_below(round / 1000 % 2 ? 2 : 4) == 0 && sent[from] - inside.got[to] < 60) {
            char data[600];
            bool same = sent[from] > 0 && random_below(4) > 0;
            header[from][at] = same ? header[from][(at + 63) % 64] : (uint64_t)random_below(1000);
            length[from][at] = same ? length[from][(at + 63) % 64] : (size_t)random_below(random_below(3) ? 30 : 600);
            memset(data, (int)(sent[from]++ % 251), sizeof(data));
            struct iovec piece[2] = {{data, length[from][at]}, {data, 0}};
            CHECK_EQUAL(vi_send(side[from], header[from][at], piece, random_below(8) ? 1 : 2), OK);
            continue;
        }
        uint64_t before = inside.got[to];
        int budget = 1 + (int)random_below(9);
        int count = random_below(2) ? vi_poll(inside.nic[to], budget) : vi_poll_only(side[to], 1);
        CHECK(count <= budget && (count > 0) == (before != sent[from]));
        CHECK_EQUAL(inside.got[to], before + (uint64_t)count);
        if (count == 0)
            continue;
        at = (inside.got[to] - 1) % 64;
        CHECK_EQUAL(inside.header[to], header[from][at]);
        CHECK_EQUAL(inside.length[to], length[from][at]);
        if (length[from][at])
            CHECK_EQUAL(*((const unsigned char *)inside.data[to] + length[from][at] - 1), (inside.got[to] - 1) % 251);
    }
    CHECK(atomic_load(&shm_vi_of(side[0])->turn->published) > 10000); /* many went by turn */
    inside_stop();
}

static void poll_both(void)
{
    for (int n = 0; n < 20; n++)
        for (int i = 0; i < 2; i++)
            vi_poll(inside.nic[i], 16);
}

/* Either side may leave first; the next session goes on where this one ended. */
static void sessions(void)
{
    struct vi *side[2];

    two_start();
    for (uint64_t n = 0; n < 300; n++) {
        int first = random_below(2) > 0;
        side[0] = inside_connect(0, 1);
        side[1] = inside_connect(1, 0);
        for (int i = 0; i < 2; i++) {
            CHECK_EQUAL(inside_send(side[1 - i], n, 8), OK);
            poll_both();
            CHECK_EQUAL(inside.got[i], n + 1);
            CHECK_EQUAL(inside.header[i], n);
        }
        vi_disconnect(side[first]);
        poll_both();
        CHECK_EQUAL(inside.down[0] + inside.down[1], (int)n + 1);
        vi_disconnect(side[1 - first]);
        poll_both();
    }
    inside_stop();
}

int main(void)
{
    CHECK_EQUAL(vbase_settings_read(), OK);
    one_way(); /* with probes between the messages */
    two_ways();
    rows();
    atomic_store(&shm_line_fixed, CLASS_FAR); /* and none from here on: lines are counted. Far, rows are long */
    rows();
    skipped();
    atomic_store(&shm_line_fixed, CLASS_SLOW);
    wrap();
    rotation();
    pages_are_shared();
    exhaustion();
    held_by_others();
    one_way();
    bundles();
    bundle_credit();
    by_turns(1);
    by_turns((1ull << 32) - 499);
    for (int before = 0; before < 10; before++)
        for (int behind = 0; behind < 10; behind++)
            turn_between(before, behind, true), turn_between(before, behind, false);
    two_ways();
    sessions();
    left_within(NULL);
    left_within("seed=1"); /* the same with a provider between */
    return check_done();
}
