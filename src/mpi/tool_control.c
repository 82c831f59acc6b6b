/* MPI_T: control variables, the rows of base/settings.def. What is written before the engine starts counts like a
 * setting of the environment, and more. A text has a fixed length, cut where it is longer. */
#include "mpi/process.h"
#include "mpi/tool.h"

#define TEXT_LENGTH 256

struct control { /* a handle */
    struct tool_handle handle;
    const struct base_setting *row;
};
static struct tool_handle *controls;

int mpi_tool_cvars(void) { return (int)vbase_setting_count; }
const char *mpi_tool_cvar_group(int index) { return vbase_setting_table[index].group; }
static const char *name_of(int index) { return vbase_setting_table[index].name; }
static bool is_index(int index) { return index >= 0 && index < mpi_tool_cvars(); }
static void *value_of(const struct base_setting *row) { return (char *)&vbase_settings + row->offset; }

ENTRY(MPI_T_cvar_get_num)(int *num_cvar) { return mpi_tool_closed() ?: mpi_tool_number(num_cvar, mpi_tool_cvars()); }

ENTRY(MPI_T_cvar_get_index)(const char *name, int *cvar_index)
{
    return mpi_tool_closed() ?: mpi_tool_find(name, mpi_tool_cvars(), name_of, cvar_index);
}

static MPI_Datatype type_of(const struct base_setting *row)
{
    return row->type == SETTING_BOOL   ? MPI_INT
           : row->type == SETTING_TEXT ? MPI_CHAR
                                       : MPI_UNSIGNED_LONG_LONG; /* older tools know no MPI_UINT64_T */
}

static int info_tell(const struct base_setting *row, MPI_Datatype *type, MPI_T_enum *items, char *text, int *length)
{
    char all[512];
    if (type)
        *type = type_of(row);
    if (items)
        *items = row->type == SETTING_BOOL ? mpi_tool_switch : MPI_T_ENUM_NULL;
    snprintf(all, sizeof all, "%s%s%s%s", row->help, row->unit[0] ? " (" : "", row->unit, row->unit[0] ? ")" : "");
    return mpi_tool_text(text, length, all);
}

ENTRY(MPI_T_cvar_get_info)(int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
                           MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope)
{
    int error = mpi_tool_closed();
    if (error || !is_index(cvar_index))
        return error ?: MPI_T_ERR_INVALID_INDEX;
    const struct base_setting *row = &vbase_setting_table[cvar_index];
    return mpi_tool_text(name, name_len, row->name) ?: mpi_tool_number(verbosity, MPI_T_VERBOSITY_USER_BASIC)
               ?: info_tell(row, datatype, enumtype, desc, desc_len)
               ?: mpi_tool_number(bind, MPI_T_BIND_NO_OBJECT) ?: mpi_tool_number(scope, MPI_T_SCOPE_ALL_EQ);
}

ENTRY(MPI_T_cvar_handle_alloc)(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count)
{
    int error = mpi_tool_closed();
    (void)obj_handle;
    if (error || !is_index(cvar_index) || !handle)
        return error ?: handle ? MPI_T_ERR_INVALID_INDEX : MPI_T_ERR_INVALID;
    struct control *control = mpi_tool_make(&controls, sizeof *control);
    if (!control)
        return MPI_T_ERR_OUT_OF_HANDLES;
    control->row = &vbase_setting_table[cvar_index];
    *handle = (MPI_T_cvar_handle)control;
    return mpi_tool_number(count, control->row->type == SETTING_TEXT ? TEXT_LENGTH : 1);
}

ENTRY(MPI_T_cvar_handle_free)(MPI_T_cvar_handle *handle)
{
    int error = mpi_tool_closed();
    if (error || !handle || !mpi_tool_there(&controls, *handle))
        return error ?: MPI_T_ERR_INVALID_HANDLE;
    mpi_tool_free(&controls, *handle);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

static int row_find(MPI_T_cvar_handle handle, const void *buf, const struct base_setting **row)
{
    int error = mpi_tool_closed();
    if (error || !mpi_tool_there(&controls, handle))
        return error ?: MPI_T_ERR_INVALID_HANDLE;
    *row = ((struct control *)(void *)handle)->row;
    return buf ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

ENTRY(MPI_T_cvar_read)(MPI_T_cvar_handle handle, void *buf)
{
    const struct base_setting *row;
    int error = row_find(handle, buf, &row);
    if (error)
        return error;
    if (row->type == SETTING_BOOL)
        *(int *)buf = *(bool *)value_of(row);
    else if (row->type == SETTING_TEXT)
        snprintf(buf, TEXT_LENGTH, "%s", *(const char **)value_of(row) ?: "");
    else
        *(uint64_t *)buf = *(uint64_t *)value_of(row);
    return MPI_SUCCESS;
}

/* Texts stay, since they may be in use; one that is written again is found again. NULL: no memory. */
static const char *text_keep(const char *text)
{
    static struct text {
        struct text *next;
        char letters[TEXT_LENGTH];
    } *texts;
    base_lock(&mpi_tool_lock);
    struct text *kept = texts;
    while (kept && strncmp(kept->letters, text, TEXT_LENGTH - 1) != 0)
        kept = kept->next;
    if (!kept && (kept = malloc(sizeof *kept))) {
        snprintf(kept->letters, sizeof kept->letters, "%s", text);
        kept->next = texts;
        texts = kept;
    }
    base_unlock(&mpi_tool_lock);
    return kept ? kept->letters : NULL;
}

static int text_write(const struct base_setting *row, const char *text)
{
    const char *kept = text[0] ? text_keep(text) : NULL;
    if (text[0] && !kept)
        return MPI_T_ERR_MEMORY;
    *(const char **)value_of(row) = kept;
    return MPI_SUCCESS;
}

ENTRY(MPI_T_cvar_write)(MPI_T_cvar_handle handle, const void *buf)
{
    const struct base_setting *row;
    int error = row_find(handle, buf, &row);
    if (error)
        return error;
    if (row->when == SETTING_START && vmsg_job())
        return MPI_T_ERR_CVAR_SET_NOT_NOW;
    if (row->type == SETTING_TEXT)
        return text_write(row, buf);
    if (row->type == SETTING_BOOL)
        *(bool *)value_of(row) = *(const int *)buf != 0;
    else
        *(uint64_t *)value_of(row) = *(const uint64_t *)buf;
    return MPI_SUCCESS;
}
