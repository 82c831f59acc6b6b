/* Notes: what a layer above sends along with a message, in a frame of its own right before the message's. So a note is its
 * peer's last until the next envelope of that peer takes it; it is freed with the envelope. Contexts without notes pay
 * for this with a look at a pointer where a message takes none of the short ways. */
#include "msg/engine.h"

_Static_assert(sizeof(struct msg_note) == 64, "wire");

void vmsg_context_noted(struct msg_context *context) { context->noted = true; }

int vmsg_note_send(struct msg_request *request)
{
    struct iovec piece = {request->note, sizeof *request->note};
    return msg_peer_send(request->peer, msg_header(MSG_FRAME_NOTE, msg_header_context(request->order), 0, 0), &piece, 1);
}

void vmsg_note_arrived(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    (void)header;
    if (!peer->note) /* else its message did not fit into the lane behind it: the two come again */
        peer->note = malloc(sizeof *peer->note);
    if (peer->note)
        *peer->note = body->note;
}

void vmsg_note_of_self(const struct msg_request *request, struct msg_envelope *envelope)
{
    envelope->note = request->note ? malloc(sizeof *envelope->note) : NULL;
    if (envelope->note)
        *envelope->note = *request->note;
}

void vmsg_note_give(const struct msg_request *request, const struct msg_note *note)
{
    if (request->context->noted && request->note)
        *request->note = *note;
}
