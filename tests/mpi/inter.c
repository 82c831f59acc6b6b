/* Intercommunicators: made, asked, duplicated, split, created from, merged, freed many times; messages of all kinds
 * go to the other group; wrong arguments are told. everywhere: 1 2 3 5 8
 * timeout: 120 */
#include "two_groups.h"

static void questions(void)
{
    int flag = 0, n = 0, result = 0, r = -1;
    MPI_Group group, world;
    CHECK_OK(MPI_Comm_test_inter(inter, &flag));
    CHECK_EQUAL(flag, 1);
    CHECK_OK(MPI_Comm_test_inter(local, &flag));
    CHECK_EQUAL(flag, 0);
    CHECK_OK(MPI_Comm_size(inter, &n));
    CHECK_EQUAL(n, own);
    CHECK_OK(MPI_Comm_rank(inter, &r));
    CHECK_EQUAL(r, me);
    CHECK_OK(MPI_Comm_remote_size(inter, &n));
    CHECK_EQUAL(n, theirs);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    CHECK_OK(MPI_Comm_remote_group(inter, &group));
    for (int i = 0; i < theirs; i++) {
        MPI_Group_translate_ranks(group, 1, &i, world, &r);
        CHECK_EQUAL(r, side ? i : own + theirs - 1 - i);
    }
    MPI_Group_rank(group, &r);
    CHECK_EQUAL(r, MPI_UNDEFINED);
    MPI_Group_free(&group);
    CHECK_OK(MPI_Comm_group(inter, &group));
    MPI_Group_rank(group, &r);
    CHECK_EQUAL(r, me);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    CHECK_OK(MPI_Comm_compare(inter, inter, &result));
    CHECK_EQUAL(result, MPI_IDENT);
    CHECK_OK(MPI_Comm_compare(inter, local, &result));
    CHECK_EQUAL(result, MPI_UNEQUAL);
}

/* Each sends to each of the other group, by every kind of send, and is told who it was. */
static void messages(MPI_Comm comm)
{
    MPI_Request request[2];
    MPI_Status status;
    MPI_Message message;
    int mine, others, got = -1, flag = 0;
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_remote_size(comm, &others);
    static char room[4096];
    MPI_Comm_attach_buffer(comm, room, sizeof room);
    for (int i = 0; i < others; i++) {
        int tag = 3 + mine;
        MPI_Isend(&mine, 1, MPI_INT, i, tag, comm, &request[0]);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        MPI_Bsend(&mine, 1, MPI_INT, i, tag, comm);
    }
    for (int i = 0; i < others; i++) {
        MPI_Probe(i, MPI_ANY_TAG, comm, &status);
        CHECK_EQUAL(status.MPI_TAG, 3 + i);
        CHECK_EQUAL(status.MPI_SOURCE, i);
        MPI_Recv(&got, 1, MPI_INT, i, 3 + i, comm, &status);
        CHECK_EQUAL(got, i);
    }
    for (int i = 0, seen = 0; i < others; i++) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
        MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
        CHECK_EQUAL(got, status.MPI_SOURCE);
        seen |= 1 << got;
        CHECK(i < others - 1 || seen == (1 << others) - 1);
    }
    MPI_Barrier(comm);
    void *old;
    int bytes;
    MPI_Comm_detach_buffer(comm, &old, &bytes);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
    CHECK_EQUAL(flag, 0);
    MPI_Barrier(comm);
    for (int i = 0; i < others; i++) { /* long, persistent, synchronous, both ways at once */
        static unsigned char out[200000], in[200000];
        fill(out, sizeof out, (unsigned)(mine + 10 * i));
        MPI_Recv_init(in, sizeof in, MPI_BYTE, i, 5, comm, &request[0]);
        MPI_Ssend_init(out, sizeof out, MPI_BYTE, i, 5, comm, &request[1]);
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        CHECK_BYTES(in, sizeof in, (unsigned)(i + 10 * mine));
        MPI_Request_free(&request[0]);
        MPI_Request_free(&request[1]);
        int both[2] = {mine, -1};
        MPI_Sendrecv(&both[0], 1, MPI_INT, i, 6, &both[1], 1, MPI_INT, i, 6, comm, &status);
        CHECK_EQUAL(both[1], i);
        CHECK_OK(MPI_Psend_init(out, 2, 1000, MPI_BYTE, i, 7, comm, MPI_INFO_NULL, &request[0]));
        CHECK_OK(MPI_Precv_init(in, 2, 1000, MPI_BYTE, i, 7, comm, MPI_INFO_NULL, &request[1]));
        memset(in, 0, 2000);
        MPI_Startall(2, request);
        MPI_Pready_range(0, 1, request[0]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        CHECK_BYTES(in, 2000, (unsigned)(i + 10 * mine));
        MPI_Request_free(&request[0]);
        MPI_Request_free(&request[1]);
    }
}

/* A sum over the other group. */
static void use(MPI_Comm comm)
{
    int one = 1, sum = 0, n = 0;
    MPI_Comm_remote_size(comm, &n);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQUAL(sum, n);
    CHECK_OK(MPI_Barrier(comm));
    messages(comm);
}

static void duplicates(void)
{
    MPI_Comm twin, third;
    MPI_Request request;
    int result = 0;
    CHECK_OK(MPI_Comm_dup(inter, &twin));
    CHECK_OK(MPI_Comm_compare(inter, twin, &result));
    CHECK_EQUAL(result, MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_idup(twin, &third, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    use(twin);
    CHECK_OK(MPI_Comm_free(&twin));
    use(third);
    CHECK_OK(MPI_Comm_dup_with_info(third, MPI_INFO_NULL, &twin));
    CHECK_OK(MPI_Comm_disconnect(&third));
    use(twin);
    CHECK_OK(MPI_Comm_free(&twin));
}

static void parts(void)
{
    MPI_Comm part;
    MPI_Group group, some;
    int n = -1, r = -1, result = 0;
    /* turned round: as alike as groups with the same members are */
    CHECK_OK(MPI_Comm_split(inter, 4, -me, &part));
    MPI_Comm_rank(part, &r);
    CHECK_EQUAL(r, own - 1 - me);
    CHECK_OK(MPI_Comm_compare(inter, part, &result));
    CHECK_EQUAL(result, own == 1 && theirs == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    use(part);
    CHECK_OK(MPI_Comm_free(&part));
    /* color 0 is in both groups, color 1 only where a group has two ranks */
    CHECK_OK(MPI_Comm_split(inter, me % 2, 0, &part));
    CHECK((part == MPI_COMM_NULL) == (me % 2 == 1 && theirs < 2));
    if (part != MPI_COMM_NULL) {
        MPI_Comm_remote_size(part, &n);
        CHECK_EQUAL(n, (theirs + 1 - me % 2) / 2);
        MPI_Comm_compare(inter, part, &result);
        CHECK(result == MPI_UNEQUAL || (own == 1 && theirs == 1));
        use(part);
        CHECK_OK(MPI_Comm_free(&part));
    }
    CHECK_OK(MPI_Comm_split(inter, side == 0 ? MPI_UNDEFINED : 0, 0, &part));
    CHECK(part == MPI_COMM_NULL);
    /* the first half of each group, backwards; then nobody of one group */
    int range[1][3] = {{(own - 1) / 2, 0, -1}};
    MPI_Comm_group(inter, &group);
    MPI_Group_range_incl(group, 1, range, &some);
    CHECK_OK(MPI_Comm_create(inter, some, &part));
    CHECK((part == MPI_COMM_NULL) == (me > (own - 1) / 2));
    if (part != MPI_COMM_NULL) {
        MPI_Comm_rank(part, &r);
        CHECK_EQUAL(r, (own - 1) / 2 - me);
        MPI_Comm_remote_size(part, &n);
        CHECK_EQUAL(n, (theirs + 1) / 2);
        use(part);
        CHECK_OK(MPI_Comm_free(&part));
    }
    CHECK_OK(MPI_Comm_create(inter, side ? MPI_GROUP_EMPTY : group, &part));
    CHECK(part == MPI_COMM_NULL);
    MPI_Group_free(&some);
    MPI_Group_free(&group);
}

static void merges(void)
{
    for (int high = 0; high < 4; high++) { /* of the first group, of the second */
        MPI_Comm all;
        int n = 0, r = -1, sum = 0, flag = 1, wanted = high >> side & 1, other = high >> !side & 1, from;
        CHECK_OK(MPI_Intercomm_merge(inter, wanted, &all));
        MPI_Comm_test_inter(all, &flag);
        CHECK_EQUAL(flag, 0);
        MPI_Comm_size(all, &n);
        MPI_Comm_rank(all, &r);
        CHECK_EQUAL(n, own + theirs);
        if (wanted != other)
            CHECK_EQUAL(r, wanted ? theirs + me : me);
        else
            CHECK(r == me || r == theirs + me);
        MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, all);
        CHECK_EQUAL(sum, n * (n - 1) / 2);
        MPI_Sendrecv(&r, 1, MPI_INT, (r + 1) % n, 0, &from, 1, MPI_INT, (r + n - 1) % n, 0, all, MPI_STATUS_IGNORE);
        CHECK_EQUAL(from, (r + n - 1) % n);
        CHECK_OK(MPI_Comm_free(&all));
    }
}

static void many(void)
{
    for (int i = 0; i < 300; i++) {
        MPI_Comm comm, all;
        CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side ? 0 : own + theirs - 1, i, &comm));
        CHECK_OK(MPI_Intercomm_merge(comm, side, &all));
        if (i % 50 == 0)
            use(comm);
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Barrier(all));
        CHECK_OK(MPI_Comm_free(&all));
    }
}

static void check_sentence(int code, const char *part)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    if (!strstr(text, part))
        fprintf(stderr, "\"%s\" says nothing of \"%s\"\n", text, part);
    CHECK(strstr(text, part) != NULL);
}

static void wrong(void)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int data = 0, sum, n, one = 1;
    MPI_Group group;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
    MPI_Comm_group(local, &group);
    CHECK_CLASS(MPI_Send(&data, 1, MPI_INT, theirs, 1, inter), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Scan(&data, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Exscan(&data, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bcast(&data, 1, MPI_INT, theirs, inter), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(&data, 1, MPI_INT, MPI_ROOT, local), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Comm_remote_size(local, &n), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_remote_group(local, &group), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_merge(local, 0, &comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Cart_create(inter, 1, &one, &one, 0, &comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_create_group(inter, group, 0, &comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &comm), MPI_ERR_COMM);
    int code = MPI_Intercomm_create(local, own, MPI_COMM_WORLD, 0, 0, &comm);
    CHECK_CLASS(code, MPI_ERR_RANK);
    check_sentence(code, "MPI_Intercomm_create: the leader");
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, n, 0, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    CHECK_CLASS(code, MPI_ERR_RANK);
    check_sentence(code, me == 0 ? "MPI_Intercomm_create: remote leader: rank" : "the leader, rank 0, failed");
    if (own > 1) {
        code = MPI_Intercomm_create(local, me != 0, MPI_COMM_WORLD, 0, 0, &comm);
        CHECK_CLASS(code, MPI_ERR_RANK);
        check_sentence(code, "the leaders differ");
        code = MPI_Intercomm_merge(inter, me != 0, &comm);
        CHECK_CLASS(code, MPI_ERR_ARG);
    } else {
        code = MPI_Intercomm_merge(inter, 0, &comm);
        if (theirs > 1)
            CHECK_CLASS(code, MPI_ERR_ARG);
        else
            MPI_Comm_free(&comm);
    }
    /* the leader's arguments are wrong: its group is told */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Intercomm_create(local, own - 1, MPI_COMM_WORLD, size + 2, 0, &comm);
    CHECK_CLASS(code, MPI_ERR_RANK);
    code = MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 0, -8, &comm);
    CHECK_CLASS(code, MPI_ERR_TAG);
    CHECK_CLASS(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, MPI_PROC_NULL, 0, &comm), MPI_ERR_RANK);
    CHECK(comm == MPI_COMM_NULL || comm == MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Group_free(&group);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter)); /* and all are still in step */
    CHECK_EQUAL(sum, theirs);
}

/* MPI_IN_PLACE from each member of the group without the root. Such a call does not take place: the root waits for the
 * right one, which may follow. */
static void in_place(int root_side)
{
    int roots = side == root_side;
    int root = !roots ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, sum = 0, own_data = -1, all[8], counts[8], places[8];
    void *wrong = MPI_IN_PLACE;
    MPI_Request request;
    for (int i = 0; i < 8; i++)
        all[i] = roots ? 10 + i : -1, counts[i] = 1, places[i] = i;
    if (!roots) {
        int code = MPI_Bcast(wrong, 1, MPI_INT, root, inter);
        CHECK_CLASS(code, MPI_ERR_BUFFER);
        check_sentence(code, "MPI_Bcast: the receive buffer cannot be MPI_IN_PLACE here");
        code = MPI_Gather(wrong, 1, MPI_INT, NULL, 0, MPI_INT, root, inter);
        CHECK_CLASS(code, MPI_ERR_BUFFER);
        check_sentence(code, "MPI_Gather: the send buffer cannot be MPI_IN_PLACE here");
        CHECK_CLASS(MPI_Gatherv(wrong, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, root, inter), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Scatter(NULL, 0, MPI_INT, wrong, 1, MPI_INT, root, inter), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Scatterv(NULL, NULL, NULL, MPI_INT, wrong, 1, MPI_INT, root, inter), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Reduce(wrong, NULL, 1, MPI_INT, MPI_SUM, root, inter), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Igather(wrong, 1, MPI_INT, NULL, 0, MPI_INT, root, inter, &request), MPI_ERR_BUFFER);
    }
    CHECK_OK(MPI_Scatter(all, 1, MPI_INT, &own_data, 1, MPI_INT, root, inter));
    CHECK_EQUAL(own_data, roots ? -1 : 10 + me);
    CHECK_OK(MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_SUM, root, inter));
    CHECK_EQUAL(sum, root == MPI_ROOT ? theirs * (theirs - 1) / 2 : 0);
    CHECK_OK(MPI_Gatherv(&me, 1, MPI_INT, all, counts, places, MPI_INT, root, inter));
    for (int i = 0; i < theirs && root == MPI_ROOT; i++)
        CHECK_EQUAL(all[i], i);
    CHECK_OK(MPI_Bcast(all, 1, MPI_INT, root, inter));
    CHECK_EQUAL(all[0], root == MPI_PROC_NULL ? 10 : 0);
}

/* A group with itself: all of it are in the other one, too. */
static void overlap(void)
{
    MPI_Comm twin, comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &twin);
    MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
    int code = MPI_Intercomm_create(twin, 0, MPI_COMM_SELF, 0, 0, &comm);
    CHECK_CLASS(code, MPI_ERR_COMM);
    check_sentence(code, "rank 0 of the other group is in this one, too");
    CHECK(comm == MPI_COMM_NULL);
    MPI_Comm_free(&twin);
}

int main(void)
{
    check_init();
    overlap();
    for (int i = 0; i < TWO_SIZES; i++) {
        if (two_groups_open(two_sizes[i][0], two_sizes[i][1])) {
            questions();
            use(inter);
            duplicates();
            parts();
            merges();
            many();
            wrong();
            in_place(0);
            in_place(1);
            two_groups_close();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_finalize();
}
