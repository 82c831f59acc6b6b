/* The way out of a vi: frames, and those that wait because there is no queue pair yet or no room. Called by the thread
 * that sends on the vi, and by the poll; everything here happens under vi->lock.
 *
 * What is short goes inline, with its frame, in one request: in one piece where there is room before it (VI_STAYS).
 * What is longer goes from where it lies, if that is registered and stays as it is; else it is copied into a block that
 * is registered, and comes back when the request is complete. */
#include "vi/verbs/verbs.h"

uint64_t verbs_total(const struct iovec *piece, int pieces)
{
    uint64_t length = 0;
    for (int i = 0; i < pieces; i++)
        length += piece[i].iov_len;
    return length;
}

void verbs_gather(uint8_t *to, const struct iovec *piece, int pieces)
{
    for (int i = 0; i < pieces; to += piece[i++].iov_len)
        if (piece[i].iov_len)
            base_copy(to, piece[i].iov_base, piece[i].iov_len);
}

/* ---- vis with something to send ---------------------------------------------------------------------------------- */

void verbs_writer_add(struct verbs_vi *vi)
{
    struct verbs_nic *nic = verbs_home(vi);
    base_lock(&nic->writers_lock);
    if (!list_node_linked(&vi->writer)) {
        list_append(&nic->writers, &vi->writer);
        nic->writing++;
    }
    base_unlock(&nic->writers_lock);
}

int verbs_post_failed(struct verbs_vi *vi, struct verbs_place *at, int number)
{
    *at = (struct verbs_place){.vi = vi};
    vi->failed = true;
    verbs_writer_add(vi); /* the poll finds it there */
    return vbase_fail(ERR_LINK_DOWN, "%s takes no request to rank %u: %s", vi->adapter->name, vi->call.vi.peer,
                      strerror(number));
}

/* By the poll; from inside of completions, too, so that it cannot end here and now. */
void verbs_break_later(struct verbs_vi *vi, int cause)
{
    if (list_node_linked(&vi->broken) || vi->state == VERBS_ENDED)
        return;
    vi->cause = cause;
    snprintf(vi->why, sizeof(vi->why), "%s", vbase_error_detail());
    list_append(&verbs_home(vi)->broken, &vi->broken);
    /* release: as call_order, whose order it may hide */
    atomic_store_explicit(&verbs_home(vi)->call.ordered, true, memory_order_release);
}

static struct verbs_vi *writer_take(struct verbs_nic *nic)
{
    base_lock(&nic->writers_lock);
    struct list_node *node = list_take_first(&nic->writers);
    nic->writing -= node != NULL;
    base_unlock(&nic->writers_lock);
    return node ? container_of(node, struct verbs_vi, writer) : NULL;
}

static void writer_forget(struct verbs_vi *vi)
{
    struct verbs_nic *nic = verbs_home(vi);
    base_lock(&nic->writers_lock);
    nic->writing -= list_node_linked(&vi->writer);
    list_leave(&vi->writer);
    base_unlock(&nic->writers_lock);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* Of an inline request, whose memory needs no key: the device reads it before the call returns. */
static int pieces_name(struct ibverbs_sge *row, const struct verbs_frame *frame, const struct iovec *piece, int pieces)
{
    int count = 0;
    row[count++] = (struct ibverbs_sge){(uintptr_t)frame, sizeof(*frame), 0};
    for (int i = 0; i < pieces; i++)
        if (piece[i].iov_len)
            row[count++] = (struct ibverbs_sge){(uintptr_t)piece[i].iov_base, (uint32_t)piece[i].iov_len, 0};
    return count;
}

static struct verbs_frame frame_of(const struct verbs_vi *vi, enum verbs_kind kind, uint64_t word)
{
    return (struct verbs_frame){.word = word, .taken = atomic_load_explicit(&vi->took, memory_order_relaxed),
                                .kind = (uint16_t)kind};
}

/* Inline. Its other fields are large, and are read for other opcodes only. */
static void send_prepare(struct ibverbs_send_wr *wr, struct ibverbs_sge *row, int pieces)
{
    wr->next = NULL;
    wr->sg_list = row;
    wr->num_sge = pieces;
    wr->opcode = IBVERBS_WR_SEND;
    wr->send_flags = IBVERBS_SEND_INLINE;
}

static int frame_post(struct verbs_vi *vi, enum verbs_kind kind, uint64_t word, const struct iovec *piece, int pieces,
                      uint64_t length)
{
    struct verbs_frame frame = frame_of(vi, kind, word);
    uint32_t size = (uint32_t)(sizeof(frame) + length);
    struct verbs_place place = {.vi = vi, .last = kind == VERBS_GOODBYE && !vi->adapter->iwarp};
    struct ibverbs_sge row[TUNED(VERBS_PIECES)];
    struct ibverbs_send_wr wr;
    if (likely(size <= vi->inlined && pieces < (int)TUNED(VERBS_PIECES))) {
        send_prepare(&wr, row, pieces_name(row, &frame, piece, pieces));
    } else {
        place.block = vi->blocks < TUNED(VERBS_BLOCKS_ONE) ? verbs_block_take(vi->adapter) : NULL;
        if (!place.block) {
            COUNT(blocks_empty);
            return ERR_AGAIN;
        }
        vi->blocks++;
        row[0] = (struct ibverbs_sge){(uintptr_t)place.block, size, vi->adapter->mr->lkey};
        send_prepare(&wr, row, 1);
        wr.send_flags = 0;
        memcpy(place.block, &frame, sizeof(frame));
        verbs_gather(place.block + sizeof(frame), piece, pieces);
    }
    /* relaxed: a count, it promises nothing about memory here */
    atomic_store_explicit(&vi->told, frame.taken, memory_order_relaxed);
    int error = verbs_post(vi, &wr, size, place.block || place.last ? &place : NULL);
    if (unlikely(error && place.block)) {
        vi->blocks--;
        verbs_block_give(vi->adapter, place.block);
    }
    return error;
}

/* From where it lies, with its head before it. Its memory stays registered until the device has sent all of it. */
static int staying_post(struct verbs_vi *vi, uint64_t word, const struct iovec *piece)
{
    const struct vi_region *region = container_of(piece, const struct vi_staying, piece)->region;
    struct verbs_memory *memory = region ? verbs_memory_of(vi, region) : NULL;
    if (!memory)
        return frame_post(vi, VERBS_SEND, word, piece, 1, piece->iov_len);
    struct verbs_frame *frame = (struct verbs_frame *)piece->iov_base - 1;
    struct verbs_place place = {.vi = vi, .memory = memory};
    struct ibverbs_sge whole = {verbs_memory_address(memory, frame), (uint32_t)(sizeof(*frame) + piece->iov_len),
                                memory->mr->lkey};
    struct ibverbs_send_wr wr = {.sg_list = &whole, .num_sge = 1, .opcode = IBVERBS_WR_SEND};
    *frame = frame_of(vi, VERBS_SEND, word);
    verbs_memory_hold(memory);
    /* relaxed: a count, it promises nothing about memory here */
    atomic_store_explicit(&vi->told, frame->taken, memory_order_relaxed);
    int error = verbs_post(vi, &wr, whole.length, &place);
    if (unlikely(error))
        verbs_memory_give(vi->adapter, memory);
    return error;
}

/* The same, inline: what is short, with nothing before it. */
static inline int short_post(struct verbs_vi *vi, uint64_t word, const struct iovec *piece)
{
    struct verbs_frame *frame = (struct verbs_frame *)piece->iov_base - 1;
    struct ibverbs_sge whole = {(uintptr_t)frame, (uint32_t)(sizeof(*frame) + piece->iov_len), 0};
    struct ibverbs_send_wr wr;
    *frame = frame_of(vi, VERBS_SEND, word);
    atomic_store_explicit(&vi->told, frame->taken, memory_order_relaxed); /* as above */
    send_prepare(&wr, &whole, 1);
    return verbs_post(vi, &wr, whole.length, NULL);
}

/* Kept frames that take credit. ADD: after it was counted in `sent` (verbs_count), or -1: sent, by the poll. */
static void unsent_count(struct verbs_vi *vi, uint16_t kind, int add)
{
    uint32_t unsent = atomic_load_explicit(&vi->unsent, memory_order_relaxed) + (uint32_t)add;
    if (kind == VERBS_SEND || kind == VERBS_ARRIVED || kind == VERBS_WRITTEN)
        atomic_store_explicit(&vi->unsent, unsent, memory_order_release); /* pairs with credit_take */
}

static int frame_keep(struct verbs_vi *vi, enum verbs_kind kind, uint64_t word, const struct iovec *piece, int pieces,
                      uint64_t length)
{
    struct verbs_kept *kept = malloc(sizeof(*kept) + length);
    if (!kept)
        return vbase_fail(ERR_MEMORY, "a frame for rank %u", vi->call.vi.peer);
    *kept = (struct verbs_kept){.word = word, .length = (uint32_t)length, .kind = (uint16_t)kind};
    verbs_gather(kept->data, piece, pieces);
    *(vi->kept ? &vi->kept_last->next : &vi->kept) = kept;
    vi->kept_last = kept;
    unsent_count(vi, kept->kind, 1);
    return OK;
}

void verbs_kept_drop(struct verbs_vi *vi)
{
    writer_forget(vi);
    base_lock(&vi->lock);
    for (struct verbs_kept *kept; (kept = vi->kept);) {
        vi->kept = kept->next;
        free(kept);
    }
    base_unlock(&vi->lock);
}

void verbs_frame_send(struct verbs_vi *vi, enum verbs_kind kind, uint64_t word)
{
    int error = vi->kept ? ERR_AGAIN : frame_post(vi, kind, word, NULL, 0, 0);
    if (error == ERR_AGAIN)
        error = frame_keep(vi, kind, word, NULL, 0, 0);
    vi->failed |= error != OK; /* what it would tell of is on its way */
    if (error || vi->kept)
        verbs_writer_add(vi);
}

static inline bool room_there(struct verbs_vi *vi)
{
    /* relaxed: an old value only makes the way look fuller */
    uint64_t under_way = atomic_load_explicit(&vi->sent, memory_order_relaxed) -
                         atomic_load_explicit(&vi->taken, memory_order_relaxed);
    return likely(!vi->failed && under_way < VERBS_DEPTH && vi->posted - vi->over < vi->places - VERBS_RESERVED);
}

int verbs_room(struct verbs_vi *vi)
{
    if (room_there(vi))
        return OK;
    if (vi->failed)
        return ERR_LINK_DOWN;
    bool full = vi->posted - vi->over >= vi->places - VERBS_RESERVED; /* else it is credit that lacks */
    if (full && verbs_places_more(vi) && room_there(vi))
        return OK;
    COUNT(lane_full);
    return ERR_AGAIN;
}

void verbs_count(struct verbs_vi *vi, int more)
{
    uint64_t sent = atomic_load_explicit(&vi->sent, memory_order_relaxed) + (uint64_t)more;
    atomic_store_explicit(&vi->sent, sent, memory_order_release); /* pairs with the poll's judgement of `taken` */
}

static __attribute__((noinline)) int send_slowly(struct verbs_vi *vi, uint64_t header, const struct iovec *piece,
                                                 int pieces, unsigned flags)
{
    uint64_t length = verbs_total(piece, pieces);
    if (length > VERBS_MAX_SEND)
        return vbase_fail(ERR_ARGUMENT, "a send of %llu bytes over verbs; at most %u", (unsigned long long)length,
                          VERBS_MAX_SEND);
    base_lock(&vi->lock);
    int error = verbs_room(vi);
    if (!error) {
        verbs_count(vi, 1);
        if (vi->state != VERBS_UP || vi->kept)
            error = frame_keep(vi, VERBS_SEND, header, piece, pieces, length);
        else if (flags & VI_STAYS)
            error = staying_post(vi, header, piece);
        else
            error = frame_post(vi, VERBS_SEND, header, piece, pieces, length);
        if (error)
            verbs_count(vi, -1);
    }
    base_unlock(&vi->lock);
    return error;
}

int verbs_send(struct vi *base, uint64_t header, const struct iovec *piece, int pieces, unsigned flags)
{
    struct verbs_vi *vi = verbs_vi_of(base);
    if (likely(flags & VI_STAYS)) {
        base_lock(&vi->lock);
        if (likely(piece->iov_len + sizeof(struct verbs_frame) <= vi->inlined && room_there(vi) &&
                   vi->state == VERBS_UP && !vi->kept)) {
            verbs_count(vi, 1);
            int error = short_post(vi, header, piece);
            if (unlikely(error))
                verbs_count(vi, -1);
            base_unlock(&vi->lock);
            return error;
        }
        base_unlock(&vi->lock);
    }
    return send_slowly(vi, header, piece, pieces, flags);
}

/* ---- what the poll sends ----------------------------------------------------------------------------------------- */

/* Under vi->lock. ERR_AGAIN: something is left. */
static int vi_flush(struct verbs_vi *vi)
{
    int error = OK;
    while (vi->state == VERBS_UP && vi->kept && !error) {
        struct verbs_kept *kept = vi->kept;
        struct iovec piece = {kept->data, kept->length};
        error = vi->posted - vi->over < vi->places || verbs_places_more(vi)
                    ? frame_post(vi, kept->kind, kept->word, &piece, 1, kept->length)
                    : ERR_AGAIN;
        if (!error) {
            vi->kept = kept->next;
            unsent_count(vi, kept->kind, -1);
            free(kept);
        }
    }
    if (!error && vi->asked)
        error = vi->posted - vi->over < vi->places ? frame_post(vi, VERBS_TAKEN, 0, NULL, 0, 0) : ERR_AGAIN;
    vi->asked &= error != OK;
    return error;
}

static void frames_flush(struct verbs_vi *vi)
{
    base_lock(&vi->lock);
    int error = vi->failed ? vbase_fail(ERR_LINK_DOWN, "%s has failed", vi->call.path) : vi_flush(vi);
    base_unlock(&vi->lock);
    if (error == ERR_AGAIN)
        verbs_writer_add(vi);
    else if (error)
        verbs_break_later(vi, error);
}

void verbs_control_send(struct verbs_vi *vi, enum verbs_kind kind)
{
    base_lock(&vi->lock);
    vi->asked |= kind == VERBS_TAKEN;
    int error = kind == VERBS_TAKEN ? OK : frame_keep(vi, kind, 0, NULL, 0, 0);
    base_unlock(&vi->lock);
    if (error)
        verbs_break_later(vi, error);
    else
        frames_flush(vi);
}

/* Each has one turn. */
void verbs_writers_flush(struct verbs_nic *nic)
{
    struct verbs_vi *vi;
    for (uint32_t turns = atomic_load_explicit(&nic->writing, memory_order_relaxed);
         turns > 0 && (vi = writer_take(nic)); turns--)
        frames_flush(vi);
}
