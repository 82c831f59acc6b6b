/* Sections of arrays: what lies in memory with gaps is described by a datatype, and moves without a copy.
 *
 * The elements of a section, in their order, stand for the memory that COUNT elements of the datatype would fill. So
 * the datatype has to be without gaps, and the count has to fill whole elements. Dimension by dimension the type of all
 * that lies inside is repeated; where the count ends within a dimension, a part follows. */
#include "fortran/fortran.h"
#include <stdio.h>

bool fortran_without_gaps(const struct fortran_array *array)
{
    ptrdiff_t bytes = (ptrdiff_t)array->element;
    for (int i = 0; i < array->rank; i++) {
        ptrdiff_t extent = array->dimension[i].extent;
        if (extent == -1 && i == array->rank - 1) /* assumed size: its end is not known, and has no gap */
            return array->dimension[i].stride == bytes;
        if (extent == 0)
            return true;
        if (extent != 1 && array->dimension[i].stride != bytes)
            return false;
        bytes *= extent;
    }
    return true;
}

/* By the error handler of the process, for a call that has no communicator at hand. */
static int refuse(const char *call, const char *argument, const char *why)
{
    char text[MPI_MAX_ERROR_STRING];
    int code;
    snprintf(text, sizeof text, "%s: %s is a section of an array that is not contiguous, %s", call, argument, why);
    if (MPI_Add_error_code(MPI_ERR_BUFFER, &code) || MPI_Add_error_string(code, text))
        code = MPI_ERR_BUFFER;
    (void)MPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    return code;
}

int fortran_refuse(const char *call, const char *argument)
{
    return refuse(call, argument, "which cannot be moved here: copy it into an array of its own");
}

/* The type of the first COUNT elements in the first DIMENSIONS dimensions. */
static int part_make(const struct fortran_array *array, int dimensions, MPI_Count count, MPI_Datatype element,
                     MPI_Datatype *made)
{
    if (dimensions == 0)
        return MPI_Type_dup(element, made);
    MPI_Count inside = 1, stride = array->dimension[dimensions - 1].stride;
    for (int i = 0; i < dimensions - 1; i++)
        inside *= array->dimension[i].extent;
    MPI_Datatype part[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL}, whole = MPI_DATATYPE_NULL;
    MPI_Count times = count / inside, rest = count % inside;
    int error = part_make(array, dimensions - 1, inside, element, &whole);
    if (!error)
        error = MPI_Type_create_hvector_c(times, 1, stride, whole, &part[0]);
    if (!error && rest)
        error = part_make(array, dimensions - 1, rest, element, &part[1]);
    if (!error && rest)
        error = MPI_Type_create_struct_c(2, (MPI_Count[]){1, 1}, (MPI_Count[]){0, times * stride}, part, made);
    else if (!error)
        error = MPI_Type_dup(part[0], made);
    for (int i = 0; i < 2; i++)
        if (part[i] != MPI_DATATYPE_NULL)
            (void)MPI_Type_free(&part[i]);
    if (whole != MPI_DATATYPE_NULL)
        (void)MPI_Type_free(&whole);
    return error;
}

/* What lies in one element of the array: some of TYPE, or bytes where TYPE is larger. */
static int element_make(MPI_Count element, MPI_Count size, MPI_Datatype type, MPI_Datatype *made)
{
    return element % size == 0 ? MPI_Type_contiguous_c(element / size, type, made)
                               : MPI_Type_contiguous_c(element, MPI_BYTE, made);
}

int fortran_section(const char *call, const struct fortran_array *array, MPI_Count count, MPI_Datatype type,
                    MPI_Datatype *made)
{
    MPI_Count size, lower, extent, room = 1, element = (MPI_Count)array->element, bytes;
    MPI_Datatype one = MPI_DATATYPE_NULL, all = MPI_DATATYPE_NULL;
    int error = MPI_Type_size_c(type, &size) ?: MPI_Type_get_extent_c(type, &lower, &extent);
    if (error)
        return error;
    for (int i = 0; i < array->rank; i++)
        room *= array->dimension[i].extent;
    if (size != extent || lower != 0)
        return refuse(call, "a buffer", "and its datatype has gaps, too: use one of both alone");
    if (__builtin_mul_overflow(count, size, &bytes) || (element && bytes % element) || count < 0)
        return refuse(call, "a buffer", "and the count does not end with one of its elements");
    if (bytes && (element == 0 || bytes / element > room))
        return refuse(call, "a buffer", "and has fewer elements than the count says");
    error = bytes ? element_make(element, size, type, &one) ?: part_make(array, array->rank, bytes / element, one, &all)
                  : MPI_Type_contiguous(0, MPI_BYTE, &all);
    if (!error)
        error = MPI_Type_commit(&all);
    if (one != MPI_DATATYPE_NULL)
        (void)MPI_Type_free(&one);
    *made = all;
    return error;
}
