/* Bytes in a ring; see ring.h. Head is changed by compare-and-swap alone: by the writer with each publication, and
 * once by the side that closes. On the way it orders the publication before what the writer looks at next (place.h). */
#include "sock/ring.h"
#include "base/copy.h"
#include "sock/step.h"
#include <string.h>

static unsigned level_of(uint64_t turn) { return (unsigned)(turn & 7); }
static uint64_t offset_of(uint64_t turn) { return turn >> 3; }

size_t sock_pieces_left(const struct sock_pieces *pieces)
{
    size_t left = 0;
    for (size_t i = 0; i < pieces->count; i++)
        left += pieces->piece[i].iov_len;
    return left - pieces->at;
}

size_t sock_pieces_copy(struct sock_pieces *to, const char *data, size_t size)
{
    size_t done = 0;
    while (done < size && to->count) {
        size_t n = to->piece->iov_len - to->at;
        n = n < size - done ? n : size - done;
        if (data)
            base_copy((char *)to->piece->iov_base + to->at, data + done, n);
        done += n;
        to->at += n;
        if (to->at == to->piece->iov_len)
            to->piece++, to->count--, to->at = 0;
    }
    return done;
}

void sock_pieces_back(struct sock_pieces *pieces, size_t size)
{
    while (size) {
        if (pieces->at == 0)
            pieces->piece--, pieces->count++, pieces->at = pieces->piece->iov_len;
        size_t n = pieces->at < size ? pieces->at : size;
        pieces->at -= n;
        size -= n;
    }
}

/* A tail that makes no sense is not believed. */
static void tail_look(const struct ring *ring, struct ring_writer *writer)
{
    /* acquire: pairs with ring_take; the reader has copied what lies before */
    uint64_t tail = atomic_load_explicit(&ring_words(ring)->tail, memory_order_acquire);
    if (tail <= writer->head && tail >= writer->tail)
        writer->tail = tail;
}

/* What the reader has not given back of the current level. */
static uint64_t level_used(const struct ring *ring, struct ring_writer *writer, bool look)
{
    if (look)
        tail_look(ring, writer);
    return writer->head - (writer->tail > writer->start ? writer->tail : writer->start);
}

/* The reader has taken all that lay in that level, and there is room to tell of one more change. It may not have made
 * the change by which the level was left: it does that when it reads on, and knows by then all that follow. */
static bool level_is_free(const struct ring *ring, struct ring_writer *writer, unsigned level)
{
    /* acquire: the entries of changes that were seen are not read again; pairs with the store in ring_next */
    uint64_t seen = atomic_load_explicit(&ring_words(ring)->turns_seen, memory_order_acquire);
    if (writer->tail < writer->left[level])
        tail_look(ring, writer);
    return seen <= writer->turns && writer->tail >= writer->left[level] && writer->turns - seen < RING_TURNS;
}

static bool level_change(const struct ring *ring, struct ring_writer *writer, unsigned level)
{
    struct sock_direction *words = ring_words(ring);
    if (!level_is_free(ring, writer, level))
        return false;
    if (!(writer->committed & 1u << level)) {
        if (!sock_level_commit(&ring->mapping, ring->number, level)) {
            writer->refused = true;
            return false;
        }
        writer->committed |= 1u << level;
    }
    /* relaxed, then release, both before the head that publishes the first byte behind: pair with the loads in
     * ring_next */
    atomic_store_explicit(&words->turn[writer->turns % RING_TURNS], writer->head << 3 | level, memory_order_relaxed);
    writer->turns++;
    SOCK_STEP(level_left);
    atomic_store_explicit(&words->turns, writer->turns, memory_order_release);
    writer->left[writer->level] = writer->head;
    writer->level = level;
    writer->start = writer->head;
    return true;
}

static uint64_t level_room(const struct ring *ring, struct ring_writer *writer, uint64_t wanted)
{
    uint64_t size = sock_level_size(writer->level), used = level_used(ring, writer, false);
    if (used + wanted > size)
        used = level_used(ring, writer, true);
    return used < size ? size - used : 0;
}

static unsigned last_level(bool patient) { return patient ? RING_HOT : RING_LEVELS - 1; }

bool ring_has_room(const struct ring *ring, struct ring_writer *writer, bool patient)
{
    return level_room(ring, writer, sock_level_size(writer->level)) > 0 ||
           (writer->level < last_level(patient) && level_is_free(ring, writer, writer->level + 1));
}

bool ring_writable(const struct ring *ring, struct ring_writer *writer)
{
    uint32_t last = sock_level_size(RING_LEVELS - 1);
    return writer->level == RING_LEVELS - 1 ? level_room(ring, writer, last) >= last / 4
                                            : ring_has_room(ring, writer, false);
}

size_t ring_reserve(const struct ring *ring, struct ring_writer *writer, size_t most, bool patient, char **data)
{
    if (writer->level == RING_LEVELS - 1 && level_used(ring, writer, true) == 0)
        (void)level_change(ring, writer, RING_HOT);
    uint64_t room = level_room(ring, writer, most);
    while (room == 0) {
        if (writer->level >= last_level(patient) || !level_change(ring, writer, writer->level + 1))
            return 0;
        room = level_room(ring, writer, most);
    }
    uint64_t size = sock_level_size(writer->level), at = writer->head & (size - 1);
    if (room > size - at)
        room = size - at;
    *data = sock_level_data(&ring->mapping, ring->number, writer->level) + at;
    return room < most ? room : most;
}

bool ring_publish(const struct ring *ring, struct ring_writer *writer, size_t size)
{
    uint64_t seen = writer->head;
    /* seq_cst: release for the bytes, and a barrier between them and the words that say where the reader waits */
    if (!atomic_compare_exchange_strong(&ring_words(ring)->head, &seen, writer->head + size))
        return false;
    writer->head += size;
    return true;
}

static long next(const struct ring *ring, struct ring_reader *reader, const char **data, bool ahead)
{
    struct sock_direction *words = ring_words(ring);
    uint64_t head = atomic_load_explicit(&words->head, memory_order_acquire) & ~RING_CLOSED;
    for (int i = 0; i <= RING_TURNS; i++) {
        uint64_t turns = atomic_load_explicit(&words->turns, memory_order_acquire), end = head;
        if (turns != reader->turns) {
            uint64_t turn = atomic_load_explicit(&words->turn[reader->turns % RING_TURNS], memory_order_relaxed);
            if (turns - reader->turns > RING_TURNS || offset_of(turn) < reader->tail || level_of(turn) >= RING_LEVELS)
                return RING_BROKEN;
            if (offset_of(turn) == reader->tail) {
                reader->level = level_of(turn);
                reader->turns++;
                /* release: what lay in the level that is left has been copied */
                if (!ahead)
                    atomic_store_explicit(&words->turns_seen, reader->turns, memory_order_release);
                continue;
            }
            if (offset_of(turn) < end)
                end = offset_of(turn);
        }
        uint64_t size = sock_level_size(reader->level), there = end - reader->tail;
        uint64_t at = reader->tail & (size - 1);
        if (there > size)
            return RING_BROKEN;
        *data = sock_level_data(&ring->mapping, ring->number, reader->level) + at;
        return (long)(there < size - at ? there : size - at);
    }
    return RING_BROKEN; /* more changes than can be told of at once */
}

long ring_next(const struct ring *ring, struct ring_reader *reader, const char **data)
{
    return next(ring, reader, data, false);
}

long ring_ahead(const struct ring *ring, struct ring_reader *reader, const char **data)
{
    return next(ring, reader, data, true);
}

void ring_take(const struct ring *ring, struct ring_reader *reader, size_t size)
{
    reader->tail += size;
    /* release: pairs with level_used */
    atomic_store_explicit(&ring_words(ring)->tail, reader->tail, memory_order_release);
}

bool ring_close_empty(const struct ring *ring, const struct ring_reader *reader)
{
    uint64_t seen = reader->tail;
    return atomic_compare_exchange_strong(&ring_words(ring)->head, &seen, reader->tail | RING_CLOSED) ||
           seen == (reader->tail | RING_CLOSED);
}

void ring_close(const struct ring *ring) { atomic_fetch_or(&ring_words(ring)->head, RING_CLOSED); }
