/* A send leaves: eagerly when its payload fits into a frame and into the receiver's window, announced otherwise. In
 * front of the payload stands what the receiver needs beside it: a note, and for a synchronous message, which awaits
 * DONE, the id of its transfer. */
#include "msg/transfer.h"

/* What the receiver needs, in HEAD; how many bytes. */
static size_t head_write(const struct msg_request *request, const struct msg_note *note, unsigned char *head)
{
    size_t length = 0;
    if (note) {
        memcpy(head, note, sizeof *note);
        length = sizeof *note;
    }
    if (request->mode == MSG_SYNCHRONOUS) {
        struct msg_frame_id id = {vmsg_transfer_id(request->extra)};
        memcpy(head + length, &id, sizeof id);
        length += sizeof id;
    }
    return length;
}

static int eager_launch(struct msg_request *request, const struct msg_note *note)
{
    struct type_cursor cursor, *from = NULL;
    unsigned char head[sizeof(struct msg_note) + sizeof(struct msg_frame_id)];
    struct iovec before = {head, head_write(request, note, head)};
    if (!type_buffer_contiguous(&request->buffer)) {
        vtype_cursor_start(&cursor, &request->buffer);
        from = &cursor;
    }
    uint64_t header =
        request->order | MSG_FRAME_EAGER << 8 | (request->mode == MSG_SYNCHRONOUS ? MSG_FLAG_SYNC : 0);
    return msg_eager_send(request->peer, header, &before, &request->buffer, from, request->total);
}

/* What a row of the class of the line allows that others do not may change at any time. */
bool vmsg_eager_here(const struct msg_peer *peer, uint64_t bytes)
{
    struct vi_state state;
    return !peer->remote && !vbase_settings.eager && bytes <= vbase_tuned(TUNABLE_EAGER_MOST, CLASS_NEAR) &&
           bytes <= peer->frame_most && vi_query(peer->vi, &state) == OK &&
           bytes <= vbase_tuned(TUNABLE_EAGER_MOST, state.line);
}

/* Sends a request's message or its envelope. Peer lock held. OK: on its way, perhaps complete. ERR_AGAIN: the lane is
 * full. */
int vmsg_send_launch(struct msg_request *request)
{
    struct msg_peer *peer = request->peer;
    const struct msg_note *note = unlikely(request->order & MSG_FLAG_NOTED) ? request->note : NULL;
    bool awaits = request->mode == MSG_SYNCHRONOUS;
    int64_t bytes = (int64_t)request->total;
    uint64_t head = (note ? sizeof *note : 0) + (awaits ? sizeof(struct msg_frame_id) : 0);
    bool fits = (bytes <= peer->eager || vmsg_eager_here(peer, request->total)) &&
                request->total + head <= peer->frame_most;
    if (fits && bytes + MSG_FRAME_COST > peer->window) {
        COUNT(window_empty);
        fits = false;
    }
    if (fits && awaits && !vmsg_transfer_take(request))
        return ERR_MEMORY;
    int error = fits ? eager_launch(request, note) : VI_HELD;
    if (error == VI_HELD) /* others may hold the memory for hours, and this peer may wait: an envelope needs none */
        return vmsg_transfer_announce(request, note);
    if (error == OK && awaits) {
        msg_phase_set(request, MSG_PHASE_ANNOUNCED);
    } else if (error != ERR_AGAIN) {
        if (request->extra)
            vmsg_transfer_give(request->extra);
        if (error == OK)
            msg_complete(request, OK);
    }
    return error;
}
