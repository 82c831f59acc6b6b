/* The families of wait and test: all, any, some, null handles between, and looking without finishing. everywhere: 2 3 5 8 */
#include "mpi_check.h"

static MPI_Comm world;

#define N 40
static int in[N], out[N];
static MPI_Request request[N];

/* Rank 0 receives N numbers into request[]; rank 1 sends them in mixed order when it is told to. */
static void begin(void)
{
    for (int i = 0; rank == 0 && i < N; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, 1, i, world, &request[i]);
    }
    MPI_Barrier(world);
    for (int i = 0; rank == 1 && i < N; i++) {
        int tag = i * 7 % N;
        out[tag] = 1000 + tag;
        MPI_Isend(&out[tag], 1, MPI_INT, 0, tag, world, &request[tag]);
    }
}

static void check_received(void)
{
    for (int i = 0; i < N; i++) {
        CHECK(request[i] == MPI_REQUEST_NULL);
        if (rank == 0)
            CHECK_EQUAL(in[i], 1000 + i);
    }
}

static void all(void)
{
    MPI_Status status[N];
    begin();
    CHECK_OK(MPI_Waitall(N, request, status));
    for (int i = 0; rank == 0 && i < N; i++)
        CHECK_EQUAL(status[i].MPI_TAG, i);
    check_received();
    CHECK_OK(MPI_Waitall(N, request, MPI_STATUSES_IGNORE)); /* all null now */
    int flag = 0;
    begin();
    while (!flag)
        CHECK_OK(MPI_Testall(N, request, &flag, MPI_STATUSES_IGNORE));
    check_received();
}

static void any(int testing)
{
    char seen[N] = {0};
    int index, flag;
    MPI_Status status;
    begin();
    for (int done = 0; done < N;) {
        flag = 1;
        if (testing)
            CHECK_OK(MPI_Testany(N, request, &index, &flag, &status));
        else
            CHECK_OK(MPI_Waitany(N, request, &index, &status));
        if (!flag)
            continue;
        CHECK(index >= 0 && index < N && !seen[index]);
        if (index < 0 || index >= N)
            return;
        if (rank == 0)
            CHECK_EQUAL(status.MPI_TAG, index);
        seen[index] = 1;
        done++;
    }
    check_received();
    CHECK_OK(MPI_Waitany(N, request, &index, &status));
    CHECK_EQUAL(index, MPI_UNDEFINED);
    CHECK_OK(MPI_Testany(N, request, &index, &flag, &status));
    CHECK_EQUAL(flag, 1);
    CHECK_EQUAL(index, MPI_UNDEFINED);
}

static void some(int testing)
{
    int indices[N], count = 0;
    MPI_Status status[N];
    begin();
    for (int done = 0; done < N; done += count) {
        if (testing)
            CHECK_OK(MPI_Testsome(N, request, &count, indices, status));
        else
            CHECK_OK(MPI_Waitsome(N, request, &count, indices, status));
        CHECK(testing || count > 0);
        for (int i = 0; rank == 0 && i < count; i++)
            CHECK_EQUAL(status[i].MPI_TAG, indices[i]);
    }
    check_received();
    CHECK_OK(MPI_Waitsome(N, request, &count, indices, status));
    CHECK_EQUAL(count, MPI_UNDEFINED);
}

static void look(void)
{
    int flag = 0;
    MPI_Status status;
    begin();
    while (!flag)
        CHECK_OK(MPI_Request_get_status(request[3], &flag, &status));
    if (rank == 0)
        CHECK_EQUAL(status.MPI_TAG, 3);
    CHECK(request[3] != MPI_REQUEST_NULL);
    for (int i = 0; i < N; i++)
        CHECK_OK(MPI_Wait(&request[i], &status));
    check_received();
    CHECK_OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status));
    CHECK_EQUAL(flag, 1);
}

/* Freed while under way: the transfer goes on. */
static void freed(void)
{
    static int numbers[N];
    begin();
    for (int i = 0; rank == 1 && i < N; i++) {
        CHECK_OK(MPI_Request_free(&request[i]));
        CHECK(request[i] == MPI_REQUEST_NULL);
    }
    if (rank == 0)
        MPI_Waitall(N, request, MPI_STATUSES_IGNORE);
    check_received();
    MPI_Barrier(world);
    if (rank == 0) {
        MPI_Irecv(numbers, N, MPI_INT, 1, 77, world, &request[0]);
        CHECK_OK(MPI_Request_free(&request[0]));
        MPI_Barrier(world);
        MPI_Recv(NULL, 0, MPI_INT, 1, 78, world, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            CHECK_EQUAL(numbers[i], 1000 + i);
    } else {
        MPI_Barrier(world);
        MPI_Ssend(out, N, MPI_INT, 0, 77, world);
        MPI_Ssend(NULL, 0, MPI_INT, 0, 78, world);
    }
}

int main(void)
{
    world = check_init_pairs();
    if (size < 2)
        return check_finalize();
    all();
    any(0);
    any(1);
    some(0);
    some(1);
    look();
    freed();
    return check_finalize();
}
