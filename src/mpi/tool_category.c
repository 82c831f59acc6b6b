/* MPI_T: categories, the groups of the tables. None has others in it, and they never change. */
#include "mpi/tool.h"

#define GROUPS_MOST 32

static int events(void) { return MSG_EVENTS; }

/* What a category is made of. */
enum { PART_CVARS, PART_PVARS, PART_EVENTS, PARTS };
static const struct {
    int (*count)(void);
    const char *(*group)(int index);
} parts[PARTS] = {{mpi_tool_cvars, mpi_tool_cvar_group},
                  {mpi_tool_pvars, mpi_tool_pvar_group},
                  {events, mpi_tool_event_group}};

/* The groups in the order in which the tables name them; how many. */
static int groups_list(const char *list[GROUPS_MOST])
{
    int count = 0;
    for (int part = 0; part < PARTS; part++)
        for (int i = 0; i < parts[part].count(); i++) {
            const char *group = parts[part].group(i);
            int at = 0;
            while (at < count && strcmp(list[at], group) != 0)
                at++;
            if (at == count && count < GROUPS_MOST)
                list[count++] = group;
        }
    return count;
}

static const char *name_of(int index)
{
    const char *list[GROUPS_MOST];
    return index >= 0 && index < groups_list(list) ? list[index] : NULL;
}

/* Those of PART in a category, the first LENGTH of them to INDICES: how many there are. */
static int members_list(int category, int part, int length, int *indices)
{
    const char *name = name_of(category);
    int count = 0;
    for (int i = 0; i < parts[part].count(); i++)
        if (strcmp(parts[part].group(i), name) == 0) {
            if (count < length && indices)
                indices[count] = i;
            count++;
        }
    return count;
}

static int members_tell(int category, int part, int length, int *indices)
{
    int error = mpi_tool_closed();
    if (error || !name_of(category))
        return error ?: MPI_T_ERR_INVALID_INDEX;
    (void)members_list(category, part, length, indices);
    return MPI_SUCCESS;
}
ENTRY(MPI_T_category_get_cvars)(int cat_index, int len, int indices[])
    { return members_tell(cat_index, PART_CVARS, len, indices); }
ENTRY(MPI_T_category_get_pvars)(int cat_index, int len, int indices[])
    { return members_tell(cat_index, PART_PVARS, len, indices); }
ENTRY(MPI_T_category_get_events)(int cat_index, int len, int indices[])
    { return members_tell(cat_index, PART_EVENTS, len, indices); }
ENTRY(MPI_T_category_get_categories)(int cat_index, int len, int indices[])
{
    (void)len, (void)indices;
    return mpi_tool_closed() ?: name_of(cat_index) ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

static int groups_count(void)
{
    const char *list[GROUPS_MOST];
    return groups_list(list);
}
ENTRY(MPI_T_category_get_num)(int *num_cat) { return mpi_tool_closed() ?: mpi_tool_number(num_cat, groups_count()); }
ENTRY(MPI_T_category_changed)(int *update_number) { return mpi_tool_closed() ?: mpi_tool_number(update_number, 0); }
ENTRY(MPI_T_category_get_index)(const char *name, int *cat_index)
    { return mpi_tool_closed() ?: mpi_tool_find(name, groups_count(), name_of, cat_index); }

ENTRY(MPI_T_category_get_num_events)(int cat_index, int *num_events)
{
    int error = mpi_tool_closed();
    if (error || !name_of(cat_index))
        return error ?: MPI_T_ERR_INVALID_INDEX;
    return mpi_tool_number(num_events, members_list(cat_index, PART_EVENTS, 0, NULL));
}

ENTRY(MPI_T_category_get_info)(int cat_index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars,
                               int *num_pvars, int *num_categories)
{
    int error = mpi_tool_closed();
    const char *group = name_of(cat_index);
    char text[80];
    if (error || !group)
        return error ?: MPI_T_ERR_INVALID_INDEX;
    snprintf(text, sizeof text, "settings, counters and events of group %s", group);
    return mpi_tool_text(name, name_len, group) ?: mpi_tool_text(desc, desc_len, text)
               ?: mpi_tool_number(num_cvars, members_list(cat_index, PART_CVARS, 0, NULL))
               ?: mpi_tool_number(num_pvars, members_list(cat_index, PART_PVARS, 0, NULL))
               ?: mpi_tool_number(num_categories, 0);
}
