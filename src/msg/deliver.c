/* A message has found its receive: its payload is copied, or its transfer begins. Runs without the context's lock, since a
 * matched request and a matched message belong to no other thread. */
#include "msg/transfer.h"

void vmsg_note_give(const struct msg_request *request, const struct msg_note *note)
{
    if (request->context->noted && request->note)
        *request->note = *note;
}

/* The receive and the send have found each other; the receive's result is filled in. */
void vmsg_self_copy(struct msg_request *receive, struct msg_request *send)
{
    struct type_cursor to, from;
    vtype_cursor_start(&to, &receive->buffer);
    vtype_cursor_start(&from, &send->buffer);
    vtype_copy(&to, &from, receive->result.bytes);
    vmsg_complete(send, OK);
    vmsg_complete(receive, receive->result.error);
}

static void payload_move(const struct msg_request *request, const void *payload, uint64_t bytes)
{
    if (likely(type_buffer_contiguous(&request->buffer)))
        memcpy(request->buffer.base, payload, bytes);
    else
        (void)vtype_unpack_at(&request->buffer, 0, payload, bytes);
}

static void deliver_payload(struct msg_request *request, const struct msg_envelope *envelope, uint64_t want)
{
    struct msg_peer *peer = envelope->peer;
    if (want)
        payload_move(request, envelope->payload, want);
    uint64_t id = envelope->frame == MSG_FRAME_EAGER_SYNC ? envelope->id : 0;
    vmsg_credit_owe(peer, envelope->total + MSG_FRAME_COST);
    if (unlikely(id)) {
        struct msg_frame_id ack = {id};
        vmsg_peer_control(peer, msg_header(MSG_FRAME_ACK, 0, 0, 0), &ack, sizeof ack);
    }
    vmsg_complete(request, request->result.error);
}

/* REQUEST and the message belong together and to us alone. request->total is the room of its buffer. */
void vmsg_message_deliver(struct msg_request *request, const struct msg_envelope *envelope)
{
    uint64_t room = request->total, want = envelope->total < room ? envelope->total : room;
    request->total = envelope->total;
    request->result = (struct msg_result){.source = envelope->source, .tag = envelope->tag, .bytes = want};
    if (unlikely(envelope->total > room))
        request->result.error =
            vbase_fail(ERR_TRUNCATED, "%llu bytes came from rank %d with tag %d, there is room for %llu",
                       (unsigned long long)envelope->total, envelope->source, envelope->tag, (unsigned long long)room);
    COUNT(recv_messages);
    COUNT_ADD(recv_bytes, want);
    if (unlikely(envelope->note != NULL))
        vmsg_note_give(request, envelope->note);
    if (envelope->local)
        vmsg_self_copy(request, envelope->local);
    else if (envelope->frame == MSG_FRAME_ANNOUNCE)
        vmsg_rendezvous_matched(request, envelope, want);
    else
        deliver_payload(request, envelope, want);
}
