/* A rank is killed inside a collective: dies WHICH FORM BYTES VICTIM LOOKS. All ranks make the same call again and again; a
 * thread of the victim ends its process some looks after the tenth call has begun, at a place that nobody chose. The
 * others go on until they are told, and say "told", or what else they get. FORM: blocking, started, persistent.
 *
 * WHICH is a number from 0 on; beyond the last kind: exit status 9. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANKS      16
#define BEGUN      10      /* calls of the victim */
#define CALLS_MOST 1000000

static int rank, size, count, counts[RANKS], places[RANKS];
static MPI_Datatype types[RANKS];
static char *in, *out;
static _Atomic int calls;
static int looks;

static void *end(void *unused)
{
    (void)unused;
    while (atomic_load(&calls) < BEGUN)
        continue;
    for (int i = 0; i < looks; i++)
        (void)atomic_load(&calls);
    kill(getpid(), SIGKILL);
    return NULL;
}

#define WORLD MPI_COMM_WORLD
#define EACH  in, count, MPI_INT, out, count, MPI_INT
#define PARTS in, counts, places, MPI_INT, out, counts, places, MPI_INT
#define SUMS  in, out, count, MPI_INT, MPI_SUM
#define FORMS(Name, name, ...)                                                                                         \
    (form == 0   ? MPI_##Name(__VA_ARGS__, WORLD)                                                                      \
     : form == 1 ? MPI_I##name(__VA_ARGS__, WORLD, request)                                                            \
                 : MPI_##Name##_init(__VA_ARGS__, WORLD, MPI_INFO_NULL, request))

static int call(int which, int form, MPI_Request *request)
{
    int last = size - 1;
    switch (which) {
    case 0:
        return form == 0 ? MPI_Barrier(WORLD) : form == 1 ? MPI_Ibarrier(WORLD, request)
                                              : MPI_Barrier_init(WORLD, MPI_INFO_NULL, request);
    case 1: return FORMS(Bcast, bcast, in, count, MPI_INT, 1);
    case 2: return FORMS(Reduce, reduce, SUMS, 1);
    case 3: return FORMS(Allreduce, allreduce, SUMS);
    case 4: return FORMS(Scan, scan, SUMS);
    case 5: return FORMS(Exscan, exscan, SUMS);
    case 6: return FORMS(Reduce_scatter, reduce_scatter, in, out, counts, MPI_INT, MPI_SUM);
    case 7: return FORMS(Reduce_scatter_block, reduce_scatter_block, SUMS);
    case 8: return FORMS(Gather, gather, EACH, last);
    case 9: return FORMS(Gatherv, gatherv, in, count, MPI_INT, out, counts, places, MPI_INT, last);
    case 10: return FORMS(Scatter, scatter, EACH, 0);
    case 11: return FORMS(Scatterv, scatterv, in, counts, places, MPI_INT, out, count, MPI_INT, 0);
    case 12: return FORMS(Allgather, allgather, EACH);
    case 13: return FORMS(Allgatherv, allgatherv, in, count, MPI_INT, out, counts, places, MPI_INT);
    case 14: return FORMS(Alltoall, alltoall, EACH);
    case 15: return FORMS(Alltoallv, alltoallv, PARTS);
    case 16: return FORMS(Alltoallw, alltoallw, in, counts, places, types, out, counts, places, types);
    default: MPI_Finalize(); exit(9);
    }
}

static int until_told(int which, int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int error = form == 2 ? call(which, form, &request) : MPI_SUCCESS;
    for (int i = 0; i < CALLS_MOST && !error; i++) {
        atomic_store(&calls, i);
        error = form == 2 ? MPI_Start(&request) : call(which, form, &request);
        if (!error && form)
            error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return error;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int error, class, which = argc > 5 ? atoi(argv[1]) : -1;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    int form = which < 0 ? 0 : !strcmp(argv[2], "started") ? 1 : !strcmp(argv[2], "persistent") ? 2 : 0;
    count = which < 0 ? 1 : atoi(argv[3]) / (int)sizeof(int);
    looks = which < 0 ? 0 : atoi(argv[5]);
    in = calloc((size_t)(count * size), sizeof(int));
    out = calloc((size_t)(count * size), sizeof(int));
    for (int i = 0; i < size; i++) {
        counts[i] = count;
        places[i] = i * count * (which == 16 ? (int)sizeof(int) : 1);
        types[i] = MPI_INT;
    }
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    if (which >= 0 && rank == atoi(argv[4]) % size)
        pthread_create(&thread, NULL, end, NULL);
    error = until_told(which, form);
    MPI_Error_class(error, &class);
    if (class == MPI_ERR_PROC_ABORTED)
        printf("rank %d: told\n", rank);
    else
        printf("rank %d: error class %d\n", rank, class);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
