/* How payload gets into a block: by ordinary stores, or past the caches into memory. Called by the sending half of a lane.
 *
 * Ordinary stores are best where the processors of sender and receiver share a cache: the receiver finds the block there.
 * Where they do not, each line of a block that is used again must be taken from the receiver's cache, one round trip
 * between the two each, and he must fetch it from ours: 2.4 GB/s were measured. Stores past the caches take nothing from
 * anybody, and he reads from memory: 20 GB/s, in either case; but without need a message of 1 KiB comes 0.2 us later.
 *
 * Which case it is may change while we run: a scheduler, ours or that below a virtual machine, moves processes. So now and
 * then a block is stored one way and the next one of about its length the other way, and both are timed. In a stream the
 * sender alone is in the way: to the end of their stores. Each way looks worse than it is beside the other one, which left
 * the lines where it does not want them; so past the caches, ordinary stores need not be quite as fast to come back. Where two
 * take turns, the receiver is in the way as much: what he must fetch from memory may cost more than the sender saves. There
 * a round is timed, from one block to the next of the same length, with the answer between them, whatever that is; and past the
 * caches must be better by a quarter of it. Two pairs in a row that speak against the present way change it. An interrupt or
 * a page that is touched for the first time may deceive it; the next pairs mend that. */
#include "vi/shm/shm.h"
#include "base/clock.h"

#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define PLAIN_PERIOD 128u /* blocks from one pair to the next */
#define PAST_PERIOD  512u /* the same while they go past the caches: an ordinary one may cost what eight others do */
#define IN_A_ROW     2u
#define HEAD_LINES   8u   /* what any block costs besides, in lines */

static uint64_t lines(uint32_t length) { return length / CACHE_LINE + HEAD_LINES; }

/* Of the same length, in a stream of about the same, or both as long as is ever timed of a source: their times can be compared. */
static bool alike(const struct shm_store *store, uint32_t b)
{
    uint32_t a = store->first_length;
    return store->turns ? a == b : (a <= 2 * b && b <= 2 * a) || (a >= SHM_STORE_ROW && b >= SHM_STORE_ROW);
}

enum shm_store_way shm_store_sample(struct shm_store *store, uint32_t length)
{
    enum shm_store_way now = store->past ? SHM_STORE_PAST : SHM_STORE_PLAIN;
    if (!store->first_length)
        return SHM_STORE_TIMED;
    if (alike(store, length))
        return SHM_STORE_TIMED_PAST;
    shm_store_nothing(store);
    return now;
}

void shm_store_nothing(struct shm_store *store)
{
    store->first_length = 0;
    store->left = PLAIN_PERIOD;
}

void shm_store_told(struct shm_store *store, enum shm_store_way way, uint32_t length, uint64_t ns)
{
    if (way == SHM_STORE_TIMED) {
        store->first_length = length;
        store->first_ns = ns;
        return;
    }
    if (!store->first_length) /* two threads timed one each */
        return;
    uint64_t plain = store->first_ns * lines(length), past = ns * lines(store->first_length);
    bool better = store->past || store->turns ? plain * 4 > past * 5 : plain > past;
    store->first_length = 0;
    store->against = better == store->past ? 0 : store->against + 1;
    if (store->against == IN_A_ROW) {
        store->past = better;
        store->against = 0;
    }
    store->left = store->against ? 0 : store->past && !store->turns ? PAST_PERIOD : PLAIN_PERIOD;
}

static void copy_plain(char *to, const void *from, size_t n)
{
    if (n > 0)
        memcpy(to, from, n);
}

#if defined(__x86_64__)
/* Whole lines past the caches; what is before and behind them by ordinary stores. */
static void copy_past(char *to, const char *from, size_t n)
{
    size_t head = -(uintptr_t)to % CACHE_LINE;
    head = head < n ? head : n;
    copy_plain(to, from, head);
    for (to += head, from += head, n -= head; n >= CACHE_LINE; to += CACHE_LINE, from += CACHE_LINE, n -= CACHE_LINE) {
        __m128i part[4];
        memcpy(part, from, sizeof(part));
        for (int i = 0; i < 4; i++)
            _mm_stream_si128((__m128i *)(void *)to + i, part[i]);
    }
    copy_plain(to, from, n);
}
static void past_end(void)
{
    _mm_sfence(); /* these stores are in no order; the one that publishes the cell comes after them */
}
#else
static void copy_past(char *to, const char *from, size_t n) { copy_plain(to, from, n); }
static void past_end(void) {}
#endif

static void copy(bool past, char *to, const struct iovec *piece, int pieces)
{
    for (int i = 0; !past && i < pieces; to += piece[i++].iov_len)
        copy_plain(to, piece[i].iov_base, piece[i].iov_len);
    for (int i = 0; past && i < pieces; to += piece[i++].iov_len)
        copy_past(to, piece[i].iov_base, piece[i].iov_len);
    if (past)
        past_end();
}

uint64_t shm_store(enum shm_store_way way, char *to, const struct iovec *piece, int pieces)
{
    if (likely(!(way & SHM_STORE_TIMED))) {
        copy(way & SHM_STORE_PAST, to, piece, pieces);
        return 0;
    }
    uint64_t start = clock_ticks();
    copy(way & SHM_STORE_PAST, to, piece, pieces);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with nothing: it waits for the stores */
    return vbase_clock_ns_of_ticks(clock_ticks() - start);
}

/* What a source writes is put into a row first where it goes past the caches, and where the stores alone are timed: those
 * of the last row, for the first lines of a block were asked for early. */
uint64_t shm_store_source(enum shm_store_way way, char *to, struct vi_source *source, uint64_t bytes)
{
    char row[SHM_STORE_ROW];
    if (way == SHM_STORE_PLAIN) {
        source->write(source, to, bytes);
        return 0;
    }
    uint64_t last = bytes < sizeof(row) ? bytes : sizeof(row), some;
    if (way == SHM_STORE_TIMED) {
        source->write(source, to, bytes - last);
        to += bytes - last;
        bytes = last;
    }
    for (; bytes > last; to += some, bytes -= some) {
        some = bytes - last < sizeof(row) ? bytes - last : sizeof(row);
        source->write(source, row, some);
        copy_past(to, row, some);
    }
    source->write(source, row, last);
    return shm_store(way, to, &(struct iovec){row, last}, 1);
}
