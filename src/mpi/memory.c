/* MPI_Alloc_mem and MPI_Free_mem. Each piece of memory is known by a record in a list, so that freeing what was not
 * allocated, or twice, is an error and not the end of the process. Programs allocate little and seldom this way. */
#include "mpi/info.h"

struct piece {
    struct piece *next;
    void *base;
};
static struct piece *pieces;
static struct base_lock lock;

/* What the info key mpi_minimum_memory_alignment asks for; CACHE_LINE at least. */
static size_t alignment_of(MPI_Info info)
{
    const char *text = info == MPI_INFO_NULL ? NULL : mpi_info_value(mpi_info_at(info), "mpi_minimum_memory_alignment");
    unsigned long wanted = text ? strtoul(text, NULL, 10) : 0;
    return wanted > CACHE_LINE && wanted <= 1u << 30 && (wanted & (wanted - 1)) == 0 ? wanted : CACHE_LINE;
}

static int piece_allocate(const char *call, MPI_Aint size, MPI_Info info, void **base)
{
    if (size < 0)
        return mpi_error(NULL, call, MPI_ERR_ARG, "size %lld is negative", (long long)size);
    struct piece *piece = malloc(sizeof *piece);
    if (!piece || posix_memalign(&piece->base, alignment_of(info), size > 0 ? (size_t)size : 1)) {
        free(piece);
        return mpi_error(NULL, call, MPI_ERR_NO_MEM, "no memory for %lld bytes", (long long)size);
    }
    *base = piece->base;
    mpi_lock(&lock);
    piece->next = pieces;
    pieces = piece;
    mpi_unlock(&lock);
    return MPI_SUCCESS;
}
ENTRY(MPI_Alloc_mem)(MPI_Aint size, MPI_Info info, void *baseptr)
    { return CHECK(RUNNING, GIVEN(baseptr), HINTS(info)) ?: piece_allocate(NAME, size, info, baseptr); }

ENTRY(MPI_Free_mem)(void *base)
{
    struct piece **place = &pieces, *piece;
    mpi_enter(NAME);
    if (!base)
        return MPI_SUCCESS;
    mpi_lock(&lock);
    while (*place && (*place)->base != base)
        place = &(*place)->next;
    piece = *place;
    if (piece)
        *place = piece->next;
    mpi_unlock(&lock);
    if (!piece)
        return mpi_error(NULL, NAME, MPI_ERR_BASE, "%p is not from MPI_Alloc_mem, or was freed", base);
    free(piece);
    free(base);
    return MPI_SUCCESS;
}
