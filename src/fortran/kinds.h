/* The kinds of calls.def as Fortran passes them. For each class and form, CLASS_class_form has what an entry does with
 * such an argument, each in parentheses; those at the end may be missing:
 *
 *   its parameter; what the call is given; before the call; after it, when its result is ERROR;
 *   before it where a section of an array becomes a datatype; what follows behind all parameters: the length of a text;
 *   what is true where the short way will do
 *
 * What has another form in C than in Fortran is held in c_NAME meanwhile. */
#pragma once

#include "fortran/fortran.h"
#include "mpi/calls.h"

#define PARAMETER(size, ...) STEP(PARAMETER, size, __VA_ARGS__)
#define VALUE(size, ...)     STEP(VALUE, size, __VA_ARGS__)
#define BEFORE(size, ...)    STEP(BEFORE, size, __VA_ARGS__)
#define AFTER(size, ...)     STEP(AFTER, size, __VA_ARGS__)
#define SECTION(size, ...)   STEP(SECTION, size, __VA_ARGS__)
#define LENGTH(size, ...)    STEP(LENGTH, size, __VA_ARGS__)
#define QUICK(size, ...)     STEP(QUICK, size, __VA_ARGS__)

#define STEP(step, size, kind, ...) STEP_OF(step, KIND_##kind(size), __VA_ARGS__)
#define STEP_OF(...)                STEP_IN(__VA_ARGS__)
#define STEP_IN(step, class, type, fortran, stem, name, form, ...) \
    STEP_PICK(step, CLASS_##class##_##form(name, type, stem, __VA_ARGS__))
#define STEP_PICK(step, ...)       STEP_##step(__VA_ARGS__, (), (), (), (), (), )
#define STEP_PARAMETER(a, ...)                CALLS_OPEN a
#define STEP_VALUE(a, b, ...)                 CALLS_OPEN b
#define STEP_BEFORE(a, b, c, ...)             CALLS_OPEN c
#define STEP_AFTER(a, b, c, d, ...)           CALLS_OPEN d
#define STEP_SECTION(a, b, c, d, e, ...)      CALLS_OPEN e
#define STEP_LENGTH(a, b, c, d, e, f, ...)    CALLS_OPEN f
#define STEP_QUICK(a, b, c, d, e, f, g, ...)  CALLS_OPEN g

#define CLASS_NOTHING_(...)                         (), ()
#define CLASS_NOTHING_COUNTED(...)                  (), (0, NULL)
#define CLASS_NUMBER_(name, type, ...)              (const type *name,), (c_##name), (type c_##name = *name;)
#define CLASS_NUMBER_ALL(name, type, ...)           (const type *name,), (name)
#define CLASS_NUMBER_OUT(name, type, ...)           (type *name,), (name)
#define CLASS_NUMBER_IO                             CLASS_NUMBER_OUT
#define CLASS_NUMBER_ALL_OUT                        CLASS_NUMBER_OUT
#define CLASS_NUMBER_ALL_IO                         CLASS_NUMBER_OUT
#define CLASS_OPAQUE_(name, type, ...)              (type name,), (name)
#define CLASS_OPAQUE_INTO                           CLASS_OPAQUE_
#define CLASS_POINTER_                              CLASS_OPAQUE_
#define CLASS_RANGES_(name, ...)                    (int (*name)[3],), (name)
#define CLASS_WEIGHTS_ALL(name, ...)                (int *name,), (fortran_weights(name))
#define CLASS_WEIGHTS_ALL_OUT                       CLASS_WEIGHTS_ALL

/* Indices count from 1 on. Also of a request that failed. */
#define CLASS_INDEX_OUT(name, ...)                                                                                     \
    (int *name,), (&c_##name), (int c_##name = MPI_UNDEFINED;),                                                        \
    (if (!error || c_##name != MPI_UNDEFINED) *name = c_##name == MPI_UNDEFINED ? MPI_UNDEFINED : c_##name + 1;)
#define CLASS_DONE_OUT(name, ...)                                                                                      \
    (int *name,), (&c_##name), (int c_##name = MPI_UNDEFINED;),                                                        \
    (if (!error || c_##name != MPI_UNDEFINED) *name = c_##name;)
#define CLASS_INDEX_ALL_OUT(name, type, stem, length, ...)                                                             \
    (int *name,), (name), (), (for (int i = 0; i < c_##length; i++) name[i]++;)

#define CLASS_STATUS_OUT(name, ...)                 (int *name,), (fortran_status(name))
#define CLASS_STATUS_IO                             CLASS_STATUS_OUT
#define CLASS_STATUS_READ                           CLASS_STATUS_OUT
#define CLASS_STATUS_ALL_OUT(name, ...)                                                                                \
    (int *name,), (fortran_status(name)),                                                                              \
    (if (unlikely(FORTRAN_IS(name, status_ignore))) error = fortran_wants_array(call, #name);)

/* Outputs are written where the call succeeded; a number that is no handle in C stays. */
#define CLASS_HANDLE_(name, type, stem, ...)                                                                           \
    (const int *name,), (c_##name), (type c_##name = fortran_from(type, stem, *name);), (), (), (),                    \
    (&& (unsigned)*name < FORTRAN_OWN)
#define CLASS_HANDLE_OUT(name, type, stem, ...)                                                                        \
    (int *name,), (&c_##name), (type c_##name = 0;), (if (!error) *name = fortran_to(stem, c_##name);)
#define CLASS_HANDLE_IO(name, type, stem, ...)                                                                         \
    (int *name,), (&c_##name), (type c_##name = fortran_from(type, stem, *name);),                                     \
    (if (!error || c_##name) *name = fortran_to(stem, c_##name);)

#define ARRAY(name, type, length)                                                                                      \
    TEMPORARY t_##name;                                                                                                \
    size_t n_##name = length;                                                                                          \
    type *c_##name = fortran_take(&t_##name, n_##name * sizeof(type));                                                 \
    error = c_##name ? error : MPI_ERR_NO_MEM;
#define ARRAY_OF(name, type, length) ARRAY(name, type, *length > 0 ? (size_t)*length : 0)
#define FOR_ALL(name, condition, body)                                                                                 \
    for (size_t i = 0; c_##name && i < n_##name; i++)                                                                  \
        if (condition)                                                                                                 \
            body;
#define CLASS_HANDLE_ALL(name, type, stem, length, ...)                                                                \
    (const int *name,), (c_##name),                                                                                    \
    (ARRAY_OF(name, type, length) FOR_ALL(name, true, c_##name[i] = fortran_from(type, stem, name[i])))
#define CLASS_HANDLE_ALL_OUT(name, type, stem, length, ...)                                                            \
    (int *name,), (c_##name), (ARRAY_OF(name, type, length)),                                                          \
    (FOR_ALL(name, !error && c_##name[i], name[i] = fortran_to(stem, c_##name[i])))
#define CLASS_HANDLE_ALL_IO(name, type, stem, length, ...)                                                             \
    (int *name,), (c_##name),                                                                                          \
    (ARRAY_OF(name, type, length) FOR_ALL(name, true, c_##name[i] = fortran_from(type, stem, name[i]))),               \
    (FOR_ALL(name, !error || c_##name[i], name[i] = fortran_to(stem, c_##name[i])))
#define HANDLES_OF(name, peers, buffer, comm)                                                                          \
    (const int *name,), (c_##name),                                                                                    \
    (ARRAY(name, MPI_Datatype, FORTRAN_IS(BASE(buffer), in_place) ? 0                                                  \
                               : fortran_peers(fortran_from(MPI_Comm, Comm, *comm), peers))                            \
     FOR_ALL(name, true, c_##name[i] = fortran_from(MPI_Datatype, Type, name[i])))
#define CLASS_HANDLE_EACH(name, type, stem, buffer, comm, ...)         HANDLES_OF(name, PEERS_ALL, buffer, comm)
#define CLASS_HANDLE_EACH_OUTWARD(name, type, stem, buffer, comm, ...) HANDLES_OF(name, PEERS_OUTWARD, buffer, comm)
#define CLASS_HANDLE_EACH_INWARD(name, type, stem, buffer, comm, ...)  HANDLES_OF(name, PEERS_INWARD, buffer, comm)

#define CLASS_ADDRESS_(name, ...)                                                                                      \
    (BUFFER_PARAMETER(name),), (c_##name), (BUFFER_BEFORE(name) void *c_##name = PLACE_OF(name);)
#define CLASS_CHOICE_(name, ...)                                                                                       \
    CLASS_ADDRESS_(name, ), (),                                                                                        \
    (if (unlikely(!fortran_contiguous(name)) && c_##name == name->base && !error)                                      \
         error = fortran_refuse(call, #name);), (), (&& fortran_one_piece(name))
#define CLASS_CHOICE_SECTION(name, type, stem, count, datatype, ...)                                                   \
    CLASS_ADDRESS_(name, ), (SECTION_END(name)),                                                                       \
    (MPI_Datatype own_##name = MPI_DATATYPE_NULL;                                                                      \
     if (unlikely(!fortran_contiguous(name)) && c_##name == name->base && !error) {                                    \
         error = fortran_section(call, name, c_##count, c_##datatype, &own_##name);                                    \
         c_##count = 1;                                                                                                \
         c_##datatype = own_##name;                                                                                    \
     }), (), (&& fortran_one_piece(name))
#define CLASS_DETACHED_(name, ...)                                                                                     \
    (void **name,), (&c_##name), (void *c_##name = NULL;), (DETACHED_END(name))

#define CLASS_TEXT_(name, type, both_ends, ...)                                                                        \
    (TEXT_PARAMETER(name),), (c_##name),                                                                               \
    (TEMPORARY t_##name;                                                                                               \
     char *c_##name = fortran_text(&t_##name, TEXT_OF(name), both_ends);                                               \
     error = c_##name ? error : MPI_ERR_NO_MEM;), (), (), (TEXT_LENGTH(name))
#define CLASS_STRING_OUT(name, type, stem, most, ...)                                                                  \
    (char *name,), (c_##name), (char c_##name[(most) + 1]; c_##name[0] = 0;),                                          \
    (if (!error) fortran_pad(name, name##_length, c_##name);), (), (, fortran_length name##_length)

/* Of chapters that are not there yet: C refuses such calls without a look at these. */
#define CLASS_FUNCTION_OF(name, ...)                (void *name,), (NULL), ((void)name;)
#define CLASS_FUNCTION_OF_COUNT                     CLASS_FUNCTION_OF
#define CLASS_STATE_(name, ...)                     (MPI_Aint *name,), (name)
#define CLASS_TEXTS_(name, ...)                                                                                        \
    (const char *name,), (NULL), ((void)name; (void)name##_length;), (), (), (, fortran_length name##_length)
#define CLASS_ARGVS_                                CLASS_TEXTS_
#define CLASS_HANDLE_AT_ROOT(name, ...)             (const int *name,), (NULL), ((void)name;)
