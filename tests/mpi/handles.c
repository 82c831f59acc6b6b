/* Freed, foreign and random handles of every kind are errors, never crashes; also when the slot is in use again.
 * ranks: 2 tcp: 2 */
#include "mpi_check.h"

#define STEPS 20000

/* Everything that takes one handle, with a value that is none. */
static void try_value(uintptr_t value)
{
    int n = 0, flag;
    MPI_Aint a, b;
    MPI_Status status;
    MPI_Request request = (MPI_Request)value;
    MPI_Datatype type = (MPI_Datatype)value;
    CHECK_CLASS(MPI_Comm_size((MPI_Comm)value, &n), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Send(&n, 0, MPI_INT, 0, 0, (MPI_Comm)value), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Group_size((MPI_Group)value, &n), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Type_get_extent(type, &a, &b), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Send(&n, 1, type, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Test(&request, &flag, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Allreduce(&n, &flag, 1, MPI_INT, (MPI_Op)value, MPI_COMM_SELF), MPI_ERR_OP);
    CHECK_CLASS(MPI_Info_get_nkeys((MPI_Info)value, &n), MPI_ERR_INFO);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, (MPI_Errhandler)value) != MPI_SUCCESS);
}

static void freed_twice(void)
{
    MPI_Comm comm, old_comm;
    MPI_Datatype type, old_type;
    MPI_Group group, old_group;
    MPI_Info info, old_info;
    MPI_Request request, old_request;
    int n = 0, key = 0, old_key;
    for (int round = 0; round < 10; round++) {
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        old_comm = comm;
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_CLASS(MPI_Comm_free(&old_comm), MPI_ERR_COMM);
        MPI_Comm_dup(MPI_COMM_SELF, &comm); /* takes the slot */
        CHECK(comm != old_comm);
        CHECK_CLASS(MPI_Comm_rank(old_comm, &n), MPI_ERR_COMM);
        CHECK_OK(MPI_Comm_rank(comm, &n));
        CHECK_OK(MPI_Comm_free(&comm));

        MPI_Type_contiguous(3, MPI_INT, &type);
        old_type = type;
        CHECK_OK(MPI_Type_free(&type));
        CHECK_CLASS(MPI_Type_free(&old_type), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_Type_commit(&old_type), MPI_ERR_TYPE);

        MPI_Comm_group(MPI_COMM_WORLD, &group);
        old_group = group;
        CHECK_OK(MPI_Group_free(&group));
        CHECK_CLASS(MPI_Group_free(&old_group), MPI_ERR_GROUP);

        MPI_Info_create(&info);
        old_info = info;
        CHECK_OK(MPI_Info_free(&info));
        CHECK_CLASS(MPI_Info_free(&old_info), MPI_ERR_INFO);

        MPI_Irecv(&n, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
        old_request = request;
        MPI_Send(&round, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_CLASS(MPI_Wait(&old_request, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Request_free(&old_request), MPI_ERR_REQUEST);

        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
        old_key = key;
        CHECK_OK(MPI_Comm_free_keyval(&key));
        CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_SELF, old_key, NULL), MPI_ERR_KEYVAL);
        CHECK_CLASS(MPI_Comm_free_keyval(&old_key), MPI_ERR_KEYVAL);
    }
}

/* A list that names a request twice: one of them is finished, the other told wrong. */
static void named_twice(void)
{
    int n = 0, sent = 5;
    MPI_Request request[2];
    MPI_Status status[2];
    MPI_Irecv(&n, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request[0]);
    request[1] = request[0];
    MPI_Send(&sent, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    CHECK_CLASS(MPI_Waitall(2, request, status), MPI_ERR_IN_STATUS);
    CHECK_EQUAL(status[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQUAL(class_of(status[1].MPI_ERROR), MPI_ERR_REQUEST);
    CHECK_EQUAL(n, 5);
}

int main(void)
{
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    uint64_t seed = 88172645463325252ull;
    try_value(0);
    try_value(1);
    try_value(4095);
    try_value(4096);
    try_value((uintptr_t)&seed);
    try_value(UINTPTR_MAX);
    for (int i = 0; i < STEPS; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        try_value((uintptr_t)(seed >> seed % 50) | 4096); /* below, some are predefined */
        if (check_failed)
            break;
    }
    freed_twice();
    named_twice();
    return check_finalize();
}
