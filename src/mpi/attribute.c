/* Attributes: values that programs and libraries hang on communicators and datatypes under keys of their own, and the
 * few that the library itself answers. A key is an int: bit 30, 14 bits of generation, 16 bits of index; so a freed key
 * is noticed. The key lives as long as an attribute uses it. Threads may use the attributes of one object at once. */
#include "mpi/attribute.h"
#include "mpi/comm.h"
#include "mpi/type.h"

const struct mpi_kind_row mpi_kind_keyval = {
    MPI_KIND(KIND_KEYVAL, "attribute key", struct mpi_keyval, MPI_ERR_KEYVAL, NULL)};

#define KEY_BIT 0x40000000

static struct base_lock lock; /* of all lists; not held while a program's function runs */

typedef int copy_function(MPI_Comm object, int key, void *extra, void *value, void *copy, int *flag);
typedef int delete_function(MPI_Comm object, int key, void *value, void *extra);

static int key_of(const struct mpi_keyval *keyval)
{
    uintptr_t identity = keyval->object.identity;
    return KEY_BIT | (int)(mpi_identity_generation(identity) & 0x3FFF) << 16 | (int)(identity & 0xFFFF);
}

/* NULL: no key, or one for other objects. A key that was freed and still is in use by attributes is good: they may be
 * read and deleted by it, and it may be freed again. */
struct mpi_keyval *mpi_keyval_at(int key, enum mpi_kind of)
{
    if (!(key & KEY_BIT) || key < 0)
        return NULL;
    struct mpi_keyval *keyval = mpi_slot(KIND_KEYVAL, (uint32_t)key & 0xFFFF, sizeof *keyval);
    if (!keyval || atomic_load_explicit(&keyval->object.references, memory_order_acquire) == 0 ||
        key_of(keyval) != key || keyval->of != of)
        return NULL;
    return keyval;
}

static int key_wrong(void *thing, const char *call, int key)
{
    return mpi_error(thing, call, MPI_ERR_KEYVAL, "%d is not an attribute key for this kind of object, or was freed",
                     key);
}

static int key_create(const char *call, const struct mpi_keyval *what, int *key)
{
    struct mpi_keyval *keyval = mpi_object_take(&mpi_kind_keyval);
    if (keyval && (keyval->object.identity & MPI_INDEX_MASK) > 0xFFFF) {
        mpi_object_give(keyval);
        keyval = NULL;
    }
    if (!keyval)
        return mpi_error(NULL, call, MPI_ERR_NO_MEM, "no room for another attribute key");
    keyval->of = what->of;
    keyval->copy = what->copy;
    keyval->drop = what->drop;
    keyval->extra = what->extra;
    mpi_object_deliver(keyval);
    *key = key_of(keyval);
    return MPI_SUCCESS;
}

static int key_free(const char *call, enum mpi_kind of, int *key)
{
    struct mpi_keyval *keyval = mpi_keyval_at(*key, of);
    if (!keyval)
        return key_wrong(NULL, call, *key);
    if (mpi_object_unpublish(keyval))
        mpi_drop(keyval);
    *key = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

/* ---- lists of attributes ---- */

static int delete_run(struct mpi_thing *thing, const struct mpi_attribute *attribute)
{
    const struct mpi_keyval *keyval = attribute->keyval;
    MPI_Comm handle = mpi_thing_handle(thing);
    if (!keyval->drop)
        return MPI_SUCCESS;
    if (keyval->delete_across)
        return keyval->delete_across(keyval->drop, handle, key_of(keyval), 0, attribute->value, keyval->extra);
    return ((delete_function *)keyval->drop)(handle, key_of(keyval), attribute->value, keyval->extra);
}

/* Takes an attribute out of its list, after its delete function agreed. */
static int attribute_remove(struct mpi_thing *thing, struct mpi_attribute *attribute)
{
    struct mpi_attribute **list = &thing->attributes;
    int error = delete_run(thing, attribute);
    if (error)
        return error;
    mpi_lock(&lock);
    while (*list && *list != attribute)
        list = &(*list)->next;
    bool there = *list != NULL; /* else the function took it out itself */
    if (there)
        *list = attribute->next;
    mpi_unlock(&lock);
    if (!there)
        return MPI_SUCCESS;
    mpi_drop(attribute->keyval);
    free(attribute);
    return MPI_SUCCESS;
}

static int attribute_append(struct mpi_thing *thing, struct mpi_keyval *keyval, void *value)
{
    struct mpi_attribute *attribute = malloc(sizeof *attribute);
    if (!attribute)
        return MPI_ERR_NO_MEM;
    mpi_object_keep(keyval);
    mpi_lock(&lock);
    *attribute = (struct mpi_attribute){thing->attributes, keyval, value};
    thing->attributes = attribute; /* the youngest first: they are deleted in the opposite order of their making */
    mpi_unlock(&lock);
    return MPI_SUCCESS;
}

int mpi_attributes_delete(struct mpi_thing *thing)
{
    while (thing->attributes) {
        int error = attribute_remove(thing, thing->attributes);
        if (error)
            return error;
    }
    return MPI_SUCCESS;
}

static int attributes_copy(const struct mpi_thing *from, const struct mpi_attribute *first, struct mpi_thing *to)
{
    if (!first)
        return MPI_SUCCESS;
    int error = attributes_copy(from, first->next, to); /* the oldest first */
    struct mpi_keyval *keyval = first->keyval;
    if (error || !keyval->copy)
        return error;
    void *value = first->value;
    int flag = 1;
    if (keyval->copy_across) {
        error = keyval->copy_across(keyval->copy, mpi_thing_handle(from), key_of(keyval), keyval->extra, 0,
                                    first->value, &value, &flag);
    } else if (keyval->copy != (void *)MPI_COMM_DUP_FN) {
        error = ((copy_function *)keyval->copy)(mpi_thing_handle(from), key_of(keyval), keyval->extra,
                                                first->value, &value, &flag);
    }
    if (error || !flag)
        return error;
    return attribute_append(to, keyval, value);
}
int mpi_attributes_copy(const struct mpi_thing *from, struct mpi_thing *to)
{
    return attributes_copy(from, from->attributes, to);
}

static struct mpi_attribute *attribute_find(const struct mpi_thing *thing, const struct mpi_keyval *keyval)
{
    mpi_lock(&lock);
    struct mpi_attribute *found = thing->attributes;
    while (found && found->keyval != keyval)
        found = found->next;
    mpi_unlock(&lock);
    return found;
}

/* ---- of communicators ---- */

/* The value behind a predefined key of THING, NULL where there is none; false: no such key. Communicators of a session
 * have the bound of tags alone: the others tell of the world. */
static bool key_predefined(const struct mpi_thing *thing, int key, const int **value)
{
    if (mpi_thing_kind(thing) != KIND_COMM)
        return false;
    static const int tag_ub = 0x7FFFFFFF, io = MPI_ANY_SOURCE, host = MPI_PROC_NULL, one = 1;
    static int appnum, universe, last_code;
    const struct boot_job *job = mpi_process.job;
    appnum = job->appnum;
    universe = job->universe;
    last_code = mpi_last_used_code();
    const struct {
        int key;
        const int *value;
    } known[] = {
        {MPI_TAG_UB, &tag_ub},
        {MPI_IO, &io},
        {MPI_HOST, &host},
        {MPI_WTIME_IS_GLOBAL, job->local_count == job->size ? &one : NULL}, /* nodes have clocks of their own */
        {MPI_APPNUM, appnum >= 0 ? &appnum : NULL},
        {MPI_UNIVERSE_SIZE, universe >= 0 ? &universe : NULL},
        {MPI_LASTUSEDCODE, &last_code},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (known[i].key == key) {
            bool of_session = ((const struct mpi_comm *)thing)->group->session != NULL;
            *value = of_session && key != MPI_TAG_UB ? NULL : known[i].value;
            return true;
        }
    return false;
}

/* ---- the calls ---- */

/* The key of a call that changes THING: no predefined one. NULL: *error is raised. */
static struct mpi_keyval *key_changeable(const char *call, struct mpi_thing *thing, int key, const char *how,
                                         int *error)
{
    const int *unused;
    struct mpi_keyval *keyval = mpi_keyval_at(key, mpi_thing_kind(thing));
    if (key_predefined(thing, key, &unused))
        *error = mpi_error(thing, call, MPI_ERR_ARG, "the predefined attribute %d cannot be %s", key, how);
    else if (!keyval)
        *error = key_wrong(thing, call, key);
    return keyval;
}

static int attribute_set(const char *call, struct mpi_thing *thing, int key, void *value)
{
    int error = MPI_SUCCESS;
    struct mpi_keyval *keyval = key_changeable(call, thing, key, "set", &error);
    if (error)
        return error;
    /* relaxed: a key that one thread frees while another sets it is the program's race */
    if (atomic_load_explicit(&keyval->object.handle, memory_order_relaxed) == 0)
        return key_wrong(thing, call, key);
    struct mpi_attribute *old = attribute_find(thing, keyval);
    if (!old) {
        error = attribute_append(thing, keyval, value);
        return error ? mpi_error(thing, call, error, "no memory for an attribute") : MPI_SUCCESS;
    }
    error = delete_run(thing, old);
    if (error)
        return mpi_error(thing, call, error, "the delete function of the old value failed");
    old->value = value;
    return MPI_SUCCESS;
}

static int attribute_get(const char *call, struct mpi_thing *thing, int key, void *value, int *flag)
{
    const int *known;
    if (key_predefined(thing, key, &known)) {
        *flag = known != NULL;
        if (known)
            *(const void **)value = known;
        return MPI_SUCCESS;
    }
    struct mpi_keyval *keyval = mpi_keyval_at(key, mpi_thing_kind(thing));
    if (!keyval)
        return key_wrong(thing, call, key);
    struct mpi_attribute *found = attribute_find(thing, keyval);
    *flag = found != NULL;
    if (found)
        *(void **)value = found->value;
    return MPI_SUCCESS;
}

static int attribute_drop(const char *call, struct mpi_thing *thing, int key)
{
    int error = MPI_SUCCESS;
    struct mpi_keyval *keyval = key_changeable(call, thing, key, "deleted", &error);
    struct mpi_attribute *found = keyval ? attribute_find(thing, keyval) : NULL;
    if (!found)
        return error;
    error = attribute_remove(thing, found);
    return error ? mpi_error(thing, call, error, "the delete function of the attribute failed") : MPI_SUCCESS;
}

#define KEYVAL(kind) &(struct mpi_keyval){.of = kind, .copy = (void *)copy, .drop = (void *)drop_, .extra = extra}
#define ANSWERS GIVEN(attribute_val), GIVEN(flag)
#define NEW_KEY(name, copies, deletes) ENTRY(name)(copies *copy, deletes *drop_, int *keyval, void *extra)
NEW_KEY(MPI_Comm_create_keyval, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function)
    { return CHECK(RUNNING, GIVEN(keyval)) ?: key_create(NAME, KEYVAL(KIND_COMM), keyval); }
NEW_KEY(MPI_Type_create_keyval, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function)
    { return CHECK(RUNNING, GIVEN(keyval)) ?: key_create(NAME, KEYVAL(KIND_TYPE), keyval); }
ENTRY(MPI_Comm_free_keyval)(int *keyval) { return CHECK(RUNNING, GIVEN(keyval)) ?: key_free(NAME, KIND_COMM, keyval); }
ENTRY(MPI_Type_free_keyval)(int *keyval) { return CHECK(RUNNING, GIVEN(keyval)) ?: key_free(NAME, KIND_TYPE, keyval); }

#define OF_COMM NAME, &mpi_comm_at(comm)->thing
#define OF_TYPE NAME, &mpi_type_at(type)->thing
ENTRY(MPI_Comm_set_attr)(MPI_Comm comm, int key, void *value)
    { return CHECK(COMM_OF(comm)) ?: attribute_set(OF_COMM, key, value); }
ENTRY(MPI_Type_set_attr)(MPI_Datatype type, int key, void *value)
    { return CHECK(TYPE_OF(type)) ?: attribute_set(OF_TYPE, key, value); }
ENTRY(MPI_Comm_get_attr)(MPI_Comm comm, int key, void *attribute_val, int *flag)
    { return CHECK(COMM_OF(comm), ANSWERS) ?: attribute_get(OF_COMM, key, attribute_val, flag); }
ENTRY(MPI_Type_get_attr)(MPI_Datatype type, int key, void *attribute_val, int *flag)
    { return CHECK(TYPE_OF(type), ANSWERS) ?: attribute_get(OF_TYPE, key, attribute_val, flag); }
ENTRY(MPI_Comm_delete_attr)(MPI_Comm comm, int key) { return CHECK(COMM_OF(comm)) ?: attribute_drop(OF_COMM, key); }
ENTRY(MPI_Type_delete_attr)(MPI_Datatype type, int key)
    { return CHECK(TYPE_OF(type)) ?: attribute_drop(OF_TYPE, key); }

/* The same by their names of MPI-1. */
NEW_KEY(MPI_Keyval_create, MPI_Copy_function, MPI_Delete_function)
    { return CHECK(RUNNING, GIVEN(keyval)) ?: key_create(NAME, KEYVAL(KIND_COMM), keyval); }
ENTRY(MPI_Keyval_free)(int *keyval) { return CHECK(RUNNING, GIVEN(keyval)) ?: key_free(NAME, KIND_COMM, keyval); }
ENTRY(MPI_Attr_put)(MPI_Comm comm, int key, void *value)
    { return CHECK(COMM_OF(comm)) ?: attribute_set(OF_COMM, key, value); }
ENTRY(MPI_Attr_get)(MPI_Comm comm, int key, void *attribute_val, int *flag)
    { return CHECK(COMM_OF(comm), ANSWERS) ?: attribute_get(OF_COMM, key, attribute_val, flag); }
ENTRY(MPI_Attr_delete)(MPI_Comm comm, int key) { return CHECK(COMM_OF(comm)) ?: attribute_drop(OF_COMM, key); }
