/* The tables behind the handles. See object.h. Slabs live as long as the process: a stale handle may be looked up at
 * any time, also after MPI_Finalize, and must find memory to be compared with. */
#include "mpi/check.h"
#include "mpi/object.h"

struct mpi_table mpi_tables[KIND_COUNT];

static uintptr_t identity_first(enum mpi_kind kind, uint32_t index)
{
    return mpi_identity(kind, 1, index);
}

static bool slab_add(const struct mpi_kind_row *row)
{
    struct mpi_table *table = &mpi_tables[row->kind];
    size_t size = row->size;
    uint32_t number = table->objects / MPI_SLAB_OBJECTS;
    char *slab = number < MPI_SLABS ? aligned_alloc(CACHE_LINE, MPI_SLAB_OBJECTS * size) : NULL;
    if (!slab)
        return false;
    memset(slab, 0, MPI_SLAB_OBJECTS * size);
    for (uint32_t i = MPI_SLAB_OBJECTS; i-- > 0;) {
        struct mpi_object *object = (struct mpi_object *)(void *)(slab + i * size);
        object->identity = identity_first(row->kind, table->objects + i);
        object->next_free = table->free;
        table->free = object;
    }
    if (!table->kind)
        table->kind = row;
    table->objects += MPI_SLAB_OBJECTS;
    /* release: pairs with the acquire in mpi_slot */
    atomic_store_explicit(&table->slab[number], slab, memory_order_release);
    return true;
}

void *mpi_object_take_raw(const struct mpi_kind_row *kind)
{
    struct mpi_table *table = &mpi_tables[kind->kind];
    mpi_lock(&table->lock);
    struct mpi_object *object = NULL;
    if (table->free || slab_add(kind)) {
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

void *mpi_object_take(const struct mpi_kind_row *kind)
{
    struct mpi_object *object = mpi_object_take_raw(kind);
    if (object)
        memset(object + 1, 0, kind->size - sizeof *object);
    return object;
}

static struct mpi_table *table_of(const struct mpi_object *object)
{
    return &mpi_tables[mpi_identity_kind(object->identity)];
}

void mpi_object_give(void *pointer)
{
    struct mpi_object *object = pointer;
    struct mpi_table *table = table_of(object);
    /* relaxed: only a lookup of a stale handle reads it */
    atomic_store_explicit(&object->handle, 0, memory_order_relaxed);
    mpi_lock(&table->lock);
    object->identity = mpi_next_identity(object->identity);
    object->next_free = table->free;
    table->free = object;
    mpi_unlock(&table->lock);
}

void mpi_object_end(void *object)
{
    const struct mpi_kind_row *kind = table_of(object)->kind;
    if (kind->end)
        kind->end(object);
    mpi_object_give(object);
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

void mpi_object_made(struct mpi_object *object)
{
    /* relaxed: two threads may be given the same group at once, and either has made it */
    atomic_store_explicit(&object->made_at, mpi_check_caller(), memory_order_relaxed);
}

void *mpi_object_publish(void *pointer)
{
    struct mpi_object *object = pointer;
    if (mpi_predefined(object))
        return mpi_handle(object);
    mpi_object_keep(object);
    atomic_fetch_add_explicit(&object->users, 1, memory_order_relaxed);
    /* release: pairs with the acquire in mpi_object_at: a thread that finds the handle sees the object made */
    atomic_store_explicit(&object->handle, object->identity, memory_order_release);
    if (unlikely(mpi_checking))
        mpi_object_made(object);
    return (void *)object->identity;
}

void *mpi_object_deliver(void *object)
{
    void *handle = mpi_object_publish(object);
    mpi_drop(object);
    return handle;
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
