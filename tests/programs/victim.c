/* victim RANK SIGNAL WHERE: that rank ends itself by SIGNAL (0: _exit(3), -1: return without Finalize, -2: MPI_Abort with 7, -3:
 * exit(5)) at a place:
 *   before   before MPI_Init            recv     while the others wait in MPI_Recv for it
 *   loop     in the middle of traffic   barrier  while the others wait in MPI_Barrier
 *   large    in the middle of large messages     finalize  while the others wait in MPI_Finalize
 * Without arguments nobody dies. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks, who = -1, signal_number;

static void die(void)
{
    if (signal_number == 0)
        _exit(3);
    if (signal_number == -2)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (signal_number < 0)
        exit(signal_number == -1 ? 0 : 5);
    kill(getpid(), signal_number);
    for (;;)
        pause();
}

static void traffic(size_t size, int rounds)
{
    char *out = malloc(size), *in = malloc(size);
    memset(out, rank, size);
    for (int i = 0; i < rounds; i++) {
        MPI_Request request;
        MPI_Irecv(in, (int)size, MPI_BYTE, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &request);
        if (rank == who && i == rounds / 2)
            die();
        MPI_Send(out, (int)size, MPI_BYTE, (rank + 1) % ranks, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    const char *where = argc > 3 ? argv[3] : "";
    char byte;
    if (argc > 3) {
        who = atoi(argv[1]);
        signal_number = atoi(argv[2]);
    }
    if (!strcmp(where, "before") && getenv("PMI_RANK") && atoi(getenv("PMI_RANK")) == who)
        die();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    traffic(8, 1000);
    if (!strcmp(where, "large"))
        traffic(4 << 20, 40);
    if (rank == who && (!strcmp(where, "recv") || !strcmp(where, "barrier") || !strcmp(where, "finalize"))) {
        usleep(100000);
        die();
    }
    if (!strcmp(where, "recv"))
        MPI_Recv(&byte, 1, MPI_BYTE, who, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(where, "barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        puts("all well");
    return 0;
}
