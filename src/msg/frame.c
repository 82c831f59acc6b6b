/* One frame from a buffer of any layout. */
#include "msg/peer.h"

static unsigned char *frame_scratch; /* for packing one frame; under scratch_lock, a leaf as well */
static size_t scratch_size;
static struct base_lock scratch_lock;

void vmsg_scratch_close(void)
{
    free(frame_scratch);
    frame_scratch = NULL;
    scratch_size = 0;
}

int vmsg_scratch_grow(const struct vi_nic *nic)
{
    size_t size = nic->caps.max_send;
    msg_lock(&scratch_lock);
    unsigned char *scratch = size > scratch_size ? realloc(frame_scratch, size) : frame_scratch;
    if (scratch && size > scratch_size)
        scratch_size = size;
    frame_scratch = scratch ? scratch : frame_scratch;
    msg_unlock(&scratch_lock);
    return scratch ? OK : vbase_fail(ERR_MEMORY, "no memory for a frame of %zu bytes", size);
}

/* A cursor that a provider asks for its bytes. */
struct cursor_source {
    struct vi_source source;
    struct type_cursor *cursor;
};

static void cursor_write(struct vi_source *source, void *to, uint64_t bytes)
{
    struct cursor_source *own = container_of(source, struct cursor_source, source);
    vtype_pack(own->cursor, to, bytes);
}

/* One frame of BYTES from a cursor, which packs them where they shall lie, behind a body. */
static int frame_written(struct msg_peer *peer, uint64_t header, struct iovec *piece, struct type_cursor *from,
                         uint64_t bytes)
{
    struct cursor_source own = {{cursor_write}, from};
    piece[1] = (struct iovec){&own.source, bytes};
    return msg_peer_send_as(peer, header, piece, 2, VI_SOURCE);
}

/* One frame of BYTES from a cursor, behind the HEADS pieces at the front of PIECE (which has room for MSG_PIECES). The
 * cursor advances only if the frame was sent. */
static int frame_scattered(struct msg_peer *peer, uint64_t header, struct iovec *piece, int heads,
                           struct type_cursor *from, uint64_t bytes)
{
    if (!peer->remote && vi_caps(peer->vi)->source)
        return frame_written(peer, header, piece, from, bytes);
    struct type_cursor place = *from;
    int pieces;
    if (vtype_gather(&place, piece + heads, MSG_PIECES - heads, bytes, &pieces) == bytes) {
        if (heads + pieces == 0)
            piece[pieces++] = (struct iovec){NULL, 0};
        int error = msg_peer_send(peer, header, piece, heads + pieces);
        if (error == OK)
            *from = place;
        return error;
    }
    msg_lock(&scratch_lock);
    place = *from;
    piece[heads] = (struct iovec){frame_scratch, vtype_pack(&place, frame_scratch, bytes)};
    int error = msg_peer_send(peer, header, piece, heads + 1);
    msg_unlock(&scratch_lock);
    if (error == OK)
        *from = place;
    return error;
}

/* One frame with BYTES of a buffer at place FROM (cursor NULL: the buffer is one piece), behind a body. */
int vmsg_frame_send(struct msg_peer *peer, uint64_t header, struct iovec body, const struct type_buffer *buffer,
                    struct type_cursor *cursor, uint64_t from, uint64_t bytes)
{
    struct iovec piece[MSG_PIECES];
    int heads = body.iov_len != 0;
    piece[0] = body;
    if (cursor)
        return frame_scattered(peer, header, piece, heads, cursor, bytes);
    piece[heads] = (struct iovec){(void *)((uintptr_t)buffer->base + from), bytes}; /* base NULL for no bytes */
    return msg_peer_send(peer, header, piece, heads + 1);
}
