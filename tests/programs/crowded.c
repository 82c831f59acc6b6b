/* Connections are made where they are used, and nowhere else: a ring, MPI_Alltoall, and a message from everybody to everybody,
 * all of 8 bytes; after each the open sockets and descriptors of every rank are counted.
 *   crowded LINKS    at most LINKS connections to a peer */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define LOOKS 20

static int rank, size, links;

static int is_tcp(int fd)
{
    int protocol = 0, listens = 0;
    socklen_t length = sizeof protocol;

    return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) == 0 && protocol == 6 &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && !listens;
}

static void count(int *descriptors, int *connections)
{
    DIR *all = opendir("/proc/self/fd");
    struct dirent *entry;

    *descriptors = *connections = 0;
    while (all && (entry = readdir(all)))
        if (entry->d_name[0] != '.') {
            (*descriptors)++;
            *connections += is_tcp(atoi(entry->d_name));
        }
    closedir(all);
}

/* USED: remote peers that this rank has had to do with. Where both sides call at once there are two connections for a
 * moment, and one of them stays: a rank that has too many looks again, at most LOOKS times. */
static void judge(const char *what, int used)
{
    int mine[2], most[2];
    int bad, failed = 1;

    for (int i = 0; failed && i < LOOKS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        count(&mine[0], &mine[1]);
        bad = mine[1] > used * links || mine[0] > 64 + used * links;
        MPI_Allreduce(&bad, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (bad)
        fprintf(stderr, "%s: rank %d: %d descriptors, %d connections for %d peers\n", what, rank, mine[0], mine[1], used);
    MPI_Reduce(mine, most, 2, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %s: at most %d descriptors, %d connections\n", size, what, most[0], most[1]);
    if (failed)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void everybody(long *out, long *in)
{
    MPI_Request *request = malloc(2 * (size_t)size * sizeof *request);

    for (int i = 0; i < size; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_LONG, i, 1, MPI_COMM_WORLD, &request[i]);
    }
    for (int i = 0; i < size; i++)
        MPI_Isend(&out[(rank + i) % size], 1, MPI_LONG, (rank + i) % size, 1, MPI_COMM_WORLD, &request[size + i]);
    MPI_Waitall(2 * size, request, MPI_STATUSES_IGNORE);
    free(request);
}

int main(int argc, char **argv)
{
    MPI_Comm node;
    int here;

    MPI_Init(&argc, &argv);
    links = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);

    long *out = malloc((size_t)size * sizeof *out), *in = malloc((size_t)size * sizeof *in), got = -1, mine = 7L * rank;
    int next = (rank + 1) % size, before = (rank + size - 1) % size, wrong = 0;
    double begun = MPI_Wtime();

    MPI_Sendrecv(&mine, 1, MPI_LONG, next, 0, &got, 1, MPI_LONG, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += got != 7L * before;
    double ring = MPI_Wtime();
    judge("ring", argc > 2 ? atoi(argv[2]) : 2 + 4 * 8); /* and the trees of a few collectives */
    double middle = MPI_Wtime();
    for (int i = 0; i < size; i++)
        out[i] = 1000L * rank + i;
    MPI_Alltoall(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        wrong += in[i] != 1000L * i + rank;
    double end = MPI_Wtime();
    judge("all to all", size - here);
    double again = MPI_Wtime();
    everybody(out, in);
    for (int i = 0; i < size; i++)
        wrong += in[i] != 1000L * i + rank;
    double last = MPI_Wtime();
    judge("everybody", size - here);
    if (rank == 0)
        printf("ring %.2f s, all to all %.2f s, everybody %.2f s\n", ring - begun, end - middle, last - again);
    free(in);
    free(out);
    MPI_Finalize();
    if (wrong)
        fprintf(stderr, "rank %d: %d wrong\n", rank, wrong);
    return wrong != 0;
}
