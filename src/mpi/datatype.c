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
        return mpi_error(NULL, NAME, MPI_ERR_TYPE, "%s is predefined and cannot be freed", type->name);
    int made_by = type->recipe->combiner;
    if (made_by >= MPI_COMBINER_F90_REAL && made_by <= MPI_COMBINER_F90_INTEGER)
        return mpi_error(NULL, NAME, MPI_ERR_TYPE, "a type of precision and range cannot be freed");
    /* relaxed: two threads that free handles of one type at once is the program's race */
    if (atomic_load_explicit(&type->object.users, memory_order_relaxed) == 1) /* else MPI_Type_get_contents gave more */
        error = mpi_attributes_delete(*datatype, &type->attributes);
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
        known = type->name ? type->name : "";
    return mpi_tell(resultlen, snprintf(type_name, MPI_MAX_OBJECT_NAME, "%s", known));
}

ENTRY(MPI_Type_set_name)(MPI_Datatype handle, const char *type_name)
{
    struct mpi_type *type;
    int error = CHECK(TYPE_OF(handle, &type), GIVEN(type_name));
    if (error)
        return error;
    char *copy = strndup(type_name, MPI_MAX_OBJECT_NAME - 1);
    if (!copy)
        return mpi_error(NULL, NAME, MPI_ERR_NO_MEM, "no memory for a name");
    if (!mpi_predefined(type)) /* the first names of the predefined ones are constants */
        free(type->name);
    type->name = copy;
    return MPI_SUCCESS;
}

ENTRY(MPI_Type_get_value_index)(MPI_Datatype value, MPI_Datatype index, MPI_Datatype *pair_type)
    { return CHECK(RUNNING, GIVEN(pair_type)) ?: (*pair_type = mpi_pair_of(value, index), MPI_SUCCESS); }

ENTRY(MPI_Get_address)(const void *location, MPI_Aint *address)
    { return CHECK(GIVEN(address)) ?: (*address = (MPI_Aint)location, MPI_SUCCESS); }

ENTRY_OF(MPI_Aint, MPI_Aint_add)(MPI_Aint base, MPI_Aint displacement)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)displacement);
}
ENTRY_OF(MPI_Aint, MPI_Aint_diff)(MPI_Aint one, MPI_Aint two) { return (MPI_Aint)((uintptr_t)one - (uintptr_t)two); }
