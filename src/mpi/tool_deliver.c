/* MPI_T: giving events to callbacks. The engine notes them where locks may be held (msg/event.c); they are given where
 * a call of MPI begins, so a callback may do whatever its caller may, and gets the least demanding safety it is
 * registered for. Who registers gets what comes from then on. */
#include "mpi/tool.h"

const MPI_T_cb_safety mpi_tool_safeties[TOOL_SAFETIES] = {
    MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

struct tool_handle *mpi_tool_registrations;
static int delivering; /* under the lock */

/* One that can go, out of the list; NULL: there is none. */
static struct tool_registration *freed_take(void)
{
    base_lock(&mpi_tool_lock);
    struct tool_handle **place = &mpi_tool_registrations, *at = NULL;
    while (!delivering && *place && !((struct tool_registration *)(void *)*place)->freed)
        place = &(*place)->next;
    if (!delivering && (at = *place))
        *place = at->next;
    base_unlock(&mpi_tool_lock);
    return (struct tool_registration *)(void *)at;
}

void mpi_tool_registrations_free(void)
{
    struct tool_registration *at;
    while ((at = freed_take())) {
        if (at->freed_function)
            at->freed_function((MPI_T_event_registration)at, MPI_T_CB_REQUIRE_NONE, at->freed_data);
        free(at);
    }
}

/* The callback of the least demanding safety of REGISTRATION, which is a copy of that at HANDLE. */
static void registration_call(const struct tool_registration *registration, void *handle,
                              const struct msg_event *event)
{
    for (int i = 0; i < TOOL_SAFETIES; i++)
        if (registration->callback[i].function) {
            registration->callback[i].function((MPI_T_event_instance)(uintptr_t)event,
                                               (MPI_T_event_registration)handle, mpi_tool_safeties[i],
                                               registration->callback[i].data);
            return;
        }
}

/* Handles stay in the list, and new ones come before the first, while callbacks run. */
static void event_give(const struct msg_event *event, uint64_t dropped)
{
    base_lock(&mpi_tool_lock);
    struct tool_handle *at = mpi_tool_registrations;
    delivering++;
    base_unlock(&mpi_tool_lock);
    for (; at; at = at->next) {
        base_lock(&mpi_tool_lock); /* another thread may register a callback */
        const struct tool_registration registration = *(struct tool_registration *)(void *)at;
        base_unlock(&mpi_tool_lock);
        if (registration.event != (int)event->kind || registration.freed)
            continue;
        if (dropped && registration.dropped)
            registration.dropped((MPI_Count)dropped, (MPI_T_event_registration)at, 0, MPI_T_CB_REQUIRE_NONE,
                                 registration.callback[0].data);
        else if (!dropped)
            registration_call(&registration, at, event);
    }
    base_lock(&mpi_tool_lock);
    delivering--;
    base_unlock(&mpi_tool_lock);
}

void mpi_tool_deliver(void)
{
    static __thread bool inside; /* a callback calls MPI */
    struct msg_event event;
    if (inside || mpi_tool_closed() || !atomic_load_explicit(&vmsg_events_wanted, memory_order_relaxed))
        return;
    inside = true;
    for (event.kind = 0; event.kind < MSG_EVENTS; event.kind++) {
        uint64_t dropped = vmsg_events_dropped(event.kind);
        if (dropped)
            event_give(&event, dropped);
    }
    while (vmsg_event_take(&event))
        event_give(&event, 0);
    inside = false;
    mpi_tool_registrations_free();
}
