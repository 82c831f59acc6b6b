/* Known traffic, for tests/tools/report.sh. Of N ranks, to the next rank: 7 messages of 1000 bytes by MPI_Send, 5 of 8
 * bytes by a request that is started again, 1 of 3000 bytes by MPI_Sendrecv; on the communicator of all ranks turned
 * around 2 of 100 integers by MPI_Isend, which go to the rank before; and one to nobody. With "kill" the last rank kills
 * itself. With "threads" all of it is done under MPI_THREAD_MULTIPLE. A request whose free is refused is started once
 * more.
 *
 * With "others", what is not to be counted: calls of a reduction's function, of a child made by fork, of the program
 * that this child becomes ("asks"). Then two communicators one after another, the second likely with the first one's
 * handle: 3 messages of 8 bytes to the rank before on one, 2 to the next rank on the other. With "many" two threads make
 * 100,000 calls each at the same time.
 *
 * With "late" 2,000 messages from rank 1 to rank 0, and one of them only after a while; with "crowd" twenty threads make
 * 1,000 calls each at the same time.
 *
 * With "sessions" two threads open a session each at the same time. On its own communicator, each sends 3 messages of 8
 * bytes to the next rank; then one session ends, and with "sessions kill" the last rank kills itself in the other. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size, next, before;
static bool kills;

static void sends(void)
{
    char data[1000] = "", got[1000];
    for (int i = 0; i < 7; i++) {
        MPI_Request request;
        MPI_Irecv(got, 1000, MPI_BYTE, before, 1, MPI_COMM_WORLD, &request);
        MPI_Send(data, 1000, MPI_BYTE, next, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Send(data, 1000, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
}

static void starts(void)
{
    double data = 0, got;
    MPI_Request request[2];
    MPI_Send_init(&data, 1, MPI_DOUBLE, next, 2, MPI_COMM_WORLD, &request[1]);
    MPI_Recv_init(&got, 1, MPI_DOUBLE, before, 2, MPI_COMM_WORLD, &request[0]);
    for (int i = 0; i < 5; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    if (MPI_Request_free(&request[1]) != MPI_SUCCESS) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        MPI_Request_free(&request[1]);
    }
    MPI_Request_free(&request[0]);
}

static void turned(void)
{
    static char data[3000], got[3000];
    int turned[100] = {0}, other[100];
    MPI_Comm comm;
    MPI_Request request[2];
    MPI_Sendrecv(data, 3000, MPI_BYTE, next, 3, got, 3000, MPI_BYTE, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comm);
    int there = size - 1 - rank;
    for (int i = 0; i < 2; i++) {
        MPI_Irecv(other, 100, MPI_INT, (there + size - 1) % size, 4, comm, &request[0]);
        MPI_Isend(turned, 100, MPI_INT, (there + 1) % size, 4, comm, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Comm_free(&comm);
}

static void asks(void)
{
    int is;
    for (int i = 0; i < 10; i++)
        MPI_Finalized(&is);
}

static void reduce(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int bytes;
    MPI_Type_size(*type, &bytes);
    memcpy(inout, in, (size_t)*count * (size_t)bytes);
}

static void child(char *program)
{
    pid_t pid = fork();
    if (pid == 0) {
        asks();
        execl(program, program, "asks", (char *)NULL);
        _exit(1);
    }
    waitpid(pid, NULL, 0);
}

static void one_way(int key, int count)
{
    MPI_Comm comm;
    double data = 0, got;
    int own;
    MPI_Comm_split(MPI_COMM_WORLD, 0, key, &comm);
    MPI_Comm_rank(comm, &own);
    for (int i = 0; i < count; i++)
        MPI_Sendrecv(&data, 1, MPI_DOUBLE, (own + 1) % size, 4, &got, 1, MPI_DOUBLE, (own + size - 1) % size, 4, comm,
                     MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
}

static void others(char *program)
{
    MPI_Op op;
    int one = 1, all;
    child(program);
    MPI_Op_create(reduce, 1, &op);
    MPI_Allreduce(&one, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    one_way(size - rank, 3);
    one_way(rank, 2);
}

static void *many(void *start)
{
    int own;
    pthread_barrier_wait(start);
    for (int i = 0; i < 100000; i++)
        MPI_Comm_rank(MPI_COMM_SELF, &own);
    return NULL;
}

static void late(void)
{
    for (int i = 0; i < 2000; i++) {
        int word = 0;
        if (rank == 1 && i == 1000)
            usleep(300000);
        if (rank == 1)
            MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void *one_of_crowd(void *start)
{
    int own;
    pthread_barrier_wait(start);
    for (int i = 0; i < 1000; i++)
        MPI_Comm_size(MPI_COMM_SELF, &own);
    pthread_barrier_wait(start); /* all are there until each is done */
    return NULL;
}

static void crowd(void)
{
    pthread_barrier_t start;
    pthread_t other[20];
    pthread_barrier_init(&start, NULL, 20);
    for (int i = 0; i < 20; i++)
        pthread_create(&other[i], NULL, one_of_crowd, &start);
    for (int i = 0; i < 20; i++)
        pthread_join(other[i], NULL);
}

static pthread_barrier_t both;

static void many_in_two(void)
{
    pthread_t other;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&other, NULL, many, &both);
    many(&both);
    pthread_join(other, NULL);
}

static void *session(void *tag)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request request;
    double data = 0, got;
    int own, ranks;
    pthread_barrier_wait(&both);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&got, 1, MPI_DOUBLE, (own + ranks - 1) % ranks, 1, comm, &request);
        MPI_Send(&data, 1, MPI_DOUBLE, (own + 1) % ranks, 1, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(comm);
    pthread_barrier_wait(&both);
    bool second = *(char *)tag == 'b';
    if (second)
        pthread_barrier_wait(&both); /* the other has ended */
    if (second && kills && own == ranks - 1)
        raise(SIGKILL);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    if (!second)
        pthread_barrier_wait(&both);
    return NULL;
}

static int sessions(void)
{
    pthread_t other;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&other, NULL, session, "a");
    session("b");
    return pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
    int provided;
    kills = argc > 1 && strcmp(argv[argc - 1], "kill") == 0;
    if (argc > 1 && strcmp(argv[1], "sessions") == 0)
        return sessions();
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "asks") == 0) {
        asks();
        return 0;
    }
    if (strcmp(mode, "threads") == 0 || strcmp(mode, "many") == 0 || strcmp(mode, "crowd") == 0)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (strcmp(mode, "late") == 0) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        late();
    }
    if (strcmp(mode, "crowd") == 0)
        crowd();
    if (strcmp(mode, "late") == 0 || strcmp(mode, "crowd") == 0) {
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    if (strcmp(mode, "others") == 0) {
        others(argv[0]);
    } else if (strcmp(mode, "many") == 0) {
        many_in_two();
    } else {
        sends();
        starts();
        turned();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (kills && rank == size - 1)
        raise(SIGKILL);
    MPI_Finalize();
    return 0;
}
