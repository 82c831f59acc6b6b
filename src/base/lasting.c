/* Called by MPI_Alloc_mem and MPI_Free_mem, and where memory is kept registered with a device. */
#include "base/lasting.h"

#define PAGE 4096u

struct piece {
    struct piece *next;
    void *base;
    size_t bytes;
};
static struct piece *pieces;
static struct base_lock lock;
void (*_Atomic vbase_lasting_ends)(uint64_t start, uint64_t end);

void *vbase_lasting_take(size_t alignment, size_t bytes)
{
    struct piece *piece = malloc(sizeof *piece);
    bytes = bytes ? bytes : 1;
    if (!piece || posix_memalign(&piece->base, alignment, bytes)) {
        free(piece);
        return NULL;
    }
    void *base = piece->base;
    piece->bytes = bytes;
    base_lock(&lock);
    piece->next = pieces;
    pieces = piece;
    base_unlock(&lock);
    return base;
}

bool vbase_lasting_give(void *base)
{
    struct piece **place = &pieces;
    base_lock(&lock);
    while (*place && (*place)->base != base)
        place = &(*place)->next;
    struct piece *piece = *place;
    if (piece)
        *place = piece->next;
    base_unlock(&lock);
    if (!piece)
        return false;
    /* acquire: pairs with the release in vi/verbs/watch.c */
    void (*ends)(uint64_t, uint64_t) = atomic_load_explicit(&vbase_lasting_ends, memory_order_acquire);
    if (ends)
        ends((uintptr_t)base, (uintptr_t)base + piece->bytes);
    free(piece);
    free(base);
    return true;
}

bool vbase_lasting_has(uint64_t start, uint64_t end)
{
    bool has = false;
    base_lock(&lock);
    for (const struct piece *piece = pieces; piece && !has; piece = piece->next) {
        uint64_t first = (uintptr_t)piece->base;
        has = first < start + PAGE && first + piece->bytes > end - PAGE;
    }
    base_unlock(&lock);
    return has;
}
