/* MPI_T in several threads: registrations for events come and go while others are told, and each is given back once. And no
 * callback runs after the last MPI_T_finalize.
 * ranks: 2 */
#include "mpi_check.h"
#include <pthread.h>

enum { THREADS = 3, ROUNDS = 3000, MESSAGES = 300 };
static int index_unexpected;
static _Atomic int told, freed;

static void on_event(MPI_T_event_instance event, MPI_T_event_registration from, MPI_T_cb_safety safety, void *data)
{
    (void)event, (void)from, (void)safety;
    CHECK(data == &told); /* also where it was registered while events were given */
    told++;
}
static void on_free(MPI_T_event_registration from, MPI_T_cb_safety safety, void *data)
{
    (void)from, (void)safety, (void)data;
    freed++;
}

static MPI_T_event_registration event_register(void)
{
    MPI_T_event_registration made;
    CHECK_OK(MPI_T_event_handle_alloc(index_unexpected, NULL, MPI_INFO_NULL, &made));
    CHECK_OK(MPI_T_event_register_callback(made, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &told, on_event));
    return made;
}

static void *come_and_go(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        CHECK_OK(MPI_T_event_handle_free(event_register(), NULL, on_free));
    return NULL;
}

/* At rank 1 each of COUNT messages comes before its receive. */
static void unexpected_make(int count)
{
    int word = 0, flag;
    for (int i = 0; i < count; i++)
        if (rank == 0) {
            MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            MPI_Send(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* what is left is told */
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(void)
{
    int provided;
    pthread_t thread[THREADS];
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK_OK(MPI_T_event_get_index("unexpected", &index_unexpected));
    MPI_T_event_registration stays = event_register();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, come_and_go, NULL);
    unexpected_make(MESSAGES);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK_OK(MPI_T_event_handle_free(event_register(), NULL, on_free)); /* and those freed while others were told */
    CHECK_EQUAL(freed, THREADS * ROUNDS + 1);
    CHECK(rank == 0 || told >= MESSAGES);
    CHECK_OK(MPI_T_finalize());
    int before = told;
    unexpected_make(MESSAGES);
    CHECK_EQUAL(told, before);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK_OK(MPI_T_event_handle_free(stays, NULL, NULL));
    CHECK_OK(MPI_T_finalize());
    return check_finalize();
}
