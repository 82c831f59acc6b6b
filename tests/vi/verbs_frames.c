/* What a peer sends over verbs, by a device that is a function, one frame after the other: what it says it has taken is
 * never more than was sent to it, and what makes no sense ends the connection, with all that comes behind. */
#include "check.h"
#include "vi/verbs/verbs.h"

static struct {
    struct verbs_nic home;
    struct call_peer peer;
    struct verbs_adapter adapter;
    struct verbs_vi vi;
    struct ibverbs_context device;
    struct ibverbs_qp pair;
    struct verbs_receive receive;
    uint8_t block[VERBS_BLOCK];
    struct ibverbs_wc next; /* completion; wr_id 0: none */
    int received, arrived, posted;
} *it;

static int device_poll(struct ibverbs_cq *cq, int most, struct ibverbs_wc *wc)
{
    (void)cq;
    (void)most;
    *wc = it->next;
    it->next.wr_id = 0;
    return wc->wr_id != 0;
}

static int device_receive(struct ibverbs_srq *srq, struct ibverbs_recv_wr *wr, struct ibverbs_recv_wr **bad)
{
    (void)srq;
    (void)wr;
    (void)bad;
    return 0;
}

static int device_send(struct ibverbs_qp *qp, struct ibverbs_send_wr *wr, struct ibverbs_send_wr **bad)
{
    (void)qp;
    (void)wr;
    (void)bad;
    it->posted++;
    return 0;
}

static bool sink_received(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t depth)
{
    CHECK(vi == &it->vi.call.vi && length <= VERBS_MAX_SEND);
    (void)header;
    (void)data;
    (void)depth;
    it->received++;
    return false;
}

static void sink_arrived(struct vi *vi, uint32_t immediate, uint64_t length)
{
    CHECK(vi == &it->vi.call.vi);
    (void)immediate;
    (void)length;
    it->arrived++;
}

static const char *status_text(int status)
{
    (void)status;
    return "an error";
}

/* TAKEN of SENT are known to be there; UNSENT of the others are kept. */
static void begin(uint64_t sent, uint64_t taken, uint32_t unsent)
{
    static struct ibverbs_library library = {.ibv_wc_status_str = status_text};
    it = calloc(1, sizeof(*it));
    it->home.library = &library;
    it->home.call.nic.sink.received = sink_received;
    it->home.call.nic.sink.arrived = sink_arrived;
    list_init(&it->home.broken);
    list_init(&it->home.writers);
    it->peer.nic = &it->home.call;
    it->adapter.home = &it->home;
    it->adapter.port.context = &it->device;
    it->device.ops.poll_cq = device_poll;
    it->device.ops.post_srq_recv = device_receive;
    it->device.ops.post_send = device_send;
    it->vi = (struct verbs_vi){.call = {.peer = &it->peer, .open = true}, .adapter = &it->adapter, .state = VERBS_UP,
                               .qp = &it->pair, .inlined = TUNED(VERBS_INLINE), .places = VERBS_LEAST,
                               .sent = sent, .taken = taken, .unsent = unsent};
    list_init(&it->vi.written);
    for (uint32_t i = 0; i < VERBS_PLACES; i++)
        it->vi.place[i].vi = &it->vi;
    it->receive.whole.addr = (uintptr_t)it->block;
    CHECK_EQUAL(vbase_map_put(&it->adapter.vis, 0, &it->vi), OK);
}

static void end(void)
{
    vbase_map_close(&it->adapter.vis);
    verbs_kept_drop(&it->vi);
    free(it->adapter.event);
    free(it->adapter.event_vi);
    free(it);
}

/* A completion that says LENGTH; of a frame, or of a write with immediate. */
static void play(const struct verbs_frame *frame, uint32_t length, uint32_t opcode, uint32_t status)
{
    uint64_t taken = it->vi.taken;
    int told = it->received + it->arrived;
    bool refused = it->vi.refused;
    if (frame)
        memcpy(it->block, frame, sizeof(*frame));
    it->next = (struct ibverbs_wc){.wr_id = (uintptr_t)&it->receive | VERBS_OF_RECEIVE, .byte_len = length,
                                   .opcode = opcode, .status = status};
    while (verbs_complete(&it->adapter))
        ;
    it->adapter.back = NULL; /* it is posted, and may come again */
    it->adapter.backs = 0;
    CHECK(it->vi.taken >= taken && it->vi.taken <= it->vi.sent - it->vi.unsent);
    if (refused)
        CHECK(it->vi.taken == taken && it->received + it->arrived == told);
}

#ifndef FUZZ
static void says(enum verbs_kind kind, uint32_t taken)
{
    play(&(struct verbs_frame){.word = 5, .taken = taken, .kind = (uint16_t)kind}, sizeof(struct verbs_frame),
         IBVERBS_WC_RECV, 0);
}

/* The peer says WORD; it may, or it may not. */
static void credit(uint64_t sent, uint64_t taken, uint32_t unsent, uint32_t word, bool may)
{
    for (int kind = VERBS_SEND; kind < VERBS_KINDS; kind++) {
        begin(sent, taken, unsent);
        says((enum verbs_kind)kind, word);
        CHECK_EQUAL(it->vi.refused, !may);
        CHECK_EQUAL(it->vi.taken, may ? taken + (uint32_t)(word - (uint32_t)taken) : taken);
        CHECK_EQUAL(it->received, may && kind == VERBS_SEND);
        CHECK_EQUAL(it->arrived, may && kind == VERBS_ARRIVED);
        if (!may) {
            CHECK(strstr(it->vi.why, "a credit for what was not sent"));
            says(VERBS_SEND, (uint32_t)taken); /* nothing is heard any more */
            CHECK_EQUAL(it->received, 0);
        }
        end();
    }
}

/* A frame of a length that makes no sense. */
static void length_refused(enum verbs_kind kind, uint32_t length)
{
    begin(5, 2, 0);
    play(&(struct verbs_frame){.taken = 2, .kind = (uint16_t)kind}, length, IBVERBS_WC_RECV, 0);
    CHECK(it->vi.refused && it->received == 0 && it->arrived == 0);
    end();
}

int main(void)
{
    const uint64_t turn = 1ull << 32;
    credit(5, 2, 0, 2, true);
    credit(5, 2, 0, 5, true);
    credit(5, 2, 0, 6, false);
    credit(5, 2, 0, 1, false); /* less than before */
    credit(5, 2, 1, 4, true);  /* what is kept was not sent */
    credit(5, 2, 1, 5, false);
    credit(turn + 3, turn - 1, 0, 3, true);
    credit(turn + 3, turn - 1, 0, 4, false);
    credit(0, 0, 0, 0x80000000, false);
    length_refused(VERBS_SEND, 0);
    length_refused(VERBS_SEND, sizeof(struct verbs_frame) - 1);
    length_refused(VERBS_SEND, sizeof(struct verbs_frame) + VERBS_MAX_SEND + 1);
    length_refused(VERBS_TAKEN, sizeof(struct verbs_frame) + 1);
    return check_done();
}
#endif
