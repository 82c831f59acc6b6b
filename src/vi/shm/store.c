/* How payload gets into a block: by ordinary stores, or past the caches into memory. Called by the sending half of a lane.
 *
 * Ordinary stores are best where the processors of sender and receiver share a cache: the receiver finds the block there.
 * Where they do not, each line of a block that is used again must be taken from the receiver's cache, one round trip
 * between the two each, and he must fetch it from ours: 2.4 GB/s were measured. Stores past the caches take nothing from
 * anybody, and he reads from memory: 20 GB/s, in either case; but without need a message of 1 KiB comes 0.2 us later.
 *
 * Which case it is may change while we run: a scheduler, ours or that below a virtual machine, moves processes. So now and
 * then a copy by ordinary stores is timed, to the end of its stores, and compared with what memcpy takes here between warm
 * buffers. Two in a row that speak against the present way change it. An interrupt or a page that is touched for the first
 * time may deceive it; the next samples mend that. */
#include "vi/shm/shm.h"
#include "base/clock.h"

#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define PLAIN_PERIOD 128u /* blocks from one sample to the next */
#define PAST_PERIOD  512u /* the same while they go past the caches: a sample may cost what eight others do */
#define IN_A_ROW     2u
#define SLOW_FACTOR  8u   /* a line costs so many times what it costs memcpy: measured 3 to 5 with a shared cache, else 13 to 20 */
#define HEAD_LINES   8u   /* what any sample costs besides, in lines */

void shm_store_told(struct shm_store *store, uint32_t length, uint64_t ns)
{
    uint64_t lines = length / CACHE_LINE + HEAD_LINES;
    bool slow = ns * store->sample > lines * CACHE_LINE * store->sample_ns * SLOW_FACTOR;
    store->against = slow == store->past ? 0 : store->against + 1;
    if (store->against == IN_A_ROW) {
        store->past = slow;
        store->against = 0;
    }
    store->left = store->against ? 0 : store->past ? PAST_PERIOD : PLAIN_PERIOD;
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

static void gather(char *to, const struct iovec *piece, int pieces)
{
    for (int i = 0; i < pieces; to += piece[i++].iov_len)
        copy_plain(to, piece[i].iov_base, piece[i].iov_len);
}

void shm_store(enum shm_store_way way, char *to, const struct iovec *piece, int pieces)
{
    if (likely(way != SHM_STORE_PAST)) {
        gather(to, piece, pieces);
        return;
    }
    for (int i = 0; i < pieces; to += piece[i++].iov_len)
        copy_past(to, piece[i].iov_base, piece[i].iov_len);
    past_end();
}

/* By ordinary stores; nanoseconds until the last one is done. */
uint64_t shm_store_timed(char *to, const struct iovec *piece, int pieces)
{
    uint64_t start = clock_ticks();
    gather(to, piece, pieces);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with nothing: it waits for the stores */
    return vbase_clock_ns_of_ticks(clock_ticks() - start);
}

/* What a source writes is put into a row first where it goes past the caches, and where the stores alone are timed: those
 * of the last row, for the first lines of a block were asked for early. Returns its nanoseconds. */
uint64_t shm_store_source(enum shm_store_way way, char *to, struct vi_source *source, uint64_t bytes)
{
    char row[SHM_STORE_ROW];
    uint64_t last = bytes < sizeof(row) ? bytes : sizeof(row);
    if (way != SHM_STORE_PAST) {
        source->write(source, to, way == SHM_STORE_PLAIN ? bytes : bytes - last);
        if (likely(way == SHM_STORE_PLAIN))
            return 0;
        source->write(source, row, last);
        return shm_store_timed(to + bytes - last, &(struct iovec){row, last}, 1);
    }
    for (uint64_t some; bytes; to += some, bytes -= some) {
        some = bytes < sizeof(row) ? bytes : sizeof(row);
        source->write(source, row, some);
        copy_past(to, row, some);
    }
    past_end();
    return 0;
}
