/* A broadcast whose members pass other lengths than its root: each one ends, also in later starts; it has as much of the
 * root's bytes as it has room for, no byte beyond is touched, and its error says whether the root's were more or less.
 * Among ranks on one node and on several, and between two groups.
 * takes: 10 presets: release asan
 * timeout: 120
 * apart: 1 */
#include "coll/fake_msg.h"
#include "coll/nodes.h"

#define RANKS 40
#define LONGEST (3u << 20)
#define GUARD 0xA5

static struct coll_group group[RANKS];
static struct coll_schedule *schedule[RANKS];
static unsigned char *data[RANKS];
static uint64_t room[RANKS];

static uint64_t some_length(int size)
{
    uint64_t longest = size > 9 ? 70000 : LONGEST;
    static const uint64_t length[] = {0, 1, 8, 100, 2047, 2048, 2049, 2056, 4096, 70000, 400000, 1100000, LONGEST};
    uint64_t one;
    do
        one = length[case_random(ARRAY_LENGTH(length))];
    while (one > longest);
    return one;
}

static void member_check(int rank, int root, int start)
{
    uint64_t came = room[root] < room[rank] ? room[root] : room[rank];
    int told = rank == root || room[rank] == room[root] ? OK : room[rank] < room[root] ? ERR_TRUNCATED : ERR_ARGUMENT;
    CHECK(vcoll_done(schedule[rank]));
    CHECK_EQUAL(vcoll_error(schedule[rank]), told);
    for (uint64_t i = 0; i < came; i++)
        if (data[rank][i] != (unsigned char)(i * 7 + (uint64_t)start)) {
            CHECK_EQUAL(i, came);
            return;
        }
    for (uint64_t i = room[rank]; i < room[rank] + 64; i++)
        CHECK_EQUAL(data[rank][i], GUARD);
}

/* Those of the root's group have no part in it where the call is between two groups. */
static bool takes_part(int rank, int root, int split) { return rank == root || !split || (rank < split) != (root < split); }

static void starts(int size, int root, int split, bool unlike)
{
    struct coll_call call = {.kind = COLL_BCAST, .between = split > 0};
    room[root] = some_length(size);
    for (int i = 0; i < size; i++) {
        if (i != root)
            room[i] = unlike && case_random(3) == 0 ? some_length(size) : room[root];
        data[i] = malloc(room[i] + 64);
        call.root = !split ? root : i == root ? COLL_ROOT_HERE : !takes_part(i, root, split) ? COLL_ROOT_BESIDE
                    : root < split ? root : root - split;
        call.group = &group[i];
        call.receive = (struct coll_side){.base = data[i], .count = room[i]};
        CHECK_EQUAL(vcoll_prepare(&call, &schedule[i]), OK);
    }
    for (int start = 0; start < 2; start++) {
        for (int i = 0; i < size; i++) {
            memset(data[i], GUARD, room[i] + 64);
            for (uint64_t b = 0; i == root && b < room[i]; b++)
                data[i][b] = (unsigned char)(b * 7 + (uint64_t)start);
        }
        for (int i = 0; i < size; i++)
            CHECK_EQUAL(vcoll_launch(schedule[i], NULL, NULL), OK);
        while (fake_step(size))
            ;
        for (int i = 0; i < size; i++)
            if (takes_part(i, root, split))
                member_check(i, root, start);
            else
                CHECK(vcoll_done(schedule[i]));
    }
    for (int i = 0; i < size; i++) {
        vcoll_release(schedule[i]);
        free(data[i]);
    }
}

/* NODES of about equally many ranks, 0: no member knows of nodes; BY_TURNS: the ranks of a node are no neighbours. */
static void broadcasts(int size, int nodes, bool by_turns, int split)
{
    int32_t name[RANKS];
    fake_open(size, (uint64_t)(size + 100 * nodes + 1000 * split + by_turns));
    for (int i = 0; i < size; i++)
        name[i] = by_turns ? i % (nodes + 1) : nodes ? i * nodes / size : 0;
    for (int i = 0; i < size; i++)
        group[i] = (struct coll_group){.context = &fake.context[i], .rank = i, .size = size, .split = split,
                                       .meetings = UINT32_MAX,
                                       .nodes = nodes ? vcoll_nodes_new(name, size, i) : NULL};
    for (int i = 0; i < 5; i++)
        starts(size, (int)case_random((uint64_t)size), split, i > 0);
    fake_close();
    for (int i = 0; i < size; i++)
        vcoll_group_close(&group[i]);
}

int main(void)
{
    static const int sizes[] = {2, 3, 4, 5, 8, 9, 20, 40};
    for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++) {
        int size = sizes[s];
        broadcasts(size, 0, false, 0);
        broadcasts(size, 0, false, 1 + size / 3);
        for (int nodes = 2; nodes <= 3 && nodes < size; nodes++)
            for (int way = 0; way < 4; way++) {
                vbase_settings.coll = way & 2 ? "slices" : "";
                broadcasts(size, nodes, way & 1, 0);
            }
        vbase_settings.coll = "";
    }
    return check_done();
}
