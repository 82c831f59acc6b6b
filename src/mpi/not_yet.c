/* The functions of not_yet.def. They ignore their arguments, which the calling conventions of the supported machines
 * allow; so this file must not see their prototypes in mpi.h. They lie in a section of their own, by which `viaduct
 * info --mpi` and the tests know them. */
#include "mpi/not_yet.h"
#include "mpi/not_yet.def"

#define FUNCTION(answer, name)                                                                                         \
    VEXPORT int P##name(void);                                                                                         \
    extern VEXPORT __typeof__(P##name) name __attribute__((weak, alias("P" #name)));                                   \
    __attribute__((section("not_yet"))) int P##name(void) { answer(#name); }
NOT_YET_FUNCTIONS(FUNCTION, return mpi_not_yet)
NO_FILE_FUNCTIONS(FUNCTION, return mpi_no_file)
NO_TOOL_FUNCTIONS(FUNCTION, return mpi_no_tool)
