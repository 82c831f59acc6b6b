/* Large messages over a nic with two adapters, each with keys, limits, gets and puts of its own: which key goes with
 * which rail, several gets under way, a rail that is lost beneath them, a get that fails, puts and frames of a sender,
 * and movements without a message. This process is rank 0; its peer is the test. */
#include "check.h"
#include "msg/transfer.h"

enum { RANK = 1, ADAPTERS = 2, MOST = 4 << 20, SMALL = 20000, HEAD = sizeof(struct msg_frame_extension) };
enum { DEPTH = (TUNED_CHUNKS - 1) / ADAPTERS }; /* gets that one rail takes at a time */
#define THEIR_ID 0x500000007ull

static struct vi_nic base, adapter[ADAPTERS];
static struct vi rail[ADAPTERS];
static unsigned char ours[MOST], theirs[MOST], sent_data[MOST];
static struct msg_context *context;

/* ---- the adapters ------------------------------------------------------------------------------------------------ */

static struct move { /* under way on a rail */
    int rail;
    bool put;
    struct iovec local;
    uint64_t offset;
    void *cookie;
} move[64];
static int moves, most_moves;
static uint64_t moved_by[ADAPTERS]; /* bytes */
static int refuse_after = -1;       /* gets that are taken before one fails for good */
static int refused_rail = -1;
static uint64_t key_word;           /* of the last region */

static int rail_number(const struct vi *vi) { return vi == &rail[1]; }

static int move_take(struct vi *vi, const struct vi_transfer *transfer, bool put)
{
    int number = rail_number(vi), under_way = 0;
    for (int i = 0; i < moves; i++)
        under_way += move[i].rail == number;
    CHECK_EQUAL(transfer->key.word[0], 1000 + (uint64_t)number); /* the peer's key for this very adapter */
    CHECK(transfer->region == NULL || transfer->region->nic == vi->nic);
    CHECK_EQUAL(transfer->pieces, 1);
    CHECK(transfer->local->iov_len <= vi->nic->caps.max_put);
    CHECK(transfer->offset + transfer->local->iov_len <= MOST);
    if (refuse_after == 0 && (refused_rail < 0 || refused_rail == number))
        return ERR_UNSUPPORTED;
    if (under_way == DEPTH)
        return ERR_AGAIN;
    refuse_after -= refuse_after > 0;
    moved_by[number] += transfer->local->iov_len;
    vi->waiting += transfer->local->iov_len;
    if (transfer->signal) { /* it says itself where it belongs: nobody is told of its end */
        memcpy(theirs + transfer->offset, transfer->local->iov_base, transfer->local->iov_len);
        return OK;
    }
    CHECK(transfer->cookie != NULL);
    move[moves++] = (struct move){number, put, *transfer->local, transfer->offset, transfer->cookie};
    most_moves = moves > most_moves ? moves : most_moves;
    return OK;
}

static int fake_get(struct vi *vi, const struct vi_transfer *transfer) { return move_take(vi, transfer, false); }
static int fake_put(struct vi *vi, const struct vi_transfer *transfer) { return move_take(vi, transfer, true); }

/* The move in this place is over. */
static void move_end(int place, int status)
{
    struct move over = move[place];
    move[place] = move[--moves];
    if (!status && over.put)
        memcpy(theirs + over.offset, over.local.iov_base, over.local.iov_len);
    else if (!status)
        memcpy(over.local.iov_base, theirs + over.offset, over.local.iov_len);
    vmsg_sink_done(&rail[over.rail], over.cookie, status);
}

/* Rounds of progress; what is under way ends in an order of its own. */
static void rounds(int count)
{
    for (int i = 0; i < count; i++) {
        vmsg_progress();
        if (moves)
            move_end(i * 7 % moves, OK);
    }
    vmsg_progress();
}

static int fake_reg(struct vi_nic *nic, void *address, uint64_t length, struct vi_region *region)
{
    CHECK(nic != &base);
    key_word = 2000 + (uint64_t)(nic == &adapter[1]);
    *region = (struct vi_region){.nic = nic, .address = address, .length = length, .key = {{key_word}}};
    return OK;
}
static void fake_dereg(struct vi_region *region) { region->nic = NULL; }

static int fake_query(struct vi *vi, struct vi_state *state)
{
    (void)vi;
    *state = (struct vi_state){.usable = true, .get = true, .put = true};
    return OK;
}

static bool closed[ADAPTERS] = {true, true};

static bool calls; /* the peer */

/* A vi over the first rail that is closed. */
static int fake_connect(struct vi_nic *nic, const struct vi_address *to, void *owner, struct vi **vi)
{
    static unsigned epoch;
    int number = !closed[0];
    if (!calls)
        return ERR_UNSUPPORTED;
    calls = false;
    rail[number] = (struct vi){.ops = nic->ops, .nic = &adapter[number], .owner = owner, .peer = to->peer};
    rail[number].name = (uint64_t)(10 + number) << 32 | ++epoch;
    closed[number] = false;
    *vi = &rail[number];
    return OK;
}

static void fake_disconnect(struct vi *vi, bool abrupt)
{
    CHECK(abrupt);
    closed[rail_number(vi)] = true;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static struct {
    int count, rail;
    uint64_t header;
    unsigned char body[512];
    size_t length;
} sent[MSG_FRAME_KINDS];
static uint64_t data_bytes;
static int data_rail;
static uint32_t numbered; /* the last ordered frame */
static int send_error;

static int fake_send(struct vi *vi, uint64_t header, const struct iovec *piece, int pieces, unsigned flags)
{
    unsigned char all[70000] = {0};
    size_t length = 0;
    unsigned kind = msg_header_kind(header);
    struct msg_frame_extension number;
    (void)flags;
    for (int i = 0; i < pieces; i++) {
        memcpy(all + length, piece[i].iov_base, piece[i].iov_len);
        length += piece[i].iov_len;
    }
    CHECK(length <= vi_caps(vi)->max_send);
    if (send_error)
        return send_error;
    memcpy(&number, all, sizeof number);
    sent[kind].count++;
    sent[kind].rail = rail_number(vi);
    sent[kind].header = header;
    sent[kind].length = length - HEAD;
    memcpy(sent[kind].body, all + HEAD, sizeof sent[kind].body); /* with some of what is behind it */
    if (number.sequence)
        CHECK_EQUAL(number.sequence, ++numbered);
    if (kind == MSG_FRAME_DATA) {
        struct msg_frame_data head;
        memcpy(&head, all + HEAD, sizeof head);
        memcpy(theirs + head.from, all + HEAD + sizeof head, length - HEAD - sizeof head);
        data_bytes += length - HEAD - sizeof head;
        data_rail = rail_number(vi);
        vi->waiting += length;
    }
    return OK;
}

static struct msg_peer *peer(void) { return vmsg_engine.peer[RANK]; }

static void frame(int over, enum msg_frame kind, int tag, unsigned flags, const void *body, size_t length)
{
    static unsigned char data[70000];
    const struct msg_replay *replay = &peer()->far->replay;
    struct msg_frame_extension extension = {kind == MSG_FRAME_DATA ? 0 : replay->arrived + 1, replay->sent};
    memcpy(data, &extension, sizeof extension);
    memcpy(data + sizeof extension, body, length);
    (void)vmsg_sink_received(&rail[over], msg_header(kind, 0, tag, flags), data, sizeof extension + length, 1);
}

/* The peer's keys for the rails of MASK. */
static size_t keys_add(unsigned char *body, size_t length, unsigned mask)
{
    for (unsigned i = 0; i < ADAPTERS; i++)
        if (mask >> i & 1) {
            struct msg_frame_key key = {1ull << (10 + i), {{1000 + i}}};
            memcpy(body + length, &key, sizeof key);
            length += sizeof key;
        }
    return length;
}

static void announce(uint64_t bytes, unsigned mask)
{
    unsigned char body[200];
    struct msg_frame_announce head = {.total = bytes, .id = THEIR_ID};
    memcpy(body, &head, sizeof head);
    frame(0, MSG_FRAME_ANNOUNCE, 7, 0, body, keys_add(body, sizeof head, mask));
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

static void begin(void)
{
    memset(sent, 0, sizeof sent);
    memset(moved_by, 0, sizeof moved_by);
    memset(ours, 0xEE, sizeof ours);
    moves = most_moves = 0;
    data_bytes = 0;
    refuse_after = refused_rail = -1;
    for (size_t i = 0; i < MOST; i++)
        theirs[i] = (unsigned char)(i * 31 + i / 4096);
}

static void receive_start(struct msg_request *request, uint64_t room)
{
    struct msg_where from = {context, RANK, 7};
    struct type_buffer buffer = {.base = ours, .count = room};
    *request = (struct msg_request){.completed = NULL};
    CHECK_EQUAL(vmsg_recv_start(request, &from, &buffer), OK);
}

static void expect_done(void)
{
    struct msg_frame_done done;
    CHECK_EQUAL(sent[MSG_FRAME_DONE].count, 1);
    memcpy(&done, sent[MSG_FRAME_DONE].body, sizeof done);
    CHECK_EQUAL(done.id, THEIR_ID);
}

/* Several gets are under way on both rails, each within the limits of its adapter. */
static void pulled(uint64_t bytes, uint64_t room, unsigned mask)
{
    struct msg_request request;
    uint64_t want = bytes < room ? bytes : room;
    begin();
    receive_start(&request, room);
    announce(bytes, mask);
    rounds(100);
    CHECK(vmsg_request_done(&request));
    CHECK_EQUAL(request.result.error, room < bytes ? ERR_TRUNCATED : OK);
    CHECK(memcmp(ours, theirs, want) == 0);
    CHECK(want == MOST || ours[want] == 0xEE);
    CHECK_EQUAL(sent[MSG_FRAME_GRANT].count, 0);
    CHECK_EQUAL(moved_by[0] + moved_by[1], want);
    for (unsigned i = 0; i < ADAPTERS; i++)
        CHECK((moved_by[i] > 0) == (mask >> i & 1));
    CHECK_EQUAL(most_moves, mask == 3 ? ADAPTERS * DEPTH : DEPTH);
    expect_done();
}

/* No adapter's key: the sender pushes; ours go out in the grant, one for each adapter. Puts come over one, frames over
 * the other. */
static void pushed(void)
{
    struct msg_request request;
    struct msg_frame_grant grant;
    struct msg_frame_key key[ADAPTERS];
    enum { BYTES = 100000, FIRST = 60000, PART = 40000 };
    unsigned char part[sizeof(struct msg_frame_data) + PART];
    begin();
    receive_start(&request, BYTES);
    announce(BYTES, 0);
    rounds(3);
    CHECK_EQUAL(sent[MSG_FRAME_GRANT].count, 1);
    CHECK_EQUAL(sent[MSG_FRAME_GRANT].length, sizeof grant + sizeof(struct msg_frame_grant_more) + sizeof key);
    CHECK_EQUAL(msg_header_flags(sent[MSG_FRAME_GRANT].header), 0); /* none is for every rail */
    memcpy(&grant, sent[MSG_FRAME_GRANT].body, sizeof grant);
    memcpy(key, sent[MSG_FRAME_GRANT].body + sizeof grant + sizeof(struct msg_frame_grant_more), sizeof key);
    CHECK_EQUAL(grant.mover, MSG_PUSH);
    for (unsigned i = 0; i < ADAPTERS; i++) {
        CHECK_EQUAL(key[i].rails, 1ull << (10 + i));
        CHECK_EQUAL(key[i].key.word[0], 2000 + i);
    }
    memcpy(ours, theirs, FIRST);
    struct vi_sink sink = vmsg_sink;
    sink.arrived(&rail[1], (uint32_t)(grant.answer >> 32 << 16 | (grant.answer & UINT16_MAX)), FIRST);
    CHECK(!vmsg_request_done(&request));
    memcpy(part, &(struct msg_frame_data){grant.answer, FIRST}, sizeof(struct msg_frame_data));
    memcpy(part + sizeof(struct msg_frame_data), theirs + FIRST, PART);
    frame(0, MSG_FRAME_DATA, 0, 0, part, sizeof part);
    CHECK(vmsg_request_done(&request));
    CHECK(memcmp(ours, theirs, BYTES) == 0);
    expect_done();
}

/* One get fails for good: nothing new begins, the others end, and only then the sender gets the rest. */
static void failed(void)
{
    struct msg_request request;
    struct msg_frame_grant grant;
    struct msg_frame_grant_more more;
    begin();
    receive_start(&request, MOST);
    announce(MOST, 3);
    refuse_after = ADAPTERS * DEPTH - 1;
    vmsg_progress();
    for (int i = 0; i < 3; i++)
        vmsg_progress();
    CHECK_EQUAL(moves, ADAPTERS * DEPTH - 1);
    while (moves) {
        CHECK_EQUAL(sent[MSG_FRAME_GRANT].count, 0);
        move_end(moves - 1, OK);
        vmsg_progress();
        refuse_after = 0;
    }
    CHECK_EQUAL(sent[MSG_FRAME_GRANT].count, 1);
    memcpy(&grant, sent[MSG_FRAME_GRANT].body, sizeof grant);
    memcpy(&more, sent[MSG_FRAME_GRANT].body + sizeof grant, sizeof more);
    CHECK_EQUAL(grant.mover, MSG_PUSH);
    CHECK_EQUAL(grant.upto, MOST);
    CHECK_EQUAL(more.from, moved_by[0] + moved_by[1]);
    memcpy(ours + more.from, theirs + more.from, MOST - more.from);
    vmsg_transfer_arrived(peer(), (uint32_t)(grant.answer >> 32 << 16 | (grant.answer & UINT16_MAX)), MOST - more.from);
    CHECK(vmsg_request_done(&request));
    CHECK(memcmp(ours, theirs, MOST) == 0);
    expect_done();
}

/* A rail is lost with gets under way. They are told as failed at once, but begin again only when the rail is closed. */
static void lost(void)
{
    struct msg_request request;
    begin();
    receive_start(&request, MOST);
    announce(MOST, 3);
    vmsg_progress();
    CHECK_EQUAL(moves, ADAPTERS * DEPTH);
    for (int i = 0; i < moves;)
        if (move[i].rail == 1)
            move_end(i, ERR_LINK_DOWN);
        else
            i++;
    CHECK_EQUAL(moves, DEPTH);
    refused_rail = 1;
    refuse_after = 0;
    vmsg_progress();
    CHECK_EQUAL(moves, DEPTH); /* the other one is full */
    move_end(0, OK);
    uint64_t next = 0;
    for (int i = 0; i < moves; i++)
        next = move[i].offset > next ? move[i].offset : next;
    vmsg_progress();
    CHECK(moves == DEPTH && move[DEPTH - 1].offset > next); /* something new, none of the lost ones */
    CHECK(!closed[1]);
    vmsg_rail_down(&rail[1], ERR_LINK_DOWN);
    CHECK(closed[1]);
    refuse_after = -1;
    rounds(100);
    CHECK(vmsg_request_done(&request));
    CHECK_EQUAL(request.result.error, OK);
    CHECK(memcmp(ours, theirs, MOST) == 0);
    expect_done();
    calls = true;
    CHECK_EQUAL(vmsg_peer_accept(&base, RANK), OK); /* it carries again */
    vmsg_rail_up(&rail[1]);
}

/* The sender: its keys are in the announcement. What the rail takes for which there is a key is put, over the other, if
 * it is there, it is sent. A rail that is alone is given more at a time than it can put at once. */
static void sends(unsigned keyed, bool alone)
{
    struct msg_request request = {.completed = NULL};
    struct msg_where to = {context, RANK, 7};
    struct msg_frame_announce head;
    struct msg_frame_key key[ADAPTERS];
    unsigned char body[200] = {0};
    enum { BYTES = 1000000 };
    begin();
    struct type_buffer buffer = {.base = sent_data, .count = BYTES};
    for (size_t i = 0; i < BYTES; i++)
        sent_data[i] = (unsigned char)(i * 7 + i / 1000);
    CHECK_EQUAL(vmsg_send_start(&request, &to, &buffer, MSG_AT_ONCE), OK);
    CHECK_EQUAL(sent[MSG_FRAME_ANNOUNCE].count, 1);
    CHECK_EQUAL(sent[MSG_FRAME_ANNOUNCE].length, sizeof head + (alone ? 1 : ADAPTERS) * sizeof *key);
    memcpy(&head, sent[MSG_FRAME_ANNOUNCE].body, sizeof head);
    memcpy(key + alone, sent[MSG_FRAME_ANNOUNCE].body + sizeof head, sizeof key - alone * sizeof *key);
    CHECK_EQUAL(head.total, BYTES);
    for (unsigned i = alone; i < ADAPTERS; i++) {
        CHECK_EQUAL(key[i].rails, 1ull << (10 + i));
        CHECK_EQUAL(key[i].key.word[0], 2000 + i);
    }
    struct msg_frame_grant grant = {.id = head.id, .answer = THEIR_ID, .upto = BYTES, .mover = MSG_PUSH};
    memcpy(body, &grant, sizeof grant);
    frame(1, MSG_FRAME_GRANT, 0, 0, body, keys_add(body, sizeof grant + sizeof(struct msg_frame_grant_more), 1u << keyed));
    for (int i = 0; i < 100; i++) {
        rail[0].waiting = rail[1].waiting = 0;
        vmsg_progress();
    }
    CHECK(moved_by[keyed] > 0 && (data_bytes == 0) == alone);
    CHECK_EQUAL(moved_by[!keyed], 0);
    CHECK(alone || data_rail == !keyed);
    CHECK_EQUAL(moved_by[keyed] + data_bytes, BYTES);
    CHECK(memcmp(sent_data, theirs, BYTES) == 0);
    CHECK(!vmsg_request_done(&request));
    frame(1, MSG_FRAME_DONE, 0, 0, &(struct msg_frame_done){head.id, 0}, sizeof(struct msg_frame_done));
    CHECK(vmsg_request_done(&request));
}

static int send_small(struct msg_request *request, uint64_t bytes)
{
    struct msg_where to = {context, RANK, 7};
    struct type_buffer buffer = {.base = sent_data, .count = bytes};
    *request = (struct msg_request){.completed = NULL};
    return vmsg_send_start(request, &to, &buffer, MSG_AT_ONCE);
}

/* A frame with a number may go over any rail in the end. One that the provider did not take has no number. */
static void sends_small(void)
{
    struct msg_request request;
    begin();
    CHECK_EQUAL(send_small(&request, SMALL - 200), OK);
    CHECK_EQUAL(sent[MSG_FRAME_EAGER].count, 1);
    send_error = ERR_MEMORY;
    CHECK_EQUAL(send_small(&request, 8), ERR_MEMORY);
    send_error = OK;
    CHECK_EQUAL(send_small(&request, 8), OK);
    CHECK_EQUAL(sent[MSG_FRAME_EAGER].count, 2);
    CHECK_EQUAL(send_small(&request, SMALL), OK);
    CHECK_EQUAL(sent[MSG_FRAME_EAGER].count, 2);
    CHECK_EQUAL(sent[MSG_FRAME_ANNOUNCE].count, 1);
    vmsg_cancel(&request);
    struct msg_frame_id id;
    memcpy(&id, sent[MSG_FRAME_CANCEL].body, sizeof id);
    frame(1, MSG_FRAME_CANCELLED, 0, MSG_FLAG_WON, &id, sizeof id);
    CHECK_EQUAL(request.result.error, ERR_CANCELLED);
}

/* Credit that cannot be told now is told later, every byte of it. */
static void credits_kept(void)
{
    enum { BYTES = 60000 };
    struct msg_request request;
    struct msg_frame_credit credit;
    int64_t owed = 0;
    begin();
    send_error = ERR_MEMORY;
    for (int more = 3; more > 0 && !check_failed; more -= peer()->owed >= peer()->window_half) {
        owed = peer()->owed + BYTES + MSG_FRAME_COST;
        receive_start(&request, BYTES);
        frame(1, MSG_FRAME_EAGER, 7, 0, theirs, BYTES);
        CHECK(vmsg_request_done(&request));
        CHECK_EQUAL(peer()->owed, owed);
        vmsg_progress();
    }
    send_error = OK;
    vmsg_progress();
    CHECK_EQUAL(sent[MSG_FRAME_CREDIT].count, 1);
    memcpy(&credit, sent[MSG_FRAME_CREDIT].body, sizeof credit);
    CHECK_EQUAL(credit.bytes, (uint64_t)owed);
    CHECK_EQUAL(peer()->owed, 0);
}

/* ---- without a message ------------------------------------------------------------------------------------------- */

static int overs, over_error;
static void over(void *owner, int error)
{
    CHECK(owner == &overs);
    overs++;
    over_error = error;
}

static struct msg_movement movement(bool sender, uint64_t bytes)
{
    struct msg_movement one = {.peer = peer(), .sender = sender, .over = over, .owner = &overs};
    one.buffer = (struct type_buffer){.base = ours, .count = bytes};
    for (unsigned i = 0; i < ADAPTERS; i++)
        one.keys.at[one.keys.count++] = (struct msg_frame_key){1ull << (10 + i), {{1000 + i}}};
    overs = 0;
    return one;
}

static void moves_memory(bool sender)
{
    begin();
    struct msg_movement one = movement(sender, 2000000);
    if (sender)
        for (size_t i = 0; i < MOST; i++)
            ours[i] = (unsigned char)(i * 5);
    CHECK_EQUAL(vmsg_transfer_start(&one), OK);
    rounds(60);
    CHECK_EQUAL(overs, 1);
    CHECK_EQUAL(over_error, OK);
    CHECK(memcmp(ours, theirs, 2000000) == 0);
    CHECK(moved_by[0] > 0 && moved_by[1] > 0);
    for (int kind = 0; kind < MSG_FRAME_KINDS; kind++)
        CHECK_EQUAL(sent[kind].count, 0);
}

static void moves_in_vain(void)
{
    begin();
    struct msg_movement one = movement(true, 2000000);
    refuse_after = ADAPTERS * DEPTH - 1;
    CHECK_EQUAL(vmsg_transfer_start(&one), OK);
    vmsg_progress();
    CHECK_EQUAL(overs, 0); /* some are under way */
    while (moves)
        move_end(0, OK);
    CHECK_EQUAL(overs, 1);
    CHECK_EQUAL(over_error, ERR_UNSUPPORTED);
    one = movement(true, 0);
    CHECK_EQUAL(vmsg_transfer_start(&one), OK);
    vmsg_progress();
    CHECK_EQUAL(overs, 1);
    CHECK_EQUAL(over_error, OK);
}

static void world_begin(void)
{
    static const struct vi_ops ops = {.send = fake_send, .get = fake_get, .put = fake_put, .query = fake_query,
                                      .reg = fake_reg, .dereg = fake_dereg,
                                      .connect = fake_connect, .disconnect = fake_disconnect,
                                      .wake = vi_no_wake, .map = vi_no_map};
    static const struct vi_provider provider = {.name = "fake"};
    CHECK_EQUAL(vmsg_start(), OK);
    base = (struct vi_nic){.ops = &ops, .provider = &provider};
    for (int i = 0; i < ADAPTERS; i++) {
        adapter[i] = base;
        adapter[i].caps = (struct vi_caps){.get = 1, .put = 1, .adapter = 1};
        adapter[i].caps.max_send = i ? SMALL : 65536;
        adapter[i].caps.max_put = i ? 100000 : 65536;
        adapter[i].caps.put_least = (uint64_t)i;
    }
    vmsg_engine.networked = true;
    vmsg_engine.size = 2;
    vmsg_engine.peer = realloc(vmsg_engine.peer, 2 * MSG_NETWORKS * sizeof *vmsg_engine.peer);
    memset(vmsg_engine.peer, 0, 2 * MSG_NETWORKS * sizeof *vmsg_engine.peer);
    CHECK_EQUAL(vmsg_scratch_grow(&adapter[0]), OK);
    for (int i = 0; i < ADAPTERS; i++) {
        calls = true;
        CHECK_EQUAL(vmsg_peer_accept(&base, RANK), OK);
        vmsg_rail_up(&rail[i]);
    }
    CHECK_EQUAL(vmsg_context_open(0, NULL, 2, 0, &context), OK);
}

int main(void)
{
    setenv("VIADUCT_LOG_FILE", "/dev/null", 1); /* that a rail is lost is told */
    world_begin();
    pulled(3000000, MOST, 3);
    pulled(3000000, 2500000, 3);
    pulled(1500000, MOST, 1); /* the other adapter has not registered it */
    pulled(1500000, MOST, 2);
    pushed();
    failed();
    lost();
    pulled(3000000, MOST, 3);
    sends(1, false);
    sends(0, false);
    credits_kept();
    sends_small();
    moves_memory(false);
    moves_memory(true);
    moves_in_vain();
    vmsg_rail_down(&rail[0], ERR_LINK_DOWN);
    sends(1, true);
    CHECK_EQUAL(vbase_counters->refused, 0);
    return check_done();
}
