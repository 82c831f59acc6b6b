/* The chapter of datatypes: commit and free, and what can be asked of any. Made types come from construct.c. */
#include "mpi/attribute.h"
#include "mpi/type.h"

/* ---- commit and free ---- */

ENTRY(MPI_Type_commit)(MPI_Datatype *datatype)
    { return CHECK(BEHIND(mpi_kind_type, datatype)) ?: (mpi_type_ready(mpi_type_at(*datatype)), MPI_SUCCESS); }

ENTRY(MPI_Type_free)(MPI_Datatype *datatype)
{
    struct mpi_type *type;
    int error = CHECK(BEHIND(mpi_kind_type, datatype, &type));
    if (error)
        return error;
    if (mpi_predefined(type))
        return mpi_error(NULL, NAME, MPI_ERR_TYPE, "%s is predefined and cannot be freed", type->thing.name);
    int made_by = type->recipe->combiner;
    if (made_by >= MPI_COMBINER_F90_REAL && made_by <= MPI_COMBINER_F90_INTEGER)
        return mpi_error(NULL, NAME, MPI_ERR_TYPE, "a type of precision and range cannot be freed");
    /* relaxed: two threads that free handles of one type at once is the program's race */
    if (atomic_load_explicit(&type->thing.object.users, memory_order_relaxed) == 1) /* else get_contents gave more */
        error = mpi_attributes_delete(&type->thing);
    if (error)
        return mpi_error(NULL, NAME, error, "the delete function of an attribute failed");
    return mpi_free_handle(NAME, &mpi_kind_type, datatype);
}

/* ---- questions ---- */

/* Of the absent ones it is MPI_UNDEFINED. */
static int size_of(MPI_Datatype handle, struct mpi_count size)
{
    return mpi_count_tell(size, mpi_type_absent(handle) ? MPI_UNDEFINED : (MPI_Count)mpi_type_at(handle)->size);
}

#define SIZED TYPE_OF(mpi_type_absent(datatype) ? MPI_BYTE : datatype), GIVEN(size)
WIDENED(MPI_Type_size, MPI_Type_size_c, int, MPI_SIZE_, return CHECK(SIZED) ?: size_of(datatype, COUNT_AT(size)))
ENTRY(MPI_Type_size_x)(MPI_SIZE_(MPI_Count, )) { return CHECK(SIZED) ?: size_of(datatype, COUNT_AT(size)); }

/* TRUE_ONE: of the payload alone. MPI_Aint and MPI_Count are the same here. */
static int extent_of(const struct mpi_type *type, bool true_one, int64_t *lb, int64_t *extent)
{
    const struct type_shape *shape = &type->layout->shape;
    *lb = true_one ? shape->true_lower_bound : shape->lower_bound;
    *extent = true_one ? shape->true_extent : shape->extent;
    return MPI_SUCCESS;
}

#define EXTENT(name, number) ENTRY(name)(MPI_Datatype type, number *lb, number *extent)
#define EXTENT_IS(true_one) \
    CHECK(TYPE_OF(type), GIVEN(lb), GIVEN(extent)) ?: extent_of(mpi_type_at(type), true_one, lb, extent)
EXTENT(MPI_Type_get_extent, MPI_Aint) { return EXTENT_IS(false); }
EXTENT(MPI_Type_get_extent_c, MPI_Count) { return EXTENT_IS(false); }
EXTENT(MPI_Type_get_extent_x, MPI_Count) { return EXTENT_IS(false); }
EXTENT(MPI_Type_get_true_extent, MPI_Aint) { return EXTENT_IS(true); }
EXTENT(MPI_Type_get_true_extent_c, MPI_Count) { return EXTENT_IS(true); }
EXTENT(MPI_Type_get_true_extent_x, MPI_Count) { return EXTENT_IS(true); }

ENTRY(MPI_Type_get_name)(MPI_Datatype handle, char *type_name, int *resultlen)
{
    struct mpi_type *type;
    const char *known = handle == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : mpi_type_absent(handle);
    int error = CHECK(TYPE_OF(known ? MPI_BYTE : handle, &type), GIVEN(type_name), GIVEN(resultlen));
    if (error)
        return error;
    if (!known)
        known = type->thing.name ?: "";
    return mpi_tell(resultlen, snprintf(type_name, MPI_MAX_OBJECT_NAME, "%s", known));
}

ENTRY(MPI_Type_set_name)(MPI_Datatype type, const char *type_name)
    { return CHECK(TYPE_OF(type), GIVEN(type_name)) ?: mpi_name_set(NAME, &mpi_type_at(type)->thing, type_name); }

ENTRY(MPI_Type_get_value_index)(MPI_Datatype value, MPI_Datatype index, MPI_Datatype *pair_type)
    { return CHECK(TYPE_OF(value), TYPE_OF(index), GIVEN(pair_type)) ?:
             (*pair_type = mpi_pair_of(value, index), MPI_SUCCESS); }

ENTRY(MPI_Get_address)(const void *location, MPI_Aint *address)
    { return CHECK(GIVEN(address)) ?: (*address = (MPI_Aint)location, MPI_SUCCESS); }

ENTRY_OF(MPI_Aint, MPI_Aint_add)(MPI_Aint base, MPI_Aint displacement)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)displacement);
}
ENTRY_OF(MPI_Aint, MPI_Aint_diff)(MPI_Aint one, MPI_Aint two) { return (MPI_Aint)((uintptr_t)one - (uintptr_t)two); }

/* ---- how it was made: envelope and contents ---- */

static const struct mpi_recipe named = {.combiner = MPI_COMBINER_NAMED};

/* WIDE: in a call that can tell large counts. */
static int recipe_of(const char *call, MPI_Datatype handle, bool wide, const struct mpi_recipe **recipe)
{
    const struct mpi_type *type;
    int error = mpi_arguments(call, ARGUMENTS(TYPE_OF(handle, &type)));
    if (error)
        return error;
    *recipe = type->recipe ? type->recipe : &named;
    if ((*recipe)->larges && !wide)
        return mpi_error(NULL, call, MPI_ERR_TYPE, "the datatype has large counts: use %s_c", call);
    return MPI_SUCCESS;
}

enum { INTEGERS, ADDRESSES, LARGES, TYPES, NUMBERS };

/* WIDE: in the _c form, which alone has LARGES. */
static int envelope_tell(const char *call, MPI_Datatype handle, bool wide, const struct mpi_count at[NUMBERS],
                         int *combiner)
{
    static const char *const names[] = {"num_integers", "num_addresses", "num_large_counts", "num_datatypes"};
    const struct mpi_recipe *recipe;
    int error = recipe_of(call, handle, wide, &recipe) ?: mpi_arguments(call, ARGUMENTS(GIVEN(combiner)));
    for (int i = 0; !error && i < NUMBERS; i++)
        if (!mpi_count_wanted(at[i]) && (wide || i != LARGES))
            error = mpi_null(NULL, call, names[i]);
    if (error)
        return error;
    const uint32_t number[] = {recipe->integers, recipe->addresses, recipe->larges, recipe->types};
    for (int i = 0; i < NUMBERS; i++)
        if (mpi_count_wanted(at[i]))
            mpi_count_tell(at[i], number[i]);
    return mpi_tell(combiner, recipe->combiner);
}

#define PLACES(larges) (struct mpi_count[]){COUNT_AT(integers), COUNT_AT(addresses), larges, COUNT_AT(types)}
ENTRY(MPI_Type_get_envelope)(MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner)
    { DOING("MPI_Type_get_envelope"); return envelope_tell(NAME, type, false, PLACES({0}), combiner); }
ENTRY(MPI_Type_get_envelope_c)(MPI_Datatype type, MPI_Count *integers, MPI_Count *addresses, MPI_Count *larges,
                               MPI_Count *types, int *combiner)
    { DOING("MPI_Type_get_envelope_c"); return envelope_tell(NAME, type, true, PLACES(COUNT_AT(larges)), combiner); }

struct contents {
    bool wide; /* the _c form */
    MPI_Count max_integers, max_addresses, max_larges, max_types;
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *larges;
    MPI_Datatype *types;
};

static int contents_tell(const char *call, MPI_Datatype handle, const struct contents *room)
{
    const struct mpi_recipe *recipe;
    int error = recipe_of(call, handle, room->wide, &recipe);
    if (error)
        return error;
    if (recipe == &named)
        return mpi_error(NULL, call, MPI_ERR_TYPE, "%s is predefined and has no contents",
                         mpi_type_text(mpi_type_at(handle)));
    if (room->max_integers < recipe->integers || room->max_addresses < recipe->addresses ||
        room->max_larges < recipe->larges || room->max_types < recipe->types)
        return mpi_error(NULL, call, MPI_ERR_ARG, "an array is too short: the envelope tells %u, %u, %u and %u",
                         recipe->integers, recipe->addresses, recipe->larges, recipe->types);
    error = mpi_arguments(call, ARGUMENTS(GIVEN_IF(recipe->integers, room->integers, "array_of_integers"),
                                          GIVEN_IF(recipe->addresses, room->addresses, "array_of_addresses"),
                                          GIVEN_IF(recipe->larges, room->larges, "array_of_large_counts"),
                                          GIVEN_IF(recipe->types, room->types, "array_of_datatypes")));
    if (error)
        return error;
    const int64_t *value = recipe->value;
    for (uint32_t i = 0; i < recipe->integers; i++)
        room->integers[i] = (int)*value++;
    for (uint32_t i = 0; i < recipe->addresses; i++)
        room->addresses[i] = *value++;
    for (uint32_t i = 0; i < recipe->larges; i++)
        room->larges[i] = *value++;
    for (uint32_t i = 0; i < recipe->types; i++)
        room->types[i] = mpi_object_publish(recipe->type[i]);
    return MPI_SUCCESS;
}

ENTRY(MPI_Type_get_contents)(MPI_Datatype type, int max_integers, int max_addresses, int max_types, int integers[],
                             MPI_Aint addresses[], MPI_Datatype types[])
{
    DOING("MPI_Type_get_contents");
    return contents_tell(NAME, type, &(struct contents){false, max_integers, max_addresses, 0, max_types, integers,
                                                        addresses, NULL, types});
}
ENTRY(MPI_Type_get_contents_c)(MPI_Datatype type, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_larges,
                               MPI_Count max_types, int integers[], MPI_Aint addresses[], MPI_Count larges[],
                               MPI_Datatype types[])
{
    DOING("MPI_Type_get_contents_c");
    return contents_tell(NAME, type, &(struct contents){true, max_integers, max_addresses, max_larges, max_types,
                                                        integers, addresses, larges, types});
}
