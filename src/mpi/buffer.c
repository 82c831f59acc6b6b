/* The buffers of MPI_Bsend: of a communicator, else of the session that it comes from, else of the process. Copies of
 * messages lie in a buffer one after the other, each behind a small header (an ABI may grant only 96 bytes for it; the
 * request is memory of our own), in a list by address; room is the first gap that fits. With MPI_BUFFER_AUTOMATIC each
 * copy is memory of its own. Copies are numbered, so that a flush knows what it waits for. */
#include "mpi/check.h"
#include "mpi/message.h"
#include "mpi/request.h"
#include "mpi/session.h"
#include <sched.h>

struct mpi_copy {
    struct mpi_copy *next;
    uint64_t room; /* with this header */
    uint64_t number;
    struct msg_request *request;
};
#define COPY_ALIGNMENT 16
#define IDLE_MOST 100 /* looks in vain before a buffer is said to be full */
_Static_assert(sizeof(struct mpi_copy) + 2 * COPY_ALIGNMENT <= MPI_BSEND_OVERHEAD,
               "the ABI grants so much per message");

static struct base_lock lock; /* of all */
struct mpi_buffer mpi_process_buffer;

/* That messages of COMM use. */
static struct mpi_buffer *buffer_of(struct mpi_comm *comm)
{
    struct mpi_session *session = comm->group->session;
    return comm->buffer.attached                 ? &comm->buffer
           : session && session->buffer.attached ? &session->buffer
                                                 : &mpi_process_buffer;
}

static bool is_automatic(const struct mpi_buffer *buffer) { return buffer->attached == MPI_BUFFER_AUTOMATIC; }

static void copy_free(const struct mpi_buffer *buffer, struct mpi_copy *copy)
{
    free(copy->request);
    if (is_automatic(buffer))
        free(copy);
}

/* Takes the copies that are sent off the list. */
static void copies_reap(struct mpi_buffer *buffer)
{
    for (struct mpi_copy **place = &buffer->copies; *place;) {
        struct mpi_copy *copy = *place;
        if (!vmsg_request_done(copy->request)) {
            place = &copy->next;
            continue;
        }
        *place = copy->next;
        if (mpi_checking)
            mpi_check_ends(copy->request);
        copy_free(buffer, copy);
    }
}

/* A header with room for BYTES behind it, in the list; NULL: no room. */
static struct mpi_copy *copy_place(struct mpi_buffer *buffer, uint64_t bytes)
{
    uint64_t room = (sizeof(struct mpi_copy) + bytes + COPY_ALIGNMENT - 1) / COPY_ALIGNMENT * COPY_ALIGNMENT;
    struct mpi_copy **place = &buffer->copies, *copy;
    if (is_automatic(buffer)) {
        copy = malloc(room);
    } else {
        char *gap = buffer->start;
        while (*place && (uint64_t)((char *)*place - gap) < room) {
            gap = (char *)*place + (*place)->room;
            place = &(*place)->next;
        }
        char *limit = *place ? (char *)*place : buffer->end;
        copy = gap <= limit && (uint64_t)(limit - gap) >= room ? (struct mpi_copy *)(void *)gap : NULL;
    }
    struct msg_request *request = copy ? malloc(sizeof *request) : NULL;
    if (!request) {
        if (is_automatic(buffer))
            free(copy);
        return NULL;
    }
    copy->request = request;
    copy->room = room;
    copy->number = ++buffer->copied;
    copy->next = *place;
    *place = copy;
    return copy;
}

static void copy_remove(struct mpi_buffer *buffer, struct mpi_copy *copy)
{
    struct mpi_copy **place = &buffer->copies;
    while (*place != copy)
        place = &(*place)->next;
    *place = copy->next;
    copy_free(buffer, copy);
}

/* Under the lock: the copy is made and on its way. The engine's errors; ERR_LIMIT: no room. */
static int copy_send(struct mpi_buffer *buffer, const struct mpi_message *m, const struct mpi_target *target)
{
    struct type_buffer from = mpi_buffer((void *)m->buffer, (uint64_t)m->count, target->type);
    uint64_t bytes = type_buffer_bytes(&from);
    if (!buffer->attached)
        return ERR_STATE;
    copies_reap(buffer);
    struct mpi_copy *copy = copy_place(buffer, bytes);
    if (!copy)
        return ERR_LIMIT;
    (void)vtype_pack_at(&from, 0, copy + 1, bytes);
    struct type_buffer packed = {copy + 1, bytes, NULL};
    int error = mpi_operation_start(copy->request, m, target, WAY_STANDARD, &packed);
    if (error)
        copy_remove(buffer, copy);
    return error;
}

int mpi_buffered_send(const struct mpi_message *m, const struct mpi_target *target)
{
    if (m->rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    struct mpi_buffer *buffer = NULL;
    int error = ERR_LIMIT;
    for (int idle = 0; error == ERR_LIMIT && idle < IDLE_MOST;) {
        /* not under the lock: handlers of calls run in it, and may send as well */
        if (buffer && !vmsg_progress() && ++idle)
            sched_yield(); /* another thread may be the one that takes in what is there */
        mpi_lock(&lock);
        buffer = buffer_of(target->comm);
        error = copy_send(buffer, m, target);
        mpi_unlock(&lock);
    }
    if (!error)
        return MPI_SUCCESS;
    if (error == ERR_STATE && !buffer->attached)
        return mpi_error(target->comm, m->call, MPI_ERR_BUFFER, "no buffer is attached: call MPI_Buffer_attach");
    if (error == ERR_LIMIT)
        return mpi_error(target->comm, m->call, MPI_ERR_BUFFER,
                         "%lld of %s (and MPI_BSEND_OVERHEAD) do not fit into what is free of the %lld attached bytes",
                         (long long)m->count, mpi_type_text(target->type), (long long)buffer->size);
    return mpi_engine_error(target->comm, m->call, error);
}

/* ---- flushing ---- */

struct flush { /* until the copies numbered up to LAST are sent */
    struct mpi_buffer *buffer;
    uint64_t last;
};

static bool is_flushed(void *context)
{
    const struct flush *flush = context;
    bool left = false;
    mpi_lock(&lock);
    copies_reap(flush->buffer);
    for (const struct mpi_copy *copy = flush->buffer->copies; copy; copy = copy->next)
        left |= copy->number <= flush->last;
    mpi_unlock(&lock);
    return !left;
}

int mpi_buffer_flush(const char *call, struct mpi_thing *thing, struct mpi_buffer *buffer)
{
    struct flush all = {buffer, UINT64_MAX};
    int error = is_flushed(&all) ? OK : vmsg_wait_until(is_flushed, &all);
    return error ? mpi_engine_error(thing, call, error) : MPI_SUCCESS;
}

/* ---- attaching ---- */

/* A buffer, and where its errors go. */
struct place {
    struct mpi_thing *thing;
    struct mpi_buffer *buffer;
};
#define OF_PROCESS (struct place){NULL, &mpi_process_buffer}
#define OF_COMM (struct place){&mpi_comm_at(comm)->thing, &mpi_comm_at(comm)->buffer}
#define OF_SESSION (struct place){&mpi_session_at(session)->thing, &mpi_session_at(session)->buffer}

static int buffer_attach(const char *call, struct place place, void *memory, int64_t size)
{
    struct mpi_buffer *buffer = place.buffer;
    bool memory_is_ours = memory == MPI_BUFFER_AUTOMATIC;
    if (size < 0 || (!memory && size > 0))
        return mpi_error(place.thing, call, size < 0 ? MPI_ERR_ARG : MPI_ERR_BUFFER, "the buffer is %lld bytes at %p",
                         (long long)size, memory);
    if (buffer->attached)
        return mpi_error(place.thing, call, MPI_ERR_BUFFER, "a buffer is attached already: detach it first");
    mpi_lock(&lock);
    buffer->attached = memory ? memory : (void *)buffer; /* a buffer of nothing is attached all the same */
    buffer->size = size;
    uintptr_t start = ((uintptr_t)memory + COPY_ALIGNMENT - 1) & ~(uintptr_t)(COPY_ALIGNMENT - 1);
    buffer->start = memory_is_ours ? NULL : (char *)start;
    buffer->end = memory_is_ours ? NULL : (char *)memory + size;
    mpi_unlock(&lock);
    return MPI_SUCCESS;
}

static int buffer_detach(const char *call, struct place place, void *memory, struct mpi_count size)
{
    struct mpi_buffer *buffer = place.buffer;
    mpi_doing(call);
    if (!buffer->attached)
        return mpi_error(place.thing, call, MPI_ERR_BUFFER, "no buffer is attached");
    int error = mpi_buffer_flush(call, place.thing, buffer);
    if (error)
        return error;
    *(void **)memory = buffer->attached == (void *)buffer ? NULL : buffer->attached;
    buffer->attached = NULL;
    return mpi_count_tell(size, buffer->size);
}

static int buffer_flush(const char *call, struct place place)
{
    mpi_doing(call);
    return mpi_buffer_flush(call, place.thing, place.buffer);
}

static bool flush_done(struct mpi_request *request) { return is_flushed(request->extra); }
static const struct mpi_request_kind flush_request = {.done = flush_done};

/* A request that is complete when what is in the buffer now is sent. COMM: whose it is; NULL: of none. */
static int flush_start(const char *call, struct mpi_comm *comm, struct place place, MPI_Request *out)
{
    struct mpi_request *request = mpi_request_take_with(&flush_request, call, comm, sizeof(struct flush));
    if (!request)
        return mpi_engine_error(place.thing, call, ERR_MEMORY);
    *(struct flush *)request->extra = (struct flush){place.buffer, place.buffer->copied};
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

#define COMM COMM_OF(comm)
#define SESSION SESSION_OF(session)
WIDENED(MPI_Buffer_attach, MPI_Buffer_attach_c, int, MPI_ATTACH_,
        return CHECK(RUNNING) ?: buffer_attach(NAME, OF_PROCESS, buffer, size))
WIDENED(MPI_Comm_attach_buffer, MPI_Comm_attach_buffer_c, int, MPI_COMM_ATTACH_,
        return CHECK(COMM) ?: buffer_attach(NAME, OF_COMM, buffer, size))
#define SESSION_ATTACHED(N, A) MPI_Session session, MPI_ATTACH_(N, A)
WIDENED(MPI_Session_attach_buffer, MPI_Session_attach_buffer_c, int, SESSION_ATTACHED,
        return CHECK(SESSION) ?: buffer_attach(NAME, OF_SESSION, buffer, size))
#define DETACHED GIVEN(buffer_addr), GIVEN(size)
WIDENED(MPI_Buffer_detach, MPI_Buffer_detach_c, int, MPI_DETACH_,
        return CHECK(RUNNING, DETACHED) ?: buffer_detach(NAME, OF_PROCESS, buffer_addr, COUNT_AT(size)))
WIDENED(MPI_Comm_detach_buffer, MPI_Comm_detach_buffer_c, int, MPI_COMM_DETACH_,
        return CHECK(COMM, DETACHED) ?: buffer_detach(NAME, OF_COMM, buffer_addr, COUNT_AT(size)))
#define SESSION_DETACHED(N, A) MPI_Session session, MPI_DETACH_(N, A)
WIDENED(MPI_Session_detach_buffer, MPI_Session_detach_buffer_c, int, SESSION_DETACHED,
        return CHECK(SESSION, DETACHED) ?: buffer_detach(NAME, OF_SESSION, buffer_addr, COUNT_AT(size)))
ENTRY(MPI_Buffer_flush)(void) { return CHECK(RUNNING) ?: buffer_flush(NAME, OF_PROCESS); }
ENTRY(MPI_Comm_flush_buffer)(MPI_Comm comm) { return CHECK(COMM) ?: buffer_flush(NAME, OF_COMM); }
ENTRY(MPI_Session_flush_buffer)(MPI_Session session) { return CHECK(SESSION) ?: buffer_flush(NAME, OF_SESSION); }
ENTRY(MPI_Buffer_iflush)(MPI_Request *request)
    { return CHECK(RUNNING, GIVEN(request)) ?: flush_start(NAME, NULL, OF_PROCESS, request); }
ENTRY(MPI_Comm_iflush_buffer)(MPI_Comm comm, MPI_Request *request)
    { return CHECK(COMM, GIVEN(request)) ?: flush_start(NAME, mpi_comm_at(comm), OF_COMM, request); }
ENTRY(MPI_Session_iflush_buffer)(MPI_Session session, MPI_Request *request)
    { return CHECK(SESSION, GIVEN(request)) ?: flush_start(NAME, NULL, OF_SESSION, request); }
