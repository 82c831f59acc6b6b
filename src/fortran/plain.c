/* Entries of mpif.h and of the module mpi, whose buffers come by their addresses; of mpi_f08 those without buffers, in
 * both sizes. Each has its other names, as compilers and the standard call it, by the linker. */
#define BUFFER_PARAMETER(name) void *name
#define BUFFER_BEFORE(name)
#define BASE(name)             name
#define PLACE_OF(name)         fortran_place(name)
#define TEXT_PARAMETER(name)   const char *name
#define TEXT_LENGTH(name)      , fortran_length name##_length
#define TEXT_OF(name)          name, name##_length
#define SECTIONS(size, ...)
#define SECTION_END(name)
#define DETACHED_END(name)     (void)name; /* the program has it already, in a variable of another kind */
#include "fortran/entry.h"

#define CALL(Name, name, ...)                           \
    ENTRY(MPI_##Name, mpi_##name##_, SMALL, __VA_ARGS__) \
    ENTRY(PMPI_##Name, pmpi_##name##_, SMALL, __VA_ARGS__)
#define CALL_C(Name, name, ...)                                 \
    CALL(Name, name, __VA_ARGS__)                               \
    ENTRY(MPI_##Name##_c, mpi_##name##_c_, LARGE, __VA_ARGS__)  \
    ENTRY(PMPI_##Name##_c, pmpi_##name##_c_, LARGE, __VA_ARGS__)
#define BUFFER   CALL
#define BUFFER_C CALL
#define OWN(...)
#define OWN_C(...)
#define OLD(...)
#include "mpi/calls.def"
