/* Boxes hold the integers that were set in Fortran. A pointer set in C is told from a box by the table of all of them;
 * see attributes.h. A box ends when its attribute is deleted, by the delete function that each key of Fortran has. What
 * a key knows of itself is kept to the end of the program: attributes may outlive the key. */
#include "fortran/attributes.h"
#include <pthread.h>

struct box {
    MPI_Aint value; /* first: C sees its address */
    struct box *next;
};

#define ROWS 256
static struct box *table[ROWS];
static struct fortran_key *keys;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of both */

static struct box **row_of(const void *address) { return &table[(size_t)address / 32 % ROWS]; }

void *fortran_attribute_box(MPI_Aint value)
{
    struct box *box = malloc(sizeof *box), **row = row_of(box);
    if (!box)
        return NULL;
    pthread_mutex_lock(&lock);
    *box = (struct box){value, *row};
    *row = box;
    pthread_mutex_unlock(&lock);
    return box;
}

/* With the lock. */
static struct box **box_find(const void *attribute)
{
    struct box **box = row_of(attribute);
    while (*box && *box != attribute)
        box = &(*box)->next;
    return box;
}

MPI_Aint fortran_attribute_value(int keyval, void *attribute)
{
    if ((keyval >= MPI_TAG_UB && keyval <= FORTRAN_LAST_KEY) || keyval == MPI_WIN_DISP_UNIT ||
        keyval == MPI_WIN_CREATE_FLAVOR || keyval == MPI_WIN_MODEL)
        return attribute ? *(int *)attribute : 0;
    if (keyval == MPI_WIN_SIZE)
        return attribute ? *(MPI_Aint *)attribute : 0;
    pthread_mutex_lock(&lock);
    const struct box *box = *box_find(attribute);
    MPI_Aint value = box ? box->value : (MPI_Aint)attribute;
    pthread_mutex_unlock(&lock);
    return value;
}

void fortran_attribute_drop(void *attribute)
{
    pthread_mutex_lock(&lock);
    struct box **place = box_find(attribute), *box = *place;
    if (box)
        *place = box->next;
    pthread_mutex_unlock(&lock);
    free(box);
}

typedef void wide_copy(const int *, const int *, const MPI_Aint *, const MPI_Aint *, MPI_Aint *, int *, int *);
typedef void wide_delete(const int *, const int *, const MPI_Aint *, const MPI_Aint *, int *);
typedef void narrow_copy(const int *, const int *, const int *, const int *, int *, int *, int *);
typedef void narrow_delete(const int *, const int *, const int *, const int *, int *);

struct fortran_key *fortran_key_make(void *copy, void *delete, MPI_Aint state, bool narrow)
{
    pthread_mutex_lock(&lock);
    struct fortran_key *key = keys;
    while (key && (key->copy != copy || key->delete != delete || key->state != state || key->narrow != narrow))
        key = key->next;
    if (!key && (key = malloc(sizeof *key))) {
        *key = (struct fortran_key){copy, delete, state, narrow, keys};
        keys = key;
    }
    pthread_mutex_unlock(&lock);
    return key;
}

static int copy(int handle, int keyval, const struct fortran_key *key, void *in, void *out, int *flag)
{
    MPI_Aint value = fortran_attribute_value(keyval, in), copied = 0;
    int error = MPI_SUCCESS, narrow_state = (int)key->state, narrow_value = (int)value, narrow_copied = 0;
    *flag = 0;
    if (key->narrow)
        ((narrow_copy *)key->copy)(&handle, &keyval, &narrow_state, &narrow_value, &narrow_copied, flag, &error);
    else
        ((wide_copy *)key->copy)(&handle, &keyval, &key->state, &value, &copied, flag, &error);
    if (error || !*flag)
        return error;
    void *box = fortran_attribute_box(key->narrow ? narrow_copied : copied);
    *(void **)out = box;
    return box ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int delete(int handle, int keyval, void *attribute, const struct fortran_key *key)
{
    MPI_Aint value = fortran_attribute_value(keyval, attribute);
    int error = MPI_SUCCESS, narrow_state = (int)key->state, narrow_value = (int)value;
    if (key->narrow)
        ((narrow_delete *)key->delete)(&handle, &keyval, &narrow_value, &narrow_state, &error);
    else
        ((wide_delete *)key->delete)(&handle, &keyval, &value, &key->state, &error);
    if (!error)
        fortran_attribute_drop(attribute);
    return error;
}

#define KEYED(Name, name, type)                                                                       \
    int fortran_##name##_copy(type old, int keyval, void *state, void *in, void *out, int *flag)      \
    {                                                                                                 \
        return copy(MPI_##Name##_toint(old), keyval, state, in, out, flag);                           \
    }                                                                                                 \
    int fortran_##name##_delete(type old, int keyval, void *attribute, void *state)                   \
    {                                                                                                 \
        return delete(MPI_##Name##_toint(old), keyval, attribute, state);                             \
    }
KEYED(Comm, comm, MPI_Comm)
KEYED(Type, type, MPI_Datatype)
KEYED(Win, win, MPI_Win)
