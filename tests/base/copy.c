/* base_copy, and the copy past the caches: every length around their borders, from and to every place within a line,
 * beside what must not change; and all distances that are a few bytes behind a page. */
#include "base/base.h"
#include "check.h"

#define ROOM 16384

static unsigned char from[ROOM] ALIGNED(COPY_PAGE), to[ROOM] ALIGNED(COPY_PAGE);

static unsigned char byte_at(size_t i) { return (unsigned char)(i * 7 + i / 251 + 1); }

static void copy_once(size_t target, size_t source, size_t n, bool past)
{
    memset(to, 0, sizeof to);
    if (past) {
        vbase_copy_past(to + target, from + source, n);
        vbase_copy_past_end();
    } else {
        base_copy(to + target, from + source, n);
    }
    for (size_t i = 0; i < sizeof to; i++) {
        unsigned char expected = i >= target && i < target + n ? byte_at(source + i - target) : 0;
        if (to[i] != expected)
            CHECK_EQUAL(i, SIZE_MAX); /* says where */
    }
}

int main(void)
{
    static const size_t length[] = {0,   1,   63,  64,   65,   511,  512,  513,  575,
                                    576, 577, 640, 1024, 2047, 2048, 4096, 4097, 8191};
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = byte_at(i);
    for (size_t n = 0; n < ARRAY_LENGTH(length); n++)
        for (size_t source = 0; source < 64; source += 13)
            for (size_t behind = 0; behind < 40; behind++)
                for (int past = 0; past < 2; past++)
                    copy_once(source + behind, source, length[n], past);
    for (size_t target = 0; target < 2 * CACHE_LINE; target++)
        for (int past = 0; past < 2; past++)
            copy_once(target, CACHE_LINE, 1000, past);
    return check_done();
}
