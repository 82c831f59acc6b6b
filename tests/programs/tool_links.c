/* tool_links ROUND: ranks 0 and 1 exchange 400 messages while a link between them may be cut. From that round on a tool
 * counts links that go and come, by MPI_T: "rank 0: 1 down, 1 up". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 400

static int rank, count[2];

static void on_link(MPI_T_event_instance event, MPI_T_event_registration from, MPI_T_cb_safety safety, void *data)
{
    int peer = -1, flag;
    (void)from, (void)safety;
    MPI_T_event_read(event, 0, &peer);
    if (peer == !rank)
        ++*(int *)data;
    MPI_Iprobe(peer, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* over the link that it is told of */
}

static void attach(void)
{
    static const char *const name[] = {"link_down", "link_up"};
    MPI_T_event_registration registration;
    int level, index;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    for (int i = 0; i < 2; i++) {
        MPI_T_event_get_index(name[i], &index);
        MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration);
        MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &count[i], on_link);
    }
}

int main(int argc, char **argv)
{
    int from = argc > 1 ? atoi(argv[1]) : 0, in, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS; i++) {
        if (i == from)
            attach();
        MPI_Sendrecv(&i, 1, MPI_INT, !rank, 0, &in, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (in != i)
            MPI_Abort(MPI_COMM_WORLD, 7);
    }
    MPI_Iprobe(!rank, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    printf("rank %d: %d down, %d up\n", rank, count[0], count[1]);
    MPI_Finalize();
    return 0;
}
