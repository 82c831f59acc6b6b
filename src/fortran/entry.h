/* The entry of one call. A file that includes this says before how buffers and texts come; ENTRY(of, symbol, size,
 * arguments) makes SYMBOL, which calls OF. QUICK_ENTRY has a part of its own for handles of MPI's own and buffers
 * without gaps, the general one aside: what it would need registers for is known not to happen. */
#include "fortran/kinds.h"

#define ENTRY_PARAMETERS(size, ...) (EACH(PARAMETER, size, __VA_ARGS__) int *ierror EACH(LENGTH, size, __VA_ARGS__))
#define ENTRY_BODY(of, size, ...)                                      \
    {                                                                  \
        static const char call[] __attribute__((unused)) = #of;        \
        int error = MPI_SUCCESS;                                       \
        EACH(BEFORE, size, __VA_ARGS__)                                \
        SECTIONS(size, __VA_ARGS__)                                    \
        if (!error)                                                    \
            error = of(EACH_LISTED(VALUE, size, __VA_ARGS__));         \
        EACH(AFTER, size, __VA_ARGS__)                                 \
        if (ierror)                                                    \
            *ierror = error;                                           \
    }
#define ENTRY(of, symbol, size, ...)                       \
    EXPORT void symbol ENTRY_PARAMETERS(size, __VA_ARGS__); \
    void symbol ENTRY_PARAMETERS(size, __VA_ARGS__)        \
    ENTRY_BODY(of, size, __VA_ARGS__)

#define QUICK_ENTRY(of, symbol, size, ...)                                                             \
    static __attribute__((noinline, cold)) void symbol##general ENTRY_PARAMETERS(size, __VA_ARGS__)    \
    ENTRY_BODY(of, size, __VA_ARGS__)                                                                  \
    EXPORT void symbol ENTRY_PARAMETERS(size, __VA_ARGS__);                                            \
    void symbol ENTRY_PARAMETERS(size, __VA_ARGS__)                                                    \
    {                                                                                                  \
        if (unlikely(!(true EACH(QUICK, size, __VA_ARGS__))))                                          \
            symbol##general(EACH(FORWARDED, size, __VA_ARGS__) ierror);                                \
        else                                                                                           \
            ENTRY_BODY(of, size, __VA_ARGS__)                                                          \
    }
#define FORWARDED(size, kind, name, ...) name,
