/* Sizes from 0 to 70,000 bytes, there and back, at changing places: all bytes right, none beyond the end touched. Every
 * size that goes in lines or in a block of shared memory, and those near multiples of a page, by which longer messages
 * are cut; of the others every 37th.
 * ranks: 2
 * timeout: 120 */
#include "mpi_check.h"

#define MOST 70000
#define GUARD 64
#define EVERY 17000 /* above the largest eager message */
#define NEAR  100   /* more than the longest head of a frame */
static unsigned char pattern[MOST + 512], out[MOST + 512], in[MOST + 512 + GUARD];

/* A message of N bytes is the piece of the pattern that begins at place(n): it differs from its neighbours'. */
static size_t place(size_t n) { return n * 7 % 257; }

static void check_received(size_t n, size_t shift, const MPI_Status *status)
{
    CHECK_EQUAL(count_of(status, MPI_BYTE), n);
    CHECK(memcmp(in + shift, pattern + place(n), n) == 0);
    for (size_t i = 0; i < GUARD; i++)
        if (in[shift + n + i] != 0xA5) {
            CHECK_EQUAL(in[shift + n + i], 0xA5);
            break;
        }
}

static size_t next(size_t n)
{
    size_t in_page = (n + NEAR) % 4096;
    return n + (n < EVERY || in_page < 2 * NEAR ? 1 : in_page + 37 > 4096 ? 4096 - in_page : 37);
}

int main(void)
{
    check_init();
    fill(pattern, sizeof pattern, 1);
    for (size_t n = 0; n <= MOST; n = next(n)) {
        MPI_Status status;
        size_t shift = n % 17;
        memset(in + shift + n, 0xA5, GUARD);
        memcpy(out + shift, pattern + place(n), n);
        if (rank == 0) {
            MPI_Send(out + shift, (int)n, MPI_BYTE, 1, (int)n, MPI_COMM_WORLD);
            MPI_Recv(in + shift, (int)n, MPI_BYTE, 1, (int)n, MPI_COMM_WORLD, &status);
        } else {
            MPI_Recv(in + shift, (int)n, MPI_BYTE, 0, (int)n, MPI_COMM_WORLD, &status);
            MPI_Send(out + shift, (int)n, MPI_BYTE, 0, (int)n, MPI_COMM_WORLD);
        }
        check_received(n, shift, &status);
        if (check_failed)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return check_finalize();
}
