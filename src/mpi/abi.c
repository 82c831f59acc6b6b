/* What the standard ABI adds: its version, and handles as integers. A predefined handle is its own number; the others
 * get MPI_FIRST_INT and the index of their object, the same as long as the object lives. */
#include "mpi/inside.h"

CHECKED(MPI_Abi_get_version, (int *abi_major, int *abi_minor), (GIVEN(abi_major), GIVEN(abi_minor)),
        mpi_tell(abi_major, MPI_ABI_VERSION) + mpi_tell(abi_minor, MPI_ABI_SUBVERSION))

ENTRY(MPI_Abi_get_info)(MPI_Info *out)
{
    static const struct {
        const char *key;
        size_t size;
    } sizes[] = {{"mpi_aint_size", sizeof(MPI_Aint)},
                 {"mpi_count_size", sizeof(MPI_Count)},
                 {"mpi_offset_size", sizeof(MPI_Offset)}};
    char text[16];
    if (!out)
        return mpi_null(NULL, NAME, "info");
    struct mpi_info *info = mpi_info_copy(NULL);
    for (size_t i = 0; info && i < ARRAY_LENGTH(sizes); i++) {
        snprintf(text, sizeof text, "%zu", sizes[i].size);
        if (mpi_info_put(info, sizes[i].key, text)) {
            mpi_drop(info);
            info = NULL;
        }
    }
    return mpi_info_deliver(NULL, NAME, info, out);
}

static int to_int(const void *handle)
{
    uintptr_t value = (uintptr_t)handle;
    return value < MPI_FIRST_INT ? (int)value : MPI_FIRST_INT + (int)(value & MPI_INDEX_MASK);
}

/* The handle of a live object, NULL for numbers that have none. */
static void *from_int(enum mpi_kind kind, int number)
{
    if (number < MPI_FIRST_INT)
        return (void *)(uintptr_t)(number > 0 ? number : 0);
    struct mpi_object *object = mpi_slot(kind, (uint32_t)(number - MPI_FIRST_INT), mpi_kinds[kind].size);
    return object ? (void *)atomic_load_explicit(&object->handle, memory_order_acquire) : NULL;
}

#define NUMBERED(type, to, from, kind)                                                                                 \
    ENTRY(to)(type handle) { return to_int(handle); }                                                                  \
    ENTRY_OF(type, from)(int number) { return from_int(kind, number); }
NUMBERED(MPI_Comm, MPI_Comm_toint, MPI_Comm_fromint, KIND_COMM)
NUMBERED(MPI_Group, MPI_Group_toint, MPI_Group_fromint, KIND_GROUP)
NUMBERED(MPI_Datatype, MPI_Type_toint, MPI_Type_fromint, KIND_TYPE)
NUMBERED(MPI_Op, MPI_Op_toint, MPI_Op_fromint, KIND_OP)
NUMBERED(MPI_Request, MPI_Request_toint, MPI_Request_fromint, KIND_REQUEST)
NUMBERED(MPI_Message, MPI_Message_toint, MPI_Message_fromint, KIND_MESSAGE)
NUMBERED(MPI_Errhandler, MPI_Errhandler_toint, MPI_Errhandler_fromint, KIND_ERRHANDLER)
NUMBERED(MPI_Info, MPI_Info_toint, MPI_Info_fromint, KIND_INFO)
/* Of these there are only null handles yet. */
NUMBERED(MPI_File, MPI_File_toint, MPI_File_fromint, KIND_FILE)
NUMBERED(MPI_Session, MPI_Session_toint, MPI_Session_fromint, KIND_SESSION)
NUMBERED(MPI_Win, MPI_Win_toint, MPI_Win_fromint, KIND_WIN)
