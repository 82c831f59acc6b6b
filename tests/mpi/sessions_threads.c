/* Two libraries that know nothing of each other, each with a thread and sessions of its own, while the main program uses
 * MPI_Init; and threads that make communicators from the same group at once, told apart by texts that are nearly the same.
 * ranks: 2 4 tcp: 2 presets: release tsan asan */
#include "mpi_check.h"
#include <pthread.h>

#define ROUNDS 20
#define THREADS 4
#define MAKES 50

static pthread_barrier_t both;

static MPI_Session session_open(void)
{
    MPI_Session session;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    return session;
}

/* The sum over all ranks of a number that tells the caller's communicator apart. */
static void comm_check(MPI_Session session, const char *tag, int mark)
{
    MPI_Group group;
    MPI_Comm comm;
    int sum = 0, ranks;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Comm_size(comm, &ranks));
    CHECK_OK(MPI_Allreduce(&mark, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQUAL(sum, mark * ranks);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
}

static void *library(void *name)
{
    MPI_Session session = session_open();
    pthread_barrier_wait(&both);
    for (int round = 0; round < ROUNDS; round++) {
        comm_check(session, name, round + 1);
        if (round % 5 == 4) {
            CHECK_OK(MPI_Session_finalize(&session));
            session = session_open();
        }
    }
    CHECK_OK(MPI_Session_finalize(&session));
    return NULL;
}

static MPI_Session shared;
static void *maker(void *number)
{
    char tag[MPI_MAX_STRINGTAG_LEN];
    int mine = (int)(intptr_t)number;
    for (int i = 0; i < MAKES; i++) {
        memset(tag, 'a', sizeof tag);
        snprintf(tag + sizeof tag - 20, 20, "%d", mine);
        comm_check(shared, tag, mine + 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    static char *const names[] = {"first", "second"};
    pthread_barrier_init(&both, NULL, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, library, names[i]);
    pthread_barrier_wait(&both);
    check_init();
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    shared = session_open();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, maker, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK_OK(MPI_Session_finalize(&shared));
    return check_done();
}
