/* The environment: handles as integers, memory, statuses' fields, codes that are removed, hardware resources, looking at
 * several requests without finishing them, and what is asked of communicators.
 * everywhere: 1 2 3 5 8 */
#include "mpi_check.h"
#include <stdint.h>

static void integers(void)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Info info;
    MPI_Datatype type;
    MPI_Errhandler handler;
    MPI_Message message = MPI_MESSAGE_NO_PROC;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Info_create(&info);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Comm_get_errhandler(comm, &handler);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm);
    CHECK(MPI_Group_fromint(MPI_Group_toint(group)) == group);
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    CHECK(MPI_Type_fromint(MPI_Type_toint(type)) == type);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(handler)) == handler);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Message_fromint(MPI_Message_toint(message)) == message);
    CHECK(MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    CHECK_EQUAL(MPI_Comm_toint(MPI_COMM_WORLD), (int)(intptr_t)MPI_COMM_WORLD); /* the ABI: predefined ones are their value */
    CHECK_EQUAL(MPI_Type_toint(MPI_INT), (int)(intptr_t)MPI_INT);
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL);
}

static void memory(void)
{
    unsigned char *first, *second;
    CHECK_OK(MPI_Alloc_mem(100000, MPI_INFO_NULL, &first));
    CHECK_OK(MPI_Alloc_mem(1, MPI_INFO_NULL, &second));
    CHECK_EQUAL((uintptr_t)first % 16, 0);
    fill(first, 100000, 1);
    *second = 3;
    CHECK_BYTES(first, 100000, 1);
    CHECK_OK(MPI_Free_mem(first));
    CHECK_OK(MPI_Free_mem(second));
    CHECK_OK(MPI_Pcontrol(1));
    CHECK_OK(MPI_Pcontrol(2, "anything", 3));
}

static void fields(void)
{
    MPI_Status status;
    int value = 0, elements = 0;
    MPI_Count wide = 0;
    CHECK_OK(MPI_Status_set_source(&status, 11));
    CHECK_OK(MPI_Status_set_tag(&status, 12));
    CHECK_OK(MPI_Status_set_error(&status, MPI_ERR_TAG));
    CHECK_OK(MPI_Status_set_cancelled(&status, 1));
    CHECK_OK(MPI_Status_set_elements_x(&status, MPI_INT, 5));
    CHECK_OK(MPI_Status_get_source(&status, &value));
    CHECK_EQUAL(value, 11);
    CHECK_OK(MPI_Status_get_tag(&status, &value));
    CHECK_EQUAL(value, 12);
    CHECK_OK(MPI_Status_get_error(&status, &value));
    CHECK_EQUAL(value, MPI_ERR_TAG);
    CHECK_OK(MPI_Test_cancelled(&status, &value));
    CHECK_EQUAL(value, 1);
    CHECK_OK(MPI_Get_elements(&status, MPI_INT, &elements));
    CHECK_EQUAL(elements, 5);
    CHECK_OK(MPI_Get_elements_c(&status, MPI_SHORT, &wide));
    CHECK_EQUAL(wide, 10);
    CHECK_OK(MPI_Get_elements_x(&status, MPI_INT, &wide));
    CHECK_EQUAL(wide, 5);
}

static void codes(void)
{
    int class, code, *last, flag;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Add_error_string(code, "a sentence"));
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK_TEXT(text, "a sentence");
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && *last >= code);
    CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG); /* it has a text */
    CHECK_OK(MPI_Remove_error_string(code));
    CHECK_CLASS(MPI_Remove_error_string(code), MPI_ERR_ARG);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "a sentence") != 0);
    CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_ARG); /* it has a code */
    CHECK_OK(MPI_Remove_error_code(code));
    CHECK_OK(MPI_Add_error_string(class, "a sentence"));
    CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_ARG); /* it has a text */
    CHECK_OK(MPI_Remove_error_string(class));
    CHECK_OK(MPI_Remove_error_class(class));
    CHECK_CLASS(MPI_Remove_error_class(MPI_ERR_TAG), MPI_ERR_ARG); /* of the standard */
}

/* Keys are types of resources; their values say whether this process is restricted to one of them. Each
 * may be given to MPI_Comm_split_type. */
static void resources(void)
{
    MPI_Info info, hint;
    MPI_Comm comm;
    int keys = 0, flag, length;
    CHECK_OK(MPI_Get_hw_resource_info(&info));
    CHECK_OK(MPI_Info_get_nkeys(info, &keys));
    CHECK(keys > 0);
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[8];
        CHECK_OK(MPI_Info_get_nthkey(info, i, key));
        length = sizeof value;
        CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
        CHECK(flag && (!strcmp(value, "true") || !strcmp(value, "false")));
        MPI_Info_create(&hint);
        MPI_Info_set(hint, "mpi_hw_resource_type", key);
        CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, hint, &comm));
        if (comm != MPI_COMM_NULL)
            CHECK_OK(MPI_Comm_free(&comm));
        MPI_Info_free(&hint);
    }
    CHECK_OK(MPI_Info_free(&info));
}

/* The three that look at several: nothing is finished, and what they told stays true. */
static void looks(void)
{
    enum { N = 4 };
    MPI_Request request[N + 1];
    MPI_Status status[N + 1];
    int data[N], value = 77, index = -1, flag = -1, count = -1, which[N + 1];
    for (int i = 0; i < N; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &request[i]);
    request[N] = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Request_get_status_any(N + 1, request, &index, &flag, status));
    CHECK_EQUAL(flag, 0);
    CHECK_EQUAL(index, MPI_UNDEFINED);
    CHECK_OK(MPI_Request_get_status_all(N + 1, request, &flag, status));
    CHECK_EQUAL(flag, 0);
    CHECK_OK(MPI_Request_get_status_some(N + 1, request, &count, which, status));
    CHECK_EQUAL(count, 0);
    MPI_Send(&value, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
    for (int again = 0; again < 2; again++) {
        for (flag = 0; !flag;)
            CHECK_OK(MPI_Request_get_status_any(N + 1, request, &index, &flag, status));
        CHECK_EQUAL(index, 2);
        CHECK_EQUAL(status[0].MPI_TAG, 2);
        CHECK_EQUAL(count_of(&status[0], MPI_INT), 1);
        CHECK_OK(MPI_Request_get_status_some(N + 1, request, &count, which, status));
        CHECK_EQUAL(count, 1);
        CHECK_EQUAL(which[0], 2);
        CHECK_EQUAL(status[0].MPI_TAG, 2);
        CHECK(request[2] != MPI_REQUEST_NULL);
    }
    CHECK_OK(MPI_Request_get_status_all(N, request, &flag, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(flag, 0);
    for (int i = 0; i < N; i++)
        if (i != 2)
            MPI_Send(&value, 1, MPI_INT, rank, i, MPI_COMM_WORLD);
    for (flag = 0; !flag;)
        CHECK_OK(MPI_Request_get_status_all(N + 1, request, &flag, status));
    for (int i = 0; i < N; i++)
        CHECK_EQUAL(status[i].MPI_TAG, i);
    CHECK_EQUAL(status[N].MPI_SOURCE, MPI_ANY_SOURCE); /* the empty one */
    CHECK_OK(MPI_Request_get_status_some(N + 1, request, &count, which, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(count, N);
    CHECK_OK(MPI_Waitall(N, request, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(data[3], 77);
    CHECK_OK(MPI_Request_get_status_any(N + 1, request, &index, &flag, status));
    CHECK(flag && index == MPI_UNDEFINED);
    CHECK_OK(MPI_Request_get_status_some(N + 1, request, &count, which, status));
    CHECK_EQUAL(count, MPI_UNDEFINED);
}

static void communicators(void)
{
    MPI_Comm comm, parent;
    MPI_Group group;
    MPI_Info info, back;
    MPI_Request request;
    int flag = -1, length, remote, coordinate = -1, extents[1] = {size}, periods[1] = {0};
    char value[20];
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "something_else", "17");
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    CHECK_OK(MPI_Comm_get_info(comm, &back));
    CHECK(back != MPI_INFO_NULL && back != info);
    MPI_Info_free(&back);
    CHECK_OK(MPI_Comm_set_info(comm, info));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_compare(comm, MPI_COMM_WORLD, &flag));
    CHECK_EQUAL(flag, MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_get_info(comm, &back));
    length = sizeof value;
    CHECK_OK(MPI_Info_get_string(back, "mpi_assert_no_any_tag", &length, value, &flag));
    CHECK(!flag || !strcmp(value, "true") || !strcmp(value, "false"));
    MPI_Info_free(&back);
    MPI_Info_free(&info);
    CHECK_OK(MPI_Comm_test_inter(comm, &flag));
    CHECK_EQUAL(flag, 0);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Comm_remote_size(comm, &remote), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_remote_group(comm, &group), MPI_ERR_COMM);
    CHECK_OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
    CHECK_OK(MPI_Cart_map(comm, 1, extents, periods, &coordinate));
    CHECK_EQUAL(coordinate, rank);
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(void)
{
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* where errors without a communicator go */
    integers();
    memory();
    fields();
    codes();
    resources();
    looks();
    communicators();
    return check_finalize();
}
