/* Handles and the objects behind them.
 *
 * A user's handle is a value, never a pointer: kind, generation and index (numbers.h). The first word of every object
 * is its own handle, or 0 once the user has freed it. So a lookup finds the slot of the index (it never moves and is
 * never given back), loads its first word and compares it with the whole handle. Null, foreign, stale and random
 * handles fail that comparison. Predefined handles are the numbers of the ABI and are looked up in tables of their own.
 *
 * An object has users (how many handles the program must still free) and references (users, communicators, requests and
 * types that hold it). The handle dies with the last user, the object with the last reference. A handle may be given
 * out again while the object lives (MPI_Comm_group, MPI_Type_get_contents): it has the same value then.
 *
 * Predefined objects have the ABI's number for their identity. They are not counted: keep, drop, publish and unpublish
 * leave them alone.
 *
 * Threads: lookups take no lock. Taking and giving back take the table's lock once several threads may call. */
#pragma once

#include "mpi/numbers.h"

#pragma GCC visibility push(hidden)

enum mpi_kind {
    KIND_COMM = 1, KIND_GROUP, KIND_TYPE, KIND_OP, KIND_REQUEST, KIND_ERRHANDLER, KIND_INFO, KIND_MESSAGE, KIND_KEYVAL,
    KIND_SESSION, KIND_FILE, KIND_WIN, /* of files and windows there are only the null handles yet */
    KIND_COUNT
};

/* A kind of objects; the file that defines its structure has the row. */
struct mpi_kind_row {
    enum mpi_kind kind;
    const char *name; /* in sentences */
    size_t size;      /* of its structure */
    int class;        /* of the error that there is no such object */
    const char *null; /* the name of its null handle, */
    const void *none; /* and that handle */
    void *(*at)(void *handle); /* the object of a handle that may be predefined; NULL: none of them is */
    void (*end)(void *object); /* gives back what it holds; NULL: nothing */
};
extern const struct mpi_kind_row mpi_kind_comm, mpi_kind_group, mpi_kind_type, mpi_kind_op, mpi_kind_request,
    mpi_kind_errhandler, mpi_kind_info, mpi_kind_keyval, mpi_kind_session;
#define MPI_KIND(kind, name, structure, class, null) kind, name, sizeof(structure), class, #null, null

struct mpi_object {
    _Atomic uintptr_t handle;    /* 0: the user has no handle of it */
    uintptr_t identity;          /* what handle is while there are users; changes when the slot is reused */
    _Atomic uint32_t references, users;
    union {
        struct mpi_object *next_free;
        void *_Atomic made_at; /* of one in use, with VIADUCT_CHECK: the caller */
    };
};

#define MPI_SLAB_OBJECTS 128
#define MPI_SLABS 16384 /* two million objects of a kind */

struct mpi_table {
    char *_Atomic slab[MPI_SLABS];
    struct base_lock lock;
    struct mpi_object *free;
    uint32_t objects;                 /* ever made */
    const struct mpi_kind_row *kind; /* set before the first one */
};
extern struct mpi_table mpi_tables[KIND_COUNT];

/* SIZE must be the size of the kind's structure: the compiler turns it into shifts. */
static inline void *mpi_slot(enum mpi_kind kind, uint32_t index, size_t size)
{
    if (unlikely(index >= MPI_SLAB_OBJECTS * MPI_SLABS))
        return NULL;
    /* acquire: pairs with the release in slab_add, so the slab's content is seen */
    char *slab = atomic_load_explicit(&mpi_tables[kind].slab[index / MPI_SLAB_OBJECTS], memory_order_acquire);
    return slab ? slab + index % MPI_SLAB_OBJECTS * size : NULL;
}

static inline void *mpi_object_at(enum mpi_kind kind, const void *handle, size_t size)
{
    uintptr_t value = (uintptr_t)handle;
    struct mpi_object *object = mpi_slot(kind, value & MPI_INDEX_MASK, size);
    /* acquire: pairs with the release in mpi_object_publish */
    if (unlikely(!object || atomic_load_explicit(&object->handle, memory_order_acquire) != value || value == 0))
        return NULL;
    return object;
}

/* A zeroed object with one reference and no user; NULL when memory is exhausted. */
void *mpi_object_take(const struct mpi_kind_row *kind) MUST_CHECK;
/* The same with undefined content behind the head. */
void *mpi_object_take_raw(const struct mpi_kind_row *kind) MUST_CHECK;

/* One more user, with a reference of its own: returns the user's handle. */
void *mpi_object_publish(void *object);
/* The same for a new object, whose first reference becomes the user's. */
void *mpi_object_deliver(void *object);
/* The user frees its handle; true when there was one. The reference that came with it is still to be dropped. */
bool mpi_object_unpublish(void *object);
void mpi_object_made(struct mpi_object *object) COLD; /* with VIADUCT_CHECK: notes the caller */

/* Gives the slot back; the caller dropped the last reference. And the same after what the object holds. */
void mpi_object_give(void *object);
void mpi_object_end(void *object);

/* One reference more or less; OBJECT may be NULL. */
void mpi_keep(void *object);
void mpi_drop(void *object);

static inline bool mpi_predefined(const void *object)
{
    return mpi_identity_predefined(((const struct mpi_object *)object)->identity);
}
static inline void *mpi_handle(const void *object) /* without a new user */
{
    return (void *)((const struct mpi_object *)object)->identity;
}

static inline void mpi_object_keep(void *pointer)
{
    struct mpi_object *object = pointer;
    /* relaxed: the caller has a reference already */
    if (mpi_threads)
        atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
    else
        atomic_store_explicit(&object->references, atomic_load_explicit(&object->references, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}

/* True: that was the last reference. */
static inline bool mpi_object_drop(void *pointer)
{
    struct mpi_object *object = pointer;
    if (mpi_threads) /* acq_rel: the last one sees what the others did with it */
        return atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1;
    uint32_t left = atomic_load_explicit(&object->references, memory_order_relaxed) - 1;
    atomic_store_explicit(&object->references, left, memory_order_relaxed);
    return left == 0;
}

#pragma GCC visibility pop
