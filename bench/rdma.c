/* Two ranks over RDMA, as ib_send_lat and ib_write_bw measure (bench/rdma): "latency US", the median of 1,000 messages of
 * 8 bytes, one way; "stream MB/S", 104 messages of 1 MiB, 8 under way. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARM = 50, TURNS = 1000, WINDOW = 8, WINDOWS = 13, LARGE = 1 << 20 };

static int rank;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void latency(void)
{
    double turn[TURNS];
    char data[8] = "";
    for (int i = -WARM; i < TURNS; i++) {
        double begun = MPI_Wtime();
        if (rank == 0)
            MPI_Send(data, sizeof data, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(data, sizeof data, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(data, sizeof data, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        if (i >= 0)
            turn[i] = MPI_Wtime() - begun;
    }
    qsort(turn, TURNS, sizeof *turn, by_value);
    if (rank == 0)
        printf("latency %.2f\n", turn[TURNS / 2] / 2 * 1e6);
}

static void stream(char *data)
{
    MPI_Request request[WINDOW];
    double begun = 0;
    for (int turn = -1; turn < WINDOWS; turn++) {
        if (turn == 0)
            begun = MPI_Wtime();
        for (int i = 0; i < WINDOW; i++)
            if (rank == 0)
                MPI_Isend(data + i * LARGE, LARGE, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request[i]);
            else
                MPI_Irecv(data + i * LARGE, LARGE, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
    }
    MPI_Sendrecv(data, 0, MPI_BYTE, 1 - rank, 2, data, 0, MPI_BYTE, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("stream %.2f\n", (double)WINDOWS * WINDOW * LARGE / (MPI_Wtime() - begun) / 1e6);
}

int main(void)
{
    char *data = calloc(WINDOW, LARGE);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    latency();
    stream(data);
    MPI_Finalize();
    free(data);
    return 0;
}
