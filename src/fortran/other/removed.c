/* Entries that MPI took away and the ABIs of MPICH and Open MPI still have, with addresses and extents in default
 * integers: the lower half of what does not fit, which is right for differences. Those that are others' names alone are
 * in cmake/fortran_names.cmake. */
#include "fortran/own.h"

void F(type_get_extent)(const int *type, MPI_Aint *lb, MPI_Aint *extent, int *ierror);
void F(type_create_hvector)(const int *count, const int *length, const MPI_Aint *stride, const int *old, int *made,
                            int *ierror);
void F(type_create_hindexed)(const int *count, const int *lengths, const MPI_Aint *places, const int *old, int *made,
                             int *ierror);
void F(type_create_struct)(const int *count, const int *lengths, const MPI_Aint *places, const int *types, int *made,
                           int *ierror);

OWN_ENTRY(address, void *location, int *address, int *ierror)
{
    MPI_Aint found = 0;
    int error = C(Get_address)(fortran_place(location), &found);
    if (!error)
        *address = (int)found;
    ierror_set(ierror, error);
}

static int extent_of(const int *type, MPI_Aint *lb, MPI_Aint *extent)
{
    int error = MPI_SUCCESS;
    F(type_get_extent)(type, lb, extent, &error);
    return error;
}
OWN_ENTRY(type_extent, const int *type, int *extent, int *ierror)
{
    MPI_Aint from = 0, bytes = 0;
    ierror_set(ierror, extent_of(type, &from, &bytes));
    *extent = (int)bytes;
}
OWN_ENTRY(type_lb, const int *type, int *lb, int *ierror)
{
    MPI_Aint from = 0, bytes = 0;
    ierror_set(ierror, extent_of(type, &from, &bytes));
    *lb = (int)from;
}
OWN_ENTRY(type_ub, const int *type, int *ub, int *ierror)
{
    MPI_Aint from = 0, bytes = 0;
    ierror_set(ierror, extent_of(type, &from, &bytes));
    *ub = (int)(from + bytes);
}

OWN_ENTRY(type_hvector, const int *count, const int *length, const int *stride, const int *old, int *made, int *ierror)
    { F(type_create_hvector)(count, length, (MPI_Aint[]){*stride}, old, made, ierror); }

/* NULL: no memory, which is told. */
static MPI_Aint *wide(struct fortran_temporary *room, const int *count, const int *places, int *ierror)
{
    size_t number = *count > 0 ? (size_t)*count : 0;
    MPI_Aint *made = fortran_take(room, number * sizeof *made);
    for (size_t i = 0; made && i < number; i++)
        made[i] = places[i];
    if (!made)
        ierror_set(ierror, MPI_ERR_NO_MEM);
    return made;
}
OWN_ENTRY(type_hindexed, const int *count, const int *lengths, const int *places, const int *old, int *made,
          int *ierror)
{
    TEMPORARY room;
    const MPI_Aint *at = wide(&room, count, places, ierror);
    if (at)
        F(type_create_hindexed)(count, lengths, at, old, made, ierror);
}
OWN_ENTRY(type_struct, const int *count, const int *lengths, const int *places, const int *types, int *made,
          int *ierror)
{
    TEMPORARY room;
    const MPI_Aint *at = wide(&room, count, places, ierror);
    if (at)
        F(type_create_struct)(count, lengths, at, types, made, ierror);
}
