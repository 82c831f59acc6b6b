/* The learned choice between the ways of a large message: with times that the test makes up. It follows a machine that
 * changes, loses little by trials, is not led astray by single slow ones, and works with several messages under way. */
#include "check.h"
#include "msg/choice.h"
#include <string.h>

#define ALL 7u
#define BYTES 300000u

static const double shared[MSG_WAYS] = {1.0, 1.2, 2.6}, apart[MSG_WAYS] = {5.0, 1.6, 3.0}, absent[MSG_WAYS] = {30, 9, 3};

struct machine {
    struct msg_choice choice;
    const double *cost;
    uint64_t now, lost, spent;
    unsigned seed, noise; /* noise: one transfer in so many is interrupted; 0: none */
    int done[MSG_WAYS];
};

static uint64_t takes(struct machine *machine, enum msg_way way)
{
    uint64_t ticks = (uint64_t)(machine->cost[way] * BYTES / 10);
    machine->seed = machine->seed * 1103515245 + 12345;
    ticks += ticks * (machine->seed >> 16 & 63) / 640; /* up to a tenth */
    if (machine->noise && (machine->seed >> 16) % machine->noise == 0)
        ticks *= 100;
    return ticks;
}

/* WINDOW messages come at once and are moved one after another. */
static void transfers(struct machine *machine, int window)
{
    enum msg_way way[16];
    uint64_t began = machine->now;
    double best = machine->cost[0];
    for (int w = 1; w < MSG_WAYS; w++)
        best = machine->cost[w] < best ? machine->cost[w] : best;
    for (int i = 0; i < window; i++)
        way[i] = vmsg_choice_take(&machine->choice, BYTES, ALL, MSG_WAY_FRAMES);
    for (int i = 0; i < window; i++) {
        uint64_t ticks = takes(machine, way[i]);
        machine->now += ticks;
        machine->done[way[i]]++;
        machine->spent += (uint64_t)(machine->cost[way[i]] * BYTES / 10);
        machine->lost += (uint64_t)((machine->cost[way[i]] - best) * BYTES / 10);
        vmsg_choice_told(&machine->choice, BYTES, way[i], began, machine->now, MSG_ORDER_ALONE);
    }
    machine->now += 1000000; /* the program computes: that is nobody's time */
}

static void run(struct machine *machine, const double *cost, int messages, int window)
{
    machine->cost = cost;
    machine->lost = machine->spent = 0;
    memset(machine->done, 0, sizeof machine->done);
    for (int i = 0; i < messages; i += window)
        transfers(machine, window);
}

static bool mostly(const struct machine *machine, enum msg_way way, int messages)
{
    return machine->done[way] > messages / 20 * 19;
}

static void follows(int window, unsigned noise)
{
    struct machine machine = {.seed = 1, .noise = noise};
    run(&machine, shared, 2000, window);
    CHECK(machine.done[MSG_WAY_FRAMES] > 2000 / 20 * 17); /* nothing was known */
    run(&machine, shared, 20000, window);
    CHECK(machine.lost * 100 <= machine.spent * 2);
    run(&machine, apart, 64, window); /* within some tens of transfers */
    run(&machine, apart, 20000, window);
    CHECK(mostly(&machine, MSG_WAY_JOINT, 20000));
    CHECK(machine.lost * 100 <= machine.spent * 2);
    run(&machine, shared, 1000, window); /* nothing is seen of it but by a trial */
    run(&machine, shared, 2000, window);
    CHECK(mostly(&machine, MSG_WAY_FRAMES, 2000));
    run(&machine, absent, 100, window);
    run(&machine, absent, 2000, window);
    CHECK(mostly(&machine, MSG_WAY_GET, 2000));
}

/* A way that is not allowed is not taken, whatever was learned. */
static void obeys(void)
{
    struct machine machine = {.seed = 5};
    run(&machine, apart, 1000, 1);
    for (int i = 0; i < 1000; i++) {
        enum msg_way way = vmsg_choice_take(&machine.choice, BYTES, 1u << MSG_WAY_FRAMES | 1u << MSG_WAY_GET, MSG_WAY_FRAMES);
        CHECK(way != MSG_WAY_JOINT);
    }
}

/* What is learned of one size says nothing of another. */
static void sizes_are_apart(void)
{
    struct machine machine = {.seed = 7};
    run(&machine, apart, 1000, 1);
    CHECK_EQUAL(vmsg_choice_take(&machine.choice, 20000, ALL, MSG_WAY_FRAMES), MSG_WAY_FRAMES);
    CHECK_EQUAL(vmsg_choice_take(&machine.choice, UINT64_MAX / 70000, ALL, MSG_WAY_JOINT), MSG_WAY_JOINT);
}

/* Transfers that do not end as they began tell nothing, but they do not keep their trial open either: the next comes. */
static void broken_trials(void)
{
    struct msg_choice choice = {0};
    int tried = 0;
    for (uint64_t i = 1; i <= 1000; i++) {
        enum msg_way way = vmsg_choice_take(&choice, BYTES, 1u << MSG_WAY_FRAMES | 1u << MSG_WAY_GET, MSG_WAY_FRAMES);
        tried += way == MSG_WAY_GET;
        vmsg_choice_told(&choice, BYTES, way, way == MSG_WAY_GET ? 0 : i * 1000000, i * 1000000 + 30000, MSG_ORDER_ALONE);
    }
    CHECK(tried >= 15); /* five trials */
    CHECK(tried <= 100);
}

/* An end that is told after a later one says nothing, and takes nothing from the one after it. */
static void late_tellings(void)
{
    struct msg_choice choice = {0};
    unsigned class = 0;
    for (uint64_t i = 1; i <= 1000; i++) {
        (void)!vmsg_choice_take(&choice, BYTES, 1u << MSG_WAY_JOINT, MSG_WAY_JOINT);
        vmsg_choice_told(&choice, BYTES, MSG_WAY_JOINT, i * 1000000, i * 1000000 + 30000, MSG_ORDER_ALONE);
        vmsg_choice_told(&choice, BYTES, MSG_WAY_JOINT, i * 1000000, i * 1000000 + 20000, MSG_ORDER_ALONE);
        vmsg_choice_told(&choice, BYTES, MSG_WAY_JOINT, i * 1000000, i * 1000000 + 60000, MSG_ORDER_ALONE);
    }
    while (!choice.ways[class].cost[MSG_WAY_JOINT])
        class++;
    uint64_t cost = (uint64_t)choice.ways[class].cost[MSG_WAY_JOINT] * BYTES / 65536;
    CHECK(cost > 29000 && cost < 31000);
}

/* Amid a trial its way is allowed no more: others are tried all the same. */
static void forbidden_trial(void)
{
    struct msg_choice choice = {0};
    unsigned allowed = 1u << MSG_WAY_JOINT | 1u << MSG_WAY_GET;
    int got = 0;
    for (uint64_t i = 1; i <= 1000; i++) {
        enum msg_way way = vmsg_choice_take(&choice, BYTES, allowed, MSG_WAY_GET);
        if (way == MSG_WAY_JOINT)
            allowed = 1u << MSG_WAY_FRAMES | 1u << MSG_WAY_GET;
        got += way == MSG_WAY_FRAMES;
        CHECK(allowed >> way & 1 || way == MSG_WAY_JOINT);
        vmsg_choice_told(&choice, BYTES, way, i * 1000000, i * 1000000 + 30000, way == MSG_WAY_JOINT ? MSG_ORDER_BESIDE : MSG_ORDER_ALONE);
    }
    CHECK(!(allowed >> MSG_WAY_JOINT & 1) && got > 0);
}

/* Messages under way disturb each other: a get takes three times as long while the sender puts what is behind it, and what he puts
 * before its turn tells nothing. Alone a get is best. */
static void windows(void)
{
    enum { WINDOW = 16, GET = 20000, JOINT = 30000 };
    struct msg_choice choice = {0};
    uint64_t now = 1;
    int got = 0;
    for (int round = 0; round < 500; round++) {
        enum msg_way way[WINDOW];
        uint64_t began = now;
        int joint = 0, overtaking = 0;
        for (int i = 0; i < WINDOW; i++) {
            way[i] = vmsg_choice_take(&choice, BYTES, 1u << MSG_WAY_JOINT | 1u << MSG_WAY_GET, MSG_WAY_JOINT);
            joint += way[i] == MSG_WAY_JOINT;
            got += round >= 100 && way[i] == MSG_WAY_GET;
        }
        for (int i = 0; i < WINDOW; i++) {
            bool get = way[i] == MSG_WAY_GET, overtook = !get && overtaking > 0;
            joint -= !get;
            overtaking += get && joint ? 2 : overtook ? -1 : 0;
            now += get && joint ? 3 * GET : get ? GET : overtook ? 0 : JOINT;
            enum msg_order order = overtook ? MSG_ORDER_OVERTOOK : get && joint ? MSG_ORDER_BESIDE : MSG_ORDER_ALONE;
            vmsg_choice_told(&choice, BYTES, way[i], began, now, order);
        }
    }
    CHECK(got > 400 * WINDOW / 10 * 9);
}

/* Where another way was guessed, frames with their cold blocks are not tried before a hundred transfers, but then they are. */
static void late_frames(unsigned allowed, enum msg_way first)
{
    struct msg_choice choice = {0};
    int frames = 0;
    for (uint64_t i = 1; i <= 2000; i++) {
        enum msg_way way = vmsg_choice_take(&choice, BYTES, allowed, first);
        frames += way == MSG_WAY_FRAMES;
        CHECK(i > 100 || !frames);
        vmsg_choice_told(&choice, BYTES, way, i * 1000000, i * 1000000 + (way == first ? 30000 : 40000), MSG_ORDER_ALONE);
    }
    CHECK(frames > 0);
}

/* What the other side chose is done, size by size, where it is allowed. */
static void follows_the_other(void)
{
    struct msg_choice choice = {0};
    CHECK_EQUAL(vmsg_choice_follow(&choice, BYTES, ALL, MSG_WAY_JOINT), MSG_WAY_JOINT);
    vmsg_choice_heard(&choice, BYTES, MSG_WAY_GET);
    CHECK_EQUAL(vmsg_choice_follow(&choice, BYTES, ALL, MSG_WAY_FRAMES), MSG_WAY_GET);
    CHECK_EQUAL(vmsg_choice_follow(&choice, BYTES * 4, ALL, MSG_WAY_FRAMES), MSG_WAY_FRAMES);
    vmsg_choice_heard(&choice, BYTES, MSG_WAY_FRAMES);
    CHECK_EQUAL(vmsg_choice_follow(&choice, BYTES, ALL, MSG_WAY_JOINT), MSG_WAY_FRAMES);
    CHECK_EQUAL(vmsg_choice_follow(&choice, BYTES, 1u << MSG_WAY_GET, MSG_WAY_GET), MSG_WAY_GET);
}

/* While the receiver gets one alone, the sender moves the joint ones behind it, which end first, or sooner after it than they
 * take: both is nobody's merit. Eight come at once; a joint one takes 10, got alone it takes 18, put alone 20. */
static void overtaken(void)
{
    struct msg_choice choice = {0};
    uint64_t now = 1000000, ahead = 0; /* ahead: what the sender did of the next ones before their time */
    int got = 0, messages = 4000;
    for (int n = 0; n < messages; n += 8) {
        enum msg_way way[8];
        bool ended[8] = {false};
        uint64_t began = now;
        for (int i = 0; i < 8; i++)
            way[i] = vmsg_choice_take(&choice, BYTES, 1u << MSG_WAY_JOINT | 1u << MSG_WAY_GET, MSG_WAY_JOINT);
        for (int i = 0; i < 8; i++) {
            uint64_t end = now + (way[i] == MSG_WAY_GET ? 18000 : ahead >= 10000 ? 0 : 10000 - ahead);
            if (ended[i])
                continue;
            bool beside = false;
            for (int k = i + 1; k < 8 && way[i] == MSG_WAY_GET; k++)
                beside = beside || (way[k] == MSG_WAY_JOINT && !ended[k]);
            got += way[i] == MSG_WAY_GET;
            ahead = way[i] == MSG_WAY_GET ? ahead + 9000 : 0;
            for (int k = i + 1; k < 8 && ahead >= 10000; k++) {
                if (way[k] != MSG_WAY_JOINT || ended[k])
                    continue;
                ended[k] = true;
                ahead -= 10000;
                vmsg_choice_told(&choice, BYTES, way[k], began, end - 3000, MSG_ORDER_OVERTOOK);
            }
            vmsg_choice_told(&choice, BYTES, way[i], began, now = end, beside ? MSG_ORDER_BESIDE : MSG_ORDER_ALONE);
        }
        now += 1000000;
    }
    CHECK(got > 0);
    CHECK(got < messages / 20);
}

/* Frames that are guessed are given time to become warm, but not by a machine on which they are hopeless. */
static void guessed(uint64_t frames, bool stay)
{
    struct msg_choice choice = {0};
    int others = 0;
    for (uint64_t i = 1; i <= 100; i++) { /* 30 MB: cold */
        enum msg_way way = vmsg_choice_take(&choice, BYTES, 1u << MSG_WAY_FRAMES | 1u << MSG_WAY_JOINT, MSG_WAY_FRAMES);
        others += way != MSG_WAY_FRAMES;
        vmsg_choice_told(&choice, BYTES, way, i * 1000000, i * 1000000 + (way == MSG_WAY_FRAMES ? frames : 10000), MSG_ORDER_ALONE);
    }
    CHECK(stay ? others < 20 : others > 80);
}

/* Times that make no sense do no harm. */
static void strange_times(void)
{
    struct msg_choice choice = {0};
    for (uint64_t i = 0; i < 10000; i++) {
        enum msg_way way = vmsg_choice_take(&choice, 1, ALL, MSG_WAY_GET);
        CHECK(way < MSG_WAYS);
        vmsg_choice_told(&choice, i % 3 ? 1 : 1ull << 40, way, i << 40, i % 2 ? i << 39 : i << 41, (enum msg_order)(i % 3));
    }
}

/* Two parts that both ends copy: wherever both would be ready at once, the receiver's part comes near it, his being the later one. */
static void shares(void)
{
    const unsigned even[] = {70, 100, 128, 160, 200, 250};
    struct msg_choice choice = {0};
    for (size_t i = 0; i < ARRAY_LENGTH(even); i++) {
        unsigned late = 0;
        for (int n = 0; n < 400; n++) {
            unsigned share = vmsg_choice_share(&choice, BYTES, true);
            if (n >= 300)
                late += share > even[i];
            vmsg_choice_balance(&choice, BYTES, share <= even[i]);
        }
        unsigned share = vmsg_choice_share(&choice, BYTES, true);
        CHECK(even[i] == 250 ? share == 224 : share >= even[i] - 3 && share <= even[i] + 4);
        CHECK(even[i] == 250 || late > 50);
    }
    CHECK_EQUAL(vmsg_choice_share(&choice, 1 << 20, true), 129); /* nothing is known of those */
    CHECK_EQUAL(vmsg_choice_share(&choice, 1 << 15, false), 128); /* others wait */
}

int main(void)
{
    follows(1, 0);
    follows(8, 0);
    follows(1, 50);
    follows(8, 50);
    obeys();
    sizes_are_apart();
    broken_trials();
    late_tellings();
    forbidden_trial();
    windows();
    late_frames(ALL, MSG_WAY_JOINT);
    late_frames(1u << MSG_WAY_FRAMES | 1u << MSG_WAY_GET, MSG_WAY_GET);
    follows_the_other();
    overtaken();
    guessed(17000, true);
    guessed(30000, false);
    strange_times();
    shares();
    return check_done();
}
