/* Generalized requests: their functions are called as the standard says, once each, also where a request is freed before
 * or after it is complete; what a status was given is told by its elements. everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

static int queried, freed, result = MPI_SUCCESS;

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    queried++;
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    MPI_Status_set_cancelled(status, 0);
    MPI_Status_set_elements(status, MPI_BYTE, 5);
    return result;
}

static int free_it(void *extra)
{
    (void)extra;
    freed++;
    return MPI_SUCCESS;
}

static MPI_Request start(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    queried = freed = 0;
    CHECK_OK(MPI_Grequest_start(query, free_it, NULL, NULL, &request));
    return request;
}

static void waited_for(void)
{
    MPI_Request request = start();
    MPI_Status status;
    int flag;
    CHECK_OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag && queried == 0);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(flag && queried == 1 && freed == 0 && status.MPI_TAG == 4);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL && queried == 2 && freed == 1);
    CHECK_EQUAL(count_of(&status, MPI_BYTE), 5);
}

/* Freed by the second of the two calls, whichever it is; nobody asks for its status then. */
static void freed_by_hand(void)
{
    MPI_Request request = start(), same = request;
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL && queried == 0 && freed == 1);
    same = request = start();
    CHECK_OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL && freed == 0);
    CHECK_OK(MPI_Grequest_complete(same));
    CHECK(queried == 0 && freed == 1);
    CHECK_CLASS(MPI_Grequest_complete(same), MPI_ERR_REQUEST);
}

static void fails(void)
{
    MPI_Request request[2] = {MPI_REQUEST_NULL, start()};
    MPI_Status status[2];
    result = MPI_ERR_OTHER;
    CHECK_OK(MPI_Grequest_complete(request[1]));
    CHECK_CLASS(MPI_Waitall(2, request, status), MPI_ERR_IN_STATUS);
    CHECK_EQUAL(status[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQUAL(status[1].MPI_ERROR, MPI_ERR_OTHER);
    CHECK_EQUAL(freed, 1);
    result = MPI_SUCCESS;
}

/* Any number of elements is told as it was set, also where the last one of TYPE, which has EACH, is not whole. */
static void elements(MPI_Datatype type, int each)
{
    MPI_Status status;
    for (int i = 0, told = -1; i < 4 * each; i++) {
        CHECK_OK(MPI_Status_set_elements(&status, type, i));
        CHECK_OK(MPI_Get_elements(&status, type, &told));
        CHECK_EQUAL(told, i);
        CHECK_EQUAL(count_of(&status, type), i % each ? MPI_UNDEFINED : i / each);
    }
}

int main(void)
{
    int blocks[] = {0, 1, 2};
    MPI_Aint places[] = {0, 0, 8};
    MPI_Datatype types[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE}, mixed, row;
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    waited_for();
    freed_by_hand();
    fails();
    MPI_Type_create_struct(3, blocks, places, types, &mixed);
    MPI_Type_vector(2, 3, 5, mixed, &row);
    elements(MPI_SHORT, 1);
    elements(MPI_DOUBLE_INT, 2);
    elements(mixed, 3);
    elements(row, 18);
    MPI_Type_free(&mixed);
    MPI_Type_free(&row);
    MPI_Request never = start(); /* nobody completes it, and the end does not wait */
    CHECK_OK(MPI_Request_free(&never));
    return check_finalize();
}
