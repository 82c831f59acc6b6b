/* MPI_T: performance variables, the rows of base/counters.def, and behind them the messages and bytes that were sent to
 * each member of a communicator. A handle of a counter counts from where it is started; a level is read as it is. The
 * counters go on whatever a tool does; what goes to members is counted while a handle of that is started. */
#include "mpi/check.h"
#include "mpi/process.h"
#include "mpi/tool.h"

enum { COMM_MESSAGES, COMM_BYTES, OF_COMMS };
static const struct {
    const char *name, *help;
} of_comm[OF_COMMS] = {
    {"comm_messages", "messages sent to each member of the communicator (of the remote group of an intercommunicator)"},
    {"comm_bytes", "payload sent to each member of the communicator (of the remote group of an intercommunicator)"},
};

struct session {
    struct tool_handle handle;
    struct tool_handle *variables;
};
static struct tool_handle *sessions;

struct variable { /* a handle */
    struct tool_handle handle;
    int index, count;
    bool started;
    struct mpi_comm *comm; /* NULL: a counter of the process */
    uint64_t sum[];        /* of COUNT numbers, until they were stopped; then as many: what there was at the start */
};

static int counting;

/* ---- the table ---- */

static int counters(void) { return (int)vbase_counter_count; }
int mpi_tool_pvars(void) { return counters() + OF_COMMS; }
static bool is_index(int index) { return index >= 0 && index < mpi_tool_pvars(); }
static bool is_of_comm(int index) { return index >= counters(); }
static const char *name_of(int index)
{
    return is_of_comm(index) ? of_comm[index - counters()].name : vbase_counter_table[index].name;
}
const char *mpi_tool_pvar_group(int index)
{
    return is_of_comm(index) ? "messages" : vbase_counter_table[index].group;
}
static bool is_level(int index)
{
    return !is_of_comm(index) && vbase_counter_table[index].class == COUNTER_LEVEL;
}
static int class_of(int index) { return is_level(index) ? MPI_T_PVAR_CLASS_LEVEL : MPI_T_PVAR_CLASS_COUNTER; }

ENTRY(MPI_T_pvar_get_num)(int *num_pvar) { return mpi_tool_closed() ?: mpi_tool_number(num_pvar, mpi_tool_pvars()); }

ENTRY(MPI_T_pvar_get_index)(const char *name, int var_class, int *pvar_index)
{
    int found, error = mpi_tool_closed() ?: mpi_tool_find(name, mpi_tool_pvars(), name_of, &found);
    if (error || !pvar_index || class_of(found) != var_class)
        return error ?: pvar_index ? MPI_T_ERR_INVALID_NAME : MPI_T_ERR_INVALID;
    return mpi_tool_number(pvar_index, found);
}

ENTRY(MPI_T_pvar_get_info)(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                           MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind,
                           int *readonly, int *continuous, int *atomic)
{
    int error = mpi_tool_closed();
    char text[512];
    if (error || !is_index(pvar_index))
        return error ?: MPI_T_ERR_INVALID_INDEX;
    bool comm = is_of_comm(pvar_index), level = is_level(pvar_index);
    const struct base_counter *row = &vbase_counter_table[comm ? 0 : pvar_index];
    snprintf(text, sizeof text, "%s%s%s%s", comm ? of_comm[pvar_index - counters()].help : row->help, comm ? "" : " (",
             comm ? "" : row->unit, comm ? "" : ")");
    if (datatype)
        *datatype = MPI_UNSIGNED_LONG_LONG;
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    return mpi_tool_text(name, name_len, name_of(pvar_index))
               ?: mpi_tool_number(verbosity, MPI_T_VERBOSITY_USER_BASIC)
               ?: mpi_tool_number(var_class, class_of(pvar_index)) ?: mpi_tool_text(desc, desc_len, text)
               ?: mpi_tool_number(bind, comm ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT)
               ?: mpi_tool_number(readonly, level) ?: mpi_tool_number(continuous, level)
               ?: mpi_tool_number(atomic, 0);
}

/* ---- values ---- */

void mpi_tool_count(struct mpi_comm *comm, int rank, uint64_t bytes)
{
    /* acquire: pairs with traffic_open */
    struct mpi_traffic *traffic = atomic_load_explicit(&comm->traffic, memory_order_acquire);
    if (!traffic)
        return;
    atomic_fetch_add_explicit(&traffic[rank].messages, 1, memory_order_relaxed); /* counts */
    atomic_fetch_add_explicit(&traffic[rank].bytes, bytes, memory_order_relaxed);
}

static uint64_t value_now(const struct variable *variable, int i)
{
    if (!variable->comm)
        return __atomic_load_n((uint64_t *)(void *)((char *)vbase_counters +
                                                    vbase_counter_table[variable->index].offset), __ATOMIC_RELAXED);
    struct mpi_traffic *of = &variable->comm->traffic[i];
    return atomic_load_explicit(variable->index - counters() == COMM_BYTES ? &of->bytes : &of->messages,
                                memory_order_relaxed);
}

static uint64_t value_of(const struct variable *variable, int i)
{
    if (is_level(variable->index))
        return value_now(variable, i);
    return variable->sum[i] + (variable->started ? value_now(variable, i) - variable->sum[variable->count + i] : 0);
}

static void value_set(struct variable *variable, int i, uint64_t value)
{
    variable->sum[i] = value;
    variable->sum[variable->count + i] = value_now(variable, i);
}

/* Under the lock. */
static void variable_switch(struct variable *variable, bool start)
{
    if (variable->started == start)
        return;
    for (int i = 0; i < variable->count; i++)
        value_set(variable, i, value_of(variable, i));
    variable->started = start;
    if (!variable->comm)
        return;
    counting += start ? 1 : -1;
    mpi_tool_counting = counting > 0;
    mpi_watching_settle();
    mpi_tool_watch(start ? 1 : -1);
}

/* ---- sessions and handles ---- */

static struct session *session_at(MPI_T_pvar_session session)
{
    return mpi_tool_there(&sessions, session) ? (struct session *)(void *)session : NULL;
}

ENTRY(MPI_T_pvar_session_create)(MPI_T_pvar_session *session)
{
    int error = mpi_tool_closed();
    if (error || !session)
        return error ?: MPI_T_ERR_INVALID;
    struct session *made = mpi_tool_make(&sessions, sizeof *made);
    if (!made)
        return MPI_T_ERR_OUT_OF_SESSIONS;
    *session = (MPI_T_pvar_session)made;
    return MPI_SUCCESS;
}

static void variable_free(struct session *session, struct variable *variable)
{
    base_lock(&mpi_tool_lock);
    variable_switch(variable, false);
    base_unlock(&mpi_tool_lock);
    mpi_drop(variable->comm);
    mpi_tool_free(&session->variables, variable);
}

ENTRY(MPI_T_pvar_session_free)(MPI_T_pvar_session *handle)
{
    int error = mpi_tool_closed();
    struct session *session = error || !handle ? NULL : session_at(*handle);
    if (!session)
        return error ?: MPI_T_ERR_INVALID_SESSION;
    while (session->variables)
        variable_free(session, (struct variable *)(void *)session->variables);
    mpi_tool_free(&sessions, session);
    *handle = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

static bool traffic_open(struct mpi_comm *comm)
{
    base_lock(&mpi_tool_lock);
    if (!comm->traffic) /* release: pairs with mpi_tool_count */
        atomic_store_explicit(&comm->traffic, calloc((size_t)comm->peers + 1, sizeof(struct mpi_traffic)),
                              memory_order_release);
    base_unlock(&mpi_tool_lock);
    return comm->traffic != NULL;
}

static int variable_make(struct session *session, int index, struct mpi_comm *comm, struct variable **out)
{
    int count = comm ? comm->peers : 1;
    if (comm && !traffic_open(comm))
        return MPI_T_ERR_MEMORY;
    struct variable *variable =
        mpi_tool_make(&session->variables, sizeof *variable + 2 * (size_t)count * sizeof(uint64_t));
    if (!variable)
        return MPI_T_ERR_OUT_OF_HANDLES;
    variable->index = index;
    variable->count = count;
    mpi_keep(variable->comm = comm);
    *out = variable;
    return MPI_SUCCESS;
}

ENTRY(MPI_T_pvar_handle_alloc)(MPI_T_pvar_session handle, int pvar_index, void *obj_handle, MPI_T_pvar_handle *out,
                               int *count)
{
    int error = mpi_tool_closed();
    struct session *session = error ? NULL : session_at(handle);
    struct mpi_comm *comm = NULL;
    struct variable *variable;
    if (!session)
        return error ?: MPI_T_ERR_INVALID_SESSION;
    if (!is_index(pvar_index))
        return MPI_T_ERR_INVALID_INDEX;
    if (is_of_comm(pvar_index) && obj_handle)
        comm = mpi_comm_at(*(MPI_Comm *)obj_handle);
    if (!out || is_of_comm(pvar_index) != (comm != NULL))
        return MPI_T_ERR_INVALID;
    error = variable_make(session, pvar_index, comm, &variable);
    if (error)
        return error;
    *out = (MPI_T_pvar_handle)variable;
    return mpi_tool_number(count, variable->count);
}

/* The handle in SESSION; a class. */
static int variable_find(MPI_T_pvar_session handle, MPI_T_pvar_handle variable, struct session **session,
                         struct variable **out)
{
    int error = mpi_tool_closed();
    *session = error ? NULL : session_at(handle);
    if (!*session)
        return error ?: MPI_T_ERR_INVALID_SESSION;
    *out = (struct variable *)(void *)variable;
    return mpi_tool_there(&(*session)->variables, variable) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

ENTRY(MPI_T_pvar_handle_free)(MPI_T_pvar_session handle, MPI_T_pvar_handle *place)
{
    struct session *session;
    struct variable *variable;
    int error = place ? variable_find(handle, *place, &session, &variable) : MPI_T_ERR_INVALID_HANDLE;
    if (error)
        return error;
    variable_free(session, variable);
    *place = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

/* ---- start, stop, read, write ---- */

enum action { STARTS, STOPS, RESETS };

/* Whether it can be done: a level is always there, and only read. */
static int action_run(struct variable *variable, enum action action)
{
    if (is_level(variable->index))
        return action == RESETS ? MPI_T_ERR_PVAR_NO_WRITE : MPI_T_ERR_PVAR_NO_STARTSTOP;
    base_lock(&mpi_tool_lock);
    if (action != RESETS)
        variable_switch(variable, action == STARTS);
    for (int i = 0; i < variable->count && action == RESETS; i++)
        value_set(variable, i, 0);
    base_unlock(&mpi_tool_lock);
    return MPI_SUCCESS;
}

/* Of one, or of all of a session, where those that cannot are passed over. */
static int action_of(MPI_T_pvar_session handle, MPI_T_pvar_handle place, enum action action)
{
    struct variable *variable;
    struct session *session;
    int error = variable_find(handle, place, &session, &variable);
    if (error != MPI_T_ERR_INVALID_HANDLE || place != MPI_T_PVAR_ALL_HANDLES)
        return error ?: action_run(variable, action);
    for (struct tool_handle *at = session->variables; at; at = at->next)
        (void)action_run((struct variable *)(void *)at, action);
    return MPI_SUCCESS;
}
ENTRY(MPI_T_pvar_start)(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
    { return action_of(session, handle, STARTS); }
ENTRY(MPI_T_pvar_stop)(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
    { return action_of(session, handle, STOPS); }
ENTRY(MPI_T_pvar_reset)(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
    { return action_of(session, handle, RESETS); }

ENTRY(MPI_T_pvar_read)(MPI_T_pvar_session handle, MPI_T_pvar_handle place, void *buf)
{
    struct session *session;
    struct variable *variable;
    int error = variable_find(handle, place, &session, &variable);
    if (error || !buf)
        return error ?: MPI_T_ERR_INVALID;
    base_lock(&mpi_tool_lock);
    for (int i = 0; i < variable->count; i++)
        ((uint64_t *)buf)[i] = value_of(variable, i);
    base_unlock(&mpi_tool_lock);
    return MPI_SUCCESS;
}

/* Not at one moment: the counters go on meanwhile. */
ENTRY(MPI_T_pvar_readreset)(MPI_T_pvar_session handle, MPI_T_pvar_handle place, void *buf)
{
    struct session *session;
    struct variable *variable;
    (void)buf;
    return variable_find(handle, place, &session, &variable) ?: MPI_T_ERR_PVAR_NO_ATOMIC;
}

ENTRY(MPI_T_pvar_write)(MPI_T_pvar_session handle, MPI_T_pvar_handle place, const void *buf)
{
    struct session *session;
    struct variable *variable;
    int error = variable_find(handle, place, &session, &variable);
    if (error || !buf || is_level(variable->index))
        return error ?: buf ? MPI_T_ERR_PVAR_NO_WRITE : MPI_T_ERR_INVALID;
    base_lock(&mpi_tool_lock);
    for (int i = 0; i < variable->count; i++)
        value_set(variable, i, ((const uint64_t *)buf)[i]);
    base_unlock(&mpi_tool_lock);
    return MPI_SUCCESS;
}
