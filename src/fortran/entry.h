/* The entry of one call. A file that includes this says before how buffers and texts come; ENTRY(of, name, size,
 * arguments) makes SYMBOL, which calls OF. */
#include "fortran/kinds.h"

#define ALIAS(name, of) EXPORT extern __typeof__(of) name __attribute__((weak, alias(#of)));

#define ENTRY(of, symbol, size, ...)                                                                                   \
    EXPORT void symbol(EACH(PARAMETER, size, __VA_ARGS__) int *ierror EACH(LENGTH, size, __VA_ARGS__));                \
    void symbol(EACH(PARAMETER, size, __VA_ARGS__) int *ierror EACH(LENGTH, size, __VA_ARGS__))                        \
    {                                                                                                                  \
        static const char call[] __attribute__((unused)) = #of;                                                        \
        int error = MPI_SUCCESS;                                                                                       \
        EACH(BEFORE, size, __VA_ARGS__)                                                                                \
        SECTIONS(size, __VA_ARGS__)                                                                                    \
        if (!error)                                                                                                    \
            error = of(EACH_LISTED(VALUE, size, __VA_ARGS__));                                                         \
        EACH(AFTER, size, __VA_ARGS__)                                                                                 \
        if (ierror)                                                                                                    \
            *ierror = error;                                                                                           \
    }
