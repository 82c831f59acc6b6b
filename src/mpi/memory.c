/* MPI_Alloc_mem and MPI_Free_mem. The pieces are known (base/lasting.h), so that freeing what was not allocated, or
 * twice, is an error and not the end of the process. */
#include "base/lasting.h"
#include "mpi/info.h"

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
    void *memory = vbase_lasting_take(alignment_of(info), (size_t)size);
    if (!memory)
        return mpi_error(NULL, call, MPI_ERR_NO_MEM, "no memory for %lld bytes", (long long)size);
    *base = memory;
    return MPI_SUCCESS;
}
ENTRY(MPI_Alloc_mem)(MPI_Aint size, MPI_Info info, void *baseptr)
    { return CHECK(RUNNING, GIVEN(baseptr), HINTS(info)) ?: piece_allocate(NAME, size, info, baseptr); }

ENTRY(MPI_Free_mem)(void *base)
{
    mpi_enter(NAME);
    if (base && !vbase_lasting_give(base))
        return mpi_error(NULL, NAME, MPI_ERR_BASE, "%p is not from MPI_Alloc_mem, or was freed", base);
    return MPI_SUCCESS;
}
