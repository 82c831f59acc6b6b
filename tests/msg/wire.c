/* The parser of frames against peers that send anything: frames of every kind with right and wrong lengths, flags and
 * ids (invented ones, stale ones, ones that belong to somebody else, and right ones at the wrong time), while the
 * program sends, receives and cancels, and while the nic is full, refuses to fetch, or fetches later. Nothing may
 * crash, write outside a buffer or be believed that was not asked for; run it under the address sanitizer. Slots,
 * ours and theirs, say anything at any time, too. An argument
 * is the number of games: a longer run is `test-msg-wire 100000`. All of it twice: the second time the peers are remote,
 * their frames are numbered, and large messages are put. */
#include "check.h"
#include "msg/transfer.h"
#include <sys/wait.h>
#include <unistd.h>

#define PEERS    3 /* the world; rank 0 is this process */
#define REQUESTS 24
#define QUESTIONS 32
#define LONGEST  3000
#define GUARD    16
#define RAIL     (3ull << 32 | 1000000)
#ifndef WIRE_GAME_ENDS /* also played by fuzz/messages.c */
#define WIRE_GAME_ENDS false
#endif

static struct vi peer_vi[PEERS];
static struct vi_nic nic;
static bool far; /* the peers are remote */
static uint64_t known_id[64];
static unsigned known_ids;
static struct vi *later_vi; /* of a get that will be told by the sink */
static void *later_cookie;
static uint64_t boards[2][64][32] ALIGNED(256); /* of slots: ours, which a peer may write, and the peer's */

static void remember(uint64_t id)
{
    known_id[known_ids++ % 64] = id;
}

/* What a peer could answer as it should. */
static struct question {
    uint32_t peer;
    uint64_t id, from, upto;
} grants[QUESTIONS], announced[QUESTIONS];
static unsigned grants_sent, announced_sent;

static void question_keep(const struct vi *vi, unsigned kind, const uint64_t *words)
{
    if (kind == MSG_FRAME_GRANT)
        grants[grants_sent++ % QUESTIONS] = (struct question){vi->peer, words[1], words[6], words[2]};
    if (kind == MSG_FRAME_ANNOUNCE)
        announced[announced_sent++ % QUESTIONS] = (struct question){vi->peer, words[1], 0, words[0]};
}

/* ---- a nic that does what it likes ------------------------------------------------------------------------------- */

static int fake_send(struct vi *vi, uint64_t header, const struct iovec *piece, int pieces, unsigned flags)
{
    size_t length = 0;
    (void)flags;
    for (int i = 0; i < pieces; i++)
        length += piece[i].iov_len;
    CHECK(length <= nic.caps.max_send);
    if (rand() % 4 == 0)
        return ERR_AGAIN;
    unsigned kind = msg_header_kind(header);
    uint64_t words[7] = {0};
    if (pieces > far)
        memcpy(words, piece[far].iov_base, piece[far].iov_len < sizeof words ? piece[far].iov_len : sizeof words);
    question_keep(vi, kind, words);
    if (kind == MSG_FRAME_EAGER && msg_header_flags(header) & MSG_FLAG_SYNC)
        remember(words[0]);
    if (kind == MSG_FRAME_ANNOUNCE || kind == MSG_FRAME_GRANT)
        remember(words[1]);
    return OK;
}

static int fake_get(struct vi *vi, const struct vi_transfer *get)
{
    switch (rand() % 4) {
    case 0:
        return ERR_AGAIN;
    case 1:
        return ERR_UNSUPPORTED;
    case 2:
        if (later_cookie)
            return ERR_AGAIN;
        later_vi = vi;
        later_cookie = get->cookie;
        return OK;
    }
    for (int i = 0; i < get->pieces; i++)
        memset(get->local[i].iov_base, 1, get->local[i].iov_len);
    return VI_COMPLETE;
}

static int fake_put(struct vi *vi, const struct vi_transfer *put)
{
    static unsigned char seen[LONGEST];
    if (later_cookie || rand() % 4 == 0)
        return ERR_AGAIN;
    if (!put->pieces)
        return VI_COMPLETE; /* it only wakes */
    CHECK(put->local[0].iov_len > 0 && put->local[0].iov_len <= LONGEST);
    memcpy(seen, put->local[0].iov_base, put->local[0].iov_len); /* all of it is there */
    if (!far && rand() % 2)
        return rand() % 4 ? VI_COMPLETE : ERR_UNSUPPORTED;
    later_vi = vi;
    later_cookie = put->cookie;
    return OK;
}

static int fake_query(struct vi *vi, struct vi_state *state)
{
    (void)vi;
    *state = (struct vi_state){.usable = true, .get = rand() % 2, .put = rand() % 4};
    return OK;
}

static int fake_wake(struct vi *vi)
{
    (void)vi;
    return OK;
}

static bool calls; /* the peer */

static int fake_connect(struct vi_nic *from, const struct vi_address *to, void *owner, struct vi **vi)
{
    (void)from;
    if (!calls)
        return ERR_UNSUPPORTED;
    calls = false;
    peer_vi[to->peer] = (struct vi){.ops = nic.ops, .nic = &nic, .owner = owner, .peer = to->peer, .name = RAIL};
    *vi = &peer_vi[to->peer];
    return OK;
}

static int fake_reg(struct vi_nic *on, void *address, uint64_t length, struct vi_region *region)
{
    *region = (struct vi_region){.nic = on, .address = address ? address : boards[0], .length = length};
    return !address || rand() % 8 ? OK : ERR_LIMIT;
}

static int fake_map(struct vi *vi, struct vi_key key, uint64_t offset, uint64_t length, void **memory)
{
    (void)vi, (void)key;
    CHECK(offset == 0 && length <= sizeof boards[1]);
    *memory = (char *)boards[1] + (rand() % 8 ? 0 : 8); /* nobody puts a board amid a line: it is not believed */
    return far ? ERR_UNSUPPORTED : OK;
}

/* ---- what the program does --------------------------------------------------------------------------------------- */

static struct slot {
    struct msg_request request;
    bool used;
    unsigned char data[GUARD + LONGEST + GUARD];
} slots[REQUESTS];
static struct msg_context *contexts[2];
static struct type_layout *spread; /* every other byte of LONGEST */

static void check_guards(const struct slot *slot)
{
    for (int i = 0; i < GUARD; i++)
        CHECK(slot->data[i] == 0xEE && slot->data[GUARD + LONGEST + i] == 0xEE);
}

static struct slot *free_slot(void)
{
    struct slot *slot = &slots[rand() % REQUESTS];
    if (slot->used && !vmsg_request_done(&slot->request))
        return NULL;
    check_guards(slot);
    slot->used = true;
    memset(&slot->request, 0, sizeof slot->request);
    return slot;
}

static void program_step(void)
{
    struct slot *slot = free_slot();
    if (!slot) {
        slot = &slots[rand() % REQUESTS];
        if (slot->used)
            vmsg_cancel(&slot->request);
        return;
    }
    struct type_buffer buffer = {.base = slot->data + GUARD, .count = (uint64_t)rand() % LONGEST};
    if (rand() % 3 == 0)
        buffer = (struct type_buffer){slot->data + GUARD, 1, spread};
    struct msg_where where = {contexts[rand() % 2], 1 + rand() % (PEERS - 1), rand() % 3};
    if (rand() % 2) {
        CHECK_EQUAL(vmsg_send_start(&slot->request, &where, &buffer, rand() % 2 ? MSG_STANDARD : MSG_SYNCHRONOUS), OK);
        return;
    }
    where.rank = rand() % 3 ? where.rank : MSG_ANY_SOURCE;
    where.tag = rand() % 3 ? where.tag : MSG_ANY_TAG;
    CHECK_EQUAL(vmsg_recv_start(&slot->request, &where, &buffer), OK);
}

/* ---- what the peers send ----------------------------------------------------------------------------------------- */

static uint64_t some_id(void)
{
    if (rand() % 4 == 0)
        return (uint64_t)(rand() % 4) << 32 | (uint64_t)(rand() % 40);
    return known_id[rand() % 64];
}

/* The end of the storage is the end of the frame: reading past it is seen. */
static void deliver(uint32_t from, uint64_t header, const uint64_t *words, size_t known, size_t length)
{
    static unsigned char storage[LONGEST + 200];
    unsigned char *data = storage + sizeof storage - length;
    memcpy(data, words, length < known ? length : known);
    if (far) { /* numbered, rarely wrong; what goes over a rail is not */
        const struct msg_replay *replay = &vmsg_engine.peer[from]->far->replay;
        bool wrong = rand() % 20000 == 0;
        uint32_t extension[2] = {replay->arrived + (rand() % 50 ? 1 : -(uint32_t)(rand() % 9)) + 5 * wrong,
                                 replay->sent - (uint32_t)rand() % (replay->sent - replay->acked + 1) + wrong};
        data -= sizeof extension;
        memcpy(data, extension, sizeof extension);
        length = rand() % 20000 ? length + sizeof extension : (size_t)rand() % 8;
    }
    (void)vmsg_sink_received(&peer_vi[from], header, data, length, 1);
}

static void hostile_frame(void)
{
    static const size_t right[MSG_FRAME_KINDS] = {[MSG_FRAME_ANNOUNCE] = sizeof(struct msg_frame_announce),
                                                  [MSG_FRAME_GRANT] = sizeof(struct msg_frame_grant),
                                                  [MSG_FRAME_DONE] = sizeof(struct msg_frame_done),
                                                  [MSG_FRAME_CREDIT] = 8,
                                                  [MSG_FRAME_CANCEL] = 8,
                                                  [MSG_FRAME_CANCELLED] = 8,
                                                  [MSG_FRAME_FENCE] = sizeof(struct msg_frame_rail),
                                                  [MSG_FRAME_LANDED] = sizeof(struct msg_frame_rail)};
    uint64_t words[12] = {(uint64_t)rand() % 5000, some_id(), (uint64_t)rand() % 3000, (uint64_t)rand() % 4000, 0,
                          (uint64_t)(rand() % 5) << 56 | (uint64_t)(rand() % 68) << 48 |
                              (uint64_t)(rand() % 3) << 32 | (unsigned)rand() % 3,
                          rand() % 2 ? 0 : (uint64_t)rand() % 3000, 0, 0, rand() % 4 ? RAIL >> 32 : (uint64_t)rand() % 5};
    unsigned kind = (unsigned)rand() % (MSG_FRAME_KINDS + 2);
    if (kind == MSG_FRAME_GOODBYE && rand() % 2000) /* little happens afterwards */
        kind = MSG_FRAME_DATA;
    if (kind != MSG_FRAME_ANNOUNCE && kind != MSG_FRAME_CREDIT)
        words[0] = some_id();
    if (kind == MSG_FRAME_LANDED && rand() % 2)
        words[0] = RAIL, words[1] = 0;
    if (kind == MSG_FRAME_DATA)
        words[1] = rand() % 2 ? 0 : (uint64_t)rand() % 3000;
    if (rand() % 50 == 0)
        words[rand() % 4] = UINT64_MAX - (uint64_t)rand() % 3;
    size_t length = kind < MSG_FRAME_KINDS && right[kind] && rand() % 10 ? right[kind] : (size_t)rand() % LONGEST;
    if (kind == MSG_FRAME_GRANT && length == right[kind] && rand() % 3 == 0) /* more, and keys of some rails */
        length += sizeof(struct msg_frame_grant_more) + (size_t)(rand() % (MSG_KEYS + 1)) * sizeof(struct msg_frame_key);
    if (kind == MSG_FRAME_ANNOUNCE && length == right[kind] && rand() % 3 == 0)
        length += (size_t)(rand() % (MSG_KEYS + 1)) * sizeof(struct msg_frame_key);
    int tag = rand() % 30 ? rand() % 3 : -rand();
    uint64_t header = msg_header((enum msg_frame)kind, (uint32_t)rand() % 4, tag, (unsigned)rand() % 8);
    if (rand() % 1000 == 0)
        header = length = 0; /* what is expected when no receive expects anything */
    deliver(1 + (uint32_t)rand() % (PEERS - 1), header, words, sizeof words, length);
}

/* Now and then a peer answers as it should, or nearly, so that transfers come to every end. */
static void fitting_frame(void)
{
    uint64_t words[6 + 600 / 8] = {0};
    struct question *question = &(rand() % 2 ? grants : announced)[rand() % QUESTIONS];
    uint64_t left = question->upto - question->from, bytes = 1 + (uint64_t)rand() % (rand() % 2 ? 600 : 8);
    if (!question->peer || !question->upto)
        return;
    words[0] = question->id;
    if (question >= grants && question < grants + QUESTIONS && rand() % 4 == 0) {
        words[0] = rand() % 2 ? some_id() : 0;
        words[1] = question->id;
        deliver(question->peer, msg_header(MSG_FRAME_DONE, 0, 0, MSG_FLAG_PARTIAL), words, sizeof words,
                sizeof(struct msg_frame_done));
    } else if (question >= grants && question < grants + QUESTIONS) {
        words[1] = question->from;
        bytes = bytes < left ? bytes : left;
        question->from = left > bytes ? question->from + bytes : 0; /* what else came may have been in its place */
        deliver(question->peer, msg_header(MSG_FRAME_DATA, 0, 0, 0), words, sizeof words, 16 + bytes);
    } else if (rand() % 2) {
        deliver(question->peer, msg_header(MSG_FRAME_DONE, 0, 0, 0), words, sizeof words, sizeof(struct msg_frame_done));
    } else {
        words[1] = 1 + (uint64_t)rand() % 9;
        words[2] = left;
        words[5] = (uint64_t)(far ? MSG_PUSH : 1 + rand() % 3) << 56 | (uint64_t)(rand() % 3) << 48;
        words[5] |= 1ull << 32 | (unsigned)rand() % 3;
        bool more = rand() % 2;
        size_t length = sizeof(struct msg_frame_grant) + (more ? sizeof(struct msg_frame_grant_more) : 0);
        deliver(question->peer, msg_header(MSG_FRAME_GRANT, 0, 0, more ? MSG_FLAG_SLOTS : 0), words, sizeof words, length);
    }
}

/* Peers write what they like into slots: a generation, chunks claimed or moved at the end and at the start. */
static void board_word(void)
{
    uint64_t word = (uint64_t)(rand() % 3) << 32 | (uint64_t)(rand() % 3) << 16 | (unsigned)rand() % 3;
    __atomic_store_n(&boards[rand() % 2][rand() % 64][rand() % 3 ? rand() % 2 : 16], rand() % 20 ? word : UINT64_MAX - word, __ATOMIC_RELAXED);
}

static void late_end(void)
{
    void *cookie = later_cookie;
    later_cookie = NULL;
    if (cookie)
        nic.sink.done(later_vi, cookie, rand() % (far ? 500 : 3) ? OK : ERR_UNSUPPORTED);
    uint64_t id = some_id();
    if (far)
        vmsg_transfer_arrived(vmsg_engine.peer[1], (uint32_t)(id >> 32 << 16 | (id & UINT16_MAX)),
                                rand() % 2 ? 0 : (uint64_t)rand() % LONGEST);
}

static void game(unsigned seed)
{
    srand(seed);
    vbase_settings.single_from = seed / 2 % 2; /* by puts and gets, or in frames */
    vmsg_engine.peer[1]->slots = NULL;
    vmsg_slots.generation = 0; /* so that what peers write into slots is sometimes of the right one */
    nic.caps.max_put = far || seed % 2 ? 500 : 1 << 20; /* the latter: both ends may copy */
    for (int i = 0; i < 400 && !WIRE_GAME_ENDS; i++)
        switch (rand() % 8) {
        case 0:
            program_step();
            break;
        case 1:
            vmsg_progress();
            break;
        case 2:
            late_end();
            board_word();
            break;
        case 3:
            if (rand() % 100 == 0) {
                int c = rand() % 2;
                vmsg_context_close(contexts[c]);
                CHECK_EQUAL(vmsg_context_open((uint32_t)c, NULL, PEERS, 0, &contexts[c]), OK);
            }
            break;
        case 4:
            fitting_frame();
            break;
        default:
            hostile_frame();
        }
    for (int i = 0; i < REQUESTS; i++)
        check_guards(&slots[i]);
}

static void headers(void)
{
    uint64_t header = msg_header(MSG_FRAME_DATA, 65535, INT32_MAX, 255);
    CHECK_EQUAL(msg_header_kind(header), MSG_FRAME_DATA);
    CHECK_EQUAL(msg_header_context(header), 65535);
    CHECK_EQUAL(msg_header_tag(header), INT32_MAX);
    CHECK_EQUAL(msg_header_flags(header), 255);
    CHECK_EQUAL(msg_header_tag(msg_header(MSG_FRAME_EAGER, 1, 0, 0)), 0);
}

static int fake_arm(struct vi_nic *base, enum vi_arm what, struct vi_wait *wait)
{
    (void)base, (void)what, (void)wait;
    return ERR_UNSUPPORTED;
}

static void fake_dereg(struct vi_region *region) { (void)region; }

/* The engine and its hostile peers: of this node, or REMOTE. */
static void world_begin(bool remote)
{
    static const struct vi_ops ops = {.send = fake_send, .get = fake_get, .query = fake_query, .wake = fake_wake, .connect = fake_connect,
                                      .put = fake_put, .reg = fake_reg, .dereg = fake_dereg, .map = fake_map, .arm = fake_arm};
    static const struct vi_provider provider = {.name = "fake"};
    setenv("VIADUCT_LOG", "error", 1);
    setenv("VIADUCT_WINDOW", "4K", 1);
    far = remote;
    CHECK_EQUAL(vmsg_start(), OK);
    nic = (struct vi_nic){.ops = &ops, .provider = &provider, .caps = {.max_send = 700, .max_put = 500, .get = 1}};
    nic.sink.done = vmsg_sink_done;
    nic.caps.get = !far;
    nic.caps.put = far;
    nic.caps.put_least = far;
    nic.caps.map = !far;
    vmsg_engine.networked = far;
    vmsg_engine.size = PEERS;
    vmsg_engine.peer = realloc(vmsg_engine.peer, PEERS * MSG_NETWORKS * sizeof *vmsg_engine.peer);
    memset(vmsg_engine.peer, 0, PEERS * MSG_NETWORKS * sizeof *vmsg_engine.peer);
    CHECK(vmsg_scratch_grow(&nic) == OK);
    for (uint32_t i = 1; i < PEERS; i++) {
        calls = true;
        CHECK_EQUAL(vmsg_peer_accept(&nic, i), OK);
        if (far)
            vmsg_rail_up(&peer_vi[i]);
        vmsg_engine.peer[i]->eager = (int64_t)vmsg_engine.peer[i]->frame_most;
        vmsg_engine.peer[i]->short_limit = far ? -1 : vmsg_engine.peer[i]->eager;
    }
    struct type_layout *byte;
    CHECK_EQUAL(vtype_layout_bytes(1, 1, &byte), OK);
    CHECK_EQUAL(vtype_layout_vector(LONGEST / 2, 1, 2, byte, &spread), OK);
    vtype_layout_drop(byte);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(vmsg_context_open((uint32_t)i, NULL, PEERS, 0, &contexts[i]), OK);
    for (int i = 0; i < REQUESTS; i++)
        memset(slots[i].data, 0xEE, sizeof slots[i].data);
}

int main(int count, char **arguments)
{
    headers();
    int status = 0;
    pid_t other = fork();
    world_begin(other == 0);
    unsigned games = count > 1 ? (unsigned)atoi(arguments[1]) : 300;
    for (unsigned seed = 1; seed <= games && !check_failed; seed++)
        game(seed);
    CHECK(vbase_counters->refused > 0);
    CHECK(vbase_counters->recv_messages > 0);
    if (!far)
        CHECK(waitpid(other, &status, 0) == other && status == 0);
    return check_done();
}
