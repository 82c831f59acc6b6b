/* What Open MPI's library for C++ (libmpi_cxx.so.40) calls in libmpi besides MPI. Its error handlers and attribute keys
 * with functions in C++ look into objects of Open MPI, so they are refused by a sentence. */
#include "mpi/not_yet.h"
#include "mpi/type.h"

/* It looks for errors of Open MPI's own in these: there are none. */
extern VEXPORT int ompi_errcode_intern_lastused;
extern VEXPORT char ompi_errcodes_intern[120], ompi_registered_datareps[64];
int ompi_errcode_intern_lastused;
char ompi_errcodes_intern[120], ompi_registered_datareps[64];

/* One function calls all those of programs, which it gets as its last argument. */
typedef void all_of_cxx(void *in, void *inout, int *count, MPI_Datatype *type, MPI_User_function *function);
static all_of_cxx *_Atomic calls_cxx;

static void op_across(const void *in, void *inout, int count, MPI_Datatype type, MPI_User_function *function)
{
    atomic_load_explicit(&calls_cxx, memory_order_relaxed)((void *)(uintptr_t)in, inout, &count, &type, function);
}

VEXPORT void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function *function);
void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function *function)
{
    struct mpi_op *found = mpi_op_at(op);
    if (!found || !found->function)
        return;
    atomic_store_explicit(&calls_cxx, (all_of_cxx *)(void (*)(void))found->function, memory_order_relaxed);
    found->function = function;
    found->across = op_across;
}

VEXPORT MPI_Errhandler ompi_errhandler_create(int of, void (*function)(void), int language);
MPI_Errhandler ompi_errhandler_create(int of, void (*function)(void), int language)
{
    (void)of, (void)function, (void)language;
    mpi_not_yet("Create_errhandler");
    return MPI_ERRORS_ARE_FATAL; /* the caller writes into this object, which nobody reads */
}
VEXPORT int ompi_errhandler_invoke(MPI_Errhandler handler, void *object, int of, int code, const char *call);
int ompi_errhandler_invoke(MPI_Errhandler handler, void *object, int of, int code, const char *call)
{
    (void)handler, (void)object, (void)of;
    return mpi_error(NULL, call, code, "this call was refused by Open MPI's library for C++");
}
VEXPORT int ompi_attr_create_keyval(int of, void (*copy)(void), void (*drop)(void), int *key, void *extra, int flags,
                                    void *bindings);
int ompi_attr_create_keyval(int of, void (*copy)(void), void (*drop)(void), int *key, void *extra, int flags,
                            void *bindings)
{
    (void)of, (void)copy, (void)drop, (void)key, (void)extra, (void)flags, (void)bindings;
    return mpi_not_yet("Create_keyval");
}
