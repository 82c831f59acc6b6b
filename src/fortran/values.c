/* Sentinels, texts and what a call needs for its own time. */
#include "fortran/fortran.h"
#include <stdio.h>

/* As compilers align what the program calls its own. */
#define SENTINEL(type, name) EXPORT __attribute__((aligned(32))) const type name = {0};
FORTRAN_SENTINELS(SENTINEL)

int fortran_raise(int class, const char *text)
{
    int code;
    if (MPI_Add_error_code(class, &code) || MPI_Add_error_string(code, text))
        code = class;
    (void)MPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    return code;
}

int fortran_wants_array(const char *call, const char *argument)
{
    char text[MPI_MAX_ERROR_STRING];
    snprintf(text, sizeof text, "%s: %s is an array of statuses: MPI_STATUSES_IGNORE stands for none, and not "
             "MPI_STATUS_IGNORE", call, argument);
    return fortran_raise(MPI_ERR_ARG, text);
}

void *fortran_take(struct fortran_temporary *temporary, size_t bytes)
{
    temporary->allocated = bytes > sizeof temporary->room;
    temporary->memory = temporary->allocated ? calloc(1, bytes) : memset(temporary->room, 0, sizeof temporary->room);
    return temporary->memory;
}

char *fortran_text(struct fortran_temporary *temporary, const char *text, size_t length, bool both_ends)
{
    while (length && text[length - 1] == ' ')
        length--;
    for (; both_ends && length && *text == ' '; length--)
        text++;
    char *copy = fortran_take(temporary, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void fortran_pad(char *text, size_t length, const char *from)
{
    size_t used = strnlen(from, length);
    memcpy(text, from, used);
    memset(text + used, ' ', length - used);
}

size_t fortran_peers(MPI_Comm comm, enum fortran_peers which)
{
    int kind = MPI_UNDEFINED, size = 0, in = 0, out = 0, rank, weighted = 0;
    if (which == PEERS_ALL) {
        (void)MPI_Comm_test_inter(comm, &weighted);
        return (weighted ? MPI_Comm_remote_size(comm, &size) : MPI_Comm_size(comm, &size)) ? 0 : (size_t)size;
    }
    if (MPI_Topo_test(comm, &kind) || MPI_Comm_rank(comm, &rank))
        return 0;
    if (kind == MPI_CART && MPI_Cartdim_get(comm, &size) == MPI_SUCCESS)
        in = out = 2 * size;
    else if (kind == MPI_GRAPH && MPI_Graph_neighbors_count(comm, rank, &size) == MPI_SUCCESS)
        in = out = size;
    else if (kind == MPI_DIST_GRAPH)
        (void)MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    return (size_t)(which == PEERS_OUTWARD ? out : in);
}

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
