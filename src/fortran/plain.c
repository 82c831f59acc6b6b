/* Entries of mpif.h and of the module mpi, whose buffers come by their addresses; of mpi_f08 those without buffers, in
 * both sizes. Each has the names that compilers and the standard give it. */
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

#define BOTH(of, name, size, ...)          \
    ENTRY(of, name##_, size, __VA_ARGS__)  \
    ALIAS(name, name##_)                   \
    ALIAS(name##__, name##_)
#define FOR_F08(name) ALIAS(name##_f08_, name##_)

#define CALL(Name, name, ...)                           \
    BOTH(MPI_##Name, mpi_##name, SMALL, __VA_ARGS__)    \
    BOTH(PMPI_##Name, pmpi_##name, SMALL, __VA_ARGS__)  \
    FOR_F08(mpi_##name)                                 \
    FOR_F08(pmpi_##name)
#define CALL_C(Name, name, ...)                             \
    CALL(Name, name, __VA_ARGS__)                           \
    BOTH(MPI_##Name##_c, mpi_##name##_c, LARGE, __VA_ARGS__)   \
    BOTH(PMPI_##Name##_c, pmpi_##name##_c, LARGE, __VA_ARGS__) \
    FOR_F08(mpi_##name##_c)                                 \
    FOR_F08(pmpi_##name##_c)
#define BUFFER(Name, name, ...)                       \
    BOTH(MPI_##Name, mpi_##name, SMALL, __VA_ARGS__)  \
    BOTH(PMPI_##Name, pmpi_##name, SMALL, __VA_ARGS__)
#define BUFFER_C BUFFER
#define OWN(...)
#define OWN_C(...)
#define OLD(...)
#define FUNCTION(...)
#include "mpi/calls.def"
