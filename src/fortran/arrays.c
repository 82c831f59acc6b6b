/* Entries of mpi_f08 with buffers, which come by descriptors: of C, or where the module was compiled by gfortran, as in
 * MPICH, of gfortran. */
#include "fortran/fortran.h"

#ifdef FORTRAN_GFORTRAN_ARRAYS
#include "fortran/other/gfortran.h"
#else
#define ENTRY_OF QUICK_ENTRY
#define BUFFER_PARAMETER(name) const struct fortran_array *name
#define BUFFER_BEFORE(name)
#define TEXT_PARAMETER(name)   const struct fortran_array *name
#define TEXT_LENGTH(name)
#define TEXT_OF(name)          name->base, name->element
#endif
#define BASE(name)             name->base
#define PLACE_OF(name)         (name->rank ? name->base : fortran_place(name->base)) /* sentinels are scalars */
#define SECTIONS(size, ...)    EACH(SECTION, size, __VA_ARGS__)
#define SECTION_END(name)                             \
    if (unlikely(own_##name != MPI_DATATYPE_NULL))    \
        (void)MPI_Type_free(&own_##name);
#define DETACHED_END(name)                                                               \
    if (!error)                                                                          \
        *name = c_##name == MPI_BUFFER_AUTOMATIC ? (void *)(size_t)&FORTRAN_AUTOMATIC : c_##name;
#include "fortran/entry.h"

#define CALL(...)
#define CALL_C(...)
#define BUFFER(Name, name, ...)                                 \
    ENTRY_OF(MPI_##Name, mpi_##name##_f08ts_, SMALL, __VA_ARGS__)  \
    ENTRY(PMPI_##Name, pmpi_##name##_f08ts_, SMALL, __VA_ARGS__)
#define BUFFER_C(Name, name, ...)                                     \
    BUFFER(Name, name, __VA_ARGS__)                                   \
    ENTRY(MPI_##Name##_c, mpi_##name##_c_f08ts_, LARGE, __VA_ARGS__)  \
    ENTRY(PMPI_##Name##_c, pmpi_##name##_c_f08ts_, LARGE, __VA_ARGS__)
#define OWN(...)
#define OWN_C(...)
#define OLD(...)
#include "mpi/calls.def"
