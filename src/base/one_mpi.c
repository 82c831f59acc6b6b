/* See one_mpi.h. Called by src/mpi/build.c when a library is loaded or closed, and by the start of MPI. */
#include "base/one_mpi.h"
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char loaded[3][512]; /* "": free */

/* With the lock. */
static char *place_of(const char *file)
{
    for (int i = 0; i < 3; i++)
        if (strncmp(loaded[i], file, sizeof loaded[i] - 1) == 0)
            return loaded[i];
    return NULL;
}

void vbase_mpi_loaded(const char *file)
{
    pthread_mutex_lock(&lock);
    char *place = place_of("");
    if (place)
        snprintf(place, sizeof loaded[0], "%s", file);
    pthread_mutex_unlock(&lock);
}

void vbase_mpi_closed(const char *file)
{
    pthread_mutex_lock(&lock);
    char *place = place_of(file);
    if (place)
        place[0] = 0;
    pthread_mutex_unlock(&lock);
}

/* A library of MPICH or Open MPI themselves: with the lock. */
static int foreign_look(struct dl_phdr_info *library, size_t size, void *found)
{
    static char foreign[sizeof loaded[0]];
    const char *slash = strrchr(library->dlpi_name, '/'), *name = slash ? slash + 1 : library->dlpi_name;
    (void)size;
    if ((strncmp(name, "libmpi.so.", 10) != 0 && strncmp(name, "libmpich.so.", 12) != 0) ||
        place_of(library->dlpi_name))
        return 0;
    snprintf(foreign, sizeof foreign, "%s", library->dlpi_name);
    *(const char **)found = foreign;
    return 1;
}

const char *vbase_mpi_beside(const char *file)
{
    const char *found = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 3 && !found; i++)
        if (loaded[i][0] && strncmp(loaded[i], file, sizeof loaded[i] - 1) != 0)
            found = loaded[i];
    if (!found)
        (void)dl_iterate_phdr(foreign_look, &found);
    pthread_mutex_unlock(&lock);
    return found;
}
