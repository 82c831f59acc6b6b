/* Matching against a model that looks through plain arrays: random arrivals, receives with and without wildcards,
 * probes, matched probes and cancels, in contexts of which one opens late. The peers are invented; frames are handed to
 * the engine as its sink would. tcp: 1 */
#include "check.h"
#include "msg/transfer.h"

#define RANKS    5
#define CONTEXTS 3
#define LATE     (CONTEXTS - 1)
#define TAGS     4
#define MOST     4096

struct sent { /* an unmatched message of the model; serial is its payload */
    int context, source, tag, serial;
};
struct posted { /* a receive of the model, in posting order */
    struct msg_request request;
    int context, source, tag, got;
    bool waiting;
};

static struct sent unexpected[MOST];
static int unexpected_count;
static struct posted receives[MOST];
static int receive_count;
static struct msg_context *contexts[CONTEXTS];

static int any_or(int value)
{
    return rand() % 3 == 0 ? -1 : value;
}
static bool fits(int wanted, int value)
{
    return wanted == -1 || wanted == value;
}

static int model_find(int context, int source, int tag)
{
    for (int i = 0; i < unexpected_count; i++)
        if (unexpected[i].context == context && fits(source, unexpected[i].source) && fits(tag, unexpected[i].tag))
            return i;
    return -1;
}

static struct sent model_take(int at)
{
    struct sent sent = unexpected[at];
    memmove(&unexpected[at], &unexpected[at + 1], (size_t)(--unexpected_count - at) * sizeof sent);
    return sent;
}

static void check_received(struct posted *receive, struct sent expected)
{
    CHECK(vmsg_request_done(&receive->request));
    CHECK_EQUAL(receive->request.result.error, OK);
    CHECK_EQUAL(receive->request.result.source, expected.source);
    CHECK_EQUAL(receive->request.result.tag, expected.tag);
    CHECK_EQUAL(receive->got, expected.serial);
}

static void arrive(int context, int source, int tag, int serial)
{
    struct msg_peer *peer;
    CHECK_EQUAL(vmsg_peer_find(0, source, &peer), OK);
    struct msg_envelope envelope = {
        .peer = peer, .payload = &serial, .total = sizeof serial, .tag = tag, .frame = MSG_FRAME_EAGER};
    struct sent sent = {context, source, tag, serial};
    struct posted *winner = NULL;
    for (int i = 0; i < receive_count && !winner; i++)
        if (receives[i].waiting && receives[i].context == context && fits(receives[i].source, source) &&
            fits(receives[i].tag, tag))
            winner = &receives[i];
    vmsg_message_arrived((uint32_t)context, &envelope);
    if (winner) {
        winner->waiting = false;
        check_received(winner, sent);
    } else {
        unexpected[unexpected_count++] = sent;
    }
}

static void post(int context, int source, int tag)
{
    struct posted *receive = &receives[receive_count++];
    *receive = (struct posted){.context = context, .source = source, .tag = tag, .waiting = true};
    struct msg_where from = {contexts[context], source, tag};
    struct type_buffer buffer = {.base = &receive->got, .count = sizeof receive->got};
    CHECK_EQUAL(vmsg_recv_start(&receive->request, &from, &buffer), OK);
    int at = model_find(context, source, tag);
    if (at >= 0) {
        receive->waiting = false;
        check_received(receive, model_take(at));
    } else {
        CHECK(!vmsg_request_done(&receive->request));
    }
}

static void probe(int context, int source, int tag)
{
    struct msg_where from = {contexts[context], source, tag};
    struct msg_result result;
    bool found;
    CHECK_EQUAL(vmsg_probe(&from, &found, &result), OK);
    int at = model_find(context, source, tag);
    CHECK_EQUAL(found, at >= 0);
    if (found && at >= 0) {
        CHECK_EQUAL(result.source, unexpected[at].source);
        CHECK_EQUAL(result.tag, unexpected[at].tag);
        CHECK_EQUAL(result.bytes, sizeof(int));
    }
}

static void matched_probe(int context, int source, int tag)
{
    struct msg_where from = {contexts[context], source, tag};
    struct msg_message *message;
    struct msg_result result;
    CHECK_EQUAL(vmsg_message_probe(&from, &message, &result), OK);
    int at = model_find(context, source, tag);
    CHECK_EQUAL(message != NULL, at >= 0);
    if (message && at >= 0) {
        struct posted receive = {.got = -1};
        struct type_buffer buffer = {.base = &receive.got, .count = sizeof receive.got};
        CHECK_EQUAL(vmsg_message_recv(&receive.request, message, &buffer), OK);
        check_received(&receive, model_take(at));
    }
}

static void cancel_one(void)
{
    if (!receive_count)
        return;
    struct posted *receive = &receives[rand() % receive_count];
    vmsg_cancel(&receive->request);
    CHECK(vmsg_request_done(&receive->request));
    if (receive->waiting)
        CHECK_EQUAL(receive->request.result.error, ERR_CANCELLED);
    receive->waiting = false;
}

static void step(int serial, bool late_open)
{
    int open = rand() % (late_open ? CONTEXTS : LATE), any = rand() % CONTEXTS, source = rand() % RANKS,
        tag = rand() % TAGS;
    switch (rand() % 10) {
    case 0:
    case 1:
    case 2:
    case 3:
        arrive(any, source, tag, serial);
        break;
    case 4:
    case 5:
    case 6:
        post(open, any_or(source), any_or(tag));
        break;
    case 7:
        probe(open, any_or(source), any_or(tag));
        break;
    case 8:
        matched_probe(open, any_or(source), any_or(tag));
        break;
    case 9:
        cancel_one();
        break;
    }
}

static void game(unsigned seed)
{
    static const int members[RANKS] = {0, 1, 2, 3, 4};
    srand(seed);
    unexpected_count = receive_count = 0;
    for (int c = 0; c < LATE; c++)
        CHECK_EQUAL(vmsg_context_open((uint32_t)c, c ? members : NULL, RANKS, 0, &contexts[c]), OK);
    int steps = 200 + rand() % 1000, opening = rand() % steps;
    for (int i = 0; i < steps; i++) {
        if (i == opening)
            CHECK_EQUAL(vmsg_context_open(LATE, members, RANKS, 0, &contexts[LATE]), OK);
        step(i, i >= opening);
    }
    for (int c = 0; c < CONTEXTS; c++)
        vmsg_context_close(contexts[c]);
    for (int i = 0; i < receive_count; i++)
        CHECK(vmsg_request_done(&receives[i].request));
    CHECK_EQUAL(vbase_counters->unexpected_now, 0);
    CHECK_EQUAL(vbase_counters->unexpected_bytes, 0);
}

int main(void)
{
    setenv("VIADUCT_WINDOW", "1G", 1); /* no credit has to be told to peers that do not exist */
    CHECK_EQUAL(vmsg_start(), OK);
    vmsg_engine.size = RANKS;
    vmsg_engine.peer = realloc(vmsg_engine.peer, RANKS * MSG_NETWORKS * sizeof *vmsg_engine.peer);
    memset(vmsg_engine.peer, 0, RANKS * MSG_NETWORKS * sizeof *vmsg_engine.peer);
    for (unsigned seed = 1; seed <= 300; seed++)
        game(seed);
    return check_done();
}
