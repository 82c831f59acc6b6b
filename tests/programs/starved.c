/* starved FOLDER: every other rank sends rank 0 MESSAGES of 8 bytes, and leaves a file in FOLDER; only when all of
 * these are there rank 0 begins to receive. Each message comes once and in order; rank 0 prints "all right".
 * presets: release asan */
#include "../check.h"
#include <mpi.h>
#include <unistd.h>

#define MESSAGES 200

static void file_name(char *name, size_t size, const char *folder, int rank)
{
    snprintf(name, size, "%s/sent.%d", folder, rank);
}

static void send_all(int rank, const char *folder)
{
    static int data[MESSAGES][2];
    MPI_Request request[MESSAGES];
    char name[300];
    for (int i = 0; i < MESSAGES; i++) {
        data[i][0] = rank;
        data[i][1] = i;
        MPI_Isend(data[i], 2, MPI_INT, 0, 0, MPI_COMM_WORLD, &request[i]);
    }
    file_name(name, sizeof name, folder, rank);
    FILE *file = fopen(name, "w");
    CHECK(file && fclose(file) == 0);
    MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE);
}

int main(int count, char **arguments)
{
    int rank, ranks, in[2];
    char name[300];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD); /* all are connected, so that nothing waits for that */
    for (int other = 1; other < ranks; other++)
        if (rank == 0 || rank == other)
            MPI_Sendrecv(&rank, 1, MPI_INT, rank ? 0 : other, 1, in, 1, MPI_INT, rank ? 0 : other, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    if (rank)
        send_all(rank, count > 1 ? arguments[1] : ".");
    for (int other = 1; rank == 0 && other < ranks; other++) {
        file_name(name, sizeof name, count > 1 ? arguments[1] : ".", other);
        while (access(name, F_OK) != 0)
            usleep(1000);
    }
    for (int other = 1; rank == 0 && other < ranks; other++)
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Recv(in, 2, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(in[0] == other && in[1] == i);
        }
    if (rank == 0 && check_failed == 0)
        puts("all right");
    MPI_Finalize();
    return check_failed != 0;
}
