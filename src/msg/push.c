/* What the sender sends in DATA frames inside a node: a range that was granted to it, or chunks that it claims from a
 * slot, while the receiver copies out what came. Two copies at once by two processors are faster than one by a kernel
 * where the processors share a cache. Under progress. */
#include "msg/transfer.h"

/* Some frames of what lies before transfer->upto; transfer->next tells how far it came. Peer lock held. */
static int frames_send(struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    uint64_t room = peer->frame_most - sizeof(struct msg_frame_data), start = transfer->next;
    uint64_t most = transfer->want < TUNED(DATA_LONG_FROM) ? TUNED(DATA_PART) : TUNED(DATA_PART_LONG);
    int error = OK;
    most = most < room ? most : room;
    while (transfer->next < transfer->upto && transfer->next - start < TUNED(DATA_ROUND) && !error) {
        uint64_t left = transfer->upto - transfer->next, bytes = left < most ? left : most;
        struct msg_frame_data head = {transfer->remote, transfer->next};
        error = vmsg_frame_send(peer, msg_header(MSG_FRAME_DATA, 0, 0, 0), (struct iovec){&head, sizeof head},
                                &transfer->buffer, transfer->cursor, transfer->next, bytes);
        if (!error) {
            transfer->next += bytes;
        } else if (error == VI_HELD && most > TUNED(DATA_LEAST)) { /* a cell holds that */
            most /= TUNED(DATA_SHORTER);
            most = most > TUNED(DATA_LEAST) ? most : TUNED(DATA_LEAST);
            error = OK;
        }
    }
    return error == VI_HELD ? ERR_AGAIN : error;
}

/* False: nothing is left to claim. */
static bool range_ready(struct msg_transfer *transfer)
{
    uint64_t bytes;
    if (transfer->next < transfer->upto)
        return true;
    if (transfer->mover == MSG_PUSH || !vmsg_slot_claim(transfer, &transfer->next, &bytes))
        return false;
    transfer->upto = transfer->next + bytes;
    return true;
}

static bool all_sent(const struct msg_transfer *transfer)
{
    return transfer->next == transfer->upto &&
           (transfer->mover == MSG_PUSH || transfer->mine == vmsg_slot_chunks(transfer));
}

bool vmsg_push_step(struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    if (transfer->mover == MSG_PUSH_SLOT && !vmsg_transfer_first(transfer))
        return false; /* it is worked at again when it is */
    if (!range_ready(transfer)) { /* the receiver took chunks, too, and will tell */
        vmsg_transfer_pass(transfer);
        transfer->phase = MSG_ENDING;
        return false;
    }
    uint64_t before = transfer->next;
    int error = vmsg_transfer_cursor(transfer, before);
    msg_lock(&peer->lock);
    error = error ? error : frames_send(transfer);
    bool went = transfer->next != before;
    if ((error && error != ERR_AGAIN) || all_sent(transfer))
        vmsg_transfer_end(transfer, error == ERR_AGAIN ? OK : error);
    else
        vmsg_transfer_work(transfer);
    msg_unlock(&peer->lock);
    return went;
}
