/* Every thread level asked for is granted and told again; one thread may wait while the other sends to it.
 * ranks: 1 */
#include "mpi_check.h"
#include <pthread.h>
#include <unistd.h>

/* Until the first thread sleeps in the kernel; a job of one that waits has nothing else for which it would. */
static void until_it_sleeps(void)
{
    char line[400], state = 'R';
    while (state != 'S') {
        FILE *file = fopen("/proc/self/stat", "r"); /* of the whole process: that of its first thread */
        const char *end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
        state = end ? end[2] : 'S';
        if (file)
            fclose(file);
        usleep(100);
    }
}

static void *send_late(void *unused)
{
    int data = 5;
    until_it_sleeps();
    MPI_Send(&data, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    return unused;
}

static int query(void *extra, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = *(int *)extra;
    status->MPI_TAG = 8;
    return MPI_SUCCESS;
}

static int freed;
static int free_it(void *extra)
{
    (void)extra;
    freed++;
    return MPI_SUCCESS;
}

static void *complete_late(void *request)
{
    until_it_sleeps();
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided = -1, level = -1, data = 0, source = 44;
    pthread_t thread;
    MPI_Request request, copy;
    MPI_Status status;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Query_thread(&level);
    CHECK_EQUAL(level, MPI_THREAD_MULTIPLE);
    CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED);
    pthread_create(&thread, NULL, send_late, NULL);
    MPI_Recv(&data, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_EQUAL(data, 5);
    pthread_join(thread, NULL);

    MPI_Grequest_start(query, free_it, NULL, &source, &request);
    copy = request;
    pthread_create(&thread, NULL, complete_late, &copy);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_EQUAL(status.MPI_SOURCE, 44);
    CHECK_EQUAL(status.MPI_TAG, 8);
    CHECK_EQUAL(count_of(&status, MPI_INT), 3);
    CHECK_EQUAL(freed, 1);
    CHECK(request == MPI_REQUEST_NULL);
    pthread_join(thread, NULL);
    return check_finalize();
}
