/* The tool information interface (MPI_T). Its control variables are the rows of base/settings.def, its performance
 * variables those of base/counters.def and two of communicators, its events those of msg, and its categories the groups
 * of the tables. A call returns a class of MPI_T, and no error handler hears of it. */
#pragma once

#include "mpi/comm.h"
#include "mpi/entry.h"

/* What every handle of a tool begins with. Handles are in a list as long as they live, so a wrong one is noticed. */
struct tool_handle {
    struct tool_handle *next;
};
extern struct base_lock mpi_tool_lock; /* of all lists, and of what is in them; not held while a tool's function runs */
void *mpi_tool_make(struct tool_handle **list, size_t size); /* zeroed; NULL: no memory */
bool mpi_tool_there(struct tool_handle *const *list, const void *handle);
void mpi_tool_free(struct tool_handle **list, void *handle);

int mpi_tool_closed(void); /* 0 between MPI_T_init_thread and MPI_T_finalize, else the class */
/* Tells a text as MPI_T does: what fits of it, and its whole length with the NUL. Any place may be NULL. */
int mpi_tool_text(char *out, int *length, const char *text);
static inline int mpi_tool_number(int *out, int number)
{
    if (out)
        *out = number;
    return MPI_SUCCESS;
}
/* The number of NAME among COUNT that NAME_OF tells; MPI_T_ERR_INVALID_NAME. */
int mpi_tool_find(const char *name, int count, const char *(*name_of)(int), int *index);

extern const MPI_T_enum mpi_tool_switch; /* no and yes, of settings */

/* What the categories are made of: how many variables and events there are, and the group of each. */
int mpi_tool_cvars(void);
int mpi_tool_pvars(void);
const char *mpi_tool_cvar_group(int index);
const char *mpi_tool_pvar_group(int index);
const char *mpi_tool_event_group(int index);

#define TOOL_SAFETIES 4
extern const MPI_T_cb_safety mpi_tool_safeties[TOOL_SAFETIES]; /* the least demanding first */
struct tool_registration {
    struct tool_handle handle;
    int event;
    bool freed; /* in a callback: it goes when no callback runs any more */
    struct {
        MPI_T_event_cb_function *function;
        void *data;
    } callback[TOOL_SAFETIES];
    MPI_T_event_dropped_cb_function *dropped;
    void *freed_data;
    MPI_T_event_free_cb_function *freed_function;
};
extern struct tool_handle *mpi_tool_registrations;
/* Frees those that were given back while no callback ran. */
void mpi_tool_registrations_free(void);

/* One more message of so many bytes to a member, where these are counted. */
struct mpi_traffic {
    _Atomic uint64_t messages, bytes;
};
void mpi_tool_count(struct mpi_comm *comm, int rank, uint64_t bytes) COLD;
