/* The buffer of MPI_Bsend. Copies of messages lie in it one after the other, each behind a header with its request, in
 * a list by address; room is the first gap that fits. With MPI_BUFFER_AUTOMATIC each copy is memory of its own. */
#include "mpi/inside.h"
#include <limits.h>
#include <stdlib.h>

struct copy {
    struct copy *next;
    uint64_t room; /* with this header */
    struct msg_request request;
};
#define COPY_ALIGNMENT 16
_Static_assert(sizeof(struct copy) + 2 * COPY_ALIGNMENT <= MPI_BSEND_OVERHEAD, "the ABI grants so much per message");

static struct {
    struct base_lock lock;
    void *attached; /* NULL: none; or MPI_BUFFER_AUTOMATIC */
    int64_t size;   /* as it was attached */
    char *start, *end;
    struct copy *copies;
} buffer;

static bool automatic(void) { return buffer.attached == MPI_BUFFER_AUTOMATIC; }

/* Takes the copies that are sent off the list. */
static void reap(void)
{
    for (struct copy **place = &buffer.copies; *place;) {
        struct copy *copy = *place;
        if (!vmsg_request_done(&copy->request)) {
            place = &copy->next;
            continue;
        }
        *place = copy->next;
        if (automatic())
            free(copy);
    }
}

/* A header with room for BYTES behind it, in the list; NULL: no room. */
static struct copy *place_copy(uint64_t bytes)
{
    uint64_t room = (sizeof(struct copy) + bytes + COPY_ALIGNMENT - 1) / COPY_ALIGNMENT * COPY_ALIGNMENT;
    struct copy **place = &buffer.copies, *copy;
    if (automatic()) {
        copy = malloc(room);
    } else {
        char *gap = buffer.start;
        while (*place && (uint64_t)((char *)*place - gap) < room) {
            gap = (char *)*place + (*place)->room;
            place = &(*place)->next;
        }
        char *limit = *place ? (char *)*place : buffer.end;
        copy = gap <= limit && (uint64_t)(limit - gap) >= room ? (struct copy *)(void *)gap : NULL;
    }
    if (!copy)
        return NULL;
    copy->room = room;
    copy->next = *place;
    *place = copy;
    return copy;
}

static void remove_copy(struct copy *copy)
{
    struct copy **place = &buffer.copies;
    while (*place != copy)
        place = &(*place)->next;
    *place = copy->next;
    if (automatic())
        free(copy);
}

/* Under the lock: the copy is made and on its way. The engine's errors; ERR_LIMIT: no room. */
static int send_copy(const struct mpi_message *m, const struct mpi_target *target)
{
    struct type_buffer from = mpi_buffer((void *)m->buffer, (uint64_t)m->count, target->type);
    uint64_t bytes = type_buffer_bytes(&from);
    if (!buffer.attached)
        return ERR_STATE;
    reap();
    struct copy *copy = place_copy(bytes);
    if (!copy) {
        vmsg_progress();
        reap();
        copy = place_copy(bytes);
    }
    if (!copy)
        return ERR_LIMIT;
    struct type_cursor cursor;
    vtype_cursor_start(&cursor, &from);
    vtype_pack(&cursor, copy + 1, bytes);
    copy->request.completed = NULL;
    copy->request.owner = NULL;
    struct msg_where to = mpi_where(target->comm, m->rank, m->tag);
    struct type_buffer packed = {copy + 1, bytes, NULL};
    int error = vmsg_send_start(&copy->request, &to, &packed, MSG_STANDARD);
    if (error)
        remove_copy(copy);
    return error;
}

int mpi_buffered_send(const struct mpi_message *m, const struct mpi_target *target)
{
    mpi_lock(&buffer.lock);
    int error = send_copy(m, target);
    mpi_unlock(&buffer.lock);
    if (!error)
        return MPI_SUCCESS;
    if (error == ERR_STATE && !buffer.attached)
        return mpi_error(target->comm, m->call, MPI_ERR_BUFFER, "no buffer is attached: call MPI_Buffer_attach");
    if (error == ERR_LIMIT)
        return mpi_error(target->comm, m->call, MPI_ERR_BUFFER,
                         "%lld of %s (and MPI_BSEND_OVERHEAD) do not fit into what is free of the %lld attached bytes",
                         (long long)m->count, mpi_type_text(target->type), (long long)buffer.size);
    return mpi_engine_error(target->comm, m->call, error);
}

static bool is_empty(void *unused)
{
    (void)unused;
    mpi_lock(&buffer.lock);
    reap();
    bool empty = buffer.copies == NULL;
    mpi_unlock(&buffer.lock);
    return empty;
}

static int flush(const char *call)
{
    int error = is_empty(NULL) ? OK : vmsg_wait_until(is_empty, NULL);
    return error ? mpi_engine_error(NULL, call, error) : MPI_SUCCESS;
}

void mpi_buffers_finish(void)
{
    if (flush("MPI_Finalize") == MPI_SUCCESS)
        buffer.attached = NULL;
}

/* ---- the calls -------------------------------------------------------------------------------------------------- */

static int attach(const char *call, void *memory, int64_t size)
{
    mpi_enter(call);
    bool memory_is_ours = memory == MPI_BUFFER_AUTOMATIC;
    if (size < 0 || (!memory && size > 0))
        return mpi_error(NULL, call, size < 0 ? MPI_ERR_ARG : MPI_ERR_BUFFER, "the buffer is %lld bytes at %p",
                         (long long)size, memory);
    if (buffer.attached)
        return mpi_error(NULL, call, MPI_ERR_BUFFER, "a buffer is attached already: detach it first");
    mpi_lock(&buffer.lock);
    buffer.attached = memory ? memory : (void *)&buffer; /* a buffer of nothing is attached all the same */
    buffer.size = size;
    uintptr_t start = ((uintptr_t)memory + COPY_ALIGNMENT - 1) & ~(uintptr_t)(COPY_ALIGNMENT - 1);
    buffer.start = memory_is_ours ? NULL : (char *)start;
    buffer.end = memory_is_ours ? NULL : (char *)memory + size;
    mpi_unlock(&buffer.lock);
    return MPI_SUCCESS;
}

static int detach(const char *call, void *memory, MPI_Count *size)
{
    mpi_enter(call);
    if (!memory || !size)
        return mpi_null(NULL, call, memory ? "size" : "buffer_addr");
    if (!buffer.attached)
        return mpi_error(NULL, call, MPI_ERR_BUFFER, "no buffer is attached");
    int error = flush(call);
    if (error)
        return error;
    *(void **)memory = buffer.attached == (void *)&buffer ? NULL : buffer.attached;
    *size = buffer.size;
    buffer.attached = NULL;
    return MPI_SUCCESS;
}

ENTRY(MPI_Buffer_attach)(void *memory, int size) { return attach("MPI_Buffer_attach", memory, size); }
ENTRY(MPI_Buffer_attach_c)(void *memory, MPI_Count size) { return attach("MPI_Buffer_attach_c", memory, size); }

ENTRY(MPI_Buffer_detach)(void *memory, int *size)
{
    MPI_Count wide = 0;
    DOING("MPI_Buffer_detach");
    int error = detach("MPI_Buffer_detach", memory, size ? &wide : NULL);
    if (!error)
        *size = wide > INT_MAX ? MPI_UNDEFINED : (int)wide;
    return error;
}
ENTRY(MPI_Buffer_detach_c)(void *memory, MPI_Count *size)
{
    DOING("MPI_Buffer_detach_c");
    return detach("MPI_Buffer_detach_c", memory, size);
}
ENTRY(MPI_Buffer_flush)(void)
{
    ENTER("MPI_Buffer_flush");
    return flush("MPI_Buffer_flush");
}
