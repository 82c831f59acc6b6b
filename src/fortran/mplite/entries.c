/* mplite for Fortran, from calls.def: a library of its own, for names like mp_init_ may be those of a program, too. It
 * calls mplite.h alone. mp_send_ and its other spelling take the address of an array and a default integer, as programs
 * without the module call them. The module mplite calls those with array: they take a descriptor, and a count of 4 or
 * (wide) of 8 bytes. So a section with gaps is refused: a compiler would copy it, and a receive that goes on would
 * write into a copy that is gone. */
#include <mplite.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

/* An array as compilers describe it to C: where these begin alike, as ISO_Fortran_binding.h has them. */
struct array {
    void *base;
    size_t element;
    int version;
    signed char rank, two, three, four; /* type and attribute: nothing here needs them */
    struct {
        ptrdiff_t lower, extent, stride;
    } dimension[15];
};

static void *array_base(const char *call, const struct array *array)
{
    ptrdiff_t step = (ptrdiff_t)array->element;
    bool gaps = false, empty = false;
    for (int i = 0; i < array->rank; i++) {
        ptrdiff_t extent = array->dimension[i].extent; /* below 0: the last one of an assumed size */
        gaps = gaps || (extent != 1 && array->dimension[i].stride != step);
        empty = empty || extent == 0;
        step *= extent;
    }
    if (gaps && !empty) {
        char text[120];
        snprintf(text, sizeof text, "%s: a section of an array with gaps cannot be taken: copy it first", call);
        MP_Bedlam(text);
    }
    return array->base;
}

#define ALIAS(name, of) EXPORT extern __typeof__(of) name __attribute__((weak, alias(#of)));
#define SPELLED(name)   ALIAS(mp_##name##__, mp_##name##_)

/* What the arguments are short for: P as parameters, V as C wants them. */
#define P_NONE
#define V_NONE
#define P_TO        , const int *dest, const int *tag
#define V_TO        , *dest, *tag
#define P_FROM      , const int *source, const int *tag
#define V_FROM      , *source, *tag
#define P_TO_ID     , const int *dest, const int *tag, int *id
#define V_TO_ID     , *dest, *tag, id
#define P_FROM_ID   , const int *source, const int *tag, int *id
#define V_FROM_ID   , *source, *tag, id
#define P_ROOT      , const int *root
#define V_ROOT      , *root
#define P_MASK      , const int *mask
#define V_MASK      , mask
#define P_ROOT_MASK , const int *root, const int *mask
#define V_ROOT_MASK , *root, mask

#define DATA(Name, name, arguments)                                                                                    \
    EXPORT void mp_##name##_(void *data, const int *count P_##arguments);                                             \
    EXPORT void mp_##name##_array_(const struct array *data, const int *count P_##arguments);                         \
    EXPORT void mp_##name##_wide_(const struct array *data, const int64_t *count P_##arguments);                      \
    void mp_##name##_(void *data, const int *count P_##arguments) { MP_##Name(data, *count V_##arguments); }           \
    void mp_##name##_array_(const struct array *data, const int *count P_##arguments)                                  \
    {                                                                                                                  \
        MP_##Name(array_base("MP_" #Name, data), *count V_##arguments);                                                \
    }                                                                                                                  \
    void mp_##name##_wide_(const struct array *data, const int64_t *count P_##arguments)                               \
    {                                                                                                                  \
        MP_##Name(array_base("MP_" #Name, data), (long)*count V_##arguments);                                          \
    }                                                                                                                  \
    SPELLED(name)

#define PP_NONE                       (void)
#define VV_NONE                       ()
#define PP_OUT(a)                     (int *a)
#define VV_OUT(a)                     (a)
#define PP_IO(a)                      (int *a)
#define VV_IO(a)                      (a)
#define PP_IO_OUT(a, b)               (int *a, int *b)
#define VV_IO_OUT(a, b)               (a, b)
#define PP_IN_ALL(a, b)               (const int *a, int *b)
#define VV_IN_ALL(a, b)               (*a, b)
#define PP_IN_ALL_OUT(a, b, c)        (const int *a, int *b, int *c)
#define VV_IN_ALL_OUT(a, b, c)        (*a, b, c)
#define PP_ALL_ALL(a, b)              (int *a, int *b)
#define VV_ALL_ALL(a, b)              (a, b)
#define PP_ALL_OUT(a, b)              (const int *a, int *b)
#define VV_ALL_OUT(a, b)              (a, b)
#define PP_IN_IN_OUT_OUT(a, b, c, d)  (const int *a, const int *b, int *c, int *d)
#define VV_IN_IN_OUT_OUT(a, b, c, d)  (*a, *b, c, d)
#define PP_PROBE                      (const int *bytes, const int *source, const int *tag)
#define VV_PROBE                      (*bytes, *source, *tag)
#define PP_PROBE_OUT                  (const int *bytes, const int *source, const int *tag, int *flag)
#define VV_PROBE_OUT                  (*bytes, *source, *tag, flag)

#define PLAIN(Name, name, arguments)                                                                                   \
    EXPORT void mp_##name##_ PP_##arguments;                                                                          \
    void mp_##name##_ PP_##arguments { (void)MP_##Name VV_##arguments; }                                               \
    SPELLED(name)

#include "calls.def"

/* ---- by hand ---- */

EXPORT void mp_init_(void);
void mp_init_(void)
{
    int count = 0;
    char *none[] = {NULL}, **arguments = none;
    MP_Init(&count, &arguments);
}
SPELLED(init)

EXPORT double mp_time_(void);
double mp_time_(void) { return MP_Time(); }
SPELLED(time)

EXPORT void mp_bedlam_(const char *reason, size_t length);
void mp_bedlam_(const char *reason, size_t length)
{
    char text[400];
    while (length > 0 && reason[length - 1] == ' ')
        length--;
    snprintf(text, sizeof text, "%.*s", length < sizeof text ? (int)length : (int)sizeof text, reason);
    MP_Bedlam(text);
}
SPELLED(bedlam)

#define SSHIFT(end, type, count_type, of)                                                                              \
    EXPORT void mp_sshift##end(type out, const int *dest, type in, const int *source, const count_type *bytes);       \
    void mp_sshift##end(type out, const int *dest, type in, const int *source, const count_type *bytes)                \
    {                                                                                                                  \
        MP_SShift(of(out), *dest, of(in), *source, (long)*bytes);                                                      \
    }
#define ADDRESS_OF(x) (x)
#define BASE_OF(x)    array_base("MP_SShift", x)
SSHIFT(_, void *, int, ADDRESS_OF)
SSHIFT(_array_, const struct array *, int, BASE_OF)
SSHIFT(_wide_, const struct array *, int64_t, BASE_OF)
SPELLED(sshift)
