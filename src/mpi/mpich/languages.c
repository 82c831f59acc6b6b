/* What MPICH's libraries for Fortran and C++ (libmpichfort.so.12, libmpichcxx.so.12) call in libmpich besides MPI, and
 * what it adds to MPI. Keys, operations and error handlers learn how their functions are called; an attribute that
 * Fortran sets is an integer. */
#include "mpi/attribute.h"
#include "mpi/comm.h"
#include "mpi/not_yet.h"
#include "mpi/request.h"
#include "mpi/type.h"

/* ---- attributes; a predefined key of Fortran is the one of C and 1 ---- */

VEXPORT int MPII_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag, int form);
VEXPORT int MPII_Comm_set_attr(MPI_Comm comm, int key, void *value, int form);
VEXPORT int MPII_Type_get_attr(MPI_Datatype type, int key, void *value, int *flag, int form);
VEXPORT int MPII_Type_set_attr(MPI_Datatype type, int key, void *value, int form);
VEXPORT int MPII_Win_get_attr(MPI_Win window, int key, void *value, int *flag, int form);
VEXPORT int MPII_Win_set_attr(MPI_Win window, int key, void *value, int form);
VEXPORT void MPII_Keyval_set_proxy(int key, mpi_copy_across *copy, mpi_delete_across *drop);

#define ANSWERS {WANT_GIVEN, NULL, value, "attribute_val"}, GIVEN(flag)

int MPII_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag, int form)
{
    const char *call = "MPI_Comm_get_attr";
    struct mpi_comm *found;
    int error = mpi_arguments(call, ARGUMENTS(COMM_OF(comm, &found), ANSWERS)), *known;
    bool predefined = key > MPI_TAG_UB && key <= MPI_APPNUM + 1 && key % 2 == 0;
    if (error || !predefined)
        return error ? error : mpi_attribute_get(call, &found->thing, key, value, flag, (enum mpi_attribute_form)form);
    error = mpi_attribute_get(call, &found->thing, key - 1, &known, flag, FORM_POINTER);
    if (!error && *flag)
        *(MPI_Aint *)value = *known;
    return error;
}
int MPII_Comm_set_attr(MPI_Comm comm, int key, void *value, int form)
{
    const char *call = "MPI_Comm_set_attr";
    struct mpi_comm *found;
    int error = mpi_arguments(call, ARGUMENTS(COMM_OF(comm, &found)));
    return error ? error : mpi_attribute_set(call, &found->thing, key, value, (enum mpi_attribute_form)form);
}
int MPII_Type_get_attr(MPI_Datatype type, int key, void *value, int *flag, int form)
{
    const char *call = "MPI_Type_get_attr";
    struct mpi_type *found;
    int error = mpi_arguments(call, ARGUMENTS(TYPE_OF(type, &found), ANSWERS));
    return error ? error : mpi_attribute_get(call, &found->thing, key, value, flag, (enum mpi_attribute_form)form);
}
int MPII_Type_set_attr(MPI_Datatype type, int key, void *value, int form)
{
    const char *call = "MPI_Type_set_attr";
    struct mpi_type *found;
    int error = mpi_arguments(call, ARGUMENTS(TYPE_OF(type, &found)));
    return error ? error : mpi_attribute_set(call, &found->thing, key, value, (enum mpi_attribute_form)form);
}
int MPII_Win_get_attr(MPI_Win window, int key, void *value, int *flag, int form)
{
    (void)window, (void)key, (void)value, (void)flag, (void)form;
    return mpi_not_yet("MPI_Win_get_attr");
}
int MPII_Win_set_attr(MPI_Win window, int key, void *value, int form)
{
    (void)window, (void)key, (void)value, (void)form;
    return mpi_not_yet("MPI_Win_set_attr");
}

void MPII_Keyval_set_proxy(int key, mpi_copy_across *copy, mpi_delete_across *drop)
{
    struct mpi_keyval *keyval = mpi_keyval_at(key, KIND_COMM);
    if (!keyval)
        keyval = mpi_keyval_at(key, KIND_TYPE);
    if (!keyval)
        return;
    keyval->copy_across = copy;
    keyval->delete_across = drop;
}

/* ---- operations, error handlers, requests ---- */

VEXPORT void MPII_Op_set_cxx(MPI_Op op, void (*across)(void));
VEXPORT void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, void (*across)(void));
VEXPORT void MPII_Grequest_set_lang_f77(MPI_Request request);

void MPII_Op_set_cxx(MPI_Op op, void (*across)(void))
{
    struct mpi_op *found = mpi_op_at(op);
    if (found)
        found->across = (mpi_op_across *)across;
}
void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, void (*across)(void))
{
    struct mpi_errhandler *found = mpi_errhandler_at(errhandler);
    if (found)
        found->across = (__typeof__(found->across))across;
}
void MPII_Grequest_set_lang_f77(MPI_Request request) { mpi_general_fortran(request); }

/* ---- what MPICH adds ---- */

#define ADDED(name, ...)                                                                                               \
    VEXPORT int P##name(__VA_ARGS__);                                                                                  \
    extern VEXPORT __typeof__(P##name) name __attribute__((weak, alias("P" #name)));                                   \
    int P##name(__VA_ARGS__)

/* No memory of devices is known here. */
ADDED(MPIX_Query_cuda_support, void) { return 0; }
ADDED(MPIX_Query_hip_support, void) { return 0; }
ADDED(MPIX_Query_ze_support, void) { return 0; }
ADDED(MPIX_GPU_query_support, int kind, int *is_supported)
{
    const char *call = "MPIX_GPU_query_support";
    if (kind < 0 || kind > 2)
        return mpi_error(NULL, call, MPI_ERR_ARG, "%d is no kind of device memory", kind);
    return mpi_arguments(call, ARGUMENTS(GIVEN(is_supported))) ?: mpi_tell(is_supported, 0);
}
ADDED(MPIX_Delete_error_class, int class) { return PMPI_Remove_error_class(class); }
ADDED(MPIX_Delete_error_code, int code) { return PMPI_Remove_error_code(code); }
ADDED(MPIX_Delete_error_string, int code) { return PMPI_Remove_error_string(code); }

/* Going on after a rank has died: not here, by the error handler of the communicator. */
ADDED(MPIX_Comm_agree, MPI_Comm comm, int *flag)
{
    (void)flag;
    return mpi_not_yet_of("MPIX_Comm_agree", (void *)(intptr_t)comm);
}
ADDED(MPIX_Comm_failure_ack, MPI_Comm comm)
    { return mpi_not_yet_of("MPIX_Comm_failure_ack", (void *)(intptr_t)comm); }
ADDED(MPIX_Comm_failure_get_acked, MPI_Comm comm, MPI_Group *group)
{
    (void)group;
    return mpi_not_yet_of("MPIX_Comm_failure_get_acked", (void *)(intptr_t)comm);
}
ADDED(MPIX_Comm_revoke, MPI_Comm comm) { return mpi_not_yet_of("MPIX_Comm_revoke", (void *)(intptr_t)comm); }
ADDED(MPIX_Comm_shrink, MPI_Comm comm, MPI_Comm *made)
{
    (void)made;
    return mpi_not_yet_of("MPIX_Comm_shrink", (void *)(intptr_t)comm);
}
