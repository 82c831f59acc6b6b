/* Powers of two and their neighbours up to 64 MiB, aligned and not, both ways at once and to the own rank.
 * ranks: 1 2 tcp: 2
 * timeout: 180 */
#include "mpi_check.h"

static unsigned char *out, *in;

static void exchange(size_t bytes, size_t shift)
{
    int other = size > 1 ? 1 - rank : 0;
    MPI_Request request[2];
    MPI_Status status[2];
    fill(out + shift, bytes, (unsigned)bytes + (unsigned)rank);
    memset(in, 0, shift + bytes);
    in[shift + bytes] = 0x5A;
    MPI_Irecv(in + shift, (int)bytes, MPI_BYTE, other, 5, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out + shift, (int)bytes, MPI_BYTE, other, 5, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, status);
    CHECK_EQUAL(count_of(&status[0], MPI_BYTE), bytes);
    CHECK_BYTES(in + shift, bytes, (unsigned)bytes + (unsigned)other);
    CHECK_EQUAL(in[shift + bytes], 0x5A);
}

int main(void)
{
    size_t most = (size_t)64 << 20;
    check_init();
    out = malloc(most + 64);
    in = malloc(most + 64);
    for (size_t n = 1; n <= most; n *= 2)
        for (int near = -1; near <= 1; near++) {
            exchange(n + (size_t)(long)near, 0);
            if (n <= (size_t)1 << 20)
                exchange(n + (size_t)(long)near, 13);
        }
    free(out);
    free(in);
    return check_finalize();
}
