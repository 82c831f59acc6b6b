/* Rank 0 exchanges 8 bytes with one rank after another, and prints what it holds of malloc(): "begun N" bytes before, "met N" behind. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>

static long held(void)
{
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 all = mallinfo2();
#else
    struct mallinfo all = mallinfo();
#endif
    return (long)(all.uordblks + all.hblkhd);
}

int main(void)
{
    int rank, size;
    char out[8] = "", in[8];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long begun = held();
    for (int with = 1; with < size; with++)
        if (rank == 0 || rank == with)
            MPI_Sendrecv(out, sizeof out, MPI_BYTE, rank ? 0 : with, 0, in, sizeof in, MPI_BYTE, rank ? 0 : with, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("begun %ld\nmet %ld\n", begun, held());
    MPI_Finalize();
    return 0;
}
