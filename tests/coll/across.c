/* What a node sends to other nodes in the collectives of a group on several nodes, counted in messages over a model of
 * msg.
 *
 * apart: 1 */
#include "coll/fake_msg.h"

#include "coll/nodes.h"

#define NODES 32
#define PER_NODE 2
#define SIZE (NODES * PER_NODE)

static struct coll_group group[SIZE];
#define LONG (256u << 10) /* bytes that go by slices */

static union {
    uint32_t word;
    unsigned char byte[LONG];
} value[SIZE];
static struct coll_schedule *schedule[SIZE];
static uint32_t given[SIZE][SIZE], taken[SIZE][SIZE]; /* of each rank, words for each or from each */

static int node_of(int rank) { return rank / PER_NODE; }

static void spread(void)
{
    int32_t name[SIZE];
    fake_open(SIZE, 1);
    for (int r = 0; r < SIZE; r++)
        name[r] = node_of(r);
    for (int r = 0; r < SIZE; r++)
        group[r] = (struct coll_group){.context = &fake.context[r], .rank = r, .size = SIZE, .meetings = UINT32_MAX,
                                       .nodes = vcoll_nodes_new(name, SIZE, r)};
}

static bool all_done(void *context)
{
    (void)context;
    for (int r = 0; r < SIZE; r++)
        if (!vcoll_done(schedule[r]))
            return false;
    return true;
}

static void start(int rank, struct coll_call call)
{
    call.group = &group[rank];
    CHECK_EQUAL(vcoll_prepare(&call, &schedule[rank]), OK);
    CHECK_EQUAL(vcoll_launch(schedule[rank], NULL, NULL), OK);
}

static void all_end(void)
{
    CHECK_EQUAL(vmsg_wait_until(all_done, NULL), OK);
    for (int r = 0; r < SIZE; r++)
        vcoll_release(schedule[r]);
}

static void run(enum coll_kind kind, int root, uint64_t bytes)
{
    memset(fake.sent, 0, sizeof fake.sent);
    for (int r = 0; r < SIZE; r++) {
        value[r].word = 1u << (r % 32);
        start(r, (struct coll_call){
                     .kind = kind, .root = root, .send = {.base = COLL_IN_PLACE},
                     .receive = {.base = &value[r], .count = bytes},
                     .reduction = {.kernel = vtype_kernel(OPERATION_BOR, ELEMENT_U8), .commutative = true}});
    }
    all_end();
}

/* Words that tell from which rank to which they go; of an allgather, to all. */
static void run_words(enum coll_kind kind)
{
    bool to_each = kind == COLL_ALLTOALL;
    memset(fake.sent, 0, sizeof fake.sent);
    memset(taken, 0, sizeof taken);
    for (int r = 0; r < SIZE; r++) {
        for (int to = 0; to < SIZE; to++)
            given[r][to] = (uint32_t)(1000 * r + to * to_each + 1);
        start(r, (struct coll_call){.kind = kind, .send = {.base = given[r], .count = sizeof given[r][0]},
                                    .receive = {.base = taken[r], .count = sizeof taken[r][0]}});
    }
    all_end();
    for (int r = 0; r < SIZE; r++)
        for (int from = 0; from < SIZE; from++)
            CHECK_EQUAL(taken[r][from], (uint32_t)(1000 * from + r * to_each + 1));
}

/* Messages between nodes: those that NODE sends, those that come to it. */
static void count_of_node(int node, int *out, int *in)
{
    *out = *in = 0;
    for (int from = 0; from < SIZE; from++)
        for (int to = 0; to < SIZE; to++)
            if (node_of(from) != node_of(to)) {
                *out += node_of(from) == node ? fake.sent[from][to] : 0;
                *in += node_of(to) == node ? fake.sent[from][to] : 0;
            }
}

static void barrier_of_a_node_is_at_most_five_messages(void)
{
    run(COLL_BARRIER, 0, 0);
    for (int node = 0, out, in; node < NODES; node++) {
        count_of_node(node, &out, &in);
        CHECK(out > 0 && out <= 5); /* 2^5 nodes */
    }
}

static void sum_is_two_messages_for_each_node_but_one(void)
{
    int messages = 0;
    run(COLL_ALLREDUCE, 0, 4);
    for (int node = 0, out, in; node < NODES; node++) {
        count_of_node(node, &out, &in);
        messages += out;
    }
    CHECK_EQUAL(messages, 2 * (NODES - 1));
}

/* Of a tree of four a root has seven children: no node is that of both slices. */
static void long_sum_has_a_root_for_each_slice(void)
{
    for (int r = 0; r < SIZE; r++)
        memset(value[r].byte, 0, LONG);
    run(COLL_ALLREDUCE, 0, LONG);
    for (int node = 0, out, in; node < NODES; node++) {
        count_of_node(node, &out, &in);
        CHECK(out >= PER_NODE && out < 2 * 7);
        CHECK(in >= PER_NODE && in < 2 * 7);
    }
    for (int r = 0; r < SIZE; r++)
        CHECK(value[r].word == UINT32_MAX && value[r].byte[4] == 0 && value[r].byte[LONG - 1] == 0);
}

static void broadcast_comes_once_to_each_node(int root)
{
    run(COLL_BCAST, root, 4);
    for (int node = 0, out, in; node < NODES; node++) {
        count_of_node(node, &out, &in);
        CHECK_EQUAL(in, node != node_of(root));
    }
    for (int r = 0; r < SIZE; r++)
        CHECK_EQUAL(value[r].word, 1u << (root % 32));
}

static void allgather_of_a_node_is_five_messages(void)
{
    run_words(COLL_ALLGATHER);
    for (int node = 0, out, in; node < NODES; node++) {
        count_of_node(node, &out, &in);
        CHECK_EQUAL(out, 5);
        CHECK_EQUAL(in, 5);
    }
}

static void alltoall_is_one_message_from_node_to_node(void)
{
    run_words(COLL_ALLTOALL);
    for (int a = 0; a < NODES; a++)
        for (int b = 0, messages = 0; b < NODES; b++, messages = 0) {
            for (int from = a * PER_NODE; from < (a + 1) * PER_NODE; from++)
                for (int to = b * PER_NODE; to < (b + 1) * PER_NODE; to++)
                    messages += a != b ? fake.sent[from][to] : 0;
            CHECK_EQUAL(messages, a != b);
        }
}

int main(void)
{
    spread();
    barrier_of_a_node_is_at_most_five_messages();
    sum_is_two_messages_for_each_node_but_one();
    CHECK_EQUAL(value[SIZE - 1].word, UINT32_MAX);
    long_sum_has_a_root_for_each_slice();
    broadcast_comes_once_to_each_node(0);
    broadcast_comes_once_to_each_node(7);
    allgather_of_a_node_is_five_messages();
    alltoall_is_one_message_from_node_to_node();
    fake_close();
    for (int r = 0; r < SIZE; r++)
        vcoll_group_close(&group[r]);
    return check_done();
}
