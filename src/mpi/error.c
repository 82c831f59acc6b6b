/* Errors: the classes with their sentences, raising, and the classes and codes that programs add (at any time, also
 * before MPI_Init).
 *
 * A code that this library returns is a class. The sentence of the error raised last in a thread is kept, so that
 * MPI_Error_string of that class tells function, argument and value and not only the class. */
#include "mpi/inside.h"
#include "mpi/not_yet.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *sentence;
} classes[] = {
    [MPI_SUCCESS] = {"MPI_SUCCESS", "no error"},
    [MPI_ERR_BUFFER] = {"MPI_ERR_BUFFER", "a buffer is wrong"},
    [MPI_ERR_COUNT] = {"MPI_ERR_COUNT", "a count is wrong"},
    [MPI_ERR_TYPE] = {"MPI_ERR_TYPE", "a datatype is wrong"},
    [MPI_ERR_TAG] = {"MPI_ERR_TAG", "a tag is wrong"},
    [MPI_ERR_COMM] = {"MPI_ERR_COMM", "a communicator is wrong"},
    [MPI_ERR_RANK] = {"MPI_ERR_RANK", "a rank is wrong"},
    [MPI_ERR_REQUEST] = {"MPI_ERR_REQUEST", "a request is wrong"},
    [MPI_ERR_ROOT] = {"MPI_ERR_ROOT", "the root is wrong"},
    [MPI_ERR_GROUP] = {"MPI_ERR_GROUP", "a group is wrong"},
    [MPI_ERR_OP] = {"MPI_ERR_OP", "an operation is wrong"},
    [MPI_ERR_TOPOLOGY] = {"MPI_ERR_TOPOLOGY", "the topology is wrong"},
    [MPI_ERR_DIMS] = {"MPI_ERR_DIMS", "a dimension is wrong"},
    [MPI_ERR_ARG] = {"MPI_ERR_ARG", "an argument is wrong"},
    [MPI_ERR_UNKNOWN] = {"MPI_ERR_UNKNOWN", "unknown error"},
    [MPI_ERR_TRUNCATE] = {"MPI_ERR_TRUNCATE", "the message is longer than the buffer of its receive"},
    [MPI_ERR_OTHER] = {"MPI_ERR_OTHER", "an error of no other class"},
    [MPI_ERR_INTERN] = {"MPI_ERR_INTERN", "an error inside the library"},
    [MPI_ERR_PENDING] = {"MPI_ERR_PENDING", "the request is neither failed nor complete"},
    [MPI_ERR_IN_STATUS] = {"MPI_ERR_IN_STATUS", "the error is told in the statuses"},
    [MPI_ERR_ACCESS] = {"MPI_ERR_ACCESS", "permission denied"},
    [MPI_ERR_AMODE] = {"MPI_ERR_AMODE", "the access mode of a file is wrong"},
    [MPI_ERR_ASSERT] = {"MPI_ERR_ASSERT", "an assertion is wrong"},
    [MPI_ERR_BAD_FILE] = {"MPI_ERR_BAD_FILE", "a file name is wrong"},
    [MPI_ERR_BASE] = {"MPI_ERR_BASE", "the base of MPI_Free_mem is wrong"},
    [MPI_ERR_CONVERSION] = {"MPI_ERR_CONVERSION", "a data conversion function failed"},
    [MPI_ERR_DISP] = {"MPI_ERR_DISP", "a displacement is wrong"},
    [MPI_ERR_DUP_DATAREP] = {"MPI_ERR_DUP_DATAREP", "the data representation exists already"},
    [MPI_ERR_FILE_EXISTS] = {"MPI_ERR_FILE_EXISTS", "the file exists"},
    [MPI_ERR_FILE_IN_USE] = {"MPI_ERR_FILE_IN_USE", "the file is in use"},
    [MPI_ERR_FILE] = {"MPI_ERR_FILE", "a file handle is wrong"},
    [MPI_ERR_INFO_KEY] = {"MPI_ERR_INFO_KEY", "an info key is wrong"},
    [MPI_ERR_INFO_NOKEY] = {"MPI_ERR_INFO_NOKEY", "no such info key"},
    [MPI_ERR_INFO_VALUE] = {"MPI_ERR_INFO_VALUE", "an info value is wrong"},
    [MPI_ERR_INFO] = {"MPI_ERR_INFO", "an info handle is wrong"},
    [MPI_ERR_IO] = {"MPI_ERR_IO", "input or output failed"},
    [MPI_ERR_KEYVAL] = {"MPI_ERR_KEYVAL", "an attribute key is wrong"},
    [MPI_ERR_LOCKTYPE] = {"MPI_ERR_LOCKTYPE", "a lock type is wrong"},
    [MPI_ERR_NAME] = {"MPI_ERR_NAME", "no such service name"},
    [MPI_ERR_NO_MEM] = {"MPI_ERR_NO_MEM", "out of memory"},
    [MPI_ERR_NOT_SAME] = {"MPI_ERR_NOT_SAME", "an argument differs between the ranks"},
    [MPI_ERR_NO_SPACE] = {"MPI_ERR_NO_SPACE", "no space left"},
    [MPI_ERR_NO_SUCH_FILE] = {"MPI_ERR_NO_SUCH_FILE", "no such file"},
    [MPI_ERR_PORT] = {"MPI_ERR_PORT", "a port name is wrong"},
    [MPI_ERR_QUOTA] = {"MPI_ERR_QUOTA", "the quota is used up"},
    [MPI_ERR_READ_ONLY] = {"MPI_ERR_READ_ONLY", "the file or file system is read-only"},
    [MPI_ERR_RMA_ATTACH] = {"MPI_ERR_RMA_ATTACH", "the memory cannot be attached"},
    [MPI_ERR_RMA_CONFLICT] = {"MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window"},
    [MPI_ERR_RMA_RANGE] = {"MPI_ERR_RMA_RANGE", "the target memory is not part of the window"},
    [MPI_ERR_RMA_SHARED] = {"MPI_ERR_RMA_SHARED", "the memory cannot be shared"},
    [MPI_ERR_RMA_SYNC] = {"MPI_ERR_RMA_SYNC", "wrong synchronization of a window"},
    [MPI_ERR_SERVICE] = {"MPI_ERR_SERVICE", "a service name cannot be withdrawn"},
    [MPI_ERR_SIZE] = {"MPI_ERR_SIZE", "a size is wrong"},
    [MPI_ERR_SPAWN] = {"MPI_ERR_SPAWN", "processes could not be started"},
    [MPI_ERR_UNSUPPORTED_DATAREP] = {"MPI_ERR_UNSUPPORTED_DATAREP", "the data representation is not supported"},
    [MPI_ERR_UNSUPPORTED_OPERATION] = {"MPI_ERR_UNSUPPORTED_OPERATION", "the operation is not supported"},
    [MPI_ERR_WIN] = {"MPI_ERR_WIN", "a window is wrong"},
    [MPI_ERR_RMA_FLAVOR] = {"MPI_ERR_RMA_FLAVOR", "the window is of the wrong flavor"},
    [MPI_ERR_PROC_ABORTED] = {"MPI_ERR_PROC_ABORTED", "a process of the job is gone"},
    [MPI_ERR_VALUE_TOO_LARGE] = {"MPI_ERR_VALUE_TOO_LARGE", "a value does not fit into its variable"},
    [MPI_ERR_SESSION] = {"MPI_ERR_SESSION", "a session is wrong"},
    [MPI_ERR_ERRHANDLER] = {"MPI_ERR_ERRHANDLER", "an error handler is wrong"},
    [MPI_ERR_ABI] = {"MPI_ERR_ABI", "the ABI's rule is broken"},
};

static __thread struct {
    int class;
    char sentence[MPI_MAX_ERROR_STRING];
} last;

const char *mpi_class_name(int class)
{
    return class >= 0 && (size_t)class < ARRAY_LENGTH(classes) ? classes[class].name : "an added class";
}

const char *mpi_class_sentence(int class)
{
    return class >= 0 && (size_t)class < ARRAY_LENGTH(classes) ? classes[class].sentence : "";
}

int mpi_engine_class(int error)
{
    switch (error) {
    case OK:
        return MPI_SUCCESS;
    case ERR_MEMORY:
        return MPI_ERR_NO_MEM;
    case ERR_ARGUMENT:
        return MPI_ERR_ARG;
    case ERR_TRUNCATED:
        return MPI_ERR_TRUNCATE;
    case ERR_PEER_DEAD:
    case ERR_UNREACHABLE:
        return MPI_ERR_PROC_ABORTED;
    case ERR_UNSUPPORTED:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    case ERR_PROTOCOL:
        return MPI_ERR_INTERN;
    default:
        return MPI_ERR_OTHER;
    }
}

/* Errors without a communicator belong to MPI_COMM_SELF; a program that only set the handler of MPI_COMM_WORLD means it
 * for these too. */
static struct mpi_comm *home_of(struct mpi_comm *comm)
{
    if (comm)
        return comm;
    return mpi_process.self->errhandler == &mpi_errors_are_fatal ? mpi_process.world : mpi_process.self;
}

/* Gives the error kept last to the handler. VISIBLE: the address of the handle it belongs to. */
static int handle(const struct mpi_errhandler *handler, void *visible, int code)
{
    int copy = code; /* the handler's to write to; what is returned stays an error */
    switch (handler->what) {
    case HANDLER_RETURN:
        break;
    case HANDLER_FUNCTION:
        handler->function(visible, &copy);
        break;
    default:
        vmsg_abort(code > 0 && code < 256 ? code : 1, last.class == code ? last.sentence : mpi_class_sentence(code));
    }
    return code;
}

static int handle_of_comm(struct mpi_comm *comm, int code)
{
    MPI_Comm visible = mpi_comm_handle(comm);
    return handle(comm->errhandler, &visible, code);
}

static int handle_of_file(int code)
{
    MPI_File visible = MPI_FILE_NULL;
    return handle(mpi_file_errhandler, &visible, code);
}

/* Keeps the sentence; its length so far. */
static size_t compose(const char *call, int class, const char *format, va_list arguments)
{
    size_t room = sizeof last.sentence;
    int at = snprintf(last.sentence, room, "%s: ", call);
    at += vsnprintf(last.sentence + at, room - (size_t)at, format, arguments);
    last.class = class;
    if (!mpi_is_running())
        mpi_end_early(last.sentence);
    return at > 0 && (size_t)at < room ? (size_t)at : room;
}

int mpi_error(struct mpi_comm *comm, const char *call, int class, const char *format, ...)
{
    char name[64];
    va_list arguments;
    va_start(arguments, format);
    size_t at = compose(call, class, format, arguments);
    va_end(arguments);
    comm = home_of(comm);
    snprintf(last.sentence + at, sizeof last.sentence - at, " (%s, rank %d of %s)", mpi_class_name(class), comm->rank,
             mpi_comm_name(comm, name));
    return handle_of_comm(comm, class);
}

int mpi_file_error(const char *call, int class, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t at = compose(call, class, format, arguments);
    va_end(arguments);
    snprintf(last.sentence + at, sizeof last.sentence - at, " (%s, rank %d)", mpi_class_name(class),
             mpi_process.world->rank);
    return handle_of_file(class);
}

int mpi_null(struct mpi_comm *comm, const char *call, const char *argument)
{
    return mpi_error(comm, call, MPI_ERR_ARG, "%s is NULL", argument);
}

int mpi_engine_error(struct mpi_comm *comm, const char *call, int error)
{
    const char *detail = vbase_error_detail();
    return mpi_error(comm, call, mpi_engine_class(error), "%s%s%s", vbase_error_sentence(error), detail[0] ? ": " : "",
                     detail);
}

/* ---- classes and codes of programs ------------------------------------------------------------------------------ */

/* Numbers above MPI_ERR_LASTCODE; a removed one may be given again. Rows never move: looking needs no lock. */
#define ADDED_MOST 4096
struct added {
    int class;  /* its own number where this is a class; 0: free */
    char *text; /* NULL: "" */
};
static struct added added[ADDED_MOST];
static struct base_lock added_lock;
static int added_used; /* rows ever used */

static struct added *added_at(int code)
{
    unsigned index = (unsigned)code - (unsigned)MPI_ERR_LASTCODE - 1;
    return index < ADDED_MOST && added[index].class != 0 ? &added[index] : NULL;
}

int mpi_last_used_code(void) { return MPI_ERR_LASTCODE + added_used; }

/* CLASS 0: a class of its own. Returns the number, 0 when there are no more. */
static int add_code(int class)
{
    int index = 0, code = 0;
    mpi_lock(&added_lock);
    while (index < ADDED_MOST && added[index].class != 0)
        index++;
    if (index < ADDED_MOST) {
        code = MPI_ERR_LASTCODE + 1 + index;
        added[index] = (struct added){class ? class : code, NULL};
        if (index >= added_used)
            added_used = index + 1;
    }
    mpi_unlock(&added_lock);
    return code;
}

static bool valid_code(int code)
{
    return (code >= 0 && (size_t)code < ARRAY_LENGTH(classes)) || added_at(code) != NULL;
}

static int wrong_code(const char *call, int code)
{
    return mpi_error(NULL, call, MPI_ERR_ARG, "%d is not an error code", code);
}

ENTRY(MPI_Add_error_class)(int *class)
{
    if (!class)
        return mpi_null(NULL, NAME, "errorclass");
    int code = add_code(0);
    if (!code)
        return mpi_error(NULL, NAME, MPI_ERR_NO_MEM, "%d classes and codes are the most", ADDED_MOST);
    *class = code;
    return MPI_SUCCESS;
}

ENTRY(MPI_Add_error_code)(int class, int *code)
{
    if (!code)
        return mpi_null(NULL, NAME, "errorcode");
    if (!valid_code(class))
        return wrong_code(NAME, class);
    int number = add_code(class ? class : MPI_ERR_UNKNOWN);
    if (!number)
        return mpi_error(NULL, NAME, MPI_ERR_NO_MEM, "%d classes and codes are the most", ADDED_MOST);
    *code = number;
    return MPI_SUCCESS;
}

ENTRY(MPI_Add_error_string)(int code, const char *text)
{
    struct added *row = added_at(code);
    if (!row || !text)
        return wrong_code(NAME, code);
    char *copy = strndup(text, MPI_MAX_ERROR_STRING - 1);
    if (!copy)
        return mpi_error(NULL, NAME, MPI_ERR_NO_MEM, "no memory for a text");
    free(row->text);
    row->text = copy;
    return MPI_SUCCESS;
}

static int remove_code(const char *call, int code, bool class, bool text_only)
{
    struct added *row = added_at(code);
    if (!row || (!text_only && (row->class == code) != class))
        return wrong_code(call, code);
    for (int i = 0; class && i < added_used; i++)
        if (added[i].class == code && &added[i] != row)
            return mpi_error(NULL, call, MPI_ERR_ARG, "class %d still has code %d", code, MPI_ERR_LASTCODE + 1 + i);
    free(row->text);
    row->text = NULL;
    if (!text_only)
        row->class = 0;
    return MPI_SUCCESS;
}

ENTRY(MPI_Remove_error_class)(int class) { return remove_code(NAME, class, true, false); }
ENTRY(MPI_Remove_error_code)(int code) { return remove_code(NAME, code, false, false); }
ENTRY(MPI_Remove_error_string)(int code) { return remove_code(NAME, code, false, true); }

ENTRY(MPI_Error_class)(int code, int *class)
{
    if (!class)
        return mpi_null(NULL, NAME, "errorclass");
    const struct added *row = added_at(code);
    if (!row && !valid_code(code))
        return wrong_code(NAME, code);
    *class = row ? row->class : code;
    return MPI_SUCCESS;
}

ENTRY(MPI_Error_string)(int code, char *text, int *length)
{
    if (!text || !length)
        return mpi_null(NULL, NAME, text ? "resultlen" : "string");
    if (!valid_code(code))
        return wrong_code(NAME, code);
    const struct added *row = added_at(code);
    if (row)
        *length = snprintf(text, MPI_MAX_ERROR_STRING, "%s", row->text ? row->text : "");
    else if (code != MPI_SUCCESS && last.class == code)
        *length = snprintf(text, MPI_MAX_ERROR_STRING, "%s", last.sentence);
    else
        *length = snprintf(text, MPI_MAX_ERROR_STRING, "%s: %s", mpi_class_name(code), mpi_class_sentence(code));
    return MPI_SUCCESS;
}

int mpi_error_of_program(struct mpi_comm *comm, const char *call, int code)
{
    if (!valid_code(code))
        return wrong_code(call, code);
    const struct added *row = added_at(code);
    const char *text = row ? (row->text ? row->text : "") : mpi_class_sentence(code);
    last.class = code;
    snprintf(last.sentence, sizeof last.sentence, "%s: the program reports error %d: %.400s", call, code, text);
    if (comm)
        handle_of_comm(comm, code);
    else
        handle_of_file(code);
    return MPI_SUCCESS;
}

/* ---- what is not implemented yet -------------------------------------------------------------------------------- */

#define NOT_YET_SENTENCE "this function is not implemented yet: see viaduct info --mpi"

int mpi_not_yet(const char *call) { return mpi_error(NULL, call, MPI_ERR_UNSUPPORTED_OPERATION, NOT_YET_SENTENCE); }
int mpi_no_file(const char *call) { return mpi_file_error(call, MPI_ERR_UNSUPPORTED_OPERATION, NOT_YET_SENTENCE); }
int mpi_no_tool(const char *call)
{
    (void)call;
    return MPI_T_ERR_NOT_SUPPORTED;
}
