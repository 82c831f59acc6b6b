/* The tables behind the handles. See handle.h. Slabs live as long as the process: a stale handle may be looked up at
 * any time, also after MPI_Finalize, and must find memory to be compared with. */
#include "mpi/inside.h"

#define NULL_IS(handle) #handle, handle
const struct mpi_kind_row mpi_kinds[KIND_COUNT] = {
    [KIND_COMM] = {"communicator", sizeof(struct mpi_comm), MPI_ERR_COMM, NULL_IS(MPI_COMM_NULL), mpi_comm_end},
    [KIND_GROUP] = {"group", sizeof(struct mpi_group), MPI_ERR_GROUP, NULL_IS(MPI_GROUP_NULL), mpi_group_end},
    [KIND_TYPE] = {"datatype", sizeof(struct mpi_type), MPI_ERR_TYPE, NULL_IS(MPI_DATATYPE_NULL), mpi_type_end},
    [KIND_OP] = {"operation", sizeof(struct mpi_op), MPI_ERR_OP, NULL_IS(MPI_OP_NULL)},
    [KIND_REQUEST] = {"request", sizeof(struct mpi_request), MPI_ERR_REQUEST, NULL_IS(MPI_REQUEST_NULL)},
    [KIND_ERRHANDLER] = {"error handler", sizeof(struct mpi_errhandler), MPI_ERR_ERRHANDLER,
                         NULL_IS(MPI_ERRHANDLER_NULL)},
    [KIND_INFO] = {"info object", sizeof(struct mpi_info), MPI_ERR_INFO, NULL_IS(MPI_INFO_NULL), mpi_info_end},
    [KIND_MESSAGE] = {"matched message", sizeof(struct mpi_message_object), MPI_ERR_REQUEST, NULL_IS(MPI_MESSAGE_NULL)},
    [KIND_KEYVAL] = {"attribute key", sizeof(struct mpi_keyval), MPI_ERR_KEYVAL, NULL, NULL},
};
struct mpi_table mpi_tables[KIND_COUNT];
bool mpi_threads = true; /* before MPI_Init nobody has said yet that there is one thread only */

static uintptr_t first_identity(enum mpi_kind kind, uint32_t index)
{
    return (uintptr_t)kind << 40 | (uintptr_t)1 << 24 | index;
}

static bool add_slab(enum mpi_kind kind, size_t size)
{
    struct mpi_table *table = &mpi_tables[kind];
    uint32_t number = table->objects / MPI_SLAB_OBJECTS;
    char *slab = number < MPI_SLABS ? aligned_alloc(CACHE_LINE, MPI_SLAB_OBJECTS * size) : NULL;
    if (!slab)
        return false;
    memset(slab, 0, MPI_SLAB_OBJECTS * size);
    for (uint32_t i = MPI_SLAB_OBJECTS; i-- > 0;) {
        struct mpi_object *object = (struct mpi_object *)(void *)(slab + i * size);
        object->identity = first_identity(kind, table->objects + i);
        object->next_free = table->free;
        table->free = object;
    }
    table->objects += MPI_SLAB_OBJECTS;
    /* release: pairs with the acquire in mpi_slot */
    atomic_store_explicit(&table->slab[number], slab, memory_order_release);
    return true;
}

void *mpi_object_take_raw(enum mpi_kind kind, size_t size)
{
    struct mpi_table *table = &mpi_tables[kind];
    mpi_lock(&table->lock);
    struct mpi_object *object = NULL;
    if (table->free || add_slab(kind, size)) {
        object = table->free;
        table->free = object->next_free;
    }
    mpi_unlock(&table->lock);
    if (!object)
        return NULL;
    atomic_store_explicit(&object->users, 0, memory_order_relaxed);
    atomic_store_explicit(&object->references, 1, memory_order_relaxed);
    return object;
}

void *mpi_object_take(enum mpi_kind kind, size_t size)
{
    struct mpi_object *object = mpi_object_take_raw(kind, size);
    if (object)
        memset(object + 1, 0, size - sizeof *object);
    return object;
}

void mpi_object_give(enum mpi_kind kind, void *pointer)
{
    struct mpi_table *table = &mpi_tables[kind];
    struct mpi_object *object = pointer;
    /* relaxed: nobody but a stale handle looks here */
    atomic_store_explicit(&object->handle, 0, memory_order_relaxed);
    mpi_lock(&table->lock);
    object->identity = mpi_next_identity(object->identity);
    object->next_free = table->free;
    table->free = object;
    mpi_unlock(&table->lock);
}

void mpi_object_end(void *pointer)
{
    enum mpi_kind kind = (enum mpi_kind)(((struct mpi_object *)pointer)->identity >> 40);
    if (mpi_kinds[kind].end)
        mpi_kinds[kind].end(pointer);
    mpi_object_give(kind, pointer);
}

void mpi_keep(void *object)
{
    if (object && !mpi_predefined(object))
        mpi_object_keep(object);
}

void mpi_drop(void *object)
{
    if (object && !mpi_predefined(object) && mpi_object_drop(object))
        mpi_object_end(object);
}

void *mpi_object_publish(void *pointer)
{
    struct mpi_object *object = pointer;
    if (mpi_predefined(object))
        return mpi_handle(object);
    mpi_object_keep(object);
    atomic_fetch_add_explicit(&object->users, 1, memory_order_relaxed);
    /* release: pairs with the acquire in mpi_object_at: whoever finds the handle sees the object made */
    atomic_store_explicit(&object->handle, object->identity, memory_order_release);
    if (unlikely(mpi_checking))
        mpi_check_made(object);
    return (void *)object->identity;
}

void *mpi_object_deliver(void *object)
{
    void *handle = mpi_object_publish(object);
    mpi_drop(object);
    return handle;
}

int mpi_object_make(const char *call, enum mpi_kind kind, const void *like, void *handle)
{
    const struct mpi_kind_row *row = &mpi_kinds[kind];
    struct mpi_object *object = mpi_object_take_raw(kind, row->size);
    if (!object)
        return mpi_error(NULL, call, MPI_ERR_NO_MEM, "no memory for one more %s", row->name);
    memcpy(object + 1, (const struct mpi_object *)like + 1, row->size - sizeof *object);
    *(void **)handle = mpi_object_deliver(object);
    return MPI_SUCCESS;
}

bool mpi_object_unpublish(void *pointer)
{
    struct mpi_object *object = pointer;
    if (mpi_predefined(object))
        return true;
    uint32_t users = atomic_load_explicit(&object->users, memory_order_relaxed);
    do {
        if (users == 0)
            return false;
        /* relaxed: the count alone decides; the object itself is protected by its references */
    } while (!atomic_compare_exchange_weak_explicit(&object->users, &users, users - 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    if (users == 1)
        atomic_store_explicit(&object->handle, 0, memory_order_relaxed);
    return true;
}

/* ---- arguments -------------------------------------------------------------------------------------------------- */

/* The object behind HANDLE, which may be one of the ABI's. */
static void *object_at(enum mpi_kind kind, void *handle)
{
    switch (kind) {
    case KIND_COMM:
        return mpi_comm_at(handle);
    case KIND_GROUP:
        return mpi_group_at(handle);
    case KIND_TYPE:
        return mpi_type_at(handle);
    case KIND_OP:
        return mpi_op_at(handle);
    case KIND_ERRHANDLER:
        return mpi_errhandler_at(handle);
    case KIND_INFO:
        return mpi_info_at(handle);
    default:
        return mpi_object_at(kind, handle, mpi_kinds[kind].size);
    }
}

int mpi_free_handle(const char *call, enum mpi_kind kind, void *place)
{
    void *handle = *(void **)place, *object = object_at(kind, handle);
    if (!object || !mpi_object_unpublish(object))
        return mpi_wrong(NULL, call, kind, handle);
    mpi_drop(object);
    *(const void **)place = mpi_kinds[kind].none;
    return MPI_SUCCESS;
}

int mpi_arguments(const char *call, const struct mpi_argument *list)
{
    struct mpi_comm *comm = NULL;
    char name[64];
    for (const struct mpi_argument *one = list; one->want; one++) {
        int want = one->want & ~WANT_BEHIND;
        void *value = (void *)(uintptr_t)one->value;
        if (want != WANT_GIVEN && want != WANT_HINTS && want != KIND_INFO)
            mpi_enter(call);
        if (!value && (want == WANT_GIVEN || one->want & WANT_BEHIND))
            return mpi_null(comm, call, one->name);
        if (want == WANT_GIVEN || want == WANT_RUNNING || (want == WANT_HINTS && value == MPI_INFO_NULL))
            continue;
        if (one->want & WANT_BEHIND)
            value = *(void **)value;
        enum mpi_kind kind = want == WANT_HINTS ? KIND_INFO : want == WANT_GRID ? KIND_COMM : (enum mpi_kind)want;
        void *object = object_at(kind, value);
        if (!object)
            return mpi_wrong(comm, call, kind, value);
        if (want == WANT_GRID && !((struct mpi_comm *)object)->topology)
            return mpi_error(object, call, MPI_ERR_TOPOLOGY, "%s has no Cartesian topology", mpi_comm_name(object, name));
        if (one->found)
            memcpy(one->found, &object, sizeof object);
        if (kind == KIND_COMM && !comm)
            comm = object;
    }
    return MPI_SUCCESS;
}
