/* Payload is copied by base_copy(), not by memcpy(). From 2 KiB on the C library takes string instructions, and AMD's
 * processors carry these out byte by byte where the target lies a few bytes behind the source within the page: then
 * 8 KiB take 30 times as long. What malloc() gives for large memory begins 16 bytes behind a page, and what we lay in
 * shared memory often with a page, so programs meet this all the time. There a plain loop copies. */
#pragma once

#include "base/compiler.h"
#include <string.h>

#define COPY_SHORT  512 /* bytes: memcpy() has a loop of its own for what is shorter */
#define COPY_PAGE   4096
#define COPY_BEHIND 32 /* so many bytes behind, or more, are no matter */

/* Past the caches, into memory: whole lines; what is before and behind them by ordinary stores. */
VEXPORT void vbase_copy_past(void *to, const void *from, size_t n);
/* Stores past the caches are in no order: this comes between them and what publishes them. */
VEXPORT void vbase_copy_past_end(void);
/* It may be faster, for lines that a processor far away has in its cache: on AMD's processors, and not on Intel's. */
VEXPORT bool vbase_copy_past_pays(void);

VEXPORT void vbase_copy_plain(void *to, const void *from, size_t n); /* N is COPY_SHORT at least */

/* They do not overlap. */
static inline __attribute__((always_inline)) void base_copy(void *to, const void *from, size_t n)
{
    if (likely(n < COPY_SHORT || ((uintptr_t)to - (uintptr_t)from - 1) % COPY_PAGE >= COPY_BEHIND - 1))
        memcpy(to, from, n);
    else
        vbase_copy_plain(to, from, n);
}
