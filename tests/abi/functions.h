/* Reads the table of calls as FUNCTION(result, name, (parameters)), which is defined before: each function of the
 * standard ABI once. The names are in the preprocessed text, so scripts read them from there. */
#include "mpi/calls.h"
#define FUNCTION_OF(...)        FUNCTION(__VA_ARGS__)
#define CALL(Name, name, ...)   FUNCTION_OF(int, MPI_##Name, C_PARAMETERS(SMALL, __VA_ARGS__))
#define CALL_C(Name, name, ...) \
    CALL(Name, name, __VA_ARGS__) FUNCTION_OF(int, MPI_##Name##_c, C_PARAMETERS(LARGE, __VA_ARGS__))
#define BUFFER CALL
#define BUFFER_C CALL_C
#define OWN CALL
#define OWN_C CALL_C
#define OLD CALL
#include "mpi/calls.def"
