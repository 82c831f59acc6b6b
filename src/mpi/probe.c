/* Looking for messages before they are received; and receiving the ones that a matched probe took out of matching. */
#include "mpi/message.h"
#include "mpi/request.h"

/* One look; what the waiting calls repeat until it found something, and may ask once more then: a message that was
 * taken out of matching must not be forgotten for the next one. */
struct look {
    struct msg_where from;
    bool take, found; /* take: out of matching */
    int error;
    struct msg_result result;
    struct msg_message *message;
};

static bool probe_look(void *context)
{
    struct look *l = context;
    if (l->found || l->error)
        return true;
    if (l->take) {
        l->error = vmsg_message_probe(&l->from, &l->message, &l->result);
        l->found = !l->error && l->message;
    } else {
        l->error = vmsg_probe(&l->from, &l->found, &l->result);
    }
    return l->found || l->error;
}

struct message_object { /* of MPI_Mprobe */
    struct mpi_object object;
    struct msg_message *message;
    struct mpi_comm *comm;
};
static const struct mpi_kind_row kind_message = {
    MPI_KIND(KIND_MESSAGE, "matched message", struct message_object, MPI_ERR_REQUEST, MPI_MESSAGE_NULL)};

/* Any probe. WAIT: until there is a message, else FLAG tells what one look found. A matched one has its MESSAGE. */
struct probe {
    const char *call;
    int rank, tag;
    MPI_Comm comm;
    bool wait, matched;
    int *flag;
    MPI_Message *message;
};

static int message_probe(const struct probe *p, MPI_Status *status)
{
    struct mpi_target target;
    int unused, *flag = p->wait ? &unused : p->flag;
    int error =
        mpi_message_check(&(struct mpi_message){p->call, NULL, 0, MPI_BYTE, p->rank, p->tag, p->comm}, true, &target);
    if (error)
        return error;
    if (!flag || (p->matched && !p->message))
        return mpi_null(target.comm, p->call, flag ? "message" : "flag");
    *flag = 1;
    if (p->rank == MPI_PROC_NULL) {
        if (p->matched)
            *p->message = MPI_MESSAGE_NO_PROC;
        mpi_status_proc_null(status);
        return MPI_SUCCESS;
    }
    struct look l = {.from = mpi_where(target.comm, p->rank, p->tag), .take = p->matched};
    error = p->wait ? vmsg_wait_until(probe_look, &l) : (probe_look(&l), OK);
    if (error || l.error)
        return mpi_engine_error(target.comm, p->call, error ? error : l.error);
    *flag = l.found;
    if (p->matched)
        *p->message = MPI_MESSAGE_NULL;
    if (!l.found)
        return MPI_SUCCESS;
    mpi_status_result(status, &l.result);
    if (!p->matched)
        return MPI_SUCCESS;
    mpi_object_keep(target.comm);
    return mpi_object_make(p->call, &kind_message, &(struct message_object){.message = l.message, .comm = target.comm},
                           p->message);
}

#define PROBED(...) message_probe(&(struct probe){NAME, rank, tag, comm, __VA_ARGS__}, status)
#define PROBE int rank, int tag, MPI_Comm comm
ENTRY(MPI_Probe)(PROBE, MPI_Status *status)
    { DOING("MPI_Probe"); return PROBED(.wait = true); }
ENTRY(MPI_Iprobe)(PROBE, int *flag, MPI_Status *status)
    { DOING("MPI_Iprobe"); return PROBED(.flag = flag); }
ENTRY(MPI_Mprobe)(PROBE, MPI_Message *message, MPI_Status *status)
    { DOING("MPI_Mprobe"); return PROBED(.wait = true, .matched = true, .message = message); }
ENTRY(MPI_Improbe)(PROBE, int *flag, MPI_Message *message, MPI_Status *status)
    { DOING("MPI_Improbe"); return PROBED(.matched = true, .flag = flag, .message = message); }

/* ---- matched ---- */

/* Finds the message behind HANDLE, NULL for MPI_MESSAGE_NO_PROC, and the type of what is received; M has no comm
 * yet. */
static int matched_find(struct mpi_message *m, const MPI_Message *handle, struct message_object **object,
                        struct mpi_type **type)
{
    mpi_enter(m->call);
    *object = NULL;
    if (!handle)
        return mpi_null(NULL, m->call, "message");
    if (*handle == MPI_MESSAGE_NO_PROC)
        return MPI_SUCCESS;
    *object = mpi_object_at(KIND_MESSAGE, *handle, sizeof **object);
    if (!*object)
        return mpi_wrong(NULL, m->call, &kind_message, *handle);
    *type = mpi_type_at(m->type);
    if (*type && mpi_data_fits(m->buffer, m->count, *type))
        return MPI_SUCCESS;
    m->comm = mpi_thing_handle((*object)->comm);
    return mpi_comm_at(m->comm) ? mpi_message_wrong(*m, true)
                                : mpi_error(NULL, m->call, MPI_ERR_ARG, "count, datatype or buffer is wrong");
}

static int matched_start(struct mpi_message *m, MPI_Message *handle, struct mpi_request **out)
{
    struct message_object *object;
    struct mpi_type *type;
    int error = matched_find(m, handle, &object, &type);
    if (error)
        return error;
    struct type_buffer buffer =
        object ? mpi_buffer((void *)m->buffer, (uint64_t)m->count, type) : (struct type_buffer){0};
    struct mpi_request *request = *out =
        mpi_request_take(object ? &mpi_request_receive : &mpi_request_null, m->call, object ? object->comm : NULL);
    if (!request)
        return mpi_engine_error(NULL, m->call, ERR_MEMORY);
    request->layout = buffer.layout ? vtype_layout_keep(buffer.layout) : NULL;
    if (object) {
        struct msg_message *message = object->message;
        mpi_comm_drop(object->comm); /* the request has its own reference */
        mpi_object_give(object);
        if (mpi_checking)
            mpi_check_starts(&request->operation, m, &(struct mpi_target){request->comm, type}, false);
        error = vmsg_message_recv(&request->operation, message, &buffer);
    }
    if (error) {
        error = mpi_engine_error(request->comm, m->call, error);
        mpi_request_give(request);
    }
    *handle = MPI_MESSAGE_NULL; /* it is used up, in any case */
    return error;
}

static int matched_receive(struct mpi_message *m, MPI_Message *message, MPI_Status *status)
{
    struct mpi_request *request;
    return matched_start(m, message, &request) ?: mpi_request_complete(m->call, request, status);
}

static int matched_start_receive(struct mpi_message *m, MPI_Message *message, MPI_Request *handle)
{
    struct mpi_request *request;
    int error = handle ? matched_start(m, message, &request) : mpi_null(NULL, m->call, "request");
    if (!error)
        *handle = mpi_request_publish(request);
    return error;
}

#define MATCHED &(struct mpi_message){NAME, buf, count, datatype, 0, 0, MPI_COMM_NULL}, message
ENTRIES(MPI_Mrecv, MPI_Mrecv_c, MPI_DATA_, (MPI_Message * message, MPI_Status *status),
        return matched_receive(MATCHED, status))
ENTRIES(MPI_Imrecv, MPI_Imrecv_c, MPI_DATA_, (MPI_Message *message, MPI_Request *request),
        return matched_start_receive(MATCHED, request))
