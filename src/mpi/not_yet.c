/* The functions of not_yet.def. They ignore their arguments, or all but one that is a handle, which the calling
 * conventions of the supported machines allow; so this file must not see their prototypes in mpi.h. They lie in a
 * section of their own, by which `viaduct info --mpi` and the tests know them. */
#include "mpi/not_yet.h"
#include "mpi/not_yet.def"

#define DEFINE(name, ...)                                                                                              \
    VEXPORT int P##name(__VA_ARGS__);                                                                                  \
    extern VEXPORT __typeof__(P##name) name __attribute__((weak, alias("P" #name)));                                   \
    __attribute__((section("not_yet"))) int P##name(__VA_ARGS__)
#define FUNCTION(answer, name) DEFINE(name, void) { answer(#name); }
#define FUNCTION_OF(answer, of, name)                                                                                  \
    DEFINE(name, void *a1, void *a2, void *a3, void *a4, void *a5, void *a6, void *a7)                                 \
    {                                                                                                                  \
        (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7;                                          \
        answer(#name, a##of);                                                                                          \
    }
NOT_YET_FUNCTIONS(FUNCTION, return mpi_not_yet)
NOT_YET_OF_FUNCTIONS(FUNCTION_OF, return mpi_not_yet_of)
NO_FILE_FUNCTIONS(FUNCTION, return mpi_no_file)
