/* Rank 0 has no memory for the envelopes of messages that nobody receives: its job is lost. Prints each kind of call that
 * does not say so, then ends the job with status 7. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);

enum { SLAB = 4000, MESSAGES = 5000, FINISHED = 1, NEVER = 2 };
static size_t least = SIZE_MAX; /* of the allocations that fail */

__attribute__((visibility("default"))) void *malloc(size_t bytes) { return bytes >= least ? NULL : __libc_malloc(bytes); }

static void tell(const char *call, int error)
{
    int class = -1;
    if (error)
        MPI_Error_class(error, &class);
    if (class != MPI_ERR_NO_MEM)
        printf("%s: class %d\n", call, class);
}

static void each_call(void)
{
    MPI_Request request, none = MPI_REQUEST_NULL;
    int flag, index, error;
    char c;
#define ASK(name, call)                                                                                                \
    error = MPI_Irecv(&c, 1, MPI_BYTE, 1, NEVER, MPI_COMM_WORLD, &request);                                            \
    tell(name, error ? MPI_SUCCESS : call)
    ASK("MPI_Test", MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    ASK("MPI_Testall", MPI_Testall(2, (MPI_Request[]){none, request}, &flag, MPI_STATUSES_IGNORE));
    ASK("MPI_Testany", MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE));
    ASK("MPI_Testsome", MPI_Testsome(1, &request, &flag, &index, MPI_STATUSES_IGNORE));
    ASK("MPI_Request_get_status", MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    ASK("MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
    error = MPI_Precv_init(&c, 1, 1, MPI_BYTE, 1, NEVER, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    tell("MPI_Parrived", error || (error = MPI_Start(&request)) ? error : MPI_Parrived(request, 0, &flag));
    tell("MPI_Iprobe", MPI_Iprobe(1, NEVER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    tell("MPI_Probe", MPI_Probe(1, NEVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    tell("MPI_Recv", MPI_Recv(&c, 1, MPI_BYTE, 1, NEVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(void)
{
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        for (int i = 0; i < MESSAGES; i++)
            MPI_Send("x", 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        MPI_Send("x", 1, MPI_BYTE, 0, FINISHED, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD); /* never: the job ends */
    } else {
        char c;
        least = SLAB;
        tell("the wait for all of them", MPI_Recv(&c, 1, MPI_BYTE, 1, FINISHED, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        each_call();
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    MPI_Finalize();
    return 0;
}
