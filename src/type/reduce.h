/* Reduction kernels: (operation, element type) -> a loop. Elements are named by what they are in memory, not by what a
 * language calls them; mpi maps its type names here. User operations are a function with a context. */
#pragma once

#include "base/base.h"

enum type_element {
    ELEMENT_NONE,
    ELEMENT_I8, ELEMENT_U8, ELEMENT_I16, ELEMENT_U16, ELEMENT_I32, ELEMENT_U32, ELEMENT_I64, ELEMENT_U64,
    ELEMENT_F32, ELEMENT_F64, ELEMENT_LONG_DOUBLE,
    ELEMENT_C32, ELEMENT_C64, ELEMENT_C_LONG_DOUBLE, /* complex of two such parts */
    ELEMENT_BOOL,                                    /* one byte */
    ELEMENT_BYTE,                                    /* bits only */
    /* value and index, for the locating operations: laid out as struct { value; int index; } */
    ELEMENT_F32_INT, ELEMENT_F64_INT, ELEMENT_LONG_INT, ELEMENT_2INT, ELEMENT_SHORT_INT, ELEMENT_LONG_DOUBLE_INT,
    ELEMENT_2F32, ELEMENT_2F64, ELEMENT_2I64, /* pairs of equals, Fortran's way */
    ELEMENT_LOGICAL1, ELEMENT_LOGICAL2, ELEMENT_LOGICAL4, ELEMENT_LOGICAL8, /* integers used as truth values */
    ELEMENT_COUNT
};

enum type_operation {
    OPERATION_SUM, OPERATION_PRODUCT, OPERATION_MIN, OPERATION_MAX,
    OPERATION_LAND, OPERATION_LOR, OPERATION_LXOR,
    OPERATION_BAND, OPERATION_BOR, OPERATION_BXOR,
    OPERATION_MINLOC, OPERATION_MAXLOC,
    OPERATION_REPLACE, OPERATION_NOTHING, /* of windows: they have a name and no kernel */
    OPERATION_COUNT,
    OPERATION_USER = OPERATION_COUNT
};

/* inout[i] = in[i] OP inout[i]: the order of MPI, IN is the value of the lower rank. The two do not overlap; neither
 * needs any alignment.
 *
 * Integers wrap around. Logical operations take anything but 0 for true and give 0 or 1. A NaN wins every minimum and
 * maximum, the located ones too, so that the result does not depend on the order of ranks; of equal located values the
 * lower index wins. The product of complex numbers is the plain formula: an infinite part may become NaN. */
typedef void type_kernel(const void *in, void *inout, size_t count);

/* NULL when the operation makes no sense for the element (a sum of truth values, a minimum of complex numbers). */
VEXPORT type_kernel *vtype_kernel(enum type_operation operation, enum type_element element);

/* What coll is given. For a user's operation FUNCTION is called as function(context, in, inout, count), COUNT in
 * elements of the call's layout; else KERNEL is set. */
struct type_reduction {
    type_kernel *kernel;
    void (*function)(void *context, const void *in, void *inout, size_t count);
    void *context;
    bool commutative;
};
