/* Datatypes as objects: the predefined ones, what a type map is made of, and the end of one. */
#include "mpi/type.h"
#include <complex.h>
#include <wchar.h>

struct mpi_type mpi_types[MPI_PREDEFINED_TYPES];

#define CHAR_ELEMENT (CHAR_MIN < 0 ? ELEMENT_I8 : ELEMENT_U8)

/* The types of one piece: size and alignment are those of a C type. Fortran's have the sizes of common compilers. */
#define ROW(name, c_type, element) {name, #name, sizeof(c_type), _Alignof(c_type), element}
static const struct {
    MPI_Datatype handle;
    const char *name;
    uint8_t size, alignment, element;
} simple[] = {
    ROW(MPI_AINT, MPI_Aint, ELEMENT_I64), ROW(MPI_COUNT, MPI_Count, ELEMENT_I64),
    ROW(MPI_OFFSET, MPI_Offset, ELEMENT_I64), ROW(MPI_PACKED, char, ELEMENT_NONE), ROW(MPI_BYTE, char, ELEMENT_BYTE),
    ROW(MPI_CHAR, char, CHAR_ELEMENT), ROW(MPI_SIGNED_CHAR, signed char, ELEMENT_I8),
    ROW(MPI_UNSIGNED_CHAR, unsigned char, ELEMENT_U8), ROW(MPI_SHORT, short, ELEMENT_I16),
    ROW(MPI_UNSIGNED_SHORT, unsigned short, ELEMENT_U16), ROW(MPI_INT, int, ELEMENT_I32),
    ROW(MPI_UNSIGNED, unsigned, ELEMENT_U32), ROW(MPI_LONG, long, ELEMENT_I64),
    ROW(MPI_UNSIGNED_LONG, unsigned long, ELEMENT_U64), ROW(MPI_LONG_LONG_INT, long long, ELEMENT_I64),
    ROW(MPI_UNSIGNED_LONG_LONG, unsigned long long, ELEMENT_U64), ROW(MPI_FLOAT, float, ELEMENT_F32),
    ROW(MPI_DOUBLE, double, ELEMENT_F64), ROW(MPI_LONG_DOUBLE, long double, ELEMENT_LONG_DOUBLE),
    ROW(MPI_C_COMPLEX, float complex, ELEMENT_C32), ROW(MPI_C_DOUBLE_COMPLEX, double complex, ELEMENT_C64),
    ROW(MPI_C_LONG_DOUBLE_COMPLEX, long double complex, ELEMENT_C_LONG_DOUBLE),
    ROW(MPI_CXX_FLOAT_COMPLEX, float complex, ELEMENT_C32), ROW(MPI_CXX_DOUBLE_COMPLEX, double complex, ELEMENT_C64),
    ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, long double complex, ELEMENT_C_LONG_DOUBLE), ROW(MPI_C_BOOL, bool, ELEMENT_BOOL),
    ROW(MPI_CXX_BOOL, bool, ELEMENT_BOOL), ROW(MPI_WCHAR, wchar_t, ELEMENT_NONE), ROW(MPI_INT8_T, int8_t, ELEMENT_I8),
    ROW(MPI_UINT8_T, uint8_t, ELEMENT_U8), ROW(MPI_INT16_T, int16_t, ELEMENT_I16),
    ROW(MPI_UINT16_T, uint16_t, ELEMENT_U16), ROW(MPI_INT32_T, int32_t, ELEMENT_I32),
    ROW(MPI_UINT32_T, uint32_t, ELEMENT_U32), ROW(MPI_INT64_T, int64_t, ELEMENT_I64),
    ROW(MPI_UINT64_T, uint64_t, ELEMENT_U64), ROW(MPI_LOGICAL, int32_t, ELEMENT_LOGICAL4),
    ROW(MPI_INTEGER, int32_t, ELEMENT_I32), ROW(MPI_REAL, float, ELEMENT_F32),
    ROW(MPI_COMPLEX, float complex, ELEMENT_C32), ROW(MPI_DOUBLE_PRECISION, double, ELEMENT_F64),
    ROW(MPI_DOUBLE_COMPLEX, double complex, ELEMENT_C64), ROW(MPI_CHARACTER, char, ELEMENT_NONE),
    ROW(MPI_LOGICAL1, int8_t, ELEMENT_LOGICAL1), ROW(MPI_LOGICAL2, int16_t, ELEMENT_LOGICAL2),
    ROW(MPI_LOGICAL4, int32_t, ELEMENT_LOGICAL4), ROW(MPI_LOGICAL8, int64_t, ELEMENT_LOGICAL8),
    ROW(MPI_INTEGER1, int8_t, ELEMENT_I8), ROW(MPI_INTEGER2, int16_t, ELEMENT_I16),
    ROW(MPI_INTEGER4, int32_t, ELEMENT_I32), ROW(MPI_INTEGER8, int64_t, ELEMENT_I64),
    ROW(MPI_REAL4, float, ELEMENT_F32), ROW(MPI_REAL8, double, ELEMENT_F64),
    ROW(MPI_COMPLEX8, float complex, ELEMENT_C32), ROW(MPI_COMPLEX16, double complex, ELEMENT_C64),
#ifdef MPIX_C_FLOAT16 /* of ABIs that have it: it moves, no operation knows it */
    ROW(MPIX_C_FLOAT16, int16_t, ELEMENT_NONE),
#endif
    /* In the ABI and not here: they have a name, their size is MPI_UNDEFINED, nothing else can be done with them. */
#define ABSENT(name) {name, #name, 0, 0, ELEMENT_NONE}
    ABSENT(MPI_REAL2), ABSENT(MPI_COMPLEX4), ABSENT(MPI_LOGICAL16), ABSENT(MPI_INTEGER16), ABSENT(MPI_REAL16),
    ABSENT(MPI_COMPLEX32),
};

/* Two pieces, for the locating operations. */
#define PAIR(name, first, second, element) {name, #name, first, second, element}
static const struct {
    MPI_Datatype handle;
    const char *name;
    MPI_Datatype first, second;
    uint8_t element; /* of two equals: follows from them */
} pairs[] = {
    PAIR(MPI_FLOAT_INT, MPI_FLOAT, MPI_INT, ELEMENT_F32_INT),
    PAIR(MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT, ELEMENT_F64_INT),
    PAIR(MPI_LONG_INT, MPI_LONG, MPI_INT, ELEMENT_LONG_INT),
    PAIR(MPI_2INT, MPI_INT, MPI_INT, ELEMENT_NONE),
    PAIR(MPI_SHORT_INT, MPI_SHORT, MPI_INT, ELEMENT_SHORT_INT),
    PAIR(MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT, ELEMENT_LONG_DOUBLE_INT),
    PAIR(MPI_2REAL, MPI_REAL, MPI_REAL, ELEMENT_NONE),
    PAIR(MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, ELEMENT_NONE),
    PAIR(MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER, ELEMENT_NONE),
};

bool mpi_type_part(const struct mpi_type *type, uint32_t i, const struct mpi_type **part, uint64_t *count)
{
    const struct mpi_recipe *recipe = type->recipe;
    if (!recipe) {
        for (size_t k = 0; i < 2 && k < ARRAY_LENGTH(pairs); k++)
            if (type == mpi_type_at(pairs[k].handle)) {
                *part = mpi_type_at(i ? pairs[k].second : pairs[k].first);
                *count = 1;
                return true;
            }
        return false;
    }
    if (i >= recipe->types)
        return false;
    *part = recipe->type[i];
    *count = recipe->combiner == MPI_COMBINER_STRUCT ? (uint64_t)recipe->value[1 + i]
             : (*part)->size                         ? type->size / (*part)->size
                                                     : 0;
    return true;
}

const char *mpi_type_absent(MPI_Datatype handle)
{
    for (size_t i = 0; i < ARRAY_LENGTH(simple); i++)
        if (handle == simple[i].handle && simple[i].size == 0)
            return simple[i].name;
    return NULL;
}

static struct mpi_type *type_predefined(MPI_Datatype handle) { return &mpi_types[mpi_type_number(handle)]; }

static void type_fill(MPI_Datatype handle, const char *name, uint8_t element, struct type_layout *layout)
{
    struct mpi_type *type = type_predefined(handle);
    type->thing.object.identity = (uintptr_t)handle;
    type->layout = layout;
    type->size = layout->shape.size;
    type->flat = layout->shape.contiguous;
    mpi_type_ready(type);
    type->element = element;
    type->elements = 1;
    type->thing.name = (char *)name;
}

/* Again, too, where Fortran's numbers have got another size. */
static int pair_open(size_t i)
{
    static const uint8_t twice[ELEMENT_COUNT] = {[ELEMENT_I32] = ELEMENT_2INT, [ELEMENT_I64] = ELEMENT_2I64,
                                                 [ELEMENT_F32] = ELEMENT_2F32, [ELEMENT_F64] = ELEMENT_2F64};
    const struct mpi_type *first = type_predefined(pairs[i].first), *second = type_predefined(pairs[i].second);
    struct type_layout *of[] = {first->layout, second->layout}, *layout,
                       *old = type_predefined(pairs[i].handle)->layout;
    if (old && old->shape.size == first->size + second->size)
        return MPI_SUCCESS;
    uint64_t blocks[] = {1, 1};
    int64_t alignment = of[1]->shape.alignment;
    int64_t displacements[] = {0, ((int64_t)of[0]->shape.size + alignment - 1) / alignment * alignment};
    int error = vtype_layout_struct(2, blocks, displacements, of, &layout);
    if (error)
        return mpi_engine_class(error);
    type_fill(pairs[i].handle, pairs[i].name, first == second ? twice[first->element] : pairs[i].element, layout);
    type_predefined(pairs[i].handle)->elements = 2;
    if (old)
        vtype_layout_drop(old);
    return MPI_SUCCESS;
}

int mpi_pairs_open(void)
{
    int error = MPI_SUCCESS;
    for (size_t i = 0; i < ARRAY_LENGTH(pairs) && !error; i++)
        error = pair_open(i);
    return error;
}

int mpi_types_open(void)
{
    for (size_t i = 0; i < ARRAY_LENGTH(simple); i++) {
        struct type_layout *layout;
        if (simple[i].size == 0)
            continue;
        int error = vtype_layout_bytes(simple[i].size, simple[i].alignment, &layout);
        if (error)
            return mpi_engine_class(error);
        type_fill(simple[i].handle, simple[i].name, simple[i].element, layout);
    }
#ifdef MPI_LB /* of no bytes: they mark bounds, see construct.c */
    struct type_layout *nothing;
    int error = vtype_layout_bytes(0, 1, &nothing);
    if (error)
        return mpi_engine_class(error);
    type_fill(MPI_LB, "MPI_LB", ELEMENT_NONE, nothing);
    type_fill(MPI_UB, "MPI_UB", ELEMENT_NONE, vtype_layout_keep(nothing));
    type_predefined(MPI_LB)->elements = type_predefined(MPI_UB)->elements = 0;
#endif
    return MPI_SUCCESS;
}

const char *mpi_type_text(const struct mpi_type *type)
{
    return type->thing.name && type->thing.name[0] ? type->thing.name : "a datatype of the program";
}

static void type_end(void *object)
{
    struct mpi_type *type = object;
    for (uint32_t i = 0; i < type->recipe->types; i++)
        mpi_drop(type->recipe->type[i]);
    free(type->recipe);
    free(type->thing.name);
    vtype_layout_drop(type->layout);
}

static void *type_at(void *handle) { return mpi_type_at(handle); }
const struct mpi_kind_row mpi_kind_type = {
    MPI_KIND(KIND_TYPE, "datatype", struct mpi_type, MPI_ERR_TYPE, MPI_DATATYPE_NULL), .at = type_at, .end = type_end};

MPI_Datatype mpi_pair_of(MPI_Datatype value, MPI_Datatype index)
{
    for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++)
        if (pairs[i].first == value && pairs[i].second == index)
            return pairs[i].handle;
    return MPI_DATATYPE_NULL;
}
