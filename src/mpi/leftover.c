/* VIADUCT_CHECK, what is left behind: at the end (MPI_Finalize, or that of the last session) every rank tells which
 * requests and other handles its program did not free, each with the place of the call that made it, and which messages
 * it did not receive. */
#include "mpi/message.h"
#include "mpi/request.h"

/* What else is known of a request or communicator. */
static const char *object_detail(enum mpi_kind kind, const void *object, char text[160])
{
    char name[64];
    const struct mpi_request *request = object;
    text[0] = 0;
    if (kind == KIND_REQUEST)
        snprintf(text, 160, " of %s%s%s", request->call, request->comm ? " on " : "",
                 request->comm ? mpi_thing_name(request->comm, name) : "");
    if (kind == KIND_COMM)
        snprintf(text, 160, " (%s)", mpi_thing_name(object, name));
    return text;
}

static void handles_tell(enum mpi_kind kind)
{
    const struct mpi_kind_row *row = mpi_tables[kind].kind;
    char detail[160], place[400];
    int told = 0;
    for (uint32_t i = 0; i < mpi_tables[kind].objects; i++) {
        const struct mpi_object *object = mpi_slot(kind, i, row->size);
        if (atomic_load_explicit(&object->handle, memory_order_relaxed) == 0 || ++told > MPI_CHECK_MOST)
            continue;
        LOG_WARN("check: a%s %s%s was never freed; it was made at %s", strchr("aeiou", row->name[0]) ? "n" : "",
                 row->name, object_detail(kind, object, detail), mpi_check_place(object->made_at, place));
    }
    if (told > MPI_CHECK_MOST)
        LOG_WARN("check: and %d more of kind %s", told - MPI_CHECK_MOST, row->name);
}

/* Takes what was never received, so that its sender is let go, and tells it. */
static void messages_tell(struct mpi_comm *comm)
{
    struct msg_where any = {comm->context, MSG_ANY_SOURCE, MSG_ANY_TAG};
    struct type_buffer nothing = {NULL, 0, NULL};
    struct msg_message *message;
    struct msg_result result;
    char name[64];
    for (int told = 0; vmsg_message_probe(&any, &message, &result) == OK && message; told++) {
        struct msg_request request = {.completed = NULL};
        if (told < MPI_CHECK_MOST)
            LOG_WARN("check: a message of %llu bytes from rank %d with tag %d on %s was never received",
                     (unsigned long long)result.bytes, result.source, result.tag, mpi_thing_name(comm, name));
        if (vmsg_message_recv(&request, message, &nothing) == OK)
            mpi_wait_here(&request);
    }
}

void mpi_check_leftovers(void)
{
    static const struct mpi_payload none = {.taken.bytes = MPI_CHECK_ANY_LENGTH, .operation = MPI_CHECK_NO_OPERATION};
    struct coll_call barrier = {.kind = COLL_BARRIER};
    if (!mpi_checking)
        return;
    if (mpi_process.world && mpi_check_call(mpi_process.world, "MPI_Finalize", MPI_CHECK_NO_ROOT, &none))
        return;
    mpi_checking = false;
    mpi_watching_settle();
    if (mpi_process.world)
        barrier.group = &mpi_process.world->coll;
    if (mpi_process.world && vcoll_run(&barrier) != OK) /* what was sent is here or announced */
        return;
    for (uint32_t i = 0; i < mpi_tables[KIND_COMM].objects; i++) {
        struct mpi_comm *comm = mpi_slot(KIND_COMM, i, sizeof *comm);
        if (atomic_load_explicit(&comm->thing.object.references, memory_order_relaxed) > 0 && comm->context)
            messages_tell(comm);
    }
    for (enum mpi_kind kind = KIND_COMM; kind <= KIND_SESSION; kind++)
        handles_tell(kind);
}
