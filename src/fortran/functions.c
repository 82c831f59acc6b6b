/* What is no call with an error code: times, differences of addresses, sizes, statuses, comparisons of handles, and the
 * functions that a program hands over by name. */
#include "fortran/fortran.h"

#define ALIAS(name, of) EXPORT extern __typeof__(of) name __attribute__((weak, alias(#of)));
/* Declares a function that is defined next, with its other names. */
#define NAMED(result, name, parameters)       \
    EXPORT result name##_ parameters;         \
    ALIAS(name, name##_)                      \
    ALIAS(name##__, name##_)                  \
    ALIAS(name##_f08_, name##_)

NAMED(double, mpi_wtime, (void))
NAMED(double, pmpi_wtime, (void))
NAMED(double, mpi_wtick, (void))
NAMED(double, pmpi_wtick, (void))
double mpi_wtime_(void) { return MPI_Wtime(); }
double pmpi_wtime_(void) { return PMPI_Wtime(); }
double mpi_wtick_(void) { return MPI_Wtick(); }
double pmpi_wtick_(void) { return PMPI_Wtick(); }

NAMED(MPI_Aint, mpi_aint_add, (const MPI_Aint *base, const MPI_Aint *disp))
NAMED(MPI_Aint, pmpi_aint_add, (const MPI_Aint *base, const MPI_Aint *disp))
NAMED(MPI_Aint, mpi_aint_diff, (const MPI_Aint *a, const MPI_Aint *b))
NAMED(MPI_Aint, pmpi_aint_diff, (const MPI_Aint *a, const MPI_Aint *b))
MPI_Aint mpi_aint_add_(const MPI_Aint *base, const MPI_Aint *disp) { return MPI_Aint_add(*base, *disp); }
MPI_Aint pmpi_aint_add_(const MPI_Aint *base, const MPI_Aint *disp) { return PMPI_Aint_add(*base, *disp); }
MPI_Aint mpi_aint_diff_(const MPI_Aint *a, const MPI_Aint *b) { return MPI_Aint_diff(*a, *b); }
MPI_Aint pmpi_aint_diff_(const MPI_Aint *a, const MPI_Aint *b) { return PMPI_Aint_diff(*a, *b); }

static void done(int *ierror)
{
    if (ierror)
        *ierror = MPI_SUCCESS;
}

/* The three forms of a status are one in memory. */
NAMED(void, mpi_status_f2f08, (const int *from, int *to, int *ierror))
void mpi_status_f2f08_(const int *from, int *to, int *ierror)
{
    memmove(to, from, sizeof(MPI_Status));
    done(ierror);
}
ALIAS(mpi_status_f082f_, mpi_status_f2f08_)

EXPORT void mpi_sizeof_f08ts_(const struct fortran_array *x, int *size, int *ierror);
void mpi_sizeof_f08ts_(const struct fortran_array *x, int *size, int *ierror)
{
    *size = (int)x->element;
    done(ierror);
}

/* == and /= of handles, whose types are only told apart in Fortran. */
EXPORT int viaduct_same_(const int *a, const int *b);
EXPORT int viaduct_other_(const int *a, const int *b);
int viaduct_same_(const int *a, const int *b) { return *a == *b; }
int viaduct_other_(const int *a, const int *b) { return *a != *b; }
#define COMPARED(name)                          \
    ALIAS(viaduct_##name##_same_, viaduct_same_) \
    ALIAS(viaduct_##name##_other_, viaduct_other_)
COMPARED(comm)
COMPARED(datatype)
COMPARED(errhandler)
COMPARED(file)
COMPARED(group)
COMPARED(info)
COMPARED(message)
COMPARED(op)
COMPARED(request)
COMPARED(session)
COMPARED(win)

/* Copy and delete functions by name, as a program would write them. */
typedef void wide_copy(const int *, const int *, const MPI_Aint *, const MPI_Aint *, MPI_Aint *, int *, int *);
typedef void narrow_copy(const int *, const int *, const int *, const int *, int *, int *, int *);
typedef void any_delete(const int *, const int *, const void *, const void *, int *);
EXPORT wide_copy mpi_comm_null_copy_fn_, mpi_comm_dup_fn_;
EXPORT narrow_copy mpi_null_copy_fn_, mpi_dup_fn_;
EXPORT any_delete mpi_null_delete_fn_;

void mpi_comm_null_copy_fn_(const int *old, const int *keyval, const MPI_Aint *state, const MPI_Aint *in, MPI_Aint *out,
                            int *flag, int *ierror)
{
    (void)old;
    (void)keyval;
    (void)state;
    *out = *in;
    *flag = 0;
    done(ierror);
}

void mpi_comm_dup_fn_(const int *old, const int *keyval, const MPI_Aint *state, const MPI_Aint *in, MPI_Aint *out,
                      int *flag, int *ierror)
{
    mpi_comm_null_copy_fn_(old, keyval, state, in, out, flag, ierror);
    *flag = 1;
}

void mpi_null_copy_fn_(const int *old, const int *keyval, const int *state, const int *in, int *out, int *flag,
                       int *ierror)
{
    (void)old;
    (void)keyval;
    (void)state;
    *out = *in;
    *flag = 0;
    done(ierror);
}

void mpi_dup_fn_(const int *old, const int *keyval, const int *state, const int *in, int *out, int *flag, int *ierror)
{
    mpi_null_copy_fn_(old, keyval, state, in, out, flag, ierror);
    *flag = 1;
}

void mpi_null_delete_fn_(const int *old, const int *keyval, const void *value, const void *state, int *ierror)
{
    (void)old;
    (void)keyval;
    (void)value;
    (void)state;
    done(ierror);
}

#define SPELLED(name, of) ALIAS(name##_, of) ALIAS(name, of) ALIAS(name##__, of)
SPELLED(mpi_type_null_copy_fn, mpi_comm_null_copy_fn_)
SPELLED(mpi_win_null_copy_fn, mpi_comm_null_copy_fn_)
SPELLED(mpi_type_dup_fn, mpi_comm_dup_fn_)
SPELLED(mpi_win_dup_fn, mpi_comm_dup_fn_)
SPELLED(mpi_comm_null_delete_fn, mpi_null_delete_fn_)
SPELLED(mpi_type_null_delete_fn, mpi_null_delete_fn_)
SPELLED(mpi_win_null_delete_fn, mpi_null_delete_fn_)
