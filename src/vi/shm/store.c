/* How payload gets into a row or a block: by ordinary stores, or past the caches into memory. Called by the sending
 * half of a lane, which decides by the class of the line (line.c). Where the processors share a cache, the receiver
 * finds there what was stored ordinarily. Where they are far, each line that is used again must be fetched from the
 * receiver's cache, one round trip between the two for each; stores past the caches need no such fetch. */
#include "vi/shm/shm.h"

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
        vbase_copy_past(to, some, n);
    }
}

static __attribute__((noinline)) void pieces_store(char *to, const struct iovec *piece, int pieces, bool past,
                                                   unsigned flags)
{
    for (int i = 0; i < pieces; to += piece[i++].iov_len) {
        if (flags & VI_SOURCE && i == pieces - 1)
            source_store(to, piece[i].iov_base, piece[i].iov_len, past);
        else if (piece[i].iov_len > 0 && past)
            vbase_copy_past(to, piece[i].iov_base, piece[i].iov_len);
        else if (piece[i].iov_len > 0)
            base_copy(to, piece[i].iov_base, piece[i].iov_len);
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
        vbase_copy_past_end();
}
