/* mplite for Fortran, from calls.def: a library of its own, for names like mp_init_ may be those of a program, too. It
 * calls mplite.h alone. mp_send_ and its other spellings, which the linker makes, take the address of an array and a
 * default integer, as programs without the module call them. The module mplite calls those with array: they take a
 * descriptor, and a count of 4 or (wide) of 8 bytes. So a section with gaps is refused: a compiler would copy it, and a
 * receive that goes on would write into a copy that is gone. */
#include "fortran/array.h"
#include "mpi/calls.h"
#include <mplite.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

static void *array_base(const char *call, const struct fortran_array *array)
{
    if (!fortran_without_gaps(array)) {
        char text[120];
        snprintf(text, sizeof text, "%s: a section of an array with gaps cannot be taken: copy it first", call);
        MP_Bedlam(text);
    }
    return array->base;
}

/* The arguments of an entry and of the call. AS: an array comes by its address, or described with a count of 4 or of 8
 * bytes. */
#define ADDRESS(address, described, wide)   address
#define DESCRIBED(address, described, wide) described
#define WIDE(address, described, wide)      wide
#define PARAMETER(as, kind, name, form, ...) P_##kind##_##form(as, name)
#define P_NONE_(as, name)      void
#define P_INT_(as, name)       const int *name
#define P_INT_OUT(as, name)    int *name
#define P_INT_IO               P_INT_OUT
#define P_INT_ALL              P_INT_
#define P_INT_ALL_IO           P_INT_OUT
#define P_COUNT_(as, name)     const as(int, int, int64_t) *name
#define P_ARRAY_(as, name)     as(void, const struct fortran_array, const struct fortran_array) *name
#define VALUE(as, kind, name, form, ...) V_##kind##_##form(as, name)
#define V_NONE_(as, name)
#define V_INT_(as, name)       *name
#define V_INT_OUT(as, name)    name
#define V_INT_IO               V_INT_OUT
#define V_INT_ALL              V_INT_OUT
#define V_INT_ALL_IO           V_INT_OUT
#define V_COUNT_(as, name)     (long)*name
#define V_ARRAY_(as, name)     as(name, array_base(call, name), array_base(call, name))

#define ENTRY(of, symbol, as, ...)                                                                                     \
    EXPORT void symbol(EACH_LISTED(PARAMETER, as, __VA_ARGS__));                                                       \
    void symbol(EACH_LISTED(PARAMETER, as, __VA_ARGS__))                                                               \
    {                                                                                                                  \
        static const char call[] __attribute__((unused)) = #of;                                                        \
        (void)of(EACH_LISTED(VALUE, as, __VA_ARGS__));                                                                 \
    }
#define PLAIN(Name, name, ...) ENTRY(MP_##Name, mp_##name##_, ADDRESS, __VA_ARGS__)
#define DATA(Name, name, ...)                                   \
    PLAIN(Name, name, __VA_ARGS__)                              \
    ENTRY(MP_##Name, mp_##name##_array_, DESCRIBED, __VA_ARGS__) \
    ENTRY(MP_##Name, mp_##name##_wide_, WIDE, __VA_ARGS__)
#include "calls.def"

/* ---- by hand ---- */

EXPORT void mp_init_(void);
void mp_init_(void)
{
    int count = 0;
    char *none[] = {NULL}, **arguments = none;
    MP_Init(&count, &arguments);
}

EXPORT double mp_time_(void);
double mp_time_(void) { return MP_Time(); }

EXPORT void mp_bedlam_(const char *reason, size_t length);
void mp_bedlam_(const char *reason, size_t length)
{
    char text[400];
    while (length > 0 && reason[length - 1] == ' ')
        length--;
    snprintf(text, sizeof text, "%.*s", length < sizeof text ? (int)length : (int)sizeof text, reason);
    MP_Bedlam(text);
}
