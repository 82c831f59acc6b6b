/* Attributes: predefined ones; those of programs with copy and delete functions, on communicators and datatypes; those of
 * MPI_COMM_SELF are deleted when MPI ends, the youngest first. everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

static int copies, deletes, last_deleted;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm;
    (void)key;
    CHECK_EQUAL(*(int *)extra, 99);
    *(long *)out = (long)in + 1;
    *flag = (long)in < 50;
    copies++;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    CHECK_EQUAL(*(int *)extra, 99);
    deletes++;
    last_deleted = (int)(long)value;
    return MPI_SUCCESS;
}

static int refuse(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    return MPI_ERR_OTHER;
}

static int order[3], ended;
static int at_end(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key;
    (void)extra;
    CHECK(comm == MPI_COMM_SELF);
    order[ended++] = (int)(long)value;
    return MPI_SUCCESS;
}

/* A key that was freed is found by a copy of it while attributes use it, and can be freed again. */
static int frees_its_key(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)value;
    (void)extra;
    CHECK_OK(MPI_Comm_free_keyval(&key));
    deletes++;
    return MPI_SUCCESS;
}

static void freed_in_use(void)
{
    int key, again, found, flag, *value;
    MPI_Comm comm, twin;
    deletes = 0;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, frees_its_key, &key, NULL);
    again = found = key;
    CHECK_OK(MPI_Comm_set_attr(comm, key, &flag));
    CHECK_OK(MPI_Comm_free_keyval(&key));
    CHECK_OK(MPI_Comm_get_attr(comm, found, &value, &flag));
    CHECK(flag && value == &flag);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_SELF, found, NULL), MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Comm_dup(comm, &twin));
    CHECK_OK(MPI_Comm_free_keyval(&again));
    CHECK_EQUAL(again, MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Comm_delete_attr(comm, found));
    CHECK_OK(MPI_Comm_get_attr(comm, found, &value, &flag));
    CHECK(!flag && deletes == 1);
    MPI_Comm_free(&twin);
    CHECK_EQUAL(deletes, 2);
    again = found;
    CHECK_CLASS(MPI_Comm_free_keyval(&again), MPI_ERR_KEYVAL); /* nobody uses it any more */
    CHECK_CLASS(MPI_Comm_get_attr(comm, found, &value, &flag), MPI_ERR_KEYVAL);
    MPI_Comm_free(&comm);
}

/* The calls by their names of MPI-1, which also find what the others set. */
static void names_of_mpi1(void)
{
    int key, *value, flag;
    MPI_Comm comm, twin;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    CHECK_OK(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL));
    CHECK_OK(MPI_Attr_put(comm, key, &flag));
    CHECK_OK(MPI_Comm_dup(comm, &twin));
    CHECK_OK(MPI_Comm_get_attr(twin, key, &value, &flag));
    CHECK(flag && value == &flag);
    CHECK_OK(MPI_Attr_delete(twin, key));
    CHECK_OK(MPI_Attr_get(twin, key, &value, &flag));
    CHECK_EQUAL(flag, 0);
    CHECK_OK(PMPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767);
    CHECK_OK(MPI_Keyval_free(&key));
    CHECK_EQUAL(key, MPI_KEYVAL_INVALID);
    CHECK_CLASS(MPI_Attr_put(comm, key, NULL), MPI_ERR_KEYVAL);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&twin);
}

/* The delete function of one attribute deletes another one. */
static int other_key;
static int drops_the_other(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key;
    (void)value;
    (void)extra;
    deletes++;
    return MPI_Comm_delete_attr(comm, other_key);
}

static int counts(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void deletes_another(void)
{
    MPI_Comm comm;
    int key, flag, *value;
    deletes = 0;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drops_the_other, &key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, counts, &other_key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    MPI_Comm_set_attr(comm, other_key, NULL); /* the younger one stands before it in any list */
    CHECK_OK(MPI_Comm_delete_attr(comm, key));
    CHECK_EQUAL(deletes, 2);
    CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    CHECK_EQUAL(flag, 0);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_EQUAL(deletes, 2);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&other_key);
}

static int copy_fails(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm;
    (void)key;
    (void)extra;
    (void)in;
    (void)out;
    *flag = 1;
    return MPI_ERR_OTHER;
}

static void dup_fails(void)
{
    MPI_Comm comm, twin = MPI_COMM_SELF;
    int key;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(copy_fails, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    CHECK(MPI_Comm_dup(comm, &twin) != MPI_SUCCESS);
    CHECK(twin == MPI_COMM_NULL);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

static void predefined(void)
{
    int *value = NULL, flag = 0;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767);
    int tag = *value, data = 4, got = 0;
    MPI_Sendrecv(&data, 1, MPI_INT, rank, tag, &got, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 4);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
    CHECK(!flag || *value == 0 || *value == 1);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
    CHECK(!flag || *value >= 1);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
    CHECK(!flag || *value == 0);
}

int main(void)
{
    int key, old_key, never, flag, extra = 99, type_key, end_key;
    long value = 0;
    MPI_Comm comm, twin;
    MPI_Datatype type, type_twin;
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    predefined();
    CHECK_OK(MPI_Comm_create_keyval(copy, drop, &key, &extra));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    CHECK_EQUAL(flag, 0);
    CHECK_OK(MPI_Comm_set_attr(comm, key, (void *)10L));
    CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    CHECK(flag && value == 10);
    CHECK_OK(MPI_Comm_dup(comm, &twin));
    CHECK_OK(MPI_Comm_get_attr(twin, key, &value, &flag));
    CHECK(flag && value == 11 && copies == 1);
    CHECK_OK(MPI_Comm_set_attr(twin, key, (void *)60L)); /* the old value is deleted */
    CHECK(deletes == 1 && last_deleted == 11);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(deletes == 2 && last_deleted == 10);
    CHECK_OK(MPI_Comm_dup(twin, &comm)); /* the copy function says no */
    CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    CHECK_EQUAL(flag, 0);
    CHECK_OK(MPI_Comm_delete_attr(twin, key));
    CHECK(deletes == 3 && last_deleted == 60);
    CHECK_OK(MPI_Comm_set_attr(twin, key, (void *)1L));
    old_key = key;
    CHECK_OK(MPI_Comm_free_keyval(&key)); /* lives on while it is in use */
    CHECK_EQUAL(key, MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Comm_get_attr(twin, old_key, &value, &flag));
    CHECK(flag && value == 1);
    CHECK_OK(MPI_Comm_delete_attr(twin, old_key));
    CHECK_EQUAL(deletes, 4);
    CHECK_OK(MPI_Comm_free(&twin));
    CHECK_EQUAL(deletes, 4);

    /* a delete function that refuses keeps the communicator */
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &never, NULL);
    MPI_Comm_set_attr(comm, never, NULL);
    CHECK(MPI_Comm_free(&comm) != MPI_SUCCESS);
    CHECK(comm != MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_rank(comm, &flag));

    freed_in_use();
    names_of_mpi1();
    deletes_another();
    dup_fails();

    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL));
    MPI_Type_contiguous(2, MPI_INT, &type);
    CHECK_OK(MPI_Type_set_attr(type, type_key, &extra));
    CHECK_OK(MPI_Type_dup(type, &type_twin));
    int *found = NULL;
    CHECK_OK(MPI_Type_get_attr(type_twin, type_key, &found, &flag));
    CHECK(flag && found == &extra);
    int unused;
    MPI_Datatype part; /* another handle to type_twin: freeing it takes no attributes away */
    MPI_Type_free(&type);
    MPI_Type_contiguous(3, type_twin, &type);
    CHECK_OK(MPI_Type_get_contents(type, 1, 0, 1, &unused, NULL, &part));
    CHECK_OK(MPI_Type_free(&part));
    CHECK_OK(MPI_Type_get_attr(type_twin, type_key, &found, &flag));
    CHECK(flag && found == &extra);
    MPI_Type_free(&type);
    MPI_Type_free(&type_twin);
    MPI_Type_free_keyval(&type_key);

    for (long i = 0; i < 3; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &end_key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, end_key, (void *)i);
    }
    MPI_Finalize();
    CHECK(ended == 3 && order[0] == 2 && order[1] == 1 && order[2] == 0);
    return check_done();
}
