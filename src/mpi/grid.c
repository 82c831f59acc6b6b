/* Makers of parts of arrays: MPI_Type_create_subarray and MPI_Type_create_darray. Both are nested strides, the fastest
 * dimension first, moved to where the part begins and given the extent of the whole array. */
#include "mpi/making.h"

#define MOST_DIMENSIONS 4096

/* One dimension of the array: what this part has of it. */
struct slice {
    int64_t whole, start;              /* elements in all; the first of the part */
    int64_t block, step, full, rest;   /* FULL blocks of BLOCK elements, STEP apart, then one of REST */
};

/* PART, one element of a dimension, becomes the slice of it. Its extent is STRIDE on entry. */
static int cut(const struct slice *slice, int64_t stride, struct type_layout *part, struct type_layout **out)
{
    struct type_layout *blocks, *last;
    uint64_t counts[] = {1, 1};
    int64_t step, places[2] = {0, 0};
    if (__builtin_mul_overflow(slice->step, stride, &step) || __builtin_mul_overflow(slice->full, step, &places[1]))
        return vbase_fail(ERR_ARGUMENT, "the array does not fit into 64 bits");
    bool single = slice->full == 1; /* one block is a row of single elements: it becomes one run */
    int error = vtype_layout_vector((uint64_t)(single ? slice->block : slice->full),
                                    single ? 1 : (uint64_t)slice->block, single ? stride : step, part, &blocks);
    if (error || slice->rest == 0) {
        *out = blocks;
        return error;
    }
    error = vtype_layout_contiguous((uint64_t)slice->rest, part, &last);
    if (!error) {
        error = vtype_layout_struct(2, counts, places, (struct type_layout *const[]){blocks, last}, out);
        vtype_layout_drop(last);
    }
    vtype_layout_drop(blocks);
    return error;
}

/* Gives PART the extent. */
static int widen(struct type_layout **part, int64_t extent)
{
    struct type_layout *next;
    int error = vtype_layout_resized(0, extent, *part, &next);
    if (error)
        return error;
    vtype_layout_drop(*part);
    *part = next;
    return OK;
}

/* Makes the new datatype of the slices, one for each dimension in the order of the call. */
static int grid_layout(int dimensions, int order, const struct slice *slices, struct type_layout *old,
                       struct type_layout **out)
{
    struct type_layout *part = vtype_layout_keep(old), *next;
    int64_t stride = old->shape.extent, offset = 0, step;
    uint64_t one = 1;
    int error = OK;
    for (int i = 0; !error && i < dimensions; i++) {
        const struct slice *slice = &slices[order == MPI_ORDER_C ? dimensions - 1 - i : i];
        error = (i > 0 ? widen(&part, stride) : OK) ?: cut(slice, stride, part, &next);
        if (error)
            break;
        vtype_layout_drop(part);
        part = next;
        if (__builtin_mul_overflow(slice->start, stride, &step) || __builtin_add_overflow(offset, step, &offset) ||
            __builtin_mul_overflow(slice->whole, stride, &stride))
            error = vbase_fail(ERR_ARGUMENT, "the array does not fit into 64 bits");
    }
    if (!error)
        error = vtype_layout_indexed(1, &one, &offset, part, &next);
    vtype_layout_drop(part);
    if (error)
        return error;
    error = widen(&next, stride);
    if (error)
        vtype_layout_drop(next);
    *out = next;
    return error;
}

/* The rest of a call, once its recipe is written. SLICES are freed; NULL: no memory. */
static int finish(struct making *making, int dimensions, int order, struct slice *slices)
{
    struct type_layout *layout = NULL;
    mpi_making_type(making, making->old);
    int error = slices ? grid_layout(dimensions, order, slices, making->old->layout, &layout) : ERR_MEMORY;
    free(slices);
    return mpi_making_end(making, error, layout);
}

static int check_shape(const char *call, int dimensions, int order)
{
    if (dimensions < 1 || dimensions > MOST_DIMENSIONS)
        return mpi_making_wrong(call, "ndims", dimensions);
    return order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN ? MPI_SUCCESS : mpi_making_wrong(call, "order", order);
}

/* ---- subarray ---- */

struct subarray {
    int dimensions, order;
    const void *sizes, *subsizes, *starts;
};

static int write_subarray(struct making *making, const struct subarray *of, const int64_t *numbers[3])
{
    uint32_t n = (uint32_t)of->dimensions;
    int error = mpi_making_recipe(making, MPI_COMBINER_SUBARRAY, 3 * n + 2, 0, 1);
    if (error)
        return error;
    mpi_making_number(making, n);
    if (making->wide) { /* ndims and order stay integers, before the large counts */
        making->recipe->integers = 2;
        making->recipe->larges = 3 * n;
        mpi_making_number(making, of->order);
    }
    numbers[0] = mpi_making_array(making, of->sizes, !making->wide, n);
    numbers[1] = mpi_making_array(making, of->subsizes, !making->wide, n);
    numbers[2] = mpi_making_array(making, of->starts, !making->wide, n);
    if (!making->wide)
        mpi_making_number(making, of->order);
    return MPI_SUCCESS;
}

static int subarray(struct making *making, const struct subarray *of, MPI_Datatype old)
{
    const int64_t *numbers[3];
    int n = of->dimensions;
    int error = mpi_making_begin(making, old, 0) ?: check_shape(making->call, n, of->order) ?:
                mpi_arguments(making->call, ARGUMENTS(GIVEN_AS(of->sizes, "array_of_sizes"),
                                                      GIVEN_AS(of->subsizes, "array_of_subsizes"),
                                                      GIVEN_AS(of->starts, "array_of_starts"))) ?:
                write_subarray(making, of, numbers);
    if (error)
        return error;
    struct slice *slices = calloc((size_t)n, sizeof *slices);
    for (int d = 0; slices && d < n; d++) {
        int64_t whole = numbers[0][d], part = numbers[1][d], start = numbers[2][d];
        if (whole < 1 || part < 1 || part > whole || start < 0 || start > whole - part) {
            free(slices);
            mpi_making_forget(making);
            return mpi_error(NULL, making->call, MPI_ERR_ARG,
                             "in dimension %d, %lld elements from %lld do not fit into %lld", d, (long long)part,
                             (long long)start, (long long)whole);
        }
        slices[d] = (struct slice){.whole = whole, .start = start, .block = part, .step = part, .full = 1};
    }
    return finish(making, n, of->order, slices);
}

#define SUBARRAY_IS &(struct subarray){ndims, order, array_of_sizes, array_of_subsizes, array_of_starts}
WIDENED(MPI_Type_create_subarray, MPI_Type_create_subarray_c, int, MPI_SUBARRAY_,
        return subarray(MAKING(*array_of_sizes), SUBARRAY_IS, oldtype))

/* ---- darray ---- */

struct darray {
    int size, rank, dimensions, order;
    const void *sizes;
    const int *ways, *arguments, *processes;
};

/* What process PLACE of PROCESSES has of WHOLE elements. false: the arguments do not fit. */
static bool distribute(int64_t whole, int way, int64_t argument, int processes, int place, struct slice *slice)
{
    bool chosen = argument != MPI_DISTRIBUTE_DFLT_DARG;
    int64_t block = way == MPI_DISTRIBUTE_CYCLIC ? (chosen ? argument : 1) : (whole + processes - 1) / processes, cycle;
    if (way == MPI_DISTRIBUTE_BLOCK && chosen)
        block = argument;
    if (whole < 1 || block < 1 || processes < 1 || __builtin_mul_overflow(block, (int64_t)processes, &cycle) ||
        (way == MPI_DISTRIBUTE_NONE && processes != 1) || (way == MPI_DISTRIBUTE_BLOCK && cycle < whole) ||
        (way != MPI_DISTRIBUTE_NONE && way != MPI_DISTRIBUTE_BLOCK && way != MPI_DISTRIBUTE_CYCLIC))
        return false;
    int64_t start = block * place, left = start < whole ? whole - start : 0; /* from our first block to the end */
    int64_t rest = left % cycle < block ? left % cycle : block;
    *slice = (struct slice){.whole = whole, .start = left ? start : 0, .block = block, .step = cycle};
    slice->full = left / cycle + rest / block;
    slice->rest = rest % block;
    return true;
}

static int write_darray(struct making *making, const struct darray *of, const int64_t **sizes)
{
    uint32_t n = (uint32_t)of->dimensions;
    int error = mpi_making_recipe(making, MPI_COMBINER_DARRAY, 4 * n + 4, 0, 1);
    if (error)
        return error;
    mpi_making_number(making, of->size);
    mpi_making_number(making, of->rank);
    mpi_making_number(making, n);
    if (!making->wide)
        *sizes = mpi_making_array(making, of->sizes, true, n);
    mpi_making_array(making, of->ways, true, n);
    mpi_making_array(making, of->arguments, true, n);
    mpi_making_array(making, of->processes, true, n);
    mpi_making_number(making, of->order);
    if (making->wide) {
        making->recipe->integers = 3 * n + 4;
        making->recipe->larges = n;
        *sizes = mpi_making_array(making, of->sizes, false, n);
    }
    return MPI_SUCCESS;
}

static int check_darray(const char *call, const struct darray *of)
{
    int64_t product = 1;
    int error = check_shape(call, of->dimensions, of->order) ?:
                    mpi_arguments(call, ARGUMENTS(GIVEN_AS(of->sizes, "array_of_gsizes"),
                                                     GIVEN_AS(of->ways, "array_of_distribs"),
                                                     GIVEN_AS(of->arguments, "array_of_dargs"),
                                                     GIVEN_AS(of->processes, "array_of_psizes")));
    if (error)
        return error;
    for (int d = 0; d < of->dimensions && product > 0 && product <= INT32_MAX; d++)
        product *= of->processes[d];
    if (product != of->size || of->rank < 0 || of->rank >= of->size)
        return mpi_error(NULL, call, MPI_ERR_ARG, "rank %d of %d processes in a grid of %lld", of->rank, of->size,
                         (long long)product);
    return MPI_SUCCESS;
}

static int darray(struct making *making, const struct darray *of, MPI_Datatype old)
{
    const int64_t *sizes = NULL;
    int n = of->dimensions, rank = of->rank;
    int error = mpi_making_begin(making, old, 0) ?: check_darray(making->call, of) ?: write_darray(making, of, &sizes);
    if (error)
        return error;
    struct slice *slices = calloc((size_t)n, sizeof *slices);
    for (int d = n - 1; slices && d >= 0; d--) { /* the grid of processes is in C's order, always */
        int processes = of->processes[d], place = rank % processes;
        rank /= processes;
        if (!distribute(sizes[d], of->ways[d], of->arguments[d], processes, place, &slices[d])) {
            free(slices);
            int64_t whole = sizes[d];
            mpi_making_forget(making);
            return mpi_error(NULL, making->call, MPI_ERR_ARG,
                             "dimension %d: %lld elements by %d with argument %d over %d processes", d,
                             (long long)whole, of->ways[d], of->arguments[d], processes);
        }
    }
    return finish(making, n, of->order, slices);
}

#define DARRAY_IS                                                                                                      \
    &(struct darray){size, rank, ndims, order, array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes}
WIDENED(MPI_Type_create_darray, MPI_Type_create_darray_c, int, MPI_DARRAY_,
        return darray(MAKING(*array_of_gsizes), DARRAY_IS, oldtype))
