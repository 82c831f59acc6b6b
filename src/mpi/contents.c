/* How a datatype was made: its envelope and contents. */
#include "mpi/type.h"

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
