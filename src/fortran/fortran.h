/* What the entries for Fortran stand on. Fortran passes everything by address: numbers, handles (as integers), buffers;
 * of a text its length follows behind all arguments. mpi_f08 passes buffers by a descriptor, and may leave ierror out,
 * which is a null pointer then. This library calls functions of the standard alone, and works over any libmpi_abi.
 *
 * Logical values need no translation: compilers differ in what true is, but each takes 1 for true and 0 for false, and
 * C takes whatever is not 0 for true. */
#pragma once

#include "fortran/array.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Constants that are addresses in C are variables in Fortran, known by where they lie. They are never read or written,
 * and lie in memory that cannot be written unless the program has a copy of its own. What they are called differs
 * from ABI to ABI, and so do numbers of handles, keys of attributes and lengths of texts. */
#ifndef FORTRAN_NAMES
#define FORTRAN_NAMES "fortran/names.h"
#endif
#include FORTRAN_NAMES

#define FORTRAN_DECLARE(type, name) extern const type name;
FORTRAN_SENTINELS(FORTRAN_DECLARE)

static inline void *fortran_place(const void *address)
{
    return unlikely(FORTRAN_IS(address, bottom))             ? MPI_BOTTOM
           : unlikely(FORTRAN_IS(address, in_place))         ? MPI_IN_PLACE
           : unlikely(FORTRAN_IS(address, buffer_automatic)) ? MPI_BUFFER_AUTOMATIC
                                                             : (void *)(size_t)address;
}
static inline MPI_Status *fortran_status(const int *status) /* or statuses; the layouts are the same */
{
    bool none = FORTRAN_IS(status, status_ignore) || FORTRAN_IS(status, statuses_ignore);
    return none ? MPI_STATUS_IGNORE : (MPI_Status *)(size_t)status;
}
static inline int *fortran_weights(const int *weights)
{
    return FORTRAN_IS(weights, unweighted)      ? MPI_UNWEIGHTED
           : FORTRAN_IS(weights, weights_empty) ? MPI_WEIGHTS_EMPTY
                                                : (int *)(size_t)weights;
}

void fortran_told(void); /* after the start: what the kinds of the compiler are */
/* Raises a code of CLASS that has TEXT, by the error handler of the process, where no communicator is at hand. */
int fortran_raise(int class, const char *text);

/* Memory for the time of one call, most of it on the stack. */
struct fortran_temporary {
    void *memory; /* NULL: there was none */
    bool allocated;
    _Alignas(16) char room[512];
};
void *fortran_take(struct fortran_temporary *temporary, size_t bytes); /* zeroed */
static inline void fortran_give(struct fortran_temporary *temporary)
{
    if (unlikely(temporary->allocated))
        free(temporary->memory);
}
#define TEMPORARY struct fortran_temporary __attribute__((cleanup(fortran_give)))

/* A text without the blanks behind it, and without those in front, as C has it; NULL: no memory. */
char *fortran_text(struct fortran_temporary *temporary, const char *text, size_t length, bool both_ends);
void fortran_pad(char *text, size_t length, const char *from); /* cut where it is too long */

/* Members that an array of datatypes has: of a communicator, or its neighbours. */
enum fortran_peers { PEERS_ALL, PEERS_OUTWARD, PEERS_INWARD };
size_t fortran_peers(MPI_Comm comm, enum fortran_peers which);

static inline bool fortran_one_piece(const struct fortran_array *array) /* most are: told without a call */
{
    return array->rank == 0 || (array->rank == 1 && array->dimension[0].stride == (ptrdiff_t)array->element);
}
static inline bool fortran_contiguous(const struct fortran_array *array)
{
    return fortran_one_piece(array) || fortran_without_gaps(array);
}
/* COUNT elements of TYPE that lie in a section which is not contiguous: one of *MADE instead, at the base. An error is
 * raised. */
int fortran_section(const char *call, const struct fortran_array *array, MPI_Count count, MPI_Datatype type,
                    MPI_Datatype *made);
int fortran_wants_array(const char *call, const char *argument); /* MPI_STATUS_IGNORE for an array; raised */
int fortran_refuse(const char *call, const char *argument); /* such a section where it cannot be moved; raised */
