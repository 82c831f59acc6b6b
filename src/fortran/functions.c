/* What is no call with an error code: MPI_Pcontrol, times, differences of addresses, sizes, statuses, comparisons of
 * handles, and the functions that a program hands over by name. */
#include "fortran/own.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* functions of a set take what the others need */

#define ENTRY(result, name, ...)             \
    EXPORT result mpi_##name##_(__VA_ARGS__); \
    result mpi_##name##_(__VA_ARGS__)
#define FUNCTION(result, Name, name, value, ...)                                \
    ENTRY(result, name, __VA_ARGS__) { return MPI_##Name value; }               \
    EXPORT result pmpi_##name##_(__VA_ARGS__);                                  \
    result pmpi_##name##_(__VA_ARGS__) { return PMPI_##Name value; }
FUNCTION(double, Wtime, wtime, (), void)
FUNCTION(double, Wtick, wtick, (), void)
FUNCTION(MPI_Aint, Aint_add, aint_add, (*base, *disp), const MPI_Aint *base, const MPI_Aint *disp)
FUNCTION(MPI_Aint, Aint_diff, aint_diff, (*a, *b), const MPI_Aint *a, const MPI_Aint *b)
FUNCTION(int, Pcontrol, pcontrol, (*level), const int *level) /* a subroutine: nobody reads the result */

/* The three forms of a status are one in memory. */
ENTRY(void, status_f2f08, const int *from, int *to, int *ierror)
{
    memmove(to, from, sizeof(MPI_Status));
    ierror_set(ierror, MPI_SUCCESS);
}

ENTRY(void, sizeof_f08ts, const struct fortran_array *x, int *size, int *ierror)
{
    *size = (int)x->element;
    ierror_set(ierror, MPI_SUCCESS);
}

EXPORT void viaduct_nothing_(void); /* MPI_F_sync_reg: that it is called is enough */
void viaduct_nothing_(void) {}

/* == and /= of handles, whose types are only told apart in Fortran. */
EXPORT int viaduct_same_(const int *a, const int *b);
EXPORT int viaduct_other_(const int *a, const int *b);
int viaduct_same_(const int *a, const int *b) { return *a == *b; }
int viaduct_other_(const int *a, const int *b) { return *a != *b; }

/* Copy and delete functions by name, as a program would write them; the arguments are those of MPI-1, or wider. */
#define COPY(name, type, flagged)                                                                                      \
    ENTRY(void, name, const int *old, const int *keyval, const type *state, const type *in, type *out, int *flag,      \
          int *ierror)                                                                                                 \
    {                                                                                                                  \
        *out = *in;                                                                                                    \
        *flag = flagged;                                                                                               \
        ierror_set(ierror, MPI_SUCCESS);                                                                               \
    }
COPY(comm_null_copy_fn, MPI_Aint, 0)
COPY(comm_dup_fn, MPI_Aint, 1)
COPY(null_copy_fn, int, 0)
COPY(dup_fn, int, 1)

ENTRY(void, null_delete_fn, const int *old, const int *keyval, const void *value, const void *state, int *ierror)
{
    ierror_set(ierror, MPI_SUCCESS);
}
