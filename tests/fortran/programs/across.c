/* C and Fortran in one program: what one made the other uses. And a profiler in C, which sees calls of Fortran. */
#include <mpi.h>
#include <stdio.h>

void in_fortran_(MPI_Fint *comm, MPI_Fint *key, MPI_Fint *op, MPI_Fint *status, MPI_Fint *wrong);

static int seen;

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    seen++;
    return PMPI_Allreduce(from, to, count, type, op, comm);
}

static void times(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((int *)inout)[i] *= ((int *)in)[i];
}

int main(int argc, char **argv)
{
    int key, flag, result, rank, wrong_c = 0, all = 0;
    MPI_Fint wrong = 0, f_status[MPI_F_STATUS_SIZE];
    MPI_Aint *value;
    MPI_Status status = {.MPI_SOURCE = 3, .MPI_TAG = 5};
    MPI_Comm dup, made;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(dup, key, (void *)4711);
    MPI_Op_create(times, 1, &op);
    MPI_Status_c2f(&status, f_status);
    MPI_Fint f_comm = MPI_Comm_c2f(dup), f_op = MPI_Op_c2f(op), f_key = key;
    in_fortran_(&f_comm, &f_key, &f_op, f_status, &wrong);
    MPI_Comm_get_attr(dup, key, &value, &flag); /* of Fortran: the address of the integer */
    wrong_c += !flag || *value != -99;
    made = MPI_Comm_f2c(f_comm);
    MPI_Comm_compare(made, dup, &result);
    wrong_c += result != MPI_CONGRUENT;
    wrong_c += seen != 1;
    MPI_Comm_free(&made);
    MPI_Comm_free(&dup);
    MPI_Op_free(&op);
    wrong_c += wrong;
    MPI_Reduce(&wrong_c, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (wrong_c)
        fprintf(stderr, "rank %d: %d wrong, %d of them in Fortran\n", rank, wrong_c, (int)wrong);
    if (rank == 0 && all == 0)
        puts("right");
    MPI_Finalize();
    return wrong_c != 0;
}
