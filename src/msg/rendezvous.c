/* Rendezvous: messages whose payload waits at the sender until a receive is there.
 *
 *   sender                                   receiver
 *     | ANNOUNCE total, id, key                 |
 *     |---------------------------------------->|  ... a receive matches
 *     |            (a) the payload can be fetched: vi_get, chunk by chunk
 *     |<= = = = = = = = = = = = = = = = = = = = |
 *     |                              FINISH id  |
 *     |<----------------------------------------|
 *     |            (b) it cannot, or no longer: the rest is sent
 *     |        CLEAR id, answer, from .. upto   |
 *     |<----------------------------------------|
 *     | DATA answer, place, payload   (repeated)|
 *     |---------------------------------------->|
 *     |            (c) over a network, where both buffers are one piece: the rest is put
 *     |        CLEAR, with the key of the buffer|
 *     |<----------------------------------------|
 *     | puts, each tells that it has arrived, in whatever order, over whatever rails (bond.c)
 *     |= = = = = = = = = = = = = = = = = = = = >|
 *     |                              FINISH id  |
 *     |<----------------------------------------|
 *
 * In (a) the sender is complete at FINISH, in (b) when its last DATA frame was taken by the provider; over a network always
 * at FINISH: only then its buffer is not needed for a replay either. A receive that is
 * too short asks only for what it has room for, or finishes at once: the sender never knows.
 *
 * Everything here that moves runs under progress, one chunk of each transfer a round, so that the nics are looked at in
 * between. */
#include "msg/transfer.h"

#define FETCH_LEAST   2048         /* bytes of a piece: shorter ones cost a kernel more than a second copy costs */
#define FETCH_MOST    (2u << 20)   /* bytes between two looks at the nics: a call of the kernel costs some before it copies */
#define PART          16384u       /* bytes of a DATA frame: both ends copy at once, so it is a small share of the message; */
#define PART_LONG     65536u       /* of one from LONG bytes on: fewer of them cost less, */
#define LONG          (256u << 10)
#define HUGE          (4u << 20)   /* but to here, where both ends are best and frames are only tried */
#define PARTS_A_ROUND (256u << 10)
#define DATA_LEAST    32 /* with its head it fits into a cell of shared memory: nothing else is needed */

/* Peer lock held. */
int vmsg_rendezvous_announce(struct msg_request *request)
{
    struct msg_peer *peer = request->peer;
    int error = vmsg_transfer_for_send(request);
    if (error)
        return error;
    struct msg_transfer *transfer = request->extra;
    bool fetchable = peer->nic->caps.get && request->total && vmsg_transfer_register(transfer, request->total);
    struct msg_frame_announce body = {request->total, vmsg_transfer_id(transfer), transfer->region.key};
    struct iovec piece = {&body, sizeof body};
    unsigned flags = fetchable ? MSG_FLAG_KEY : 0; /* else it is sent */
    transfer->phase = MSG_TRANSFER_ANNOUNCED;
    msg_phase_set(request, MSG_PHASE_ANNOUNCED);
    error = msg_peer_send(peer, request->order | MSG_FRAME_ANNOUNCE << 8 | flags, &piece, 1);
    if (error == OK) {
        COUNT(send_rendezvous);
        COUNT_ADD(send_bytes, request->total);
    } else if (error != ERR_AGAIN) {
        vmsg_transfer_give(transfer);
    }
    return error;
}

/* ---- the receiver ------------------------------------------------------------------------------------------------ */

void vmsg_rendezvous_finish_tell(struct msg_peer *peer, uint64_t id)
{
    struct msg_frame_id body = {id};
    vmsg_peer_control(peer, msg_header(MSG_FRAME_FINISH, 0, 0, 0), &body, sizeof body);
}

static void receive_over(struct msg_transfer *transfer, int error)
{
    struct msg_request *request = transfer->request;
    vmsg_transfer_give(transfer);
    msg_complete(request, error ? error : request->result.error);
}

/* Only where it saves a copy: shared memory has other ways. */
static bool puts_pay(const struct vi_nic *nic) { return nic->caps.put_least != 0; }

static bool may_be_put(struct msg_transfer *transfer)
{
    struct vi_nic *nic = transfer->peer->nic;
    return puts_pay(nic) && type_buffer_contiguous(&transfer->request->buffer) &&
           vbase_pool_index(transfer) <= UINT16_MAX && /* the immediate names it */
           vi_reg(nic, transfer->request->buffer.base, transfer->upto, &transfer->region) == OK;
}

/* Asks the sender for what is missing. */
void vmsg_rendezvous_ask(struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    vmsg_transfer_pass(transfer);
    if (transfer->way != MSG_WAY_FRAMES || transfer->region.nic)
        vmsg_transfer_judge(transfer, false); /* else it is what was chosen */
    int error = vmsg_transfer_cursor(transfer, transfer->moved);
    if (error) {
        vmsg_rendezvous_finish_tell(peer, transfer->remote);
        receive_over(transfer, error);
        return;
    }
    unsigned flags = may_be_put(transfer) ? MSG_FLAG_KEY : 0;
    struct msg_frame_clear body = {transfer->remote, vmsg_transfer_id(transfer), transfer->moved, transfer->upto,
                                   flags ? transfer->region.key : (struct vi_key){{0}}};
    transfer->phase = MSG_TRANSFER_RECEIVING;
    vmsg_peer_control(peer, msg_header(MSG_FRAME_CLEAR, 0, 0, flags), &body, sizeof body);
}

/* So much more of a message from afar is in place, wherever: every byte comes once. */
static void landed(struct msg_transfer *transfer, uint64_t bytes)
{
    transfer->arrived += bytes;
    if (transfer->moved + transfer->arrived < transfer->upto)
        return;
    vmsg_rendezvous_finish_tell(transfer->peer, transfer->remote);
    receive_over(transfer, OK);
}

/* A put has come in. */
void vmsg_rendezvous_arrived(struct msg_peer *peer, uint32_t immediate, uint64_t bytes)
{
    uint64_t id = (uint64_t)(immediate >> 16) << 32 | (immediate & UINT16_MAX);
    msg_lock(&peer->lock); /* as in vmsg_rendezvous_data */
    struct msg_transfer *transfer = vmsg_transfer_at(peer, id, MSG_TRANSFER_RECEIVING);
    msg_unlock(&peer->lock);
    if (!transfer || !transfer->region.nic || bytes > transfer->upto - transfer->moved - transfer->arrived)
        vmsg_refused(peer, "a put that nobody asked for");
    else
        landed(transfer, bytes);
}

/* Whether a kernel should fetch into the pieces of this receive's buffer; the first ones tell. */
static bool fetch_pays(const struct msg_transfer *transfer)
{
    struct iovec piece[MSG_FETCHED];
    int pieces;
    if (!transfer->cursor)
        return true;
    struct type_cursor cursor = *transfer->cursor;
    return vtype_gather(&cursor, piece, MSG_FETCHED, transfer->upto, &pieces) >= (uint64_t)pieces * FETCH_LEAST;
}

/* By the best way there is: together, by us alone, or by the sender. */
static void receive_begin(struct msg_transfer *transfer, bool fetchable)
{
    struct vi_state state = {.get = false};
    fetchable =
        fetchable && vi_query(transfer->peer->vi, &state) == OK && state.get && vmsg_transfer_cursor(transfer, 0) == OK &&
        fetch_pays(transfer);
    if (fetchable)
        vmsg_transfer_choose(transfer, &state);
    bool joint = transfer->way != MSG_WAY_GET && transfer->region.nic;
    if (!fetchable || (transfer->way == MSG_WAY_FRAMES && !joint)) {
        vmsg_rendezvous_ask(transfer);
    } else if (!joint || !vmsg_joint_begin(transfer)) {
        if (joint)
            vmsg_transfer_judge(transfer, false);
        transfer->phase = MSG_TRANSFER_FETCHING;
        vmsg_transfer_work(transfer);
    }
    vmsg_wake(); /* the caller may go and compute */
}

/* A receive got an announced message; WANT is what it has room for. No lock held. */
void vmsg_rendezvous_matched(struct msg_request *request, const struct msg_envelope *envelope, uint64_t want)
{
    struct msg_peer *peer = envelope->peer;
    __atomic_store_n(&request->peer, peer, __ATOMIC_RELAXED); /* its wait looks at it */
    struct msg_transfer *transfer = want ? vmsg_transfer_take(request) : NULL;
    if (!transfer) {
        vmsg_rendezvous_finish_tell(peer, envelope->id);
        int error = request->result.error;
        if (want)
            error = vbase_fail(ERR_MEMORY, "no memory to receive %llu bytes", (unsigned long long)want);
        msg_complete(request, error);
        return;
    }
    transfer->remote = envelope->id;
    transfer->upto = want;
    transfer->key = envelope->key;
    receive_begin(transfer, envelope->fetchable);
}

static void fetched(struct msg_transfer *transfer, uint64_t bytes)
{
    transfer->moved += bytes;
    if (transfer->moved == transfer->upto) {
        vmsg_transfer_judge(transfer, true);
        vmsg_rendezvous_finish_tell(transfer->peer, transfer->remote);
        receive_over(transfer, OK);
    }
}

static uint64_t fetch_pieces(struct msg_transfer *transfer, struct iovec *piece, int *pieces)
{
    uint64_t bytes = transfer->upto - transfer->moved, most = transfer->peer->nic->caps.max_put;
    if (bytes > FETCH_MOST)
        bytes = FETCH_MOST;
    if (bytes > most)
        bytes = most;
    return vmsg_transfer_pieces(transfer, bytes, piece, pieces);
}

/* Pulls one chunk. The transfer may be over afterwards. */
static bool fetch_chunk(struct msg_transfer *transfer)
{
    struct iovec piece[MSG_FETCHED];
    int pieces;
    if (!vmsg_transfer_first(transfer)) {
        vmsg_transfer_work(transfer);
        return false;
    }
    uint64_t bytes = fetch_pieces(transfer, piece, &pieces);
    struct vi_transfer get = {
        .local = piece, .pieces = pieces, .key = transfer->key, .offset = transfer->moved, .cookie = transfer};
    transfer->under_way = bytes;
    int status = vi_get(transfer->peer->vi, &get);
    if (status == VI_COMPLETE) {
        vmsg_transfer_work(transfer);
        fetched(transfer, bytes);
        return true;
    }
    if (status == OK)
        return true; /* vmsg_rendezvous_fetched goes on */
    if (status == ERR_AGAIN) {
        vmsg_transfer_work(transfer);
        return false;
    }
    vmsg_rendezvous_ask(transfer);
    return true;
}

/* The sink heard that a get is complete, or failed. */
void vmsg_rendezvous_fetched(struct msg_transfer *transfer, int status)
{
    if (status) {
        vmsg_rendezvous_ask(transfer);
        return;
    }
    vmsg_transfer_work(transfer);
    fetched(transfer, transfer->under_way);
}

void vmsg_rendezvous_data(struct msg_peer *peer, const void *body, size_t length)
{
    struct msg_frame_data head;
    if (length < sizeof head) {
        vmsg_refused(peer, "a part of a message without its head");
        return;
    }
    memcpy(&head, body, sizeof head);
    const char *payload = (const char *)body + sizeof head;
    uint64_t bytes = length - sizeof head;
    msg_lock(&peer->lock); /* under it the clearance went out: the transfer is seen as it was then */
    struct msg_transfer *transfer = vmsg_transfer_at(peer, head.id, MSG_TRANSFER_RECEIVING);
    struct msg_transfer *joint = transfer ? NULL : vmsg_transfer_at(peer, head.id, MSG_TRANSFER_JOINT);
    msg_unlock(&peer->lock);
    uint64_t length_wanted = 0;
    if (transfer && peer->remote && head.from >= transfer->moved && head.from < transfer->upto)
        length_wanted = transfer->upto - (head.from > transfer->moved + transfer->arrived ? head.from
                                                                                          : transfer->moved + transfer->arrived);
    else if (transfer && head.from == transfer->moved)
        length_wanted = transfer->upto - transfer->moved;
    else if (joint && joint->frames && !joint->sender && head.from < joint->upto)
        length_wanted = joint->upto - head.from;
    if (bytes > length_wanted || !bytes) {
        vmsg_refused(peer, "a part of a message that nobody asked for");
        return;
    }
    COUNT_ADD(copy_pipelined, bytes);
    if (joint)
        transfer = joint;
    if (vmsg_transfer_cursor(transfer, head.from) != OK)
        return; /* it is there since the message was asked for */
    if (transfer->cursor)
        vtype_unpack(transfer->cursor, payload, bytes);
    else
        memcpy((char *)transfer->request->buffer.base + head.from, payload, bytes);
    if (joint) {
        vmsg_joint_data(joint, bytes);
        return;
    }
    if (peer->remote) {
        landed(transfer, bytes);
        return;
    }
    transfer->moved += bytes;
    if (transfer->moved < transfer->upto)
        return;
    vmsg_transfer_judge(transfer, true);
    receive_over(transfer, OK);
}

/* ---- the sender -------------------------------------------------------------------------------------------------- */

void vmsg_rendezvous_sent(struct msg_transfer *transfer, int error)
{
    struct msg_request *request = transfer->request;
    vmsg_transfer_give(transfer);
    msg_complete(request, error);
}

/* The transfer of ours that the receiver answers: announced, or in a joint copy. Peer lock held. */
static struct msg_transfer *answered(struct msg_peer *peer, uint64_t id)
{
    struct msg_transfer *transfer = vmsg_transfer_at(peer, id, MSG_TRANSFER_ANNOUNCED);
    if (!transfer)
        transfer = vmsg_transfer_at(peer, id, MSG_TRANSFER_JOINT);
    return transfer && transfer->sender ? transfer : NULL;
}

void vmsg_rendezvous_clear(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    const struct msg_frame_clear *clear = &body->clear;
    msg_lock(&peer->lock);
    struct msg_transfer *transfer = answered(peer, clear->id);
    bool sane = transfer && clear->from < clear->upto && clear->upto <= transfer->request->total;
    if (sane) {
        msg_phase_set(transfer->request, MSG_PHASE_MOVING);
        vmsg_transfer_pass(transfer);
        bool put = msg_header_flags(header) & MSG_FLAG_KEY && puts_pay(peer->nic) &&
                   type_buffer_contiguous(&transfer->request->buffer);
        transfer->phase = put ? MSG_TRANSFER_PLACING : MSG_TRANSFER_SENDING;
        transfer->key = clear->key;
        transfer->remote = clear->answer;
        transfer->moved = clear->from;
        transfer->upto = clear->upto;
        int error = vmsg_transfer_cursor(transfer, clear->from);
        if (error)
            vmsg_failed(error);         /* the receiver waits for bytes that cannot be walked to */
        else if (!transfer->told_later) /* else vmsg_joint_told goes on: no put of ours may land any more */
            vmsg_transfer_work(transfer);
    }
    msg_unlock(&peer->lock);
    if (!sane)
        vmsg_refused(peer, "a clearance for a message that is not announced");
}

/* FINISH and ACK: the receiver has what it wants. */
void vmsg_rendezvous_finish(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    (void)header;
    msg_lock(&peer->lock);
    struct msg_transfer *transfer = answered(peer, body->id.id);
    if (!transfer && (transfer = vmsg_transfer_find(peer, body->id.id)) && !vmsg_bond_may_end(transfer))
        transfer = NULL;
    bool sane = transfer && !transfer->told_later;
    if (sane && transfer->region.nic && transfer->way == MSG_WAY_GET)
        vmsg_choice_heard(&peer->choice[1], transfer->request->total, MSG_WAY_GET);
    if (sane)
        vmsg_rendezvous_sent(transfer, OK);
    msg_unlock(&peer->lock);
    if (!sane)
        vmsg_refused(peer, "a finish for a message that is not announced");
}

/* Sends some parts of what lies before UPTO; transfer->moved tells how far it came. */
int vmsg_rendezvous_push(struct msg_transfer *transfer, uint64_t upto)
{
    struct msg_peer *peer = transfer->peer;
    uint64_t room = msg_frame_most(peer) - sizeof(struct msg_frame_data), start = transfer->moved;
    uint64_t most = transfer->upto < LONG || transfer->upto >= HUGE ? PART : PART_LONG;
    int error = OK;
    most = most < room ? most : room;
    while (transfer->moved < upto && transfer->moved - start < PARTS_A_ROUND && !error) {
        uint64_t left = upto - transfer->moved, bytes = left < most ? left : most;
        struct msg_frame_data head = {transfer->remote, transfer->moved};
        error = vmsg_frame_send(transfer->request, msg_header(MSG_FRAME_DATA, 0, 0, 0),
                                (struct iovec){&head, sizeof head}, transfer->cursor, transfer->moved, bytes);
        if (!error) {
            transfer->moved += bytes;
        } else if (error == VI_HELD && most > DATA_LEAST) { /* what fits into a cell needs no memory that others hold */
            most = most / 4 > DATA_LEAST ? most / 4 : DATA_LEAST;
            error = OK;
        }
    }
    return error == VI_HELD ? ERR_AGAIN : error;
}

/* The transfer may be over afterwards. */
static bool data_send(struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    uint64_t before = transfer->moved;
    msg_lock(&peer->lock);
    int error = vmsg_rendezvous_push(transfer, transfer->upto);
    bool went = transfer->moved != before;
    if (transfer->moved == transfer->upto || (error && error != ERR_AGAIN))
        vmsg_rendezvous_sent(transfer, error == ERR_AGAIN ? OK : error);
    else
        vmsg_transfer_work(transfer);
    msg_unlock(&peer->lock);
    return went;
}

bool vmsg_rendezvous_work(void)
{
    struct msg_engine *engine = &vmsg_engine;
    bool moved = false;
    msg_lock(&engine->leaf);
    struct list_node *last = list_empty(&engine->work) ? NULL : engine->work.head.previous, *node = NULL;
    while (last && node != last) {
        node = list_first(&engine->work);
        msg_chore_remove(node);
        struct msg_transfer *transfer = container_of(node, struct msg_transfer, link);
        msg_unlock(&engine->leaf);
        moved |= transfer->phase == MSG_TRANSFER_JOINT      ? vmsg_joint_step(transfer)
                 : transfer->phase == MSG_TRANSFER_OVER     ? vmsg_joint_after(transfer)
                 : transfer->phase == MSG_TRANSFER_FETCHING ? fetch_chunk(transfer)
                 : transfer->peer->remote                   ? vmsg_bond_step(transfer)
                                                            : data_send(transfer);
        msg_lock(&engine->leaf);
    }
    msg_unlock(&engine->leaf);
    return moved;
}
