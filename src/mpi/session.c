/* Sessions: each begins and ends by itself, before, without, beside and after the world, in any thread. What is made
 * from a session stays after its end, as far as it is in use. Groups are made from sets of processes (process_set.c),
 * communicators from groups (from_group.c). */
#include "mpi/session.h"
#include "mpi/check.h"
#include "mpi/hints.h"
#include "mpi/message.h"
#include "mpi/request.h"

static struct base_lock lock; /* of the list */

static const struct {
    const char *name;
    int level;
} levels[] = {{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
              {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
              {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
              {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};

/* ---- begin and end ---- */

/* MPI_THREAD_MULTIPLE where INFO asks for nothing. */
static int level_find(const char *call, struct mpi_thing *thing, MPI_Info info, int *level)
{
    const char *asked = info == MPI_INFO_NULL ? NULL : mpi_info_value(mpi_info_at(info), "thread_level");
    *level = MPI_THREAD_MULTIPLE;
    for (size_t i = 0; asked && i < ARRAY_LENGTH(levels); i++)
        if (strcmp(asked, levels[i].name) == 0)
            return mpi_tell(level, levels[i].level);
    return asked ? mpi_error(thing, call, MPI_ERR_INFO_VALUE, "thread_level is \"%s\" in the info", asked)
                 : MPI_SUCCESS;
}

static void session_list(struct mpi_session *session)
{
    base_lock(&lock);
    session->next = mpi_process.session;
    mpi_process.session = session;
    base_unlock(&lock);
}

static void session_unlist(struct mpi_session *session)
{
    base_lock(&lock);
    struct mpi_session **place = &mpi_process.session;
    while (*place && *place != session)
        place = &(*place)->next;
    if (*place)
        *place = session->next;
    base_unlock(&lock);
}

/* Locks are taken from here on, whatever the level: other sessions may be used by other threads. */
static int session_open(const char *call, MPI_Info info, struct mpi_errhandler *handler, MPI_Session *out)
{
    struct mpi_thing none = {.errhandler = handler, .name = (char *)"MPI_SESSION_NULL"};
    int level, error = level_find(call, &none, info, &level) ?: mpi_process_begin(call, &none, true);
    if (error)
        return error;
    struct mpi_session *session = mpi_object_take(&mpi_kind_session);
    if (!session) {
        mpi_process_end();
        return mpi_error(&none, call, MPI_ERR_NO_MEM, "no memory for a session");
    }
    mpi_keep(handler);
    session->thing.errhandler = handler;
    session->thing.rank = mpi_process.job->rank;
    session->thread_level = level;
    session_list(session);
    *out = mpi_object_deliver(session);
    return MPI_SUCCESS;
}

ENTRY(MPI_Session_init)(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    struct mpi_errhandler *handler = mpi_errhandler_at(errhandler);
    if (!handler || (!mpi_predefined(handler) && handler->of != KIND_SESSION))
        return mpi_error(NULL, NAME, MPI_ERR_ERRHANDLER, "%p is no error handler of sessions", (void *)errhandler);
    struct mpi_thing none = {.errhandler = handler, .name = (char *)"MPI_SESSION_NULL"};
    if (!session)
        return mpi_null(&none, NAME, "session");
    if (info != MPI_INFO_NULL && !mpi_info_at(info))
        return mpi_wrong(&none, NAME, &mpi_kind_info, info);
    return session_open(NAME, info, handler, session);
}

/* What is still used of it keeps it alive. */
static int session_close(const char *call, MPI_Session *handle)
{
    struct mpi_session *session = mpi_session_at(*handle);
    int error = mpi_buffer_flush(call, &session->thing, &session->buffer);
    if (error)
        return error;
    if (!mpi_object_unpublish(session))
        return mpi_wrong(NULL, call, &mpi_kind_session, *handle);
    if (mpi_process_leave()) {
        mpi_check_leftovers();
        if (mpi_buffer_flush(call, &session->thing, &mpi_process_buffer) == MPI_SUCCESS)
            mpi_process_buffer.attached = NULL;
        mpi_handles_finish();
    }
    session_unlist(session);
    mpi_drop(session);
    *handle = MPI_SESSION_NULL;
    mpi_process_end();
    return MPI_SUCCESS;
}
ENTRY(MPI_Session_finalize)(MPI_Session *session)
    { return CHECK_WAITS(BEHIND(mpi_kind_session, session)) ?: session_close(NAME, session); }

/* ---- questions ---- */

static int info_tell(const char *call, struct mpi_session *session, MPI_Info *out)
{
    const char *level = levels[0].name;
    for (size_t i = 0; i < ARRAY_LENGTH(levels); i++)
        if (levels[i].level == session->thread_level)
            level = levels[i].name;
    struct mpi_info *info = mpi_info_of("thread_level", level);
    mpi_memory_kinds(&info);
    return mpi_info_deliver(&session->thing, call, info, out);
}
ENTRY(MPI_Session_get_info)(MPI_Session session, MPI_Info *info_used)
    { return CHECK(SESSION_OF(session), GIVEN(info_used)) ?: info_tell(NAME, mpi_session_at(session), info_used); }

static int sets_count(void)
{
    int count = 0;
    char name[MPI_MAX_PSET_NAME_LEN];
    while (mpi_process_set(count, name))
        count++;
    return count;
}
ENTRY(MPI_Session_get_num_psets)(MPI_Session session, MPI_Info info, int *npset_names)
    { return CHECK(SESSION_OF(session), HINTS(info), GIVEN(npset_names)) ?: mpi_tell(npset_names, sets_count()); }

/* *LENGTH 0 asks for the length, with the final NUL, and nothing else. */
static int set_nth(const char *call, struct mpi_session *session, int n, int *length, char *out)
{
    char name[MPI_MAX_PSET_NAME_LEN];
    if (n < 0 || !mpi_process_set(n, name))
        return mpi_error(session, call, MPI_ERR_ARG, "there is no process set number %d of %d", n, sets_count());
    if (*length < 0 || (*length > 0 && !out))
        return mpi_error(session, call, MPI_ERR_ARG, "pset_len is %d and pset_name %p", *length, (void *)out);
    if (*length > 0)
        snprintf(out, (size_t)*length, "%s", name);
    return mpi_tell(length, (int)strlen(name) + 1);
}
ENTRY(MPI_Session_get_nth_pset)(MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name)
    { return CHECK(SESSION_OF(session), HINTS(info), GIVEN(pset_len)) ?:
             set_nth(NAME, mpi_session_at(session), n, pset_len, pset_name); }

/* The ranks of a set, to be freed. A class that was raised. */
static int set_find(const char *call, struct mpi_session *session, const char *name, int **ranks, int *size)
{
    *ranks = mpi_process_set_ranks(name, size);
    if (*ranks)
        return MPI_SUCCESS;
    return *size < 0 ? mpi_error(session, call, MPI_ERR_ARG, "there is no process set \"%.100s\"", name)
                     : mpi_error(session, call, MPI_ERR_NO_MEM, "no memory for the %d ranks of %.100s", *size, name);
}

static int set_tell(const char *call, struct mpi_session *session, const char *name, MPI_Info *out)
{
    int *ranks, size, error = set_find(call, session, name, &ranks, &size);
    char text[16];
    if (error)
        return error;
    free(ranks);
    snprintf(text, sizeof text, "%d", size);
    return mpi_info_deliver(&session->thing, call, mpi_info_of("mpi_size", text), out);
}
ENTRY(MPI_Session_get_pset_info)(MPI_Session session, const char *pset_name, MPI_Info *info)
    { return CHECK(SESSION_OF(session), GIVEN(pset_name), GIVEN(info)) ?:
             set_tell(NAME, mpi_session_at(session), pset_name, info); }

static int set_group(const char *call, struct mpi_session *session, const char *name, MPI_Group *out)
{
    const struct mpi_group of = {.session = session};
    int *ranks, size;
    *out = MPI_GROUP_NULL;
    int error = set_find(call, session, name, &ranks, &size);
    if (error)
        return error;
    struct mpi_group *group = mpi_group_make(size, ranks, &of);
    free(ranks);
    if (!group)
        return mpi_error(session, call, MPI_ERR_NO_MEM, "no memory for a group of %d ranks", size);
    *out = mpi_object_deliver(group);
    return MPI_SUCCESS;
}
ENTRY(MPI_Group_from_session_pset)(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
    { return CHECK(SESSION_OF(session), GIVEN(pset_name), GIVEN(newgroup)) ?:
             set_group(NAME, mpi_session_at(session), pset_name, newgroup); }
