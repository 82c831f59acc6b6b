/* MPI_T: events: what there is, and who registers for it (tool_deliver.c gives them to the callbacks). */
#include "mpi/info.h"
#include "mpi/process.h"
#include "mpi/tool.h"

static const struct {
    const char *name, *group, *help;
    int elements; /* of `elements` below, from the first */
} events[MSG_EVENTS] = {
    [MSG_EVENT_LINK_DOWN] = {"link_down", "network",
                             "a connection over a pair of network cards was lost: the rank in the job at its end", 1},
    [MSG_EVENT_LINK_UP] = {"link_up", "network",
                           "a connection over a pair of network cards came up: the rank in the job at its end", 1},
    [MSG_EVENT_UNEXPECTED] = {"unexpected", "messages",
                              "a message came before its receive: the rank in the job that sent it, its bytes", 2},
};
static const struct {
    MPI_Datatype type;
    size_t size, offset;
} elements[] = {{MPI_INT, sizeof(int), offsetof(struct msg_event, rank)},
                {MPI_UINT64_T, sizeof(uint64_t), offsetof(struct msg_event, bytes)}};

const char *mpi_tool_event_group(int index) { return events[index].group; }
static const char *name_of(int index) { return events[index].name; }
static bool is_index(int index) { return index >= 0 && index < MSG_EVENTS; }

ENTRY(MPI_T_event_get_num)(int *num_events) { return mpi_tool_closed() ?: mpi_tool_number(num_events, MSG_EVENTS); }
ENTRY(MPI_T_event_get_index)(const char *name, int *event_index)
    { return mpi_tool_closed() ?: mpi_tool_find(name, MSG_EVENTS, name_of, event_index); }

static int info_none(MPI_Info *info)
{
    struct mpi_info *made = info ? mpi_info_copy(NULL) : NULL;
    if (info && !made)
        return MPI_T_ERR_MEMORY;
    if (info)
        *info = mpi_object_deliver(made);
    return MPI_SUCCESS;
}

ENTRY(MPI_T_event_get_info)(int event_index, char *name, int *name_len, int *verbosity,
                            MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements,
                            MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len, int *bind)
{
    int error = mpi_tool_closed();
    if (error || !is_index(event_index))
        return error ?: MPI_T_ERR_INVALID_INDEX;
    int room = num_elements ? *num_elements : 0;
    for (int i = 0, offset = 0; i < events[event_index].elements && i < room; i++) {
        offset = (offset + (int)elements[i].size - 1) / (int)elements[i].size * (int)elements[i].size;
        if (array_of_datatypes)
            array_of_datatypes[i] = elements[i].type;
        if (array_of_displacements)
            array_of_displacements[i] = offset;
        offset += (int)elements[i].size;
    }
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    return mpi_tool_text(name, name_len, events[event_index].name)
               ?: mpi_tool_number(verbosity, MPI_T_VERBOSITY_USER_BASIC)
               ?: mpi_tool_number(num_elements, events[event_index].elements) ?: info_none(info)
               ?: mpi_tool_text(desc, desc_len, events[event_index].help)
               ?: mpi_tool_number(bind, MPI_T_BIND_NO_OBJECT);
}

/* ---- registrations ---- */

static struct tool_registration *registration_at(MPI_T_event_registration handle)
{
    struct tool_registration *registration = (struct tool_registration *)(void *)handle;
    return mpi_tool_there(&mpi_tool_registrations, handle) && !registration->freed ? registration : NULL;
}

/* Under the lock: what the engine is to note. */
static void wanted_tell(void)
{
    uint32_t wanted = 0;
    for (struct tool_handle *at = mpi_tool_registrations; at; at = at->next)
        wanted |= ((struct tool_registration *)(void *)at)->freed ? 0
                                                             : 1u << ((struct tool_registration *)(void *)at)->event;
    atomic_store_explicit(&vmsg_events_wanted, wanted, memory_order_relaxed); /* see VMSG_EVENT */
}

ENTRY(MPI_T_event_handle_alloc)(int event_index, void *obj_handle, MPI_Info info, MPI_T_event_registration *out)
{
    int error = mpi_tool_closed();
    (void)obj_handle, (void)info;
    if (error || !is_index(event_index) || !out)
        return error ?: out ? MPI_T_ERR_INVALID_INDEX : MPI_T_ERR_INVALID;
    struct tool_registration *made = mpi_tool_make(&mpi_tool_registrations, sizeof *made);
    if (!made)
        return MPI_T_ERR_OUT_OF_HANDLES;
    base_lock(&mpi_tool_lock);
    made->event = event_index;
    wanted_tell();
    base_unlock(&mpi_tool_lock);
    mpi_tool_watch(1);
    *out = (MPI_T_event_registration)made;
    return MPI_SUCCESS;
}

ENTRY(MPI_T_event_handle_free)(MPI_T_event_registration handle, void *user_data,
                               MPI_T_event_free_cb_function free_cb_function)
{
    int error = mpi_tool_closed();
    struct tool_registration *registration = error ? NULL : registration_at(handle);
    if (!registration)
        return error ?: MPI_T_ERR_INVALID_HANDLE;
    base_lock(&mpi_tool_lock);
    registration->freed = true;
    registration->freed_data = user_data;
    registration->freed_function = free_cb_function;
    wanted_tell();
    base_unlock(&mpi_tool_lock);
    mpi_tool_watch(-1);
    mpi_tool_registrations_free();
    return MPI_SUCCESS;
}

static int safety_find(MPI_T_cb_safety safety)
{
    for (int i = 0; i < TOOL_SAFETIES; i++)
        if (mpi_tool_safeties[i] == safety)
            return i;
    return -1;
}

ENTRY(MPI_T_event_register_callback)(MPI_T_event_registration handle, MPI_T_cb_safety cb_safety, MPI_Info info,
                                     void *user_data, MPI_T_event_cb_function event_cb_function)
{
    int error = mpi_tool_closed(), safety = safety_find(cb_safety);
    struct tool_registration *registration = error ? NULL : registration_at(handle);
    (void)info;
    if (!registration || safety < 0)
        return error ?: registration ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_HANDLE;
    base_lock(&mpi_tool_lock);
    registration->callback[safety].function = event_cb_function;
    registration->callback[safety].data = user_data;
    base_unlock(&mpi_tool_lock);
    return MPI_SUCCESS;
}

ENTRY(MPI_T_event_set_dropped_handler)(MPI_T_event_registration handle,
                                       MPI_T_event_dropped_cb_function dropped_cb_function)
{
    int error = mpi_tool_closed();
    struct tool_registration *registration = error ? NULL : registration_at(handle);
    if (!registration)
        return error ?: MPI_T_ERR_INVALID_HANDLE;
    base_lock(&mpi_tool_lock);
    registration->dropped = dropped_cb_function;
    base_unlock(&mpi_tool_lock);
    return MPI_SUCCESS;
}

/* No hint is understood. */
static int hints_check(MPI_T_event_registration handle, MPI_T_cb_safety safety)
{
    int error = mpi_tool_closed();
    if (error || !registration_at(handle))
        return error ?: MPI_T_ERR_INVALID_HANDLE;
    return safety_find(safety) < 0 ? MPI_T_ERR_INVALID : MPI_SUCCESS;
}
ENTRY(MPI_T_event_handle_get_info)(MPI_T_event_registration handle, MPI_Info *info_used)
    { return hints_check(handle, MPI_T_CB_REQUIRE_NONE) ?: info_none(info_used); }
ENTRY(MPI_T_event_handle_set_info)(MPI_T_event_registration handle, MPI_Info info)
{
    (void)info;
    return hints_check(handle, MPI_T_CB_REQUIRE_NONE);
}
ENTRY(MPI_T_event_callback_get_info)(MPI_T_event_registration handle, MPI_T_cb_safety cb_safety, MPI_Info *info_used)
    { return hints_check(handle, cb_safety) ?: info_none(info_used); }
ENTRY(MPI_T_event_callback_set_info)(MPI_T_event_registration handle, MPI_T_cb_safety cb_safety, MPI_Info info)
{
    (void)info;
    return hints_check(handle, cb_safety);
}

/* ---- an event, in its callback ---- */

static int element_copy(const struct msg_event *event, int index, void *buffer)
{
    if (!event || !buffer)
        return MPI_T_ERR_INVALID;
    if (index < 0 || index >= events[event->kind].elements)
        return MPI_T_ERR_INVALID_INDEX;
    memcpy(buffer, (const char *)event + elements[index].offset, elements[index].size);
    return MPI_SUCCESS;
}

ENTRY(MPI_T_event_read)(MPI_T_event_instance instance, int element_index, void *buffer)
    { return mpi_tool_closed() ?: element_copy((const void *)instance, element_index, buffer); }

ENTRY(MPI_T_event_copy)(MPI_T_event_instance instance, void *buffer)
{
    const struct msg_event *event = (const void *)instance;
    int error = mpi_tool_closed() ?: event ? MPI_SUCCESS : MPI_T_ERR_INVALID;
    for (int i = 0, offset = 0; !error && i < events[event->kind].elements; i++) {
        offset = (offset + (int)elements[i].size - 1) / (int)elements[i].size * (int)elements[i].size;
        error = element_copy(event, i, buffer ? (char *)buffer + offset : NULL);
        offset += (int)elements[i].size;
    }
    return error;
}

ENTRY(MPI_T_event_get_timestamp)(MPI_T_event_instance instance, MPI_Count *event_timestamp)
{
    const struct msg_event *event = (const void *)instance;
    int error = mpi_tool_closed();
    if (error || !event || !event_timestamp)
        return error ?: MPI_T_ERR_INVALID;
    *event_timestamp = (MPI_Count)event->ns;
    return MPI_SUCCESS;
}

ENTRY(MPI_T_event_get_source)(MPI_T_event_instance instance, int *source_index)
    { return mpi_tool_closed() ?: instance ? mpi_tool_number(source_index, 0) : MPI_T_ERR_INVALID; }

/* ---- sources: the engine ---- */

ENTRY(MPI_T_source_get_num)(int *num_sources) { return mpi_tool_closed() ?: mpi_tool_number(num_sources, 1); }

ENTRY(MPI_T_source_get_info)(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                             MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks,
                             MPI_Info *info)
{
    int error = mpi_tool_closed();
    if (error || source_index != 0)
        return error ?: MPI_T_ERR_INVALID_INDEX;
    if (ordering)
        *ordering = MPI_T_SOURCE_ORDERED;
    if (ticks_per_second)
        *ticks_per_second = 1000000000;
    if (max_ticks)
        *max_ticks = INT64_MAX;
    return mpi_tool_text(name, name_len, "engine")
               ?: mpi_tool_text(desc, desc_len, "what the engine of this process notes, in nanoseconds")
               ?: info_none(info);
}

ENTRY(MPI_T_source_get_timestamp)(int source_index, MPI_Count *timestamp)
{
    int error = mpi_tool_closed();
    if (error || source_index != 0 || !timestamp)
        return error ?: timestamp ? MPI_T_ERR_INVALID_INDEX : MPI_T_ERR_INVALID;
    *timestamp = (MPI_Count)vbase_clock_ns();
    return MPI_SUCCESS;
}
