/* What a datatype is made of: its predefined types, in their order, each with its place. Found by taking the type to
 * pieces with the calls of the standard. Called by section.c. */
#include "fortran/pieces.h"

/* How a type was made: all numbers in one row. Both sizes of a constructor give the same row but for subarrays. */
struct recipe {
    int combiner;
    bool large;
    MPI_Count *number;
    MPI_Datatype *type;
    MPI_Count types, extent; /* extent: of the first one */
};

int fortran_piece_add(struct fortran_pieces *to, MPI_Datatype type, MPI_Count at, MPI_Count bytes, MPI_Count times)
{
    struct fortran_piece *last = to->count ? &to->piece[to->count - 1] : NULL;
    if (times == 0 || bytes == 0)
        return MPI_SUCCESS;
    if (last && last->type == type && last->at + last->times * last->bytes == at && last->bytes == bytes) {
        last->times += times;
        return MPI_SUCCESS;
    }
    if (to->count == to->room) {
        size_t room = to->room ? 2 * to->room : 16;
        struct fortran_piece *more = realloc(to->piece, room * sizeof *more);
        if (!more)
            return MPI_ERR_NO_MEM;
        to->piece = more;
        to->room = room;
    }
    to->piece[to->count++] = (struct fortran_piece){type, at, bytes, times};
    return MPI_SUCCESS;
}

static MPI_Count recipe_blocks(const struct recipe *recipe)
{
    MPI_Count all = 1;
    switch (recipe->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
    case MPI_COMBINER_CONTIGUOUS: return 1;
    case MPI_COMBINER_SUBARRAY:
        for (MPI_Count i = 0; i < recipe->number[0]; i++)
            all *= recipe->number[(recipe->large ? 2 : 1) + recipe->number[0] + i];
        return all;
    default: return recipe->number[0];
    }
}

/* Where element I of a subarray lies, counted in elements of the whole. */
static MPI_Count subarray_place(const struct recipe *recipe, MPI_Count i)
{
    MPI_Count dimensions = recipe->number[0], place = 0, step = 1;
    const MPI_Count *sizes = recipe->number + (recipe->large ? 2 : 1), *subsizes = sizes + dimensions;
    const MPI_Count *starts = subsizes + dimensions;
    bool fortran = recipe->number[recipe->large ? 1 : 1 + 3 * dimensions] == MPI_ORDER_FORTRAN;
    for (MPI_Count d = 0; d < dimensions; d++) {
        MPI_Count which = fortran ? d : dimensions - 1 - d;
        place += (starts[which] + i % subsizes[which]) * step;
        i /= subsizes[which];
        step *= sizes[which];
    }
    return place;
}

/* Block I: how far it lies from the beginning, in bytes, and how many of its type it has. */
static MPI_Count recipe_block(const struct recipe *recipe, MPI_Count i, MPI_Count *length)
{
    const MPI_Count *number = recipe->number;
    switch (recipe->combiner) {
    case MPI_COMBINER_CONTIGUOUS: *length = number[0]; return 0;
    case MPI_COMBINER_VECTOR: *length = number[1]; return i * number[2] * recipe->extent;
    case MPI_COMBINER_HVECTOR: *length = number[1]; return i * number[2];
    case MPI_COMBINER_INDEXED: *length = number[1 + i]; return number[1 + number[0] + i] * recipe->extent;
    case MPI_COMBINER_STRUCT:
    case MPI_COMBINER_HINDEXED: *length = number[1 + i]; return number[1 + number[0] + i];
    case MPI_COMBINER_INDEXED_BLOCK: *length = number[1]; return number[2 + i] * recipe->extent;
    case MPI_COMBINER_HINDEXED_BLOCK: *length = number[1]; return number[2 + i];
    case MPI_COMBINER_SUBARRAY: *length = 1; return subarray_place(recipe, i) * recipe->extent;
    default: *length = 1; return 0; /* another name, another extent */
    }
}

static int recipe_open(struct recipe *recipe, MPI_Datatype type)
{
    MPI_Count integers, addresses, counts, lower;
    int error = MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &recipe->types, &recipe->combiner);
    if (error || recipe->types == 0)
        return error;
    int *integer = malloc((size_t)integers * sizeof *integer + 1);
    recipe->large = counts > 0;
    recipe->number = malloc((size_t)(integers + addresses + counts) * sizeof *recipe->number + 1);
    recipe->type = malloc((size_t)recipe->types * sizeof(MPI_Datatype));
    error = MPI_ERR_NO_MEM;
    if (integer && recipe->number && recipe->type)
        error = MPI_Type_get_contents_c(type, integers, addresses, counts, recipe->types, integer,
                                        (MPI_Aint *)(recipe->number + integers), recipe->number + integers + addresses,
                                        recipe->type);
    if (error)
        recipe->types = 0;
    for (MPI_Count i = 0; !error && i < integers; i++)
        recipe->number[i] = integer[i];
    free(integer);
    return error ?: MPI_Type_get_extent_c(recipe->type[0], &lower, &recipe->extent);
}

static void recipe_close(struct recipe *recipe)
{
    MPI_Count unused[4];
    int combiner;
    for (MPI_Count i = 0; i < recipe->types; i++)
        if (MPI_Type_get_envelope_c(recipe->type[i], &unused[0], &unused[1], &unused[2], &unused[3], &combiner) ==
                MPI_SUCCESS && unused[3] > 0)
            (void)MPI_Type_free(&recipe->type[i]);
    free(recipe->number);
    free(recipe->type);
}

int fortran_pieces_find(MPI_Datatype type, MPI_Count at, MPI_Count times, struct fortran_pieces *to)
{
    struct recipe recipe = {0};
    MPI_Count lower, extent, inner, bytes, length;
    int error = MPI_Type_get_extent_c(type, &lower, &extent) ?: MPI_Type_get_true_extent_c(type, &inner, &bytes);
    error = error ?: recipe_open(&recipe, type);
    if (recipe.combiner == MPI_COMBINER_DARRAY && !error)
        error = MPI_ERR_TYPE;
    MPI_Count blocks = recipe.types && !error ? recipe_blocks(&recipe) : 0;
    if (!error && recipe.types == 0 && bytes == extent)
        error = fortran_piece_add(to, type, at, bytes, times);
    else
        for (MPI_Count i = 0; i < times && !error; i++, at += extent) {
            if (recipe.types == 0)
                error = fortran_piece_add(to, type, at, bytes, 1);
            for (MPI_Count k = 0; k < blocks && !error; k++) {
                MPI_Count place = recipe_block(&recipe, k, &length);
                bool several = recipe.combiner == MPI_COMBINER_STRUCT;
                error = fortran_pieces_find(recipe.type[several ? k : 0], at + place, length, to);
            }
        }
    recipe_close(&recipe);
    return error;
}
