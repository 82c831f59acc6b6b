/* aside SECONDS: rank 0 plays ping-pong of 8 bytes with rank 1, with nothing else to do, and for as long while it streams messages of
 * 1 MiB to rank 2, ten times in turns. Rank 0 prints "idle MEDIAN us", then "beside MEDIAN us", half of there and back; rank 2 checks
 * every byte. */
#include "../check.h"
#include <mpi.h>

#define SIZE (1 << 20)
#define WINDOW 4
#define MOST 1000000
#define TURNS 10
#define END 1

enum tag { PING, BULK };
static unsigned char buffer[WINDOW][SIZE];
static MPI_Request request[WINDOW];

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double ping(long n)
{
    long back = -1;
    double start = MPI_Wtime();

    MPI_Send(&n, 1, MPI_LONG, 1, PING, MPI_COMM_WORLD);
    MPI_Recv(&back, 1, MPI_LONG, 1, PING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double time = MPI_Wtime() - start;
    CHECK_EQUAL(back, n);
    return time / 2 * 1e6;
}

static void refill(unsigned *sent)
{
    int slot = (int)(*sent % WINDOW), done;

    MPI_Test(&request[slot], &done, MPI_STATUS_IGNORE);
    if (done) {
        MPI_Isend(buffer[slot], SIZE, MPI_BYTE, 2, BULK, MPI_COMM_WORLD, &request[slot]);
        ++*sent;
    }
}

struct times {
    double took[MOST];
    int count;
};
static struct times idle, beside;

static void measure(struct times *times, double seconds, unsigned *sent)
{
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end; times->count++) {
        times->took[times->count % MOST] = ping(times->count + 1);
        if (sent)
            refill(sent);
    }
}

static void tell(const char *what, struct times *times)
{
    int n = times->count < MOST ? times->count : MOST;

    qsort(times->took, (size_t)n, sizeof *times->took, by_value);
    printf("%s %.1f us, 99 of 100 below %.1f, most %.1f\n", what, times->took[n / 2], times->took[n * 99 / 100], times->took[n - 1]);
}

/* The two in turns: a machine may be another one a minute later. */
static void lead(double seconds)
{
    unsigned sent = 0;
    double spent = 0;

    for (int slot = 0; slot < WINDOW; slot++) {
        request[slot] = MPI_REQUEST_NULL;
        for (size_t i = 0; i < SIZE; i++)
            buffer[slot][i] = check_byte((unsigned)slot, i);
    }
    for (int n = 0; n < 2000; n++)
        ping(-n - 1);
    for (int turn = 0; turn < TURNS; turn++) {
        measure(&idle, seconds / TURNS, NULL);
        double start = MPI_Wtime();
        measure(&beside, seconds / TURNS, &sent);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
        spent += MPI_Wtime() - start;
    }
    tell("idle", &idle);
    tell("beside", &beside);
    printf("bulk %.2f MB/s\n", sent * (SIZE / 1e6) / spent);
    ping(0);
    MPI_Send(buffer, END, MPI_BYTE, 2, BULK, MPI_COMM_WORLD);
}

static void answer(void)
{
    for (long n = 1; n;) {
        MPI_Recv(&n, 1, MPI_LONG, 0, PING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&n, 1, MPI_LONG, 0, PING, MPI_COMM_WORLD);
    }
}

static void swallow(void)
{
    for (unsigned n = 0;; n++) {
        int count, slot = (int)(n % WINDOW);
        MPI_Status status;

        memset(buffer[0], 0xEE, SIZE);
        MPI_Recv(buffer[0], SIZE, MPI_BYTE, 0, BULK, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        if (count == END)
            return;
        for (size_t i = 0; i < SIZE; i++)
            if (buffer[0][i] != check_byte((unsigned)slot, i)) {
                fprintf(stderr, "message %u: byte %zu is wrong\n", n, i);
                check_failed++;
                break;
            }
    }
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        lead(argc > 1 ? atof(argv[1]) : 3);
    if (rank == 1)
        answer();
    if (rank == 2)
        swallow();
    MPI_Finalize();
    return check_done();
}
