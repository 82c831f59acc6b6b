/* Sections of arrays: what lies in memory with gaps is described by a datatype, and moves without a copy.
 *
 * The elements of a section, in their order, stand for the memory that COUNT elements of the datatype would fill, gaps
 * of the datatype included. Where one or more of them lie within each element of the array, the type of an element is
 * repeated dimension by dimension; where the count ends within a dimension, a part follows. Where they do not, each
 * predefined type in it (pieces.c) is put to its place, and one that lies in two elements becomes bytes. */
#include "fortran/pieces.h"
#include <stdio.h>

static int refuse(const char *call, const char *argument, const char *why)
{
    char text[MPI_MAX_ERROR_STRING];
    snprintf(text, sizeof text, "%s: %s is a section of an array that is not contiguous, %s", call, argument, why);
    return fortran_raise(MPI_ERR_BUFFER, text);
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

/* Where element NUMBER of a section lies, from its base on. */
static ptrdiff_t element_place(const struct fortran_array *array, MPI_Count number)
{
    ptrdiff_t place = 0;
    for (int i = 0; i < array->rank; i++) {
        place += (ptrdiff_t)(number % array->dimension[i].extent) * array->dimension[i].stride;
        number /= array->dimension[i].extent;
    }
    return place;
}

/* As they lie in the section: one of a type that does not fit into its element becomes bytes. */
static int pieces_place(const struct fortran_array *array, const struct fortran_piece *piece, MPI_Count shift,
                        struct fortran_pieces *to)
{
    MPI_Count element = (MPI_Count)array->element;
    int error = MPI_SUCCESS;
    for (MPI_Count i = 0; i < piece->times && !error; i++) {
        MPI_Count at = piece->at + shift + i * piece->bytes, end = at + piece->bytes;
        if (at % element + piece->bytes <= element)
            error = fortran_piece_add(to, piece->type, element_place(array, at / element) + at % element, piece->bytes,
                                      1);
        else
            for (MPI_Count part; at < end && !error; at += part) {
                part = element - at % element < end - at ? element - at % element : end - at;
                error = fortran_piece_add(to, MPI_BYTE, element_place(array, at / element) + at % element, 1, part);
            }
    }
    return error;
}

static int pieces_join(const struct fortran_pieces *pieces, MPI_Datatype *made)
{
    MPI_Count *numbers = malloc(2 * pieces->count * sizeof *numbers), *places = numbers + pieces->count;
    MPI_Datatype *types = malloc(pieces->count * sizeof(MPI_Datatype));
    int error = MPI_ERR_NO_MEM;
    for (size_t i = 0; numbers && types && i < pieces->count; i++) {
        numbers[i] = pieces->piece[i].times;
        places[i] = pieces->piece[i].at;
        types[i] = pieces->piece[i].type;
    }
    if (numbers && types)
        error = MPI_Type_create_struct_c((MPI_Count)pieces->count, numbers, places, types, made);
    free(numbers);
    free(types);
    return error;
}

/* A datatype that does not fit into elements: piece by piece. */
static int scattered_make(const struct fortran_array *array, MPI_Count count, MPI_Datatype type, MPI_Count extent,
                          MPI_Datatype *made)
{
    struct fortran_pieces one = {0}, all = {0};
    int error = fortran_pieces_find(type, 0, 1, &one);
    for (MPI_Count k = 0; k < count && !error; k++)
        for (size_t i = 0; i < one.count && !error; i++)
            error = pieces_place(array, &one.piece[i], k * extent, &all);
    if (!error)
        error = pieces_join(&all, made);
    free(one.piece);
    free(all.piece);
    return error;
}

/* A datatype that fills each element alike, so many times. */
static int regular_make(const struct fortran_array *array, MPI_Count count, MPI_Count times, MPI_Datatype type,
                        MPI_Datatype *made)
{
    MPI_Datatype one = MPI_DATATYPE_NULL;
    int error = MPI_Type_contiguous_c(times, type, &one) ?: part_make(array, array->rank, count / times, one, made);
    if (one != MPI_DATATYPE_NULL)
        (void)MPI_Type_free(&one);
    return error;
}

/* Many of one predefined type without gaps: that type and how many, or bytes where it is larger than an element. Else
 * nothing changes. */
static int simplify(MPI_Count element, MPI_Count *count, MPI_Datatype *type, MPI_Count *extent)
{
    struct fortran_pieces pieces = {0};
    int error = fortran_pieces_find(*type, 0, 1, &pieces);
    struct fortran_piece piece = pieces.count == 1 ? pieces.piece[0] : (struct fortran_piece){0};
    free(pieces.piece);
    if (error || piece.at != 0 || piece.times == 0 || piece.times * piece.bytes != *extent)
        return error;
    bool fits = element % piece.bytes == 0;
    *extent = fits ? piece.bytes : 1;
    *count *= piece.times * piece.bytes / *extent;
    *type = fits ? piece.type : MPI_BYTE;
    return MPI_SUCCESS;
}

int fortran_section(const char *call, const struct fortran_array *array, MPI_Count count, MPI_Datatype type,
                    MPI_Datatype *made)
{
    MPI_Count size, lower, extent, first, bytes, room = (MPI_Count)array->element, last, element = room;
    int error = MPI_Type_size_c(type, &size) ?: MPI_Type_get_extent_c(type, &lower, &extent);
    error = error ?: MPI_Type_get_true_extent_c(type, &first, &bytes);
    if (error)
        return error;
    for (int i = 0; i < array->rank; i++)
        room *= array->dimension[i].extent;
    if (count < 0 || __builtin_mul_overflow(count - 1, extent, &last))
        return refuse(call, "a buffer", "and the count is negative or too large");
    if (count == 0 || size == 0)
        error = MPI_Type_contiguous(0, MPI_BYTE, made);
    else if (first < 0 || first + last < 0)
        return refuse(call, "a buffer", "and its datatype begins before it");
    else if (first + bytes > room - (last > 0 ? last : 0))
        return refuse(call, "a buffer", "and has fewer elements than the count says");
    else {
        if (extent <= 0 || element % extent)
            error = simplify(element, &count, &type, &extent);
        MPI_Count times = extent > 0 && element % extent == 0 ? element / extent : 0;
        bool within = times && count % times == 0 && first + bytes + (times - 1) * extent <= element;
        if (!error)
            error = within ? regular_make(array, count, times, type, made)
                           : scattered_make(array, count, type, extent, made);
    }
    if (error == MPI_ERR_TYPE)
        return refuse(call, "a buffer", "and its datatype has a distributed array in it, which is not supported here");
    return error ?: MPI_Type_commit(made);
}
