/* An array as compilers describe it: where these begin alike, as ISO_Fortran_binding.h has them. Nothing of MPI, for
 * mplite has it, too. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct fortran_array {
    void *base;
    size_t element;
    int version;
    signed char rank, two, three, four; /* type and attribute: their places differ, and nobody needs them */
    struct {
        ptrdiff_t lower, extent, stride;
    } dimension[15];
};

/* Not in place: it is seldom called, and there are many callers. */
static __attribute__((noinline, unused)) bool fortran_without_gaps(const struct fortran_array *array)
{
    ptrdiff_t bytes = (ptrdiff_t)array->element;
    bool gaps = false;
    for (int i = 0; i < array->rank; i++) {
        ptrdiff_t extent = array->dimension[i].extent; /* -1: the last one of an assumed size */
        if (extent == 0)
            return true;
        gaps |= extent != 1 && array->dimension[i].stride != bytes;
        bytes *= extent;
    }
    return !gaps;
}
