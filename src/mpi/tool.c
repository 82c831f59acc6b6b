/* MPI_T: its life, handles, texts and enumerations. It may be opened before MPI_Init and several times. */
#include "mpi/tool.h"

struct base_lock mpi_tool_lock;

static _Atomic int opened; /* relaxed: a tool orders its own calls */

int mpi_tool_closed(void)
{
    return atomic_load_explicit(&opened, memory_order_relaxed) > 0 ? MPI_SUCCESS : MPI_T_ERR_NOT_INITIALIZED;
}

/* Settings are read now, so that what a tool writes counts more. */
ENTRY(MPI_T_init_thread)(int required, int *provided)
{
    if (vbase_settings_read())
        return MPI_T_ERR_CANNOT_INIT;
    atomic_fetch_add_explicit(&opened, 1, memory_order_relaxed);
    return mpi_tool_number(provided, mpi_thread_level(required));
}

ENTRY(MPI_T_finalize)(void)
{
    int error = mpi_tool_closed();
    if (!error)
        atomic_fetch_sub_explicit(&opened, 1, memory_order_relaxed);
    return error;
}

/* ---- handles ---- */

void *mpi_tool_make(struct tool_handle **list, size_t size)
{
    struct tool_handle *handle = calloc(1, size);
    if (!handle)
        return NULL;
    base_lock(&mpi_tool_lock);
    handle->next = *list;
    *list = handle;
    base_unlock(&mpi_tool_lock);
    return handle;
}

bool mpi_tool_there(struct tool_handle *const *list, const void *handle)
{
    base_lock(&mpi_tool_lock);
    const struct tool_handle *at = *list;
    while (at && at != handle)
        at = at->next;
    base_unlock(&mpi_tool_lock);
    return at != NULL;
}

void mpi_tool_free(struct tool_handle **list, void *handle)
{
    base_lock(&mpi_tool_lock);
    while (*list != handle)
        list = &(*list)->next;
    *list = (*list)->next;
    base_unlock(&mpi_tool_lock);
    free(handle);
}

/* ---- texts ---- */

int mpi_tool_text(char *out, int *length, const char *text)
{
    if (!length)
        return MPI_SUCCESS;
    if (out && *length > 0)
        snprintf(out, (size_t)*length, "%s", text);
    *length = (int)strlen(text) + 1;
    return MPI_SUCCESS;
}

int mpi_tool_find(const char *name, int count, const char *(*name_of)(int), int *index)
{
    if (!name || !index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; i < count; i++)
        if (strcmp(name, name_of(i)) == 0)
            return mpi_tool_number(index, i);
    return MPI_T_ERR_INVALID_NAME;
}

/* ---- enumerations: there is one ---- */

static const char *const items[] = {"no", "yes"};
const MPI_T_enum mpi_tool_switch = (MPI_T_enum)(uintptr_t)items;

ENTRY(MPI_T_enum_get_info)(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    int error = mpi_tool_closed();
    if (error || enumtype != mpi_tool_switch)
        return error ?: MPI_T_ERR_INVALID_HANDLE;
    return mpi_tool_number(num, ARRAY_LENGTH(items)) ?: mpi_tool_text(name, name_len, "switch");
}

ENTRY(MPI_T_enum_get_item)(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
{
    int error = mpi_tool_closed();
    if (error || enumtype != mpi_tool_switch)
        return error ?: MPI_T_ERR_INVALID_HANDLE;
    if (indx < 0 || indx >= (int)ARRAY_LENGTH(items))
        return MPI_T_ERR_INVALID_ITEM;
    return mpi_tool_number(value, indx) ?: mpi_tool_text(name, name_len, items[indx]);
}
