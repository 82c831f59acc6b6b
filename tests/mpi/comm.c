/* Communicators: dup, split, create, create_group, compare; messages stay inside; thousands may be made and freed.
 * everywhere: 1 2 3 5 8
 * timeout: 120 */
#include "mpi_check.h"

/* A ring and a sum inside COMM. */
static void use(MPI_Comm comm)
{
    int me, n, got = -1, sum = 0, one = 1;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 0, &got, 1, MPI_INT, (me + n - 1) % n, 0, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, (me + n - 1) % n);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, n);
}

static void dup(void)
{
    MPI_Comm comm;
    int result, a = 1, b = 2, got = 0;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    CHECK_EQUAL(result, MPI_CONGRUENT);
    MPI_Comm_compare(comm, comm, &result);
    CHECK_EQUAL(result, MPI_IDENT);
    use(comm);
    /* the same rank and tag, but another world */
    MPI_Request request[2];
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Isend(&a, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(&b, 1, MPI_INT, next, 3, comm, &request[1]);
    MPI_Recv(&got, 1, MPI_INT, last, 3, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 2);
    MPI_Recv(&got, 1, MPI_INT, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 1);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(comm == MPI_COMM_NULL);
}

static void split(void)
{
    MPI_Comm comm;
    int me, n, result;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm)); /* backwards */
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    CHECK_EQUAL(n, (size + 1 - rank % 2) / 2);
    CHECK_EQUAL(me, n - 1 - rank / 2);
    use(comm);
    MPI_Comm again;
    MPI_Comm_split(comm, 0, 0, &again);
    MPI_Comm_compare(comm, again, &result);
    CHECK_EQUAL(result, MPI_CONGRUENT);
    MPI_Comm_free(&comm);
    use(again);
    MPI_Comm_free(&again);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 7, 0, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank == 0));
    if (rank > 0) {
        use(comm);
        MPI_Comm_free(&comm);
    }
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    use(comm);
    MPI_Comm_free(&comm);
}

static void create(void)
{
    MPI_Group world, part;
    MPI_Comm comm;
    int range[1][3] = {{size - 1, 0, -2}}, in;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &part);
    MPI_Group_rank(part, &in);
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, part, &comm));
    CHECK((comm == MPI_COMM_NULL) == (in == MPI_UNDEFINED));
    if (comm != MPI_COMM_NULL) {
        use(comm);
        MPI_Comm_free(&comm);
    }
    if (in != MPI_UNDEFINED) { /* the others do not even call */
        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, part, 17, &comm));
        use(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&part);
}

static void many(void)
{
    MPI_Comm kept[100];
    for (int i = 0; i < 3000; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (i % 100 == 0)
            use(comm);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    for (int i = 0; i < 100; i++)
        MPI_Comm_split(i ? kept[i - 1] : MPI_COMM_WORLD, 0, rank, &kept[i]);
    for (int i = 0; i < 100; i++)
        use(kept[i]);
    for (int i = 99; i >= 0; i--)
        CHECK_OK(MPI_Comm_free(&kept[i]));
}

/* Freed while a message is under way: the message arrives all the same. */
static void free_early(void)
{
    MPI_Comm comm;
    MPI_Request request[2];
    static int out[50000], in[50000];
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    fill(out, sizeof out, (unsigned)rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(in, 50000, MPI_INT, last, 1, comm, &request[0]);
    MPI_Isend(out, 50000, MPI_INT, next, 1, comm, &request[1]);
    MPI_Comm_free(&comm);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    CHECK_BYTES(in, sizeof in, (unsigned)last);
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm comm;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK_TEXT(name, "MPI_COMM_WORLD");
    MPI_Comm_get_name(MPI_COMM_NULL, name, &length);
    CHECK_TEXT(name, "MPI_COMM_NULL");
    MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
    CHECK_TEXT(name, "MPI_COMM_SELF");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_get_name(comm, name, &length);
    CHECK_TEXT(name, "");
    MPI_Comm_set_name(comm, "halo");
    MPI_Comm_get_name(comm, name, &length);
    CHECK_TEXT(name, "halo");
    CHECK_EQUAL(length, 4);
    MPI_Comm_free(&comm);
}

/* Ranks that call for one communicator with groups that differ are told so, and the next one can be made. */
static void groups_differ(void)
{
    MPI_Comm made;
    MPI_Group world, part;
    char text[MPI_MAX_ERROR_STRING];
    int length, error;
    if (size < 3 || rank > 1)
        return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2 + rank, (int[]){0, 1, 2}, &part);
    error = MPI_Comm_create_group(MPI_COMM_WORLD, part, 5, &made);
    CHECK_CLASS(error, MPI_ERR_GROUP);
    CHECK(made == MPI_COMM_NULL);
    MPI_Error_string(error, text, &length);
    CHECK(strstr(text, "MPI_Comm_create_group") && strstr(text, rank == 0 ? "another group of 3 ranks, this one of 2" : "leads"));
    MPI_Group_free(&part);
    MPI_Group_incl(world, 2, (int[]){0, 1}, &part);
    CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, part, 5, &made));
    CHECK_OK(MPI_Comm_free(&made));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Group_free(&part);
    MPI_Group_free(&world);
}

int main(void)
{
    check_init();
    dup();
    split();
    create();
    many();
    free_early();
    names();
    groups_differ();
    return check_finalize();
}
