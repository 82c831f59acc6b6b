/* Arrays and texts as gfortran passes them to what is not BIND(C): how mpi_f08 of MPICH calls. Included by arrays.c. */
#pragma once

#include "fortran/fortran.h"

/* Strides count elements, which lie SPAN apart. */
struct gfortran_array {
    void *base;
    size_t offset, element;
    int version;
    signed char rank, type;
    short attribute;
    ptrdiff_t span;
    struct {
        ptrdiff_t stride, lower, upper;
    } dimension[15];
};
static inline const struct fortran_array *fortran_array_of(const struct gfortran_array *from, struct fortran_array *to)
{
    ptrdiff_t step = from->span ? from->span : (ptrdiff_t)from->element;
    to->base = from->base;
    to->element = from->element;
    to->rank = from->rank;
    for (int i = 0; i < from->rank; i++) {
        ptrdiff_t upper = from->dimension[i].upper, extent = upper - from->dimension[i].lower + 1;
        bool open = upper == -1 && i == from->rank - 1; /* assumed size */
        to->dimension[i].extent = open ? -1 : extent > 0 ? extent : 0;
        to->dimension[i].stride = from->dimension[i].stride * step;
    }
    return to;
}

#define ENTRY_OF ENTRY
#define BUFFER_PARAMETER(name) const struct gfortran_array *g_##name
#define BUFFER_BEFORE(name)        \
    struct fortran_array d_##name; \
    const struct fortran_array *name = fortran_array_of(g_##name, &d_##name);
#define TEXT_PARAMETER(name)   const char *name
#define TEXT_LENGTH(name)      , fortran_length name##_length
#define TEXT_OF(name)          name, name##_length
