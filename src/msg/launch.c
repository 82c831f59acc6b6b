/* A send leaves: eagerly when its payload fits into a frame and into the receiver's window, announced otherwise. */
#include "msg/transfer.h"

/* What stands before the payload of an eager message. */
struct prefix {
    unsigned char body[sizeof(struct msg_note) + sizeof(struct msg_frame_id)];
    size_t length;
};

static void prefix_add(struct prefix *prefix, const void *what, size_t length)
{
    memcpy(prefix->body + prefix->length, what, length);
    prefix->length += length;
}

static const struct msg_note *note_of(const struct msg_request *request)
{
    return unlikely(request->order & MSG_FLAG_NOTED) ? request->note : NULL;
}

static uint64_t prefix_length(const struct msg_request *request)
{
    return (note_of(request) ? sizeof(struct msg_note) : 0) +
           (request->mode == MSG_SYNCHRONOUS ? sizeof(struct msg_frame_id) : 0);
}

static int eager_send(struct msg_request *request)
{
    struct msg_peer *peer = request->peer;
    struct type_cursor cursor, *from = NULL;
    struct prefix prefix;
    unsigned flags = 0;
    prefix.length = 0;
    if (note_of(request))
        prefix_add(&prefix, request->note, sizeof *request->note);
    if (request->mode == MSG_SYNCHRONOUS) {
        prefix_add(&prefix, &(uint64_t){vmsg_transfer_id(request->extra)}, sizeof(uint64_t));
        flags = MSG_FLAG_SYNC;
    }
    if (!type_buffer_contiguous(&request->buffer)) {
        vtype_cursor_start(&cursor, &request->buffer);
        from = &cursor;
    }
    uint64_t header = request->order | MSG_FRAME_EAGER << 8 | flags;
    int error = vmsg_frame_send(peer, header, (struct iovec){prefix.body, prefix.length}, &request->buffer, from, 0,
                                request->total);
    if (error == OK) {
        peer->window -= (int64_t)request->total + MSG_FRAME_COST;
        COUNT(send_eager);
        COUNT_ADD(send_bytes, request->total);
    }
    return error;
}

/* An eager synchronous message awaits DONE. */
static int sync_send(struct msg_request *request)
{
    if (!vmsg_transfer_take(request))
        return ERR_MEMORY;
    int error = eager_send(request);
    if (error == OK)
        msg_phase_set(request, MSG_PHASE_ANNOUNCED);
    else if (error == VI_HELD)
        error = vmsg_transfer_announce(request, note_of(request));
    else if (error != ERR_AGAIN)
        vmsg_transfer_give(request->extra);
    return error;
}

/* Sends a request's message or its envelope. Peer lock held. OK: on its way, perhaps complete. ERR_AGAIN: the lane is
 * full. */
int vmsg_send_launch(struct msg_request *request)
{
    struct msg_peer *peer = request->peer;
    int64_t bytes = (int64_t)request->total;
    bool fits = bytes <= peer->eager && request->total + prefix_length(request) <= msg_frame_most(peer);
    if (fits && bytes + MSG_FRAME_COST > peer->window) {
        COUNT(window_empty);
        fits = false;
    }
    if (!fits)
        return vmsg_transfer_announce(request, note_of(request));
    if (request->mode == MSG_SYNCHRONOUS)
        return sync_send(request);
    int error = eager_send(request);
    if (error == VI_HELD) /* others may hold the memory for hours, and this peer may wait: an envelope needs none */
        return vmsg_transfer_announce(request, note_of(request));
    if (error == OK) {
        if (request->extra)
            vmsg_transfer_give(request->extra);
        msg_complete(request, OK);
    }
    return error;
}
