/* The ring of one direction: bytes go in at one end and come out at the other. It knows neither sockets nor waiting.
 * Both ends have a state of their own in memory that the other side does not see, and are used under a lock of their
 * side.
 *
 * The writer stores bytes in the current level and publishes them by its head. When a level is full it goes to the next
 * one, at an offset that it publishes (`turn`) before the bytes behind it. It goes to a level only if the reader has
 * taken all bytes that lay there. */
#ifndef SOCK_RING_H
#define SOCK_RING_H

#include "sock/segment.h"
#include <sys/uio.h>

enum { RING_BROKEN = -1 }; /* the other side wrote nonsense */

struct ring_writer {
    uint64_t head, start; /* start: where the current level was entered */
    uint64_t tail;        /* as seen last */
    uint64_t turns;
    uint64_t left[RING_LEVELS]; /* the head where each level was left last; 0: it was not */
    uint32_t level, committed;  /* committed: a bit for each level */
    bool refused;               /* there was no memory for a level: more room will not come */
};
struct ring_reader {
    uint64_t tail, turns;
    uint32_t level;
};

/* The program's memory: pieces, and how far it is used. */
struct sock_pieces {
    const struct iovec *piece;
    size_t count;
    size_t at; /* in the first piece that is left */
};
size_t sock_pieces_left(const struct sock_pieces *pieces);
void sock_pieces_back(struct sock_pieces *pieces, size_t size);
size_t sock_pieces_copy(struct sock_pieces *to, const char *data, size_t size); /* DATA NULL: goes on, copies nothing */

struct ring {
    struct sock_mapping mapping;
    unsigned number; /* of the direction */
};
static inline struct sock_direction *ring_words(const struct ring *ring)
{
    return &ring->mapping.words->direction[ring->number];
}

/* ring_reserve will find room, unless there is no memory for it. */
bool ring_has_room(const struct ring *ring, struct ring_writer *writer, bool patient);

/* There is room worth waking a program for. */
bool ring_writable(const struct ring *ring, struct ring_writer *writer);

/* Memory of the ring where up to MOST bytes may be stored in one piece: its length, 0 if there is no room. PATIENT:
 * rather than use the last level the caller waits. Publishing makes the first SIZE of it the reader's; false: the
 * ring is closed, and they are not in it. */
size_t ring_reserve(const struct ring *ring, struct ring_writer *writer, size_t most, bool patient, char **data);
bool ring_publish(const struct ring *ring, struct ring_writer *writer, size_t size);

/* The next bytes, in one piece: how many, 0 if there are none, RING_BROKEN. Taking them gives their room back. */
long ring_next(const struct ring *ring, struct ring_reader *reader, const char **data);
void ring_take(const struct ring *ring, struct ring_reader *reader, size_t size);
/* The same as ring_next for a copy of the reader's state that has gone ahead of it: the writer is told nothing. */
long ring_ahead(const struct ring *ring, struct ring_reader *reader, const char **data);

/* Bytes that lie there; whatever the words say. */
static inline uint64_t ring_filled(const struct ring *ring, const struct ring_reader *reader)
{
    /* acquire: pairs with ring_publish */
    return (atomic_load_explicit(&ring_words(ring)->head, memory_order_acquire) & ~RING_CLOSED) - reader->tail;
}

/* Reader: closes the ring if it is empty; true: it is closed. */
bool ring_close_empty(const struct ring *ring, const struct ring_reader *reader);
/* Writer: closes it behind what was published. */
void ring_close(const struct ring *ring);
static inline bool ring_closed(const struct ring *ring)
{
    return atomic_load_explicit(&ring_words(ring)->head, memory_order_acquire) & RING_CLOSED;
}

#endif
