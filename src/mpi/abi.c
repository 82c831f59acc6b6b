/* What the standard ABI adds: its version; handles as integers; and what Fortran needs of a C library: datatypes by
 * precision and range, and what a Fortran library on top of the ABI tells about its compiler. It may tell once, at any
 * time; MPI_INTEGER and its kin have the sizes of common compilers before. A predefined handle is its own number; the
 * others get MPI_FIRST_INT and the index of their object, the same as long as the object lives. */
#include "mpi/making.h"
#include "mpi/info.h"
#include "mpi/request.h"
#include <float.h>

ENTRY(MPI_Abi_get_version)(int *abi_major, int *abi_minor)
    { return CHECK(GIVEN(abi_major), GIVEN(abi_minor)) ?:
             mpi_tell(abi_major, MPI_ABI_VERSION) + mpi_tell(abi_minor, MPI_ABI_SUBVERSION); }

ENTRY(MPI_Abi_get_info)(MPI_Info *out)
{
    static const struct {
        const char *key;
        size_t size;
    } sizes[] = {{"mpi_aint_size", sizeof(MPI_Aint)},
                 {"mpi_count_size", sizeof(MPI_Count)},
                 {"mpi_offset_size", sizeof(MPI_Offset)}};
    char text[16];
    if (!out)
        return mpi_null(NULL, NAME, "info");
    struct mpi_info *info = mpi_info_copy(NULL);
    for (size_t i = 0; info && i < ARRAY_LENGTH(sizes); i++) {
        snprintf(text, sizeof text, "%zu", sizes[i].size);
        if (mpi_info_put(info, sizes[i].key, text)) {
            mpi_drop(info);
            info = NULL;
        }
    }
    return mpi_info_deliver(NULL, NAME, info, out);
}

static int handle_to_int(const void *handle) { return mpi_identity_to_int((uintptr_t)handle); }

#ifdef MPI_INT_HANDLES
static void *handle_from_int(enum mpi_kind kind, int number) { return (void)kind, (void *)(intptr_t)number; }
#else
/* The handle of a live object, NULL for numbers that have none. */
static void *handle_from_int(enum mpi_kind kind, int number)
{
    const struct mpi_kind_row *row = mpi_tables[kind].kind; /* NULL: there were no objects yet */
    if (number < MPI_FIRST_INT)
        return mpi_known_handle(kind, number);
    struct mpi_object *object = row ? mpi_slot(kind, (uint32_t)(number - MPI_FIRST_INT), row->size) : NULL;
    return object ? (void *)atomic_load_explicit(&object->handle, memory_order_acquire) : NULL;
}
#endif

ENTRY(MPI_Comm_toint)(MPI_Comm handle) { return handle_to_int(handle); }
ENTRY_OF(MPI_Comm, MPI_Comm_fromint)(int number) { return handle_from_int(KIND_COMM, number); }
ENTRY(MPI_Group_toint)(MPI_Group handle) { return handle_to_int(handle); }
ENTRY_OF(MPI_Group, MPI_Group_fromint)(int number) { return handle_from_int(KIND_GROUP, number); }
ENTRY(MPI_Type_toint)(MPI_Datatype handle) { return handle_to_int(handle); }
ENTRY_OF(MPI_Datatype, MPI_Type_fromint)(int number) { return handle_from_int(KIND_TYPE, number); }
ENTRY(MPI_Op_toint)(MPI_Op handle) { return handle_to_int(handle); }
ENTRY_OF(MPI_Op, MPI_Op_fromint)(int number) { return handle_from_int(KIND_OP, number); }
ENTRY(MPI_Request_toint)(MPI_Request handle) { return handle_to_int(handle); }
ENTRY_OF(MPI_Request, MPI_Request_fromint)(int number) { return handle_from_int(KIND_REQUEST, number); }
ENTRY(MPI_Message_toint)(MPI_Message handle) { return handle_to_int(handle); }
ENTRY_OF(MPI_Message, MPI_Message_fromint)(int number) { return handle_from_int(KIND_MESSAGE, number); }
ENTRY(MPI_Errhandler_toint)(MPI_Errhandler handle) { return handle_to_int(handle); }
ENTRY_OF(MPI_Errhandler, MPI_Errhandler_fromint)(int number) { return handle_from_int(KIND_ERRHANDLER, number); }
ENTRY(MPI_Info_toint)(MPI_Info handle) { return handle_to_int(handle); }
ENTRY_OF(MPI_Info, MPI_Info_fromint)(int number) { return handle_from_int(KIND_INFO, number); }
ENTRY(MPI_Session_toint)(MPI_Session handle) { return handle_to_int(handle); }
ENTRY_OF(MPI_Session, MPI_Session_fromint)(int number) { return handle_from_int(KIND_SESSION, number); }
/* Of these there are only null handles yet. */
ENTRY(MPI_File_toint)(MPI_File handle) { return handle_to_int(handle); }
ENTRY_OF(MPI_File, MPI_File_fromint)(int number) { return handle_from_int(KIND_FILE, number); }
ENTRY(MPI_Win_toint)(MPI_Win handle) { return handle_to_int(handle); }
ENTRY_OF(MPI_Win, MPI_Win_fromint)(int number) { return handle_from_int(KIND_WIN, number); }

/* ---- datatypes by precision and range ---- */

static struct base_lock lock;

/* The types of a family, smallest first: decimal digits and exponent range. */
struct kind {
    int digits, range;
    MPI_Datatype type;
};
static const struct kind reals[] = {{FLT_DIG, FLT_MAX_10_EXP - 1, MPI_REAL4}, {DBL_DIG, DBL_MAX_10_EXP - 1, MPI_REAL8},
                                    {LDBL_DIG, LDBL_MAX_10_EXP - 1, MPI_LONG_DOUBLE}},
    complexes[] = {{FLT_DIG, FLT_MAX_10_EXP - 1, MPI_COMPLEX8}, {DBL_DIG, DBL_MAX_10_EXP - 1, MPI_COMPLEX16},
                   {LDBL_DIG, LDBL_MAX_10_EXP - 1, MPI_C_LONG_DOUBLE_COMPLEX}},
    integers[] = {{0, 2, MPI_INTEGER1}, {0, 4, MPI_INTEGER2}, {0, 9, MPI_INTEGER4}, {0, 18, MPI_INTEGER8}};

/* What was asked for already: the same question has the same handle for an answer, which is never freed. */
struct answer {
    struct answer *next;
    int combiner, digits, range;
    MPI_Datatype type;
};
static struct answer *answers;

/* The smallest of the COUNT kinds that is large enough; MPI_DATATYPE_NULL: none is. */
static MPI_Datatype kind_choose(const struct kind *kinds, size_t count, int digits, int range)
{
    for (size_t i = 0; i < count; i++)
        if ((digits == MPI_UNDEFINED || digits <= kinds[i].digits) &&
            (range == MPI_UNDEFINED || range <= kinds[i].range))
            return kinds[i].type;
    return MPI_DATATYPE_NULL;
}

static int answer_make(struct making *making, const struct answer *what)
{
    bool integer = what->combiner == MPI_COMBINER_F90_INTEGER;
    int error = mpi_making_begin(making, what->type, 0) ?:
                mpi_making_recipe(making, what->combiner, integer ? 1 : 2, 0, 0);
    if (error)
        return error;
    if (!integer)
        mpi_making_number(making, what->digits);
    mpi_making_number(making, what->range);
    error = mpi_making_end(making, OK, vtype_layout_keep(making->old->layout));
    if (error)
        return error;
    struct mpi_type *made = mpi_type_at(*making->out);
    mpi_type_ready(made);
    made->element = making->old->element;
    made->elements = 1;
    return MPI_SUCCESS;
}

static int answer_find(const char *call, const struct answer *asked, MPI_Datatype *out)
{
    struct making making = {.call = call, .out = out};
    if (asked->type == MPI_DATATYPE_NULL)
        return mpi_error(NULL, call, MPI_ERR_ARG, "there is no type of precision %d and range %d", asked->digits,
                         asked->range);
    struct answer *known = malloc(sizeof *known), *found;
    if (!known)
        return mpi_engine_error(NULL, call, ERR_MEMORY);
    mpi_lock(&lock);
    for (found = answers; found; found = found->next)
        if (found->combiner == asked->combiner && found->digits == asked->digits && found->range == asked->range)
            break;
    int error = found ? MPI_SUCCESS : answer_make(&making, asked);
    if (!error && !found) {
        *known = *asked;
        known->type = *out;
        known->next = answers;
        answers = found = known;
        known = NULL;
    }
    mpi_unlock(&lock);
    free(known);
    if (!error)
        *out = found->type;
    return error;
}

static int real_find(const char *call, int combiner, int digits, int range, MPI_Datatype *out)
{
    bool complex = combiner == MPI_COMBINER_F90_COMPLEX;
    struct answer asked = {NULL, combiner, digits, range, MPI_DATATYPE_NULL};
    if (digits != MPI_UNDEFINED || range != MPI_UNDEFINED)
        asked.type = kind_choose(complex ? complexes : reals, ARRAY_LENGTH(reals), digits, range);
    return answer_find(call, &asked, out);
}

#define WANTED RUNNING, GIVEN(newtype)
ENTRY(MPI_Type_create_f90_real)(int digits, int range, MPI_Datatype *newtype)
    { return CHECK(WANTED) ?: real_find(NAME, MPI_COMBINER_F90_REAL, digits, range, newtype); }
ENTRY(MPI_Type_create_f90_complex)(int digits, int range, MPI_Datatype *newtype)
    { return CHECK(WANTED) ?: real_find(NAME, MPI_COMBINER_F90_COMPLEX, digits, range, newtype); }
#define SMALLEST kind_choose(integers, ARRAY_LENGTH(integers), MPI_UNDEFINED, range)
ENTRY(MPI_Type_create_f90_integer)(int range, MPI_Datatype *newtype)
    { return CHECK(WANTED) ?:
             answer_find(NAME, &(struct answer){NULL, MPI_COMBINER_F90_INTEGER, 0, range, SMALLEST}, newtype); }

/* There is no REAL*16 here: 16 bytes are C's long double. */
ENTRY(MPI_Type_match_size)(int class, int size, MPI_Datatype *out)
{
    const struct kind *kinds = class == MPI_TYPECLASS_REAL      ? reals
                               : class == MPI_TYPECLASS_INTEGER ? integers
                               : class == MPI_TYPECLASS_COMPLEX ? complexes
                                                                : NULL;
    size_t count = kinds == integers ? ARRAY_LENGTH(integers) : ARRAY_LENGTH(reals);
    mpi_enter(NAME);
    for (size_t i = 0; kinds && out && i < count; i++)
        if (mpi_type_at(kinds[i].type)->size == (uint64_t)size) {
            *out = kinds[i].type;
            return MPI_SUCCESS;
        }
    return mpi_error(NULL, NAME, MPI_ERR_ARG, "there is no datatype of class %d and size %d", class, size);
}

/* ---- the compiler ---- */

static struct mpi_info *told; /* NULL: nothing yet */

/* The types that have no size in their name, and where it is told. */
static const struct {
    MPI_Datatype type;
    const char *key;
    int parts; /* 2: complex */
    MPI_Datatype sized[2]; /* for a part of 4 and of 8 bytes */
} plain[] = {
    {MPI_LOGICAL, "mpi_logical_size", 1, {MPI_LOGICAL4, MPI_LOGICAL8}},
    {MPI_INTEGER, "mpi_integer_size", 1, {MPI_INTEGER4, MPI_INTEGER8}},
    {MPI_REAL, "mpi_real_size", 1, {MPI_REAL4, MPI_REAL8}},
    {MPI_DOUBLE_PRECISION, "mpi_double_precision_size", 1, {MPI_REAL4, MPI_REAL8}},
    {MPI_COMPLEX, "mpi_real_size", 2, {MPI_COMPLEX8, MPI_COMPLEX16}},
    {MPI_DOUBLE_COMPLEX, "mpi_double_precision_size", 2, {MPI_COMPLEX8, MPI_COMPLEX16}},
};

/* The size told for row I, 0: none that this library has. */
static int size_told(const struct mpi_info *info, size_t i)
{
    const char *text = mpi_info_value(info, plain[i].key);
    int size = text ? atoi(text) : 0;
    return size == 4 || size == 8 ? size : 0;
}

int mpi_fortran_apply(void)
{
    for (size_t i = 0; told && i < ARRAY_LENGTH(plain); i++) {
        int size = size_told(told, i);
        struct mpi_type *type = mpi_type_at(plain[i].type);
        const struct mpi_type *like = size ? mpi_type_at(plain[i].sized[size == 8]) : NULL;
        if (!like || type->size == like->size)
            continue;
        vtype_layout_drop(type->layout);
        type->layout = vtype_layout_keep(like->layout);
        type->size = like->size;
        type->element = like->element;
        mpi_type_ready(type);
    }
    return mpi_pairs_open();
}

ENTRY(MPI_Abi_set_fortran_info)(MPI_Info handle)
{
    const struct mpi_info *info;
    int error = CHECK(INFO_OF(handle, &info));
    if (error)
        return error;
    for (size_t i = 0; i < ARRAY_LENGTH(plain); i++)
        if (mpi_info_value(info, plain[i].key) && !size_told(info, i))
            return mpi_error(NULL, NAME, MPI_ERR_ABI, "%s is %s: only 4 and 8 are supported", plain[i].key,
                             mpi_info_value(info, plain[i].key));
    if (told)
        return mpi_error(NULL, NAME, MPI_ERR_ABI, "it was told already, and holds for the life of the process");
    told = mpi_info_copy(info);
    if (!told)
        return mpi_error(NULL, NAME, MPI_ERR_NO_MEM, "no memory for an info object");
    int class = mpi_is_running() ? mpi_fortran_apply() : MPI_SUCCESS;
    return class ? mpi_error(NULL, NAME, class, "no memory for pairs of these types") : MPI_SUCCESS;
}

ENTRY(MPI_Abi_get_fortran_info)(MPI_Info *info)
    { return CHECK(GIVEN(info)) ?:
             told ? mpi_info_deliver(NULL, NAME, mpi_info_copy(told), info) : (*info = MPI_INFO_NULL, MPI_SUCCESS); }

/* How the compiler writes true and false. Kept to be asked for: reductions take anything but 0 for true and give 1. */
static struct {
    int size; /* 0: not told */
    unsigned char yes[16], no[16];
} booleans;

static int size_check(const char *call, int size)
{
    bool right = size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
    return right ? MPI_SUCCESS : mpi_error(NULL, call, MPI_ERR_ARG, "logical_size is %d", size);
}

ENTRY(MPI_Abi_set_fortran_booleans)(int size, void *logical_true, void *logical_false)
{
    int error = CHECK(GIVEN(logical_true), GIVEN(logical_false)) ?: size_check(NAME, size);
    if (!error && booleans.size)
        error = mpi_error(NULL, NAME, MPI_ERR_ABI, "they were told already");
    if (error)
        return error;
    booleans.size = size;
    memcpy(booleans.yes, logical_true, (size_t)size);
    memcpy(booleans.no, logical_false, (size_t)size);
    return MPI_SUCCESS;
}

ENTRY(MPI_Abi_get_fortran_booleans)(int size, void *logical_true, void *logical_false, int *is_set)
{
    int error = CHECK(GIVEN(logical_true), GIVEN(logical_false), GIVEN(is_set)) ?: size_check(NAME, size);
    if (!error && booleans.size && booleans.size != size)
        error = mpi_error(NULL, NAME, MPI_ERR_ARG, "they were told for a LOGICAL of %d bytes, not %d",
                          booleans.size, size);
    if (error)
        return error;
    memcpy(logical_true, booleans.yes, (size_t)booleans.size);
    memcpy(logical_false, booleans.no, (size_t)booleans.size);
    return mpi_tell(is_set, booleans.size != 0);
}
