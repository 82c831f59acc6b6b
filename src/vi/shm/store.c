/* How payload gets into a row or a block: by ordinary stores, or past the caches into memory. Called by the sending
 * half of a lane, which decides by the class of the line (line.c). Where the processors share a cache, the receiver
 * finds there what was stored ordinarily. Where they are far, each line that is used again must be fetched from the
 * receiver's cache, one round trip between the two for each; stores past the caches need no such fetch. */
#include "vi/shm/shm.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

static void copy_plain(char *to, const void *from, size_t n)
{
    if (n > 0)
        base_copy(to, from, n);
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
    _mm_sfence(); /* these stores are in no order; the one that publishes the head comes after them */
}
#else
static void copy_past(char *to, const char *from, size_t n) { copy_plain(to, from, n); }
static void past_end(void) {}
#endif

/* What a source writes is put into a buffer first where it goes past the caches. */
static void source_store(char *to, struct vi_source *source, uint64_t bytes, bool past)
{
    char some[TUNED(SHM_SOURCE_PART)];
    if (!past) {
        source->write(source, to, bytes);
        return;
    }
    for (uint64_t n; bytes > 0; to += n, bytes -= n) {
        n = bytes < sizeof(some) ? bytes : sizeof(some);
        source->write(source, some, n);
        copy_past(to, some, n);
    }
}

static __attribute__((noinline)) void pieces_store(char *to, const struct iovec *piece, int pieces, bool past,
                                                   unsigned flags)
{
    for (int i = 0; i < pieces; to += piece[i++].iov_len) {
        if (flags & VI_SOURCE && i == pieces - 1)
            source_store(to, piece[i].iov_base, piece[i].iov_len, past);
        else if (past)
            copy_past(to, piece[i].iov_base, piece[i].iov_len);
        else
            copy_plain(to, piece[i].iov_base, piece[i].iov_len);
    }
}

void shm_store(char *to, const struct iovec *piece, int pieces, bool past, unsigned flags)
{
    if (likely(pieces == 1 && !past && !(flags & VI_SOURCE))) {
        base_copy(to, piece->iov_base, piece->iov_len);
        return;
    }
    pieces_store(to, piece, pieces, past, flags);
    if (past)
        past_end();
}
