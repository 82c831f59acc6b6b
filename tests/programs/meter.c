/* meter SIZE WINDOW SECONDS [COMPUTE]: rank 0 streams messages to rank 1, so many at once; rank 1 checks every byte, and tells
 * each 100 ms in which a message came the time of day and the MB/s since the line before ("tick 1763726193.412 11.73"), at the
 * end all of it ("total 11.72 MB/s longest 0.094 s": the longest time without a message). SIGUSR1 ends it before its time. With COMPUTE,
 * after a second rank 1 computes for so many seconds and leaves the library alone. */
#include "../check.h"
#include <mpi.h>
#include <signal.h>
#include <time.h>

#define END 1 /* bytes of a message that ends it */

static volatile sig_atomic_t enough;
static size_t size;
static int window;
static double seconds, compute;
static unsigned char *buffer;
static MPI_Request *request;

static void stop(int signal) { enough = signal; }

static double of_day(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void send_all(void)
{
    double end = MPI_Wtime() + seconds;
    int left = window;

    for (unsigned n = 0; left; n++) {
        int slot = (int)(n % (unsigned)window), over = enough || MPI_Wtime() >= end;
        unsigned char *data = buffer + size * (size_t)slot;

        MPI_Wait(&request[slot], MPI_STATUS_IGNORE);
        for (size_t i = 0; i < size && !over; i++)
            data[i] = check_byte(n, i);
        MPI_Isend(data, over ? END : (int)size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request[slot]);
        left -= over;
    }
    MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
}

static void check(const unsigned char *data, unsigned n)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] != check_byte(n, i)) {
            fprintf(stderr, "message %u: byte %zu of %zu is wrong\n", n, i, size);
            check_failed++;
            return;
        }
}

static void work(void)
{
    for (double end = MPI_Wtime() + compute; MPI_Wtime() < end;)
        ;
    compute = 0;
}

/* Speed is counted from the first message's arrival: what went before is connecting. */
static void receive_all(void)
{
    double first = 0, last = 0, told = 0, longest = 0, bytes = 0, since = 0;
    int left = window;

    for (int slot = 0; slot < window; slot++)
        MPI_Irecv(buffer + size * (size_t)slot, (int)size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request[slot]);
    for (unsigned n = 0; left; n++) {
        int slot = (int)(n % (unsigned)window), count;
        MPI_Status status;

        MPI_Wait(&request[slot], &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        double now = of_day();
        if (count == END) {
            left--;
            continue;
        }
        CHECK_EQUAL(count, size);
        if (n == 0)
            first = last = told = now;
        longest = now - last > longest ? now - last : longest;
        last = now;
        since += n ? (double)size : 0;
        if (now - told >= 0.1) {
            printf("tick %.3f %.2f\n", now, since / (now - told) / 1e6);
            bytes += since;
            since = 0;
            told = now;
        }
        check(buffer + size * (size_t)slot, n);
        if (compute > 0 && now - first > 1)
            work();
        MPI_Irecv(buffer + size * (size_t)slot, (int)size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request[slot]);
    }
    printf("total %.2f MB/s longest %.3f s\n", last > first ? (bytes + since) / (last - first) / 1e6 : 0, longest);
}

int main(int argc, char **argv)
{
    int rank;

    signal(SIGUSR1, stop);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 4) {
        fprintf(stderr, "usage: meter SIZE WINDOW SECONDS [COMPUTE]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    size = strtoul(argv[1], NULL, 0);
    window = atoi(argv[2]);
    seconds = atof(argv[3]);
    compute = argc > 4 ? atof(argv[4]) : 0;
    buffer = malloc(size * (size_t)window);
    request = malloc((size_t)window * sizeof *request);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int slot = 0; slot < window; slot++)
        request[slot] = MPI_REQUEST_NULL;
    if (rank == 0)
        send_all();
    if (rank == 1)
        receive_all();
    free(request);
    free(buffer);
    MPI_Finalize();
    return check_done();
}
