/* Waiting for requests and testing them: one, all, any, some; and looking without finishing.
 *
 * Handles are looked up again at every turn: an array that names a request twice finds the second one gone, which is an
 * error like any other. Null handles and inactive persistent requests count as not there. */
#include "mpi/request.h"

struct request_list { /* the arguments of an array call */
    const char *call;
    int count;
    MPI_Request *request;
    MPI_Status *status; /* MPI_STATUSES_IGNORE: none */
};

static MPI_Status *status_at(const struct request_list *list, int i)
{
    return list->status == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &list->status[i];
}

/* The active request at *HANDLE, NULL if there is nothing to wait for; *error is raised for a handle that is none. */
static struct mpi_request *request_find(const char *call, MPI_Request handle, int *error)
{
    *error = MPI_SUCCESS;
    if (handle == MPI_REQUEST_NULL)
        return NULL;
    struct mpi_request *request = mpi_request_at(handle);
    if (unlikely(!request)) {
        *error = mpi_wrong(NULL, call, &mpi_kind_request, handle);
        return NULL;
    }
    return request->active ? request : NULL;
}

/* Finishes a complete request. Raises. */
MPI_HOT int request_finish(const char *call, MPI_Request *handle, struct mpi_request *request, MPI_Status *status)
{
    int class = mpi_request_outcome(request, status, true);
    if (unlikely(class))
        class = mpi_request_raise(call, request, class);
    mpi_request_retire(handle, request);
    return class;
}

static int arguments_check(const struct request_list *list)
{
    if (unlikely(list->count < 0))
        return mpi_error(NULL, list->call, MPI_ERR_COUNT, "count %d is negative", list->count);
    if (unlikely(list->count > 0 && !list->request))
        return mpi_null(NULL, list->call, "array_of_requests");
    return MPI_SUCCESS;
}

static int list_check(const struct request_list *list)
{
    int wrong = arguments_check(list);
    if (unlikely(wrong))
        return wrong;
    for (int i = 0; i < list->count; i++) {
        int error;
        request_find(list->call, list->request[i], &error);
        if (unlikely(error))
            return error;
    }
    return MPI_SUCCESS;
}

/* ---- one ---- */

MPI_HOT int request_wait_finish(const char *call, MPI_Request *handle, struct mpi_request *request, MPI_Status *status)
{
    int error = mpi_request_done(request) ? OK : mpi_request_wait(request);
    if (unlikely(error))
        return mpi_engine_error(request->comm, call, error);
    return request_finish(call, handle, request, status);
}

int mpi_request_complete(const char *call, struct mpi_request *request, MPI_Status *status)
{
    return request_wait_finish(call, &(MPI_Request){0}, request, status);
}

ENTRY(MPI_Wait)(MPI_Request *handle, MPI_Status *status)
{
    int error;
    ENTER("MPI_Wait");
    if (unlikely(!handle))
        return mpi_null(NULL, NAME, "request");
    struct mpi_request *request = request_find(NAME, *handle, &error);
    if (!request) {
        mpi_status_empty(status);
        return error;
    }
    return request_wait_finish(NAME, handle, request, status);
}

/* Complete, after one round of progress at most. */
static bool request_try(struct mpi_request *request)
{
    if (mpi_request_done(request))
        return true;
    vmsg_progress();
    return mpi_request_done(request);
}

ENTRY(MPI_Test)(MPI_Request *handle, int *flag, MPI_Status *status)
{
    int error;
    ENTER("MPI_Test");
    if (unlikely(!handle || !flag))
        return mpi_null(NULL, NAME, handle ? "flag" : "request");
    struct mpi_request *request = request_find(NAME, *handle, &error);
    if (error)
        return error;
    *flag = !request || request_try(request);
    if (!*flag && likely(vmsg_failure() == OK))
        return MPI_SUCCESS;
    if (!*flag)
        return request_wait_finish(NAME, handle, request, status); /* ends at once: the job is lost */
    if (request)
        return request_finish(NAME, handle, request, status);
    mpi_status_empty(status);
    return MPI_SUCCESS;
}

/* ---- all ---- */

/* Which requests failed, as the statuses must tell. */
struct failures {
    bool any;
    struct mpi_comm *comm; /* of the first one, kept until it is raised */
};

static void failure_note(struct failures *failures, struct mpi_comm *comm)
{
    if (!failures->any && comm) {
        mpi_object_keep(comm);
        failures->comm = comm;
    }
    failures->any = true;
}

/* Tells number I of a list, whose errors go into the statuses, in STATUS. LAST: and finishes it. */
MPI_HOT void list_tell(const struct request_list *list, int i, MPI_Status *status, bool last, struct failures *failures)
{
    struct mpi_request *request = mpi_request_at(list->request[i]);
    int class = MPI_SUCCESS;
    if (unlikely(!request && list->request[i] != MPI_REQUEST_NULL))
        class = MPI_ERR_REQUEST; /* named twice, and the first one took it */
    if (unlikely(!request || !request->active)) {
        mpi_status_empty(status);
    } else {
        class = mpi_request_outcome(request, status, last);
        if (unlikely(class) && last)
            failure_note(failures, request->comm);
        if (last)
            mpi_request_retire(&list->request[i], request);
    }
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = class;
    failures->any |= class && last;
}

static int failures_raise(const struct request_list *list, const struct failures *failures)
{
    if (likely(!failures->any))
        return MPI_SUCCESS;
    int class = mpi_error(failures->comm, list->call, MPI_ERR_IN_STATUS, "one of %d requests failed", list->count);
    if (failures->comm)
        mpi_comm_drop(failures->comm);
    return class;
}

ENTRY(MPI_Waitall)(int count, MPI_Request requests[], MPI_Status statuses[])
{
    const struct request_list list = {NAME, count, requests, statuses};
    struct failures failures = {0};
    ENTER("MPI_Waitall");
    int error = arguments_check(&list);
    for (int i = 0; i < count && likely(!error); i++) {
        struct mpi_request *request = mpi_request_at(requests[i]);
        if (unlikely(request && request->active && !mpi_request_done(request)) && (error = mpi_request_wait(request)))
            error = mpi_engine_error(request->comm, NAME, error);
        if (likely(!error))
            list_tell(&list, i, status_at(&list, i), true, &failures);
    }
    return likely(!error) ? failures_raise(&list, &failures) : error;
}

#define NONE_ACTIVE (-1)
#define NONE_DONE (-2)

/* NONE_DONE as long as any is not. */
static int list_all_done(const struct request_list *list)
{
    for (int i = 0; i < list->count; i++) {
        struct mpi_request *request = mpi_request_at(list->request[i]);
        if (request && request->active && !mpi_request_done(request))
            return NONE_DONE;
    }
    return 0;
}

/* What LOOK says, after one round of progress at most. */
static int list_try(const struct request_list *list, int (*look)(const struct request_list *))
{
    int found = look(list);
    if (found != NONE_DONE)
        return found;
    vmsg_progress();
    return look(list);
}

/* A look found none done: an error where none ever will be. */
static int list_none_done(const struct request_list *list)
{
    int error = vmsg_failure();
    return error ? mpi_engine_error(NULL, list->call, error) : MPI_SUCCESS;
}

static int all_test(const struct request_list *list, int *flag, bool last)
{
    struct failures failures = {0};
    mpi_enter(list->call);
    TRACE(list->call);
    int error = list_check(list);
    if (error)
        return error;
    if (!flag)
        return mpi_null(NULL, list->call, "flag");
    *flag = list_try(list, list_all_done) != NONE_DONE;
    if (!*flag)
        return list_none_done(list);
    for (int i = 0; i < list->count; i++)
        list_tell(list, i, status_at(list, i), last, &failures);
    return failures_raise(list, &failures);
}

#define LIST(statuses) &(struct request_list){NAME, count, (MPI_Request *)requests, statuses}
ENTRY(MPI_Testall)(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
    { DOING("MPI_Testall"); return all_test(LIST(statuses), flag, true); }
ENTRY(MPI_Request_get_status_all)(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[])
    { DOING("MPI_Request_get_status_all"); return all_test(LIST(statuses), flag, false); }

/* ---- any ---- */

/* The first complete request, or why there is none. */
static int list_first_done(const struct request_list *list)
{
    int found = NONE_ACTIVE;
    for (int i = 0; i < list->count; i++) {
        struct mpi_request *request = mpi_request_at(list->request[i]);
        if (!request || !request->active)
            continue;
        if (mpi_request_done(request))
            return i;
        found = NONE_DONE;
    }
    return found;
}

static bool list_any_done(void *context) { return list_first_done(context) != NONE_DONE; }

/* Until any is done, or none is active. An error is raised. */
static int list_wait_any(struct request_list *list)
{
    int error = list_any_done(list) ? OK : vmsg_wait_until(list_any_done, list);
    return error ? mpi_engine_error(NULL, list->call, error) : MPI_SUCCESS;
}

/* FLAG is NULL: until one is done. LAST: it is finished. */
static int any_finish(struct request_list *list, int *index, int *flag, MPI_Status *status, bool last)
{
    mpi_enter(list->call);
    TRACE(list->call);
    int error = list_check(list);
    if (!error && !index)
        error = mpi_null(NULL, list->call, "index");
    if (!error && !flag)
        error = list_wait_any(list);
    if (error)
        return error;
    int i = flag ? list_try(list, list_first_done) : list_first_done(list);
    *index = i >= 0 ? i : MPI_UNDEFINED;
    if (flag)
        *flag = i != NONE_DONE;
    if (i >= 0 && last)
        return request_finish(list->call, &list->request[i], mpi_request_at(list->request[i]), status);
    if (i >= 0)
        mpi_request_outcome(mpi_request_at(list->request[i]), status, false);
    else if (i == NONE_ACTIVE)
        mpi_status_empty(status);
    return i == NONE_DONE ? list_none_done(list) : MPI_SUCCESS;
}

static int any_test(struct request_list *list, int *index, int *flag, MPI_Status *status, bool last)
{
    return flag ? any_finish(list, index, flag, status, last) : mpi_null(NULL, list->call, "flag");
}

#define ANY(constant) int count, constant MPI_Request requests[], int *index
#define BARE LIST(MPI_STATUSES_IGNORE)
ENTRY(MPI_Waitany)(ANY(), MPI_Status *status)
    { DOING("MPI_Waitany"); return any_finish(BARE, index, NULL, status, true); }
ENTRY(MPI_Testany)(ANY(), int *flag, MPI_Status *status)
    { DOING("MPI_Testany"); return any_test(BARE, index, flag, status, true); }
ENTRY(MPI_Request_get_status)(MPI_Request request, int *flag, MPI_Status *status)
{
    DOING("MPI_Request_get_status");
    return any_test(&(struct request_list){NAME, 1, &request, MPI_STATUSES_IGNORE}, &(int){0}, flag, status, false);
}
ENTRY(MPI_Request_get_status_any)(ANY(const), int *flag, MPI_Status *status)
    { DOING("MPI_Request_get_status_any"); return any_test(BARE, index, flag, status, false); }

/* ---- some ---- */

static int some_tell(const struct request_list *list, int *count, int indices[], bool last)
{
    struct failures failures = {0};
    int n = 0;
    for (int i = 0; i < list->count; i++) {
        struct mpi_request *request = mpi_request_at(list->request[i]);
        if (!request || !request->active || !mpi_request_done(request))
            continue;
        list_tell(list, i, status_at(list, n), last, &failures);
        indices[n++] = i;
    }
    *count = n;
    return failures_raise(list, &failures);
}

/* WAIT: until some are done, else after one look. LAST: they are finished. */
static int some_finish(struct request_list *list, int *done, int indices[], bool wait, bool last)
{
    mpi_enter(list->call);
    TRACE(list->call);
    int error = list_check(list);
    if (!error && (!done || (list->count > 0 && !indices)))
        error = mpi_null(NULL, list->call, done ? "array_of_indices" : "outcount");
    if (!error && wait)
        error = list_wait_any(list);
    if (error)
        return error;
    int found = wait ? list_first_done(list) : list_try(list, list_first_done);
    if (found >= 0)
        return some_tell(list, done, indices, last);
    *done = found == NONE_ACTIVE ? MPI_UNDEFINED : 0;
    return found == NONE_ACTIVE ? MPI_SUCCESS : list_none_done(list);
}

#define SOME(constant)                                                                                                 \
    int count, constant MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]
ENTRY(MPI_Waitsome)(SOME())
    { DOING("MPI_Waitsome"); return some_finish(LIST(statuses), done, indices, true, true); }
ENTRY(MPI_Testsome)(SOME())
    { DOING("MPI_Testsome"); return some_finish(LIST(statuses), done, indices, false, true); }
ENTRY(MPI_Request_get_status_some)(SOME(const))
    { DOING("MPI_Request_get_status_some"); return some_finish(LIST(statuses), done, indices, false, false); }
