/* A send leaves: eagerly when its payload fits into a frame and into the receiver's window, announced otherwise. */
#include "msg/transfer.h"

int vmsg_note_send(struct msg_request *request)
{
    struct iovec piece = {request->note, sizeof *request->note};
    return msg_peer_send(request->peer, msg_header(MSG_FRAME_NOTE, msg_header_context(request->order), 0, 0), &piece, 1);
}

static int eager_send(struct msg_request *request, enum msg_frame frame, struct iovec body)
{
    struct msg_peer *peer = request->peer;
    struct type_cursor cursor, *from = NULL;
    if (!type_buffer_contiguous(&request->buffer)) {
        vtype_cursor_start(&cursor, &request->buffer);
        from = &cursor;
    }
    int error = vmsg_frame_send(request, request->order | (uint64_t)frame << 8, body, from, 0, request->total);
    if (error == OK) {
        peer->window -= (int64_t)request->total + MSG_FRAME_COST;
        COUNT(send_eager);
        COUNT_ADD(send_bytes, request->total);
    }
    return error;
}

/* Sends a request's message or its envelope. Peer lock held. OK: on its way, perhaps complete. ERR_AGAIN: the lane is
 * full. */
int vmsg_send_launch(struct msg_request *request)
{
    struct msg_peer *peer = request->peer;
    int64_t bytes = (int64_t)request->total;
    int error = unlikely(request->order & MSG_FLAG_NOTED) ? vmsg_note_send(request) : OK;
    if (unlikely(error))
        return error == VI_HELD ? ERR_AGAIN : error;
    bool fits = bytes <= peer->eager;
    if (fits && bytes + MSG_FRAME_COST > peer->window) {
        COUNT(window_empty);
        fits = false;
    }
    if (!fits)
        return vmsg_rendezvous_announce(request);

    if (request->mode == MSG_SYNCHRONOUS && bytes + (int64_t)sizeof(struct msg_frame_id) <= peer->eager) {
        struct msg_frame_id body;
        error = vmsg_transfer_for_send(request);
        if (error)
            return error;
        body.id = vmsg_transfer_id(request->extra);
        error = eager_send(request, MSG_FRAME_EAGER_SYNC, (struct iovec){&body, sizeof body});
        if (error == OK)
            msg_phase_set(request, MSG_PHASE_ANNOUNCED);
        else if (error == VI_HELD)
            error = vmsg_rendezvous_announce(request);
        else if (error != ERR_AGAIN)
            vmsg_transfer_give(request->extra);
        return error;
    }
    if (request->mode == MSG_SYNCHRONOUS)
        return vmsg_rendezvous_announce(request);

    error = eager_send(request, MSG_FRAME_EAGER, (struct iovec){NULL, 0});
    if (error == VI_HELD) /* others may hold the memory for hours, and this peer may be waiting: an envelope needs none */
        return vmsg_rendezvous_announce(request);
    if (error == OK) {
        if (request->extra)
            vmsg_transfer_give(request->extra);
        msg_complete(request, OK);
    }
    return error;
}
