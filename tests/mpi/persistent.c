/* Persistent requests in all modes: started again and again, waited for one by one and together, freed when inactive.
 * everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

#define ROUNDS 20
#define BYTES 5000

int main(void)
{
    static unsigned char out[4][BYTES], in[4][BYTES];
    MPI_Request request[8];
    MPI_Status status[8];
    check_init();
    int right_rank = (rank + 1) % size, left = (rank + size - 1) % size, flag;
    int room = ROUNDS * (BYTES + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)room);
    MPI_Buffer_attach(buffer, room);
    for (int i = 0; i < 4; i++)
        MPI_Recv_init(in[i], BYTES, MPI_BYTE, left, i, MPI_COMM_WORLD, &request[i]);
    MPI_Send_init(out[0], BYTES, MPI_BYTE, right_rank, 0, MPI_COMM_WORLD, &request[4]);
    MPI_Ssend_init(out[1], BYTES, MPI_BYTE, right_rank, 1, MPI_COMM_WORLD, &request[5]);
    MPI_Bsend_init(out[2], BYTES, MPI_BYTE, right_rank, 2, MPI_COMM_WORLD, &request[6]);
    MPI_Rsend_init(out[3], BYTES, MPI_BYTE, right_rank, 3, MPI_COMM_WORLD, &request[7]);

    /* inactive: complete at once, with an empty status */
    status[0].MPI_ERROR = 55;
    CHECK_OK(MPI_Wait(&request[0], &status[0]));
    CHECK_EQUAL(status[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQUAL(status[0].MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQUAL(status[0].MPI_TAG, MPI_ANY_TAG);
    CHECK_EQUAL(count_of(&status[0], MPI_BYTE), 0);
    CHECK(request[0] != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Testall(8, request, &flag, status));
    CHECK_EQUAL(flag, 1);

    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < 4; i++)
            fill(out[i], BYTES, round * 100 + i + (unsigned)rank * 10);
        memset(in, 0, sizeof in);
        CHECK_OK(MPI_Startall(4, request));
        MPI_Barrier(MPI_COMM_WORLD); /* the receives of ready mode are there */
        for (int i = 4; i < 8; i++)
            CHECK_OK(MPI_Start(&request[i]));
        if (round % 2) {
            CHECK_OK(MPI_Waitall(8, request, status));
        } else {
            for (int i = 7; i >= 0; i--)
                CHECK_OK(MPI_Wait(&request[i], &status[i]));
        }
        for (unsigned i = 0; i < 4; i++) {
            CHECK_EQUAL(count_of(&status[i], MPI_BYTE), BYTES);
            CHECK_EQUAL(status[i].MPI_SOURCE, left);
            CHECK_BYTES(in[i], BYTES, round * 100 + i + (unsigned)left * 10);
            CHECK(request[i] != MPI_REQUEST_NULL);
        }
    }
    for (int i = 0; i < 8; i++) {
        CHECK_OK(MPI_Request_free(&request[i]));
        CHECK(request[i] == MPI_REQUEST_NULL);
    }
    MPI_Buffer_detach(&buffer, &room);
    free(buffer);
    return check_finalize();
}
