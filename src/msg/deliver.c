/* A message has found its receive: its payload is copied, or its transfer begins. Runs without the context's lock,
 * since a matched request and a matched message belong to no other thread. */
#include "msg/transfer.h"

static void note_give(const struct msg_request *request, const struct msg_note *note)
{
    if (request->context->noted && request->note)
        *request->note = *note;
}

/* The receive and the send have found each other; the receive's result is filled in. */
static void self_copy(struct msg_request *receive, struct msg_request *send)
{
    struct type_cursor to, from;
    vtype_cursor_start(&to, &receive->buffer);
    vtype_cursor_start(&from, &send->buffer);
    vtype_copy(&to, &from, receive->result.bytes);
    msg_complete(send, OK);
    msg_complete(receive, receive->result.error);
}

void vmsg_receive_truncated(struct msg_request *request, uint64_t room)
{
    request->result.error = vbase_fail(
        ERR_TRUNCATED, "%llu bytes came from rank %d with tag %d, there is room for %llu",
        (unsigned long long)request->total, request->result.source, request->result.tag, (unsigned long long)room);
}

/* REQUEST and the message belong together and to no other thread. */
void vmsg_message_deliver(struct msg_request *request, const struct msg_envelope *envelope)
{
    if (unlikely(envelope->note != NULL))
        note_give(request, envelope->note);
    if (likely(envelope->frame == MSG_FRAME_EAGER)) {
        if (unlikely(envelope->id))
            vmsg_done_tell(envelope->peer, envelope->id);
        msg_eager_deliver(request, envelope->source, envelope->tag, envelope->payload, envelope->total);
        msg_credit_owe(envelope->peer, envelope->total + MSG_FRAME_COST);
        return;
    }
    uint64_t want = msg_receive_found(request, envelope->source, envelope->tag, envelope->total);
    if (envelope->local)
        self_copy(request, envelope->local);
    else
        vmsg_transfer_matched(request, envelope, want);
}
