/* Rank 0 exchanges 8 bytes with one rank after another, and prints what it holds of malloc(): "begun N" bytes before, "met N"
 * behind; and "mapped N", by which its memory that may be written has grown. */
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

/* In steps of malloc(), some 130 KiB. */
static long mapped(void)
{
    char line[100];
    long kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status) && sscanf(line, "VmData: %ld", &kilobytes) != 1)
        ;
    if (status)
        fclose(status);
    return kilobytes * 1024;
}

int main(void)
{
    int rank, size;
    char out[8] = "", in[8];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long begun = held(), before = mapped();
    for (int with = 1; with < size; with++)
        if (rank == 0 || rank == with)
            MPI_Sendrecv(out, sizeof out, MPI_BYTE, rank ? 0 : with, 0, in, sizeof in, MPI_BYTE, rank ? 0 : with, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("begun %ld\nmet %ld\nmapped %ld\n", begun, held(), mapped() - before);
    MPI_Finalize();
    return 0;
}
