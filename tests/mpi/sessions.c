/* Sessions: every order of two sessions and MPI_Init, sets of processes, communicators from groups, buffers, error
 * handlers, and what is wrong. ranks: 1 2 3 5 8 tcp: 3 mixed: 5 */
#include "mpi_check.h"
#include <stdbool.h>

static MPI_Session session_open(void)
{
    MPI_Session session = MPI_SESSION_NULL;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(session != MPI_SESSION_NULL);
    return session;
}

static MPI_Comm comm_open(MPI_Session session, const char *set, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    CHECK_OK(MPI_Group_from_session_pset(session, set, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    return comm;
}

static bool buffered; /* the process has a buffer for MPI_Bsend: until the world and all sessions have ended */

static void comm_use(MPI_Comm comm)
{
    int me, ranks, sum = -1;
    CHECK_OK(MPI_Comm_rank(comm, &me));
    CHECK_OK(MPI_Comm_size(comm, &ranks));
    CHECK_OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQUAL(sum, ranks * (ranks - 1) / 2);
    int from = -1;
    CHECK_OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % ranks, 5, &from, 1, MPI_INT, (me + ranks - 1) % ranks, 5, comm,
                          MPI_STATUS_IGNORE));
    CHECK_EQUAL(from, (me + ranks - 1) % ranks);
    if (buffered) {
        CHECK_OK(MPI_Bsend(&sum, 1, MPI_INT, me, 6, comm));
        CHECK_OK(MPI_Recv(&from, 1, MPI_INT, me, 6, comm, MPI_STATUS_IGNORE));
        CHECK_EQUAL(from, sum);
    }
}

static void session_use(MPI_Session session, const char *tag)
{
    MPI_Comm comm = comm_open(session, "mpi://WORLD", tag), self = comm_open(session, "mpi://SELF", tag), copy;
    comm_use(comm);
    comm_use(self);
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    comm_use(copy);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&self));
    CHECK_OK(MPI_Comm_free(&comm));
}

/* W: the world begins, w: it ends; A, B: a session begins; a, b: it ends. All that is open is used after each. */
static void order_run(const char *order)
{
    MPI_Session session[2] = {MPI_SESSION_NULL, MPI_SESSION_NULL};
    static char memory[64 + MPI_BSEND_OVERHEAD];
    static int worlds;
    bool world = false;
    for (const char *step = order; *step; step++) {
        int flag = -1;
        if (*step == 'W') {
            MPI_Init(NULL, NULL);
            CHECK_OK(MPI_Buffer_attach(memory, sizeof memory));
            world = buffered = true;
            worlds++;
        } else if (*step == 'w') {
            MPI_Finalize();
            world = false;
        } else if (*step == 'A' || *step == 'B')
            session[*step - 'A'] = session_open();
        else
            CHECK_OK(MPI_Session_finalize(&session[*step - 'a']));
        buffered = buffered && (world || session[0] != MPI_SESSION_NULL || session[1] != MPI_SESSION_NULL);
        CHECK_OK(MPI_Initialized(&flag));
        CHECK_EQUAL(flag, worlds > 0);
        CHECK_OK(MPI_Finalized(&flag));
        CHECK_EQUAL(flag, worlds > 0 && !world);
        for (int i = 0; i < 2; i++)
            if (session[i] != MPI_SESSION_NULL)
                session_use(session[i], "order");
        if (world)
            comm_use(MPI_COMM_WORLD);
    }
}

static void sets_check(MPI_Session session)
{
    char name[MPI_MAX_PSET_NAME_LEN];
    int count = 0, length, flag, ranks;
    MPI_Info info;
    MPI_Group group;
    CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    CHECK(count >= 3);
    for (int i = 0; i < count; i++) {
        length = 0;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
        CHECK(length > 1 && length <= MPI_MAX_PSET_NAME_LEN);
        int exact = length;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
        CHECK_EQUAL(length, exact);
        CHECK_EQUAL(strlen(name) + 1, (size_t)exact);
        char cut[4];
        length = sizeof cut;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, cut));
        CHECK(strncmp(cut, name, 3) == 0 && cut[3] == 0);
        CHECK_EQUAL(length, exact);
        CHECK_OK(MPI_Session_get_pset_info(session, name, &info));
        length = sizeof name;
        char text[16];
        CHECK_OK(MPI_Info_get(info, "mpi_size", sizeof text - 1, text, &flag));
        CHECK(flag);
        CHECK_OK(MPI_Info_free(&info));
        CHECK_OK(MPI_Group_from_session_pset(session, name, &group));
        CHECK_OK(MPI_Group_size(group, &ranks));
        CHECK_EQUAL(ranks, atoi(text));
        CHECK_OK(MPI_Group_rank(group, &ranks));
        CHECK(ranks != MPI_UNDEFINED);
        CHECK_OK(MPI_Group_free(&group));
    }
    length = sizeof name;
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, count, &length, name), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name), MPI_ERR_ARG);
    length = -1;
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name), MPI_ERR_ARG);
    length = 5;
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL), MPI_ERR_ARG);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    CHECK_CLASS(MPI_Group_from_session_pset(session, name, &group), MPI_ERR_ARG);
    CHECK(group == MPI_GROUP_NULL);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://WORL", &group), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_pset_info(session, "", &info), MPI_ERR_ARG);
}

/* Of the predefined attributes only the bound of tags; the others tell of the world. */
static void attributes_check(MPI_Session session)
{
    MPI_Comm comm = comm_open(session, "mpi://WORLD", "attributes"), copy;
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    const int key[] = {MPI_TAG_UB,        MPI_IO,          MPI_HOST, MPI_WTIME_IS_GLOBAL, MPI_APPNUM,
                       MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE};
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 2; j++) {
            int *value = NULL, flag = -1;
            CHECK_OK(MPI_Comm_get_attr(j ? copy : comm, key[i], &value, &flag));
            CHECK_EQUAL(flag, key[i] == MPI_TAG_UB);
            CHECK(!flag || *value >= 32767);
            CHECK_CLASS(MPI_Comm_delete_attr(comm, key[i]), MPI_ERR_ARG);
        }
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&comm));
}

static int handled, handled_code;
static void on_session(MPI_Session *session, int *code, ...)
{
    (void)session;
    handled++;
    handled_code = *code;
}

static void handlers_check(void)
{
    MPI_Errhandler handler, now;
    MPI_Session session;
    MPI_Group group;
    CHECK_OK(MPI_Session_create_errhandler(on_session, &handler));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    CHECK_CLASS(MPI_Group_from_session_pset(session, "none", &group), MPI_ERR_ARG);
    CHECK_EQUAL(handled, 1);
    CHECK_EQUAL(handled_code, MPI_ERR_ARG);
    CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_IO));
    CHECK_EQUAL(handled_code, MPI_ERR_IO);
    CHECK_OK(MPI_Session_get_errhandler(session, &now));
    CHECK(now == handler);
    CHECK_OK(MPI_Errhandler_free(&now));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Group_from_session_pset(session, "none", &group), MPI_ERR_ARG);
    CHECK_EQUAL(handled, 2);
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
}

static void info_check(void)
{
    MPI_Info info, used;
    MPI_Session session;
    char level[40];
    int flag;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED"));
    CHECK_OK(MPI_Info_set(info, "what_nobody_knows", "yes"));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Session_get_info(session, &used));
    CHECK_OK(MPI_Info_get(used, "thread_level", sizeof level - 1, level, &flag));
    CHECK(flag);
    CHECK_TEXT(level, "MPI_THREAD_FUNNELED");
    CHECK_OK(MPI_Info_get(used, "what_nobody_knows", sizeof level - 1, level, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Info_free(&used));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPI_Info_set(info, "thread_level", "many"));
    CHECK_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE);
    CHECK_OK(MPI_Info_free(&info));
}

static void buffers_check(MPI_Session session)
{
    static char memory[4096 + MPI_BSEND_OVERHEAD], small[16 + MPI_BSEND_OVERHEAD], room[4096], got[4096];
    MPI_Comm comm = comm_open(session, "mpi://self", "buffers");
    MPI_Request request;
    void *back;
    int bytes = 0;
    fill(room, sizeof room, 7);
    CHECK_CLASS(MPI_Bsend(room, 1, MPI_BYTE, 0, 1, comm), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Buffer_attach(small, sizeof small)); /* of the process: it serves where the session has none */
    CHECK_OK(MPI_Bsend(room, 16, MPI_BYTE, 0, 1, comm));
    CHECK_CLASS(MPI_Bsend(room, sizeof room, MPI_BYTE, 0, 1, comm), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Recv(got, 16, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE));
    CHECK_BYTES(got, 16, 7);
    CHECK_OK(MPI_Session_attach_buffer(session, memory, sizeof memory));
    CHECK_CLASS(MPI_Session_attach_buffer_c(session, memory, 10), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Irecv(got, sizeof got, MPI_BYTE, 0, 1, comm, &request));
    CHECK_OK(MPI_Bsend(room, sizeof room, MPI_BYTE, 0, 1, comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_BYTES(got, sizeof got, 7);
    CHECK_OK(MPI_Session_flush_buffer(session));
    CHECK_OK(MPI_Session_iflush_buffer(session, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Session_detach_buffer(session, &back, &bytes));
    CHECK(back == memory && bytes == sizeof memory);
    CHECK_OK(MPI_Buffer_detach(&back, &bytes));
    CHECK(back == small && bytes == sizeof small);
    CHECK_OK(MPI_Comm_free(&comm));
}

/* Even and odd ranks, who know the others' group only at the leader. */
static void inter_check(MPI_Session session)
{
    MPI_Group all, mine, others;
    MPI_Comm inter, merged;
    int me, ranks, there, range[1][3], other[1][3];
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    CHECK_OK(MPI_Group_rank(all, &me));
    CHECK_OK(MPI_Group_size(all, &ranks));
    if (ranks > 1) {
        memcpy(range, (int[3]){me % 2, ranks - 1, 2}, sizeof range);
        memcpy(other, (int[3]){!(me % 2), ranks - 1, 2}, sizeof other);
        CHECK_OK(MPI_Group_range_incl(all, 1, range, &mine));
        CHECK_OK(MPI_Group_range_incl(all, 1, other, &others));
        bool leads = me < 2;
        CHECK_OK(MPI_Intercomm_create_from_groups(mine, 0, leads ? others : MPI_GROUP_NULL, leads ? 0 : -7, "inter",
                                                  MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
        CHECK_OK(MPI_Comm_remote_size(inter, &there));
        CHECK_EQUAL(there, (ranks + (me % 2 ? 1 : 0)) / 2);
        CHECK_OK(MPI_Intercomm_merge(inter, me % 2, &merged));
        comm_use(merged);
        CHECK_OK(MPI_Comm_free(&merged));
        CHECK_OK(MPI_Comm_free(&inter));
        /* a remote leader that is none: an error for all */
        CHECK_CLASS(MPI_Intercomm_create_from_groups(mine, 0, leads ? others : MPI_GROUP_NULL, 99, "wrong",
                                                     MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter), MPI_ERR_RANK);
        CHECK(inter == MPI_COMM_NULL);
        CHECK_OK(MPI_Group_free(&mine));
        CHECK_OK(MPI_Group_free(&others));
    }
    CHECK_OK(MPI_Group_free(&all));
}

static int raised;
static void error_count(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    raised++;
}

/* Whatever is wrong with a call that makes a communicator of groups goes to the handler that it was given. */
static void handler_of_call_check(MPI_Group group)
{
    MPI_Comm comm;
    MPI_Errhandler counts;
    MPI_Info freed;
    CHECK_OK(MPI_Info_create(&freed));
    MPI_Info stale = freed;
    CHECK_OK(MPI_Info_free(&freed));
    CHECK_OK(MPI_Comm_create_errhandler(error_count, &counts));
    CHECK_CLASS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, counts, &comm), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Comm_create_from_group(group, "x", stale, counts, &comm), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, counts, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Intercomm_create_from_groups(MPI_GROUP_NULL, 0, group, 0, "x", MPI_INFO_NULL, counts, &comm),
                MPI_ERR_GROUP);
    CHECK_EQUAL(raised, 4);
    CHECK_OK(MPI_Errhandler_free(&counts));
}

static void errors_check(MPI_Session session)
{
    MPI_Group all, none, other_all, mixed;
    MPI_Comm comm = (MPI_Comm)1;
    char text[MPI_MAX_STRINGTAG_LEN + 10];
    int me, ranks;
    MPI_Session other = session_open(), stale = other;
    MPI_Comm ours = comm_open(session, "mpi://WORLD", "ours");
    CHECK_OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK(comm == MPI_COMM_NULL);
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    CHECK_OK(MPI_Group_from_session_pset(other, "mpi://WORLD", &other_all));
    CHECK_CLASS(MPI_Group_union(all, other_all, &mixed), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Comm_create(ours, other_all, &comm), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Comm_create_group(ours, other_all, 1, &comm), MPI_ERR_GROUP);
    CHECK_OK(MPI_Comm_create(ours, MPI_GROUP_EMPTY, &comm));
    CHECK_OK(MPI_Comm_free(&ours));
    handler_of_call_check(all);
    CHECK_OK(MPI_Group_rank(all, &me));
    CHECK_OK(MPI_Group_size(all, &ranks));
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = 0;
    CHECK_CLASS(MPI_Comm_create_from_group(all, text, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_ARG);
    if (ranks > 1) {
        CHECK_OK(MPI_Group_excl(all, 1, &me, &none));
        CHECK_CLASS(MPI_Comm_create_from_group(none, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_GROUP);
        CHECK_OK(MPI_Group_free(&none));
        if (me < 2) {
            CHECK_OK(MPI_Group_incl(all, 1, &me, &none));
            CHECK_OK(MPI_Group_incl(other_all, 1, &(int){1 - me}, &mixed));
            CHECK_CLASS(MPI_Intercomm_create_from_groups(none, 0, mixed, 0, "two", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                                         &comm), MPI_ERR_GROUP);
            CHECK_OK(MPI_Group_free(&none));
            CHECK_OK(MPI_Group_free(&mixed));
        }
        /* member 1 has another group: the error is at all */
        int list[8] = {0, 1}, count = ranks;
        for (int i = 0; i < ranks; i++)
            list[i] = i;
        if (me == 1)
            count = 2, list[0] = 0, list[1] = 1;
        if (ranks > 2) {
            CHECK_OK(MPI_Group_incl(all, count, list, &mixed));
            CHECK_CLASS(MPI_Comm_create_from_group(mixed, "differ", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
                        MPI_ERR_GROUP);
            CHECK_OK(MPI_Group_free(&mixed));
        }
    }
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Session_finalize(&other));
    CHECK_OK(MPI_Group_rank(other_all, &me)); /* it lives on */
    CHECK_OK(MPI_Group_free(&other_all));
    CHECK_CLASS(MPI_Session_finalize(&stale), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_finalize(&other), MPI_ERR_SESSION);
}

int main(int argc, char **argv)
{
    if (argc == 2) { /* one order: session_orders.sh tries all */
        order_run(argv[1]);
        return check_done();
    }
    static const char *const before[] = {"Aa", "AaBb", "ABab", "ABba", "AaAa", "AaABba"};
    static const char *const world[] = {"AWBbwa"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        order_run(before[i]);
    info_check();
    handlers_check();
    MPI_Session session = session_open();
    sets_check(session);
    attributes_check(session);
    buffers_check(session);
    inter_check(session);
    errors_check(session);
    CHECK_OK(MPI_Session_finalize(&session));
    order_run(world[0]);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        order_run(before[i]);
    return check_done();
}
