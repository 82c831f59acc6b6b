/* Boxes hold the integers that were set in Fortran. A pointer set in C is told from a box by the table of all of them;
 * see attributes.h. A box ends when its attribute is deleted, by the delete function that each key of Fortran has. */
#include "fortran/attributes.h"
#include <pthread.h>

struct box {
    MPI_Aint value; /* first: C sees its address */
    struct box *next;
};

#define ROWS 256
static struct box *table[ROWS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
