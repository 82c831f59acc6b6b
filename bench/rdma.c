/* Two ranks over RDMA, as ib_send_lat and ib_write_bw measure (bench/rdma): "latency US", the median of 1,000 messages
 * of 8 bytes, one way; "stream MB/S", 104 messages of 1 MiB, 8 under way. With an argument: the time when MPI_Init
 * ends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

int main(int count, char **word)
{
    struct timespec now;
    MPI_Init(&count, &word);
    clock_gettime(CLOCK_REALTIME, &now);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (count == 1) {
        char *data = calloc(WINDOW, LARGE);
        latency();
        stream(data);
        free(data);
    } else if (rank == 0) {
        printf("%.6f\n", (double)now.tv_sec + (double)now.tv_nsec / 1e9);
    }
    MPI_Finalize();
    return 0;
}
