/* Messages to this rank itself, without any transport: one copy between the two buffers when the receive is there; else
 * a small one is copied aside within the window, and any other waits with its payload in the sender's buffer. */
#include "msg/transfer.h"

static bool window_take(struct msg_peer *peer, uint64_t bytes)
{
    int64_t cost = (int64_t)bytes + MSG_FRAME_COST;
    msg_lock(&peer->lock);
    bool fits = (int64_t)bytes <= peer->eager && cost <= peer->window;
    if (fits)
        peer->window -= cost;
    msg_unlock(&peer->lock);
    return fits;
}

int vmsg_self_send(struct msg_request *request, struct msg_member *member)
{
    struct msg_envelope envelope = {.peer = member->peer,
                                    .total = request->total,
                                    .source = member->rank,
                                    .tag = request->result.tag,
                                    .frame = MSG_FRAME_ANNOUNCE,
                                    .local = request};
    COUNT(send_self);
    COUNT_ADD(send_bytes, request->total);
    bool plain = request->mode != MSG_SYNCHRONOUS && type_buffer_contiguous(&request->buffer);
    if (plain && window_take(member->peer, request->total)) {
        envelope.frame = MSG_FRAME_EAGER;
        envelope.local = NULL;
        envelope.payload = request->total ? request->buffer.base : &envelope;
    }
    if (unlikely(request->context->noted))
        envelope.note = request->note;
    int error = vmsg_message_enter(request->context, &envelope);
    if (!error && envelope.frame == MSG_FRAME_EAGER)
        msg_complete(request, OK);
    return error;
}
