/* The makers of datatypes. Each first writes the recipe, in the form MPI_Type_get_contents gives it back, and makes the
 * layout from the recipe's own numbers; so the arrays of a call are copied once, whether they are int or MPI_Count. */
#include "mpi/making.h"
#include "mpi/attribute.h"

int mpi_making_wrong(const char *call, const char *name, int64_t value)
{
    return mpi_error(NULL, call, MPI_ERR_ARG, "%s is %lld", name, (long long)value);
}

int mpi_making_begin(struct making *making, MPI_Datatype old, MPI_Count count)
{
    int error = mpi_arguments(making->call, ARGUMENTS(GIVEN_AS(making->out, "newtype"), TYPE_OF(old, &making->old)));
    if (!error && count < 0)
        error = mpi_error(NULL, making->call, MPI_ERR_COUNT, "count %lld is negative", (long long)count);
    return error;
}

int mpi_making_recipe(struct making *making, int combiner, uint32_t integers, uint32_t addresses, uint32_t types)
{
    uint32_t numbers = integers + addresses;
    struct mpi_recipe *recipe =
        calloc(1, sizeof *recipe + numbers * sizeof(int64_t) + types * sizeof(struct mpi_type *));
    if (!recipe)
        return mpi_error(NULL, making->call, MPI_ERR_NO_MEM, "no memory for a datatype");
    recipe->combiner = combiner;
    recipe->integers = making->wide ? 0 : integers;
    recipe->addresses = making->wide ? 0 : addresses;
    recipe->larges = making->wide ? numbers : 0;
    recipe->value = (int64_t *)(recipe + 1);
    recipe->type = (struct mpi_type **)(recipe->value + numbers);
    making->recipe = recipe;
    return MPI_SUCCESS;
}

int64_t *mpi_making_number(struct making *making, int64_t number)
{
    int64_t *place = &making->recipe->value[making->written++];
    *place = number;
    return place;
}

int64_t *mpi_making_array(struct making *making, const void *array, bool narrow, int64_t count)
{
    int64_t *place = &making->recipe->value[making->written];
    for (int64_t i = 0; i < count; i++)
        mpi_making_number(making, narrow ? ((const int *)array)[i] : ((const int64_t *)array)[i]);
    return place;
}

void mpi_making_type(struct making *making, struct mpi_type *type)
{
    mpi_keep(type);
    making->recipe->type[making->recipe->types++] = type;
}

void mpi_making_forget(struct making *making)
{
    for (uint32_t i = 0; i < making->recipe->types; i++)
        mpi_drop(making->recipe->type[i]);
    free(making->recipe);
}

int mpi_making_end(struct making *making, int error, struct type_layout *layout)
{
    struct mpi_type *type = error ? NULL : mpi_object_take(&mpi_kind_type);
    const struct mpi_type *part;
    uint64_t count;
    if (!type) {
        if (!error)
            vtype_layout_drop(layout);
        mpi_making_forget(making);
        return mpi_engine_error(NULL, making->call, error ? error : ERR_MEMORY);
    }
    type->layout = layout;
    type->size = layout->shape.size;
    type->flat = layout->shape.contiguous;
    type->recipe = making->recipe;
    for (uint32_t i = 0; mpi_type_part(type, i, &part, &count); i++)
        type->elements += count * part->elements;
    *making->out = mpi_object_deliver(type);
    return MPI_SUCCESS;
}

/* Of arrays, whose recipes have indexes of 32 bits. */
static int length_check(const char *call, MPI_Count count)
{
    return count <= INT32_MAX ? MPI_SUCCESS
                              : mpi_error(NULL, call, MPI_ERR_COUNT, "count %lld is too large", (long long)count);
}

/* BLOCKS must not be negative; forgets the recipe if one is. */
static int blocks_check(struct making *making, const int64_t *blocks, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (blocks[i] < 0) {
            int64_t value = blocks[i];
            mpi_making_forget(making);
            return mpi_making_wrong(making->call, "a block length", value);
        }
    return MPI_SUCCESS;
}

/* ---- contiguous, vector, resized ---- */

/* What takes one datatype and a few NUMBERs, INTEGERS and then ADDRESSES. */
static int type_derive(struct making *making, int combiner, uint32_t integers, uint32_t addresses,
                       const MPI_Count *number, MPI_Datatype old)
{
    struct type_layout *layout = NULL;
    bool resizes = combiner == MPI_COMBINER_RESIZED, contiguous = combiner == MPI_COMBINER_CONTIGUOUS;
    int64_t stride;
    int error = mpi_making_begin(making, old, resizes ? 0 : number[0]);
    if (!error && !resizes && !contiguous && number[1] < 0)
        error = mpi_making_wrong(making->call, "blocklength", number[1]);
    if (!error)
        error = mpi_making_recipe(making, combiner, integers, addresses, 1);
    if (error)
        return error;
    mpi_making_array(making, number, false, integers + addresses);
    mpi_making_type(making, making->old);
    struct type_layout *of = making->old->layout;
    if (resizes)
        error = vtype_layout_resized(number[0], number[1], of, &layout);
    else if (contiguous)
        error = vtype_layout_contiguous((uint64_t)number[0], of, &layout);
    else if (__builtin_mul_overflow(number[2], combiner == MPI_COMBINER_VECTOR ? of->shape.extent : 1, &stride))
        error = vbase_fail(ERR_ARGUMENT, "a stride of %lld elements does not fit into 64 bits", (long long)number[2]);
    else
        error = vtype_layout_vector((uint64_t)number[0], (uint64_t)number[1], stride, of, &layout);
    return mpi_making_end(making, error, layout);
}

#define ROW_OF MPI_COMBINER_CONTIGUOUS, 1, 0, (MPI_Count[]){count}
WIDENED(MPI_Type_contiguous, MPI_Type_contiguous_c, int, MPI_CONTIGUOUS_,
        return type_derive(MAKING(count), ROW_OF, oldtype))

#define SHAPE (MPI_Count[]){count, blocklength, stride}
#define IN_EXTENTS MPI_COMBINER_VECTOR, 3, 0, SHAPE
#define IN_BYTES MPI_COMBINER_HVECTOR, 2, 1, SHAPE
WIDENED(MPI_Type_vector, MPI_Type_vector_c, int, MPI_VECTOR_, return type_derive(MAKING(count), IN_EXTENTS, oldtype))
WIDENED(MPI_Type_create_hvector, MPI_Type_create_hvector_c, MPI_Aint, MPI_VECTOR_,
        return type_derive(MAKING(count), IN_BYTES, oldtype))

#define BOUNDS MPI_COMBINER_RESIZED, 0, 2, (MPI_Count[]){lb, extent}
ENTRY(MPI_Type_create_resized)(MPI_RESIZED_(, MPI_Aint)) { return type_derive(MAKING(int), BOUNDS, oldtype); }
ENTRY(MPI_Type_create_resized_c)(MPI_RESIZED_(, MPI_Count)) { return type_derive(MAKING(MPI_Count), BOUNDS, oldtype); }

/* ---- indexed ---- */

struct places { /* the arrays of an indexed maker */
    MPI_Count count;
    bool equal;              /* all blocks are of length BLOCK */
    const void *blocks;
    MPI_Count block;
    const void *displacements;
    bool in_bytes, narrow_displacements;
};

static int indexed_combiner(const struct places *at)
{
    if (at->equal)
        return at->in_bytes ? MPI_COMBINER_HINDEXED_BLOCK : MPI_COMBINER_INDEXED_BLOCK;
    return at->in_bytes ? MPI_COMBINER_HINDEXED : MPI_COMBINER_INDEXED;
}

/* The blocks and byte displacements of AT as the engine wants them, from the recipe; *scratch is to be freed. */
static int indexed_layout(struct making *making, const struct places *at, int64_t **scratch,
                          struct type_layout **layout)
{
    const int64_t *blocks = making->recipe->value + 1;
    const int64_t *displacements = blocks + (at->equal ? 1 : at->count);
    int64_t extent = at->in_bytes ? 1 : making->old->layout->shape.extent;
    int64_t *room = *scratch = malloc((size_t)at->count * 2 * sizeof(int64_t) + 1);
    if (!room)
        return ERR_MEMORY;
    for (int64_t i = 0; i < at->count; i++) {
        room[i] = at->equal ? at->block : blocks[i];
        if (__builtin_mul_overflow(displacements[i], extent, &room[at->count + i]))
            return vbase_fail(ERR_ARGUMENT, "a displacement of %lld elements does not fit into 64 bits",
                              (long long)displacements[i]);
    }
    return vtype_layout_indexed((uint64_t)at->count, (const uint64_t *)room, room + at->count, making->old->layout,
                                layout);
}

static int type_index(struct making *making, const struct places *at, MPI_Datatype old)
{
    struct type_layout *layout = NULL;
    int64_t *scratch = NULL;
    uint32_t count = (uint32_t)at->count, lengths = at->equal ? 1 : count;
    int error = mpi_making_begin(making, old, at->count) ?: length_check(making->call, at->count) ?:
                mpi_arguments(making->call,
                              ARGUMENTS(GIVEN_IF(count > 0 && !at->equal, at->blocks, "array_of_blocklengths"),
                                        GIVEN_IF(count > 0, at->displacements, "array_of_displacements"))) ?:
                mpi_making_recipe(making, indexed_combiner(at), 1 + lengths + (at->in_bytes ? 0 : count),
                                  at->in_bytes ? count : 0, 1);
    if (error)
        return error;
    mpi_making_number(making, at->count);
    int64_t *blocks = at->equal ? mpi_making_number(making, at->block)
                                : mpi_making_array(making, at->blocks, !making->wide, count);
    mpi_making_array(making, at->displacements, at->narrow_displacements, count);
    error = blocks_check(making, blocks, lengths);
    if (error)
        return error;
    mpi_making_type(making, making->old);
    error = indexed_layout(making, at, &scratch, &layout);
    free(scratch);
    return mpi_making_end(making, error, layout);
}

#define NARROW_DISPLACEMENTS (sizeof *array_of_displacements == sizeof(int))
#define PLACES(in_bytes)                                                                                               \
    &(struct places){count, false, array_of_blocklengths, 0, array_of_displacements, in_bytes, NARROW_DISPLACEMENTS}
#define EQUAL_PLACES(in_bytes)                                                                                         \
    &(struct places){count, true, NULL, blocklength, array_of_displacements, in_bytes, NARROW_DISPLACEMENTS}
WIDENED(MPI_Type_indexed, MPI_Type_indexed_c, int, MPI_INDEXED_,
        return type_index(MAKING(count), PLACES(false), oldtype))
WIDENED(MPI_Type_create_hindexed, MPI_Type_create_hindexed_c, MPI_Aint, MPI_INDEXED_,
        return type_index(MAKING(count), PLACES(true), oldtype))
WIDENED(MPI_Type_create_indexed_block, MPI_Type_create_indexed_block_c, int, MPI_INDEXED_BLOCK_,
        return type_index(MAKING(count), EQUAL_PLACES(false), oldtype))
WIDENED(MPI_Type_create_hindexed_block, MPI_Type_create_hindexed_block_c, MPI_Aint, MPI_INDEXED_BLOCK_,
        return type_index(MAKING(count), EQUAL_PLACES(true), oldtype))

/* ---- struct ---- */

static int types_check(const char *call, uint32_t count, const MPI_Datatype *types)
{
    for (uint32_t i = 0; i < count; i++)
        if (!mpi_type_at(types[i]))
            return mpi_wrong(NULL, call, &mpi_kind_type, types[i]);
    return MPI_SUCCESS;
}

/* Of ABIs that still have MPI-1's markers: the bounds are where the lowest MPI_LB and the highest MPI_UB stand. */
static int markers_apply(struct type_layout **layout, uint32_t count, const MPI_Datatype *types, const int64_t *offsets)
{
    int error = OK;
#ifdef MPI_LB
    struct type_layout *made;
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (uint32_t i = 0; i < count; i++) {
        if (types[i] == MPI_LB && offsets[i] < low)
            low = offsets[i];
        if (types[i] == MPI_UB && offsets[i] > high)
            high = offsets[i];
    }
    if (low == INT64_MAX && high == INT64_MIN)
        return OK;
    const struct type_shape *shape = &(*layout)->shape;
    low = low == INT64_MAX ? shape->lower_bound : low;
    high = high == INT64_MIN ? shape->lower_bound + shape->extent : high;
    if (__builtin_sub_overflow(high, low, &high))
        return vbase_fail(ERR_ARGUMENT, "MPI_LB and MPI_UB are too far apart");
    error = vtype_layout_resized(low, high, *layout, &made);
    if (error)
        return error;
    vtype_layout_drop(*layout);
    *layout = made;
#else
    (void)layout, (void)count, (void)types, (void)offsets;
#endif
    return error;
}

static int struct_make(struct making *making, MPI_Count length, const void *blocks, const int64_t *displacements,
                     const MPI_Datatype *types)
{
    uint32_t count = (uint32_t)length;
    struct type_layout *layout = NULL;
    int error = mpi_making_begin(making, MPI_BYTE, length) ?: length_check(making->call, length) ?:
                mpi_arguments(making->call, ARGUMENTS(GIVEN_IF(count > 0, blocks, "array_of_blocklengths"),
                                                      GIVEN_IF(count > 0, displacements, "array_of_displacements"),
                                                      GIVEN_IF(count > 0, types, "array_of_types"))) ?:
                types_check(making->call, count, types) ?:
                mpi_making_recipe(making, MPI_COMBINER_STRUCT, 1 + count, count, count);
    if (error)
        return error;
    mpi_making_number(making, length);
    int64_t *lengths = mpi_making_array(making, blocks, !making->wide, count);
    int64_t *offsets = mpi_making_array(making, displacements, false, count);
    error = blocks_check(making, lengths, count);
    if (error)
        return error;
    struct type_layout **of = malloc(count * sizeof *of + 1);
    for (uint32_t i = 0; of && i < count; i++) {
        struct mpi_type *type = mpi_type_at(types[i]);
        mpi_making_type(making, type);
        of[i] = type->layout;
    }
    error = of ? vtype_layout_struct(count, (const uint64_t *)lengths, offsets, of, &layout) : ERR_MEMORY;
    free(of);
    if (!error && (error = markers_apply(&layout, count, types, offsets)) != OK)
        vtype_layout_drop(layout);
    return mpi_making_end(making, error, layout);
}

WIDENED(MPI_Type_create_struct, MPI_Type_create_struct_c, MPI_Aint, MPI_STRUCT_,
        return struct_make(MAKING(count), count, array_of_blocklengths, array_of_displacements, array_of_types))

/* ---- dup ---- */

ENTRY(MPI_Type_dup)(MPI_Datatype old, MPI_Datatype *out)
{
    struct making making = {.call = "MPI_Type_dup", .out = out};
    int error = mpi_making_begin(&making, old, 0) ?: mpi_making_recipe(&making, MPI_COMBINER_DUP, 0, 0, 1);
    if (error)
        return error;
    mpi_making_type(&making, making.old);
    error = mpi_making_end(&making, OK, vtype_layout_keep(making.old->layout));
    if (error)
        return error;
    struct mpi_type *made = mpi_type_at(*out);
    if (making.old->committed)
        mpi_type_ready(made);
    error = mpi_attributes_copy(&making.old->thing, &made->thing);
    if (!error)
        return MPI_SUCCESS;
    mpi_object_unpublish(made);
    mpi_drop(made);
    *out = MPI_DATATYPE_NULL;
    return mpi_error(NULL, making.call, error, "the copy function of an attribute failed");
}
