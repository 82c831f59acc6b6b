/* The predefined handles of Open MPI's ABI: objects of which programs use the addresses alone. A program that was not
 * built as position independent takes them over into its own memory, so the addresses are learned when this library is
 * loaded. And the functions that are constants for attributes
 * (aliases.ld has their other names). */
#include "mpi/object.h"

#define MPI_OBJECT(kind, number, bytes, name) char name[bytes];
#include "mpi/openmpi/objects.def"
#undef MPI_OBJECT

_Static_assert((int)KIND_TYPE == MPI_KIND_OF_TYPES && (int)KIND_OP == MPI_KIND_OF_OPS, "numbers.h names these kinds");

struct mpi_known mpi_known[MPI_KNOWN];
void *mpi_known_handles[KIND_COUNT][MPI_NUMBERS];

static __attribute__((constructor)) void objects_learn(void)
{
    static const struct mpi_known rows[] = {
#define MPI_OBJECT(kind, number, bytes, name) {(uintptr_t)name, kind << 8 | number},
#include "mpi/openmpi/objects.def"
#undef MPI_OBJECT
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        *(struct mpi_known *)mpi_known_at(rows[i].address) = rows[i];
        mpi_known_handles[rows[i].number >> 8][rows[i].number & 0xFF] = (void *)rows[i].address;
    }
}

/* Functions that are constants for attributes: the same of each kind of objects. */
int OMPI_C_MPI_NULL_COPY_FN(void *object, int key, void *extra, void *in, void *out, int *flag)
{
    (void)object, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}
int OMPI_C_MPI_DUP_FN(void *object, int key, void *extra, void *in, void *out, int *flag)
{
    (void)object, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
int OMPI_C_MPI_NULL_DELETE_FN(void *object, int key, void *value, void *extra)
{
    (void)object, (void)key, (void)value, (void)extra;
    return MPI_SUCCESS;
}
