/* See once.h. */
#include "fortran/once.h"

/* What the compiler's kinds are: default integers and logicals of four bytes, as the modules were made. Told once;
 * where the program has told it already, that stays. */
void fortran_told(void)
{
    MPI_Info info;
    int is_set = 0, right = 1, wrong = 0, one, none;
    static const char *const sizes[][2] = {{"mpi_logical_size", "4"}, {"mpi_integer_size", "4"}, {"mpi_real_size", "4"},
                                           {"mpi_double_precision_size", "8"}};
    if (MPI_Abi_get_fortran_booleans(4, &one, &none, &is_set) == MPI_SUCCESS && is_set)
        return;
    (void)MPI_Abi_set_fortran_booleans(4, &right, &wrong);
    if (MPI_Info_create(&info))
        return;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        (void)MPI_Info_set(info, sizes[i][0], sizes[i][1]);
    (void)MPI_Abi_set_fortran_info(info);
    (void)MPI_Info_free(&info);
}

struct generalized {
    void (*query)(MPI_Aint *state, int *status, int *ierror);
    void (*free)(MPI_Aint *state, int *ierror);
    void (*cancel)(MPI_Aint *state, int *complete, int *ierror);
    MPI_Aint *state; /* the program's own variable, which it may change */
};

static int query(void *extra, MPI_Status *status)
{
    const struct generalized *request = extra;
    int error = MPI_SUCCESS;
    request->query(request->state, (int *)status, &error);
    return error;
}

static int end(void *extra)
{
    const struct generalized *request = extra;
    int error = MPI_SUCCESS;
    request->free(request->state, &error);
    free(extra);
    return error;
}

static int cancel(void *extra, int complete)
{
    const struct generalized *request = extra;
    int error = MPI_SUCCESS;
    request->cancel(request->state, &complete, &error);
    return error;
}

int fortran_generalized(fortran_start *start, void *const function[3], MPI_Aint *state, int *request)
{
    MPI_Request made;
    struct generalized *extra = malloc(sizeof *extra);
    if (!extra)
        return MPI_ERR_NO_MEM;
    *extra = (struct generalized){(void (*)(MPI_Aint *, int *, int *))function[0],
                                  (void (*)(MPI_Aint *, int *))function[1],
                                  (void (*)(MPI_Aint *, int *, int *))function[2], state};
    int error = start(query, end, cancel, extra, &made);
    if (error)
        free(extra);
    else
        *request = MPI_Request_toint(made);
    return error;
}
