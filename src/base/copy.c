#include "base/copy.h"

#if defined(__x86_64__)
#include <emmintrin.h>

static inline __m128i part_load(const char *from) { return _mm_loadu_si128((const __m128i *)(const void *)from); }
static inline void part_store(char *to, __m128i part) { _mm_storeu_si128((__m128i *)(void *)to, part); }

static inline void line_copy(char *to, const char *from)
{
    __m128i a = part_load(from), b = part_load(from + 16), c = part_load(from + 32), d = part_load(from + 48);
    part_store(to, a);
    part_store(to + 16, b);
    part_store(to + 32, c);
    part_store(to + 48, d);
}

/* The lines of the target one by one; the first and the last 64 bytes, which need not begin with a line, overlap
 * them. */
void vbase_copy_plain(void *to, const void *from, size_t n)
{
    char *at = to, *end = at + n - CACHE_LINE;
    const char *source = from, *last = source + n - CACHE_LINE;
    size_t step = CACHE_LINE - (uintptr_t)at % CACHE_LINE;
    line_copy(at, source);
    for (at += step, source += step; at < end; at += CACHE_LINE, source += CACHE_LINE)
        line_copy(at, source);
    line_copy(end, last);
}

void vbase_copy_past(void *target, const void *source, size_t n)
{
    char *to = target;
    const char *from = source;
    size_t head = -(uintptr_t)to % CACHE_LINE;
    head = head < n ? head : n;
    memcpy(to, from, head);
    for (to += head, from += head, n -= head; n >= CACHE_LINE; to += CACHE_LINE, from += CACHE_LINE, n -= CACHE_LINE) {
        __m128i part[4];
        memcpy(part, from, sizeof(part));
        for (int i = 0; i < 4; i++)
            _mm_stream_si128((__m128i *)(void *)to + i, part[i]);
    }
    memcpy(to, from, n);
}

void vbase_copy_past_end(void) { _mm_sfence(); }
bool vbase_copy_past_pays(void) { return __builtin_cpu_is("amd"); }
#else
void vbase_copy_plain(void *to, const void *from, size_t n) { memcpy(to, from, n); }
void vbase_copy_past(void *to, const void *from, size_t n) { memcpy(to, from, n); }
void vbase_copy_past_end(void) {}
bool vbase_copy_past_pays(void) { return false; }
#endif
