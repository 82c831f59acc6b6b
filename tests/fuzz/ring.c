/* The segment of a connection of two sockets programs, whose other side writes anything into its words at any time,
 * while this side writes and reads: nothing outside of the levels is touched. */
#include "fuzz.h"
#include "check.h"
#include "sock/ring.h"
#include "sock/segment.h"
#include <unistd.h>

static struct ring ring; /* as this side maps it */
static struct sock_mapping theirs;

static void inside(const char *data, uint64_t size, unsigned level)
{
    const char *base = sock_level_data(&ring.mapping, ring.number, level);
    CHECK(size > 0 && data >= base && data + size <= base + sock_level_size(level));
}

static void they_write(void)
{
    struct sock_direction *words = &theirs.words->direction[ring.number];
    _Atomic uint64_t *const all[] = {&words->head, &words->turns, &words->tail, &words->turns_seen,
                                     &words->turn[fuzz_below(RING_TURNS)]};
    _Atomic uint64_t *one = all[fuzz_below(ARRAY_LENGTH(all))];
    atomic_store(one, fuzz_word(atomic_load(one)));
}

static void we_write(struct ring_writer *out)
{
    char *to;
    uint64_t most = fuzz_below(2) ? 1u << 23 : 1 + fuzz_below(60000);
    (void)ring_has_room(&ring, out, fuzz_below(2));
    (void)ring_writable(&ring, out);
    size_t size = ring_reserve(&ring, out, most, fuzz_below(2), &to);
    if (!size)
        return;
    CHECK(size <= most);
    inside(to, size, out->level);
    to[0] = to[size - 1] = 1;
    (void)ring_publish(&ring, out, size - fuzz_below(2));
}

static void we_read(struct ring_reader *in)
{
    const char *from;
    long size = ring_next(&ring, in, &from);
    (void)ring_filled(&ring, in);
    CHECK(size >= RING_BROKEN);
    if (size > 0) {
        inside(from, (uint64_t)size, in->level);
        ring_take(&ring, in, (size_t)size - fuzz_below(2));
    } else if (size == 0) {
        (void)ring_close_empty(&ring, in);
    }
}

int FUZZ(const uint8_t *data, size_t size)
{
    const uint64_t cookie[2] = {11, 22};
    struct ring_writer out = {0};
    struct ring_reader in = {0};
    fuzz_begin(data, size);
    int fd = sock_segment_make(1, cookie, &theirs);
    CHECK(fd >= 0);
    unsigned spoiled = fuzz_byte();
    if (spoiled < 32)
        ((unsigned char *)theirs.words)[spoiled] ^= (unsigned char)fuzz_byte();
    bool good = sock_segment_take(fd, 2, cookie, &ring.mapping);
    CHECK(good || spoiled < 32);
    close(fd);
    ring.number = fuzz_below(2);
    while (good && !fuzz_over())
        switch (fuzz_below(4)) {
        case 0: we_write(&out); break;
        case 1: we_read(&in); break;
        default: they_write(); break;
        }
    sock_segment_leave(1, &theirs);
    if (good)
        sock_segment_leave(2, &ring.mapping);
    if (check_failed)
        abort();
    return 0;
}
