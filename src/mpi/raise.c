/* Raising errors: the classes with their sentences, the predefined handlers, things and their names, and calling the
 * handler of the thing that an error belongs to.
 *
 * A code that this library returns is a class. The sentence of the error raised last in a thread is kept, so that
 * MPI_Error_string of that class tells function, argument and value and not only the class. */
#include "mpi/comm.h"
#include "mpi/session.h"
#include "base/hash.h"

/* ---- handlers ---- */

static struct mpi_errhandler predefined[] = {
#define PREDEFINED(handle, does) {.object.identity = (uintptr_t)handle, .what = does}
    PREDEFINED(MPI_ERRORS_ARE_FATAL, HANDLER_FATAL), PREDEFINED(MPI_ERRORS_ABORT, HANDLER_ABORT),
    PREDEFINED(MPI_ERRORS_RETURN, HANDLER_RETURN),
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS /* libmpichcxx throws what is returned */
    PREDEFINED(MPIR_ERRORS_THROW_EXCEPTIONS, HANDLER_RETURN),
#endif
};

static void *errhandler_at(void *handle) { return mpi_errhandler_at(handle); }
const struct mpi_kind_row mpi_kind_errhandler = {
    MPI_KIND(KIND_ERRHANDLER, "error handler", struct mpi_errhandler, MPI_ERR_ERRHANDLER, MPI_ERRHANDLER_NULL),
    .at = errhandler_at};

struct mpi_errhandler *mpi_errhandler_at(MPI_Errhandler handle)
{
    for (size_t i = 0; i < ARRAY_LENGTH(predefined); i++)
        if (predefined[i].object.identity == (uintptr_t)handle)
            return &predefined[i];
    return mpi_object_at(KIND_ERRHANDLER, handle, sizeof(struct mpi_errhandler));
}

/* ---- things ---- */

struct mpi_thing mpi_file_null = {
    .object.identity = (uintptr_t)MPI_FILE_NULL, .errhandler = &predefined[2], .name = (char *)"MPI_FILE_NULL"};

static void session_end(void *object)
{
    struct mpi_session *session = object;
    mpi_drop(session->thing.errhandler);
    free(session->thing.name);
}
const struct mpi_kind_row mpi_kind_session = {
    MPI_KIND(KIND_SESSION, "session", struct mpi_session, MPI_ERR_SESSION, MPI_SESSION_NULL), .end = session_end};

enum mpi_kind mpi_thing_kind(const struct mpi_thing *thing)
{
    uintptr_t identity = thing->object.identity;
    return !mpi_predefined(thing)    ? (enum mpi_kind)mpi_identity_kind(identity)
           : thing == &mpi_file_null ? KIND_FILE
                                     : KIND_TYPE;
}

const char *mpi_thing_name(const void *object, char text[64])
{
    const struct mpi_thing *thing = object;
    if (thing->name && thing->name[0])
        snprintf(text, 64, "%.63s", thing->name);
    else if (mpi_thing_kind(thing) == KIND_COMM)
        snprintf(text, 64, "communicator %u", ((const struct mpi_comm *)object)->id);
    else if (mpi_thing_kind(thing) == KIND_SESSION)
        snprintf(text, 64, "session %u", (unsigned)(thing->object.identity & MPI_INDEX_MASK));
    else
        snprintf(text, 64, "one without a name");
    return text;
}

int mpi_name_set(const char *call, struct mpi_thing *thing, const char *name)
{
    char *copy = strndup(name, MPI_MAX_OBJECT_NAME - 1);
    if (!copy)
        return mpi_error(thing, call, MPI_ERR_NO_MEM, "no memory for a name");
    if (!mpi_predefined(thing)) /* the first names of the predefined ones are constants */
        free(thing->name);
    thing->name = copy;
    return MPI_SUCCESS;
}

/* ---- classes ---- */

static const struct {
    const char *name, *sentence;
} classes[] = {
#define CLASS(name, sentence) [name] = {#name, sentence}
    CLASS(MPI_SUCCESS, "no error"), CLASS(MPI_ERR_BUFFER, "a buffer is wrong"),
    CLASS(MPI_ERR_COUNT, "a count is wrong"), CLASS(MPI_ERR_TYPE, "a datatype is wrong"),
    CLASS(MPI_ERR_TAG, "a tag is wrong"), CLASS(MPI_ERR_COMM, "a communicator is wrong"),
    CLASS(MPI_ERR_RANK, "a rank is wrong"), CLASS(MPI_ERR_REQUEST, "a request is wrong"),
    CLASS(MPI_ERR_ROOT, "the root is wrong"), CLASS(MPI_ERR_GROUP, "a group is wrong"),
    CLASS(MPI_ERR_OP, "an operation is wrong"), CLASS(MPI_ERR_TOPOLOGY, "the topology is wrong"),
    CLASS(MPI_ERR_DIMS, "a dimension is wrong"), CLASS(MPI_ERR_ARG, "an argument is wrong"),
    CLASS(MPI_ERR_UNKNOWN, "unknown error"),
    CLASS(MPI_ERR_TRUNCATE, "the message is longer than the buffer of its receive"),
    CLASS(MPI_ERR_OTHER, "an error of no other class"), CLASS(MPI_ERR_INTERN, "an error inside the library"),
    CLASS(MPI_ERR_PENDING, "the request is neither failed nor complete"),
    CLASS(MPI_ERR_IN_STATUS, "the error is told in the statuses"), CLASS(MPI_ERR_ACCESS, "permission denied"),
    CLASS(MPI_ERR_AMODE, "the access mode of a file is wrong"), CLASS(MPI_ERR_ASSERT, "an assertion is wrong"),
    CLASS(MPI_ERR_BAD_FILE, "a file name is wrong"), CLASS(MPI_ERR_BASE, "the base of MPI_Free_mem is wrong"),
    CLASS(MPI_ERR_CONVERSION, "a data conversion function failed"), CLASS(MPI_ERR_DISP, "a displacement is wrong"),
    CLASS(MPI_ERR_DUP_DATAREP, "the data representation exists already"),
    CLASS(MPI_ERR_FILE_EXISTS, "the file exists"), CLASS(MPI_ERR_FILE_IN_USE, "the file is in use"),
    CLASS(MPI_ERR_FILE, "a file handle is wrong"), CLASS(MPI_ERR_INFO_KEY, "an info key is wrong"),
    CLASS(MPI_ERR_INFO_NOKEY, "no such info key"), CLASS(MPI_ERR_INFO_VALUE, "an info value is wrong"),
    CLASS(MPI_ERR_INFO, "an info handle is wrong"), CLASS(MPI_ERR_IO, "input or output failed"),
    CLASS(MPI_ERR_KEYVAL, "an attribute key is wrong"), CLASS(MPI_ERR_LOCKTYPE, "a lock type is wrong"),
    CLASS(MPI_ERR_NAME, "no such service name"), CLASS(MPI_ERR_NO_MEM, "out of memory"),
    CLASS(MPI_ERR_NOT_SAME, "an argument differs between the ranks"), CLASS(MPI_ERR_NO_SPACE, "no space left"),
    CLASS(MPI_ERR_NO_SUCH_FILE, "no such file"), CLASS(MPI_ERR_PORT, "a port name is wrong"),
    CLASS(MPI_ERR_QUOTA, "the quota is used up"), CLASS(MPI_ERR_READ_ONLY, "the file or file system is read-only"),
    CLASS(MPI_ERR_RMA_ATTACH, "the memory cannot be attached"),
    CLASS(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window"),
    CLASS(MPI_ERR_RMA_RANGE, "the target memory is not part of the window"),
    CLASS(MPI_ERR_RMA_SHARED, "the memory cannot be shared"),
    CLASS(MPI_ERR_RMA_SYNC, "wrong synchronization of a window"),
    CLASS(MPI_ERR_SERVICE, "a service name cannot be withdrawn"), CLASS(MPI_ERR_SIZE, "a size is wrong"),
    CLASS(MPI_ERR_SPAWN, "processes could not be started"),
    CLASS(MPI_ERR_UNSUPPORTED_DATAREP, "the data representation is not supported"),
    CLASS(MPI_ERR_UNSUPPORTED_OPERATION, "the operation is not supported"), CLASS(MPI_ERR_WIN, "a window is wrong"),
    CLASS(MPI_ERR_RMA_FLAVOR, "the window is of the wrong flavor"),
    CLASS(MPI_ERR_PROC_ABORTED, "a process of the job is gone"),
    CLASS(MPI_ERR_VALUE_TOO_LARGE, "a value does not fit into its variable"),
    CLASS(MPI_ERR_SESSION, "a session is wrong"),
#if MPI_ERR_ERRHANDLER != MPI_ERR_ARG
    CLASS(MPI_ERR_ERRHANDLER, "an error handler is wrong"),
#endif
    CLASS(MPI_ERR_ABI, "the ABI's rule is broken"),
};

static __thread int last; /* the class or code raised last; its sentence is TEXT_RAISED */
#define SENTENCE_ROOM MPI_MAX_ERROR_STRING
_Static_assert(SENTENCE_ROOM <= TEXT_ROOM, "a sentence is a text of the thread");

const char *mpi_class_name(int class)
{
    return class >= 0 && (size_t)class < ARRAY_LENGTH(classes) ? classes[class].name : NULL;
}

const char *mpi_class_sentence(int class)
{
    return class >= 0 && (size_t)class < ARRAY_LENGTH(classes) ? classes[class].sentence : "";
}

uint32_t mpi_class_mark(int class)
{
    const char *name = mpi_class_name(class) ?: "MPI_ERR_OTHER";
    return class ? (uint32_t)vbase_hash_bytes(name, strlen(name)) : 0;
}

int mpi_class_marked(uint32_t mark)
{
    for (int class = 0; class < (int)ARRAY_LENGTH(classes); class++)
        if (classes[class].name && mpi_class_mark(class) == mark)
            return class;
    return MPI_ERR_OTHER;
}

const char *mpi_last_sentence(int code) { return last == code ? vbase_text(TEXT_RAISED) : NULL; }

int mpi_engine_class(int error)
{
    static const struct {
        int error, class;
    } known[] = {
        {OK, MPI_SUCCESS},
        {ERR_MEMORY, MPI_ERR_NO_MEM},
        {ERR_ARGUMENT, MPI_ERR_ARG},
        {ERR_TRUNCATED, MPI_ERR_TRUNCATE},
        {ERR_PEER_DEAD, MPI_ERR_PROC_ABORTED},
        {ERR_UNSUPPORTED, MPI_ERR_UNSUPPORTED_OPERATION},
        {ERR_PROTOCOL, MPI_ERR_INTERN},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (known[i].error == error)
            return known[i].class;
    return MPI_ERR_OTHER;
}

/* Errors without a thing belong to MPI_COMM_SELF; a program that only set the handler of MPI_COMM_WORLD means it for
 * these too. Where there is no world they belong to the youngest session. */
static struct mpi_thing *thing_default(void)
{
    struct mpi_comm *world = mpi_process.world, *self = mpi_process.self;
    if (!world || !self)
        return &mpi_process.session->thing;
    return self->thing.errhandler == predefined ? &world->thing : &self->thing;
}

/* Gives the error raised last to the handler. VISIBLE: the address of the handle it belongs to. */
static int handler_run(const struct mpi_errhandler *handler, void *visible, int code)
{
    int copy = code; /* the handler's to write to; what is returned stays an error */
    switch (handler->what) {
    case HANDLER_RETURN:
        break;
    case HANDLER_FUNCTION:
        if (handler->across)
            handler->across(handler->of == KIND_FILE, visible, &copy, handler->function);
        else
            handler->function(visible, &copy);
        break;
    default:
        if (!vmsg_job())
            mpi_end_early(vbase_text(TEXT_RAISED));
        vmsg_abort(code > 0 && code < 256 ? code : 1, mpi_last_sentence(code) ?: mpi_class_sentence(code));
    }
    return code;
}

static int thing_handle(struct mpi_thing *thing, int code)
{
    void *visible = mpi_thing_handle(thing);
    return handler_run(thing->errhandler, &visible, code);
}

int mpi_report(struct mpi_thing *thing, int code, const char *sentence)
{
    last = code;
    snprintf(vbase_text(TEXT_RAISED), SENTENCE_ROOM, "%s", sentence);
    return thing_handle(thing, code);
}

int mpi_error(void *object, const char *call, int class, const char *format, ...)
{
    char name[64], *sentence = vbase_text(TEXT_RAISED);
    struct mpi_thing *thing = object;
    size_t room = SENTENCE_ROOM;
    va_list arguments;
    int at = snprintf(sentence, room, "%s: ", call);
    va_start(arguments, format);
    at += vsnprintf(sentence + at, room - (size_t)at, format, arguments);
    va_end(arguments);
    last = class;
    if (!thing || !thing->errhandler) {
        if (!mpi_process.world && !mpi_process.session)
            mpi_end_early(sentence);
        thing = thing_default();
    }
    if (at > 0 && (size_t)at < room)
        snprintf(sentence + at, room - (size_t)at, " (%s, rank %d of %s)",
                 mpi_class_name(class) ?: "an added class", thing->rank, mpi_thing_name(thing, name));
    return thing_handle(thing, class);
}

int mpi_null(void *thing, const char *call, const char *argument)
{
    return mpi_error(thing, call, MPI_ERR_ARG, "%s is NULL", argument);
}

int mpi_wrong(void *thing, const char *call, const struct mpi_kind_row *kind, const void *handle)
{
    if (handle == kind->none)
        return mpi_error(thing, call, kind->class, "the %s is %s", kind->name, kind->null);
#ifdef MPI_OTHER_NUMBERS
    if ((size_t)handle >= 0x100 && (size_t)handle < 0x1000)
        return mpi_error(thing, call, kind->class, "%p is no %s here, but one of the standard's ABI: the caller was "
                         "compiled with another mpi.h than this library's", handle, kind->name);
#endif
    return mpi_error(thing, call, kind->class, "%p is no %s, or was freed", handle, kind->name);
}

int mpi_engine_error(void *thing, const char *call, int error)
{
    const char *detail = vbase_error_detail();
    return mpi_error(thing, call, mpi_engine_class(error), "%s%s%s", vbase_error_sentence(error), detail[0] ? ": " : "",
                     detail);
}
