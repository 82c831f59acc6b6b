/* The functions of not_yet.def. They take no notice of their arguments, which the calling conventions of this library's
 * machines allow; so this file must not see their prototypes in mpi.h. They lie in a section of their own, by which
 * `viaduct info --mpi` and the tests know them.
 *
 * The one macro with a return: it is a whole function, and 300 of them would say nothing more. */
#include "mpi/not_yet.h"

#define FUNCTION(name, answer)                                                                                         \
    VEXPORT int P##name(void);                                                                                         \
    extern VEXPORT __typeof__(P##name) name __attribute__((weak, alias("P" #name)));                                   \
    __attribute__((section("not_yet"))) int P##name(void) { return answer(#name); }
#define NOT_YET(name) FUNCTION(name, mpi_not_yet)
#define NO_FILE(name) FUNCTION(name, mpi_no_file)
#define NO_TOOL(name) FUNCTION(name, mpi_no_tool)
#include "mpi/not_yet.def"
