/* Errors: handlers, the classes with their sentences, raising, and what programs add (classes and codes at any time, also before
 * MPI_Init).
 *
 * A code that this library returns is a class. The sentence of the error raised last in a thread is kept, so that
 * MPI_Error_string of that class tells function, argument and value and not only the class. */
#include "mpi/inside.h"
#include "mpi/not_yet.h"

/* ---- handlers --------------------------------------------------------------------------------------------------- */

#define FIRST_HANDLER (uintptr_t)MPI_ERRORS_ARE_FATAL
static struct mpi_errhandler predefined[] = {
#define PREDEFINED(handle, does) {.object.identity = (uintptr_t)handle, .what = does}
    PREDEFINED(MPI_ERRORS_ARE_FATAL, HANDLER_FATAL), PREDEFINED(MPI_ERRORS_ABORT, HANDLER_ABORT),
    PREDEFINED(MPI_ERRORS_RETURN, HANDLER_RETURN),
};

struct mpi_errhandler *mpi_errhandler_at(MPI_Errhandler handle)
{
    uintptr_t number = (uintptr_t)handle - FIRST_HANDLER; /* the handles are neighbours */
    return number < ARRAY_LENGTH(predefined) ? &predefined[number]
                                             : mpi_object_at(KIND_ERRHANDLER, handle, sizeof(struct mpi_errhandler));
}

/* Of files there is only MPI_FILE_NULL, whose handler files take over when they are opened. */
static struct mpi_errhandler **handler_of(struct mpi_comm *comm)
{
    static struct mpi_errhandler *of_files = &predefined[2];
    return comm == MPI_OF_FILES ? &of_files : &comm->errhandler;
}

/* ---- classes ---------------------------------------------------------------------------------------------------- */

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
    CLASS(MPI_ERR_SESSION, "a session is wrong"), CLASS(MPI_ERR_ERRHANDLER, "an error handler is wrong"),
    CLASS(MPI_ERR_ABI, "the ABI's rule is broken"),
};

static __thread struct {
    int class;
    char sentence[MPI_MAX_ERROR_STRING];
} last;

static const char *class_name(int class)
{
    return class >= 0 && (size_t)class < ARRAY_LENGTH(classes) ? classes[class].name : "an added class";
}

const char *mpi_class_sentence(int class)
{
    return class >= 0 && (size_t)class < ARRAY_LENGTH(classes) ? classes[class].sentence : "";
}

int mpi_engine_class(int error)
{
    static const struct {
        int error, class;
    } known[] = {
        {OK, MPI_SUCCESS}, {ERR_MEMORY, MPI_ERR_NO_MEM}, {ERR_ARGUMENT, MPI_ERR_ARG}, {ERR_TRUNCATED, MPI_ERR_TRUNCATE},
        {ERR_PEER_DEAD, MPI_ERR_PROC_ABORTED}, {ERR_UNSUPPORTED, MPI_ERR_UNSUPPORTED_OPERATION}, {ERR_PROTOCOL, MPI_ERR_INTERN},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (known[i].error == error)
            return known[i].class;
    return MPI_ERR_OTHER;
}

/* Errors without a communicator belong to MPI_COMM_SELF; a program that only set the handler of MPI_COMM_WORLD means it
 * for these too. */
static struct mpi_comm *home(void)
{
    return mpi_process.self->errhandler == predefined ? mpi_process.world : mpi_process.self;
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

static int handle_of(struct mpi_comm *comm, int code)
{
    void *visible = comm == MPI_OF_FILES ? (void *)MPI_FILE_NULL : mpi_comm_handle(comm);
    return handle(*handler_of(comm), &visible, code);
}

int mpi_error(struct mpi_comm *comm, const char *call, int class, const char *format, ...)
{
    char name[64];
    size_t room = sizeof last.sentence;
    va_list arguments;
    int at = snprintf(last.sentence, room, "%s: ", call);
    va_start(arguments, format);
    at += vsnprintf(last.sentence + at, room - (size_t)at, format, arguments);
    va_end(arguments);
    last.class = class;
    if (!mpi_is_running())
        mpi_end_early(last.sentence);
    if (!comm)
        comm = home();
    const struct mpi_comm *where = comm == MPI_OF_FILES ? mpi_process.world : comm;
    if (at > 0 && (size_t)at < room)
        snprintf(last.sentence + at, room - (size_t)at, " (%s, rank %d of %s)", class_name(class), where->rank,
                 mpi_comm_name(where, name));
    return handle_of(comm, class);
}

int mpi_null(struct mpi_comm *comm, const char *call, const char *argument)
{
    return mpi_error(comm, call, MPI_ERR_ARG, "%s is NULL", argument);
}

int mpi_wrong(struct mpi_comm *comm, const char *call, enum mpi_kind kind, const void *handle)
{
    const struct mpi_kind_row *row = &mpi_kinds[kind];
    if (handle == row->none)
        return mpi_error(comm, call, row->class, "the %s is %s", row->name, row->null);
    return mpi_error(comm, call, row->class, "%p is no %s, or was freed", handle, row->name);
}

int mpi_wrong_type(struct mpi_comm *comm, const char *call, MPI_Datatype handle, const char *side)
{
    const struct mpi_type *type = mpi_type_at(handle);
    if (type)
        return mpi_error(comm, call, MPI_ERR_TYPE, "%s%s is not committed: call MPI_Type_commit", side, mpi_type_text(type));
    if (handle == MPI_DATATYPE_NULL)
        return mpi_error(comm, call, MPI_ERR_TYPE, "the %sdatatype is MPI_DATATYPE_NULL", side);
    return mpi_error(comm, call, MPI_ERR_TYPE, "the %sdatatype %p is none, or was freed", side, (void *)handle);
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

static int add(const char *call, int class, int *out)
{
    int code = add_code(class);
    if (!code)
        return mpi_error(NULL, call, MPI_ERR_NO_MEM, "%d classes and codes are the most", ADDED_MOST);
    return mpi_tell(out, code);
}
ENTRY(MPI_Add_error_class)(int *errorclass) { return CHECK(GIVEN(errorclass)) ?: add(NAME, 0, errorclass); }
ENTRY(MPI_Add_error_code)(int errorclass, int *errorcode)
{
    return CHECK(GIVEN(errorcode)) ?:
           valid_code(errorclass) ? add(NAME, errorclass ? errorclass : MPI_ERR_UNKNOWN, errorcode) : wrong_code(NAME, errorclass);
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

static int class_of(int code)
{
    const struct added *row = added_at(code);
    return row ? row->class : code;
}
ENTRY(MPI_Error_class)(int errorcode, int *errorclass)
{
    return CHECK(GIVEN(errorclass)) ?:
           valid_code(errorcode) ? mpi_tell(errorclass, class_of(errorcode)) : wrong_code(NAME, errorcode);
}

static int text_of(int code, char *text)
{
    const struct added *row = added_at(code);
    if (row)
        return snprintf(text, MPI_MAX_ERROR_STRING, "%s", row->text ? row->text : "");
    if (code != MPI_SUCCESS && last.class == code)
        return snprintf(text, MPI_MAX_ERROR_STRING, "%s", last.sentence);
    return snprintf(text, MPI_MAX_ERROR_STRING, "%s: %s", class_name(code), mpi_class_sentence(code));
}
ENTRY(MPI_Error_string)(int errorcode, char *string, int *resultlen)
{
    return CHECK(GIVEN(string), GIVEN(resultlen)) ?:
           valid_code(errorcode) ? mpi_tell(resultlen, text_of(errorcode, string)) : wrong_code(NAME, errorcode);
}

/* ---- handlers of programs --------------------------------------------------------------------------------------- */

#define NEW_HANDLER(kind)                                                                                              \
    &(struct mpi_errhandler){                                                                                          \
        .what = HANDLER_FUNCTION, .of = kind, .function = (void (*)(void *, int *, ...))function}
#define NEW_HANDLER_GIVEN RUNNING, GIVEN_AS((void *)function, "the function"), GIVEN(errhandler)
ENTRY(MPI_Comm_create_errhandler)(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
    { return CHECK(NEW_HANDLER_GIVEN) ?: mpi_object_make(NAME, KIND_ERRHANDLER, NEW_HANDLER(KIND_COMM), errhandler); }
ENTRY(MPI_File_create_errhandler)(MPI_File_errhandler_function *function, MPI_Errhandler *errhandler)
    { return CHECK(NEW_HANDLER_GIVEN) ?: mpi_object_make(NAME, KIND_ERRHANDLER, NEW_HANDLER(KIND_FILE), errhandler); }

ENTRY(MPI_Errhandler_free)(MPI_Errhandler *errhandler)
    { return CHECK(BEHIND(KIND_ERRHANDLER, errhandler)) ?: mpi_free_handle(NAME, KIND_ERRHANDLER, errhandler); }

static int set_handler(const char *call, struct mpi_comm *comm, MPI_Errhandler handle)
{
    struct mpi_errhandler *handler = mpi_errhandler_at(handle), *old = *handler_of(comm);
    if (!handler)
        return mpi_wrong(comm, call, KIND_ERRHANDLER, handle);
    bool files = comm == MPI_OF_FILES;
    if (!mpi_predefined(handler) && handler->of != (files ? KIND_FILE : KIND_COMM))
        return mpi_error(comm, call, MPI_ERR_ERRHANDLER, "the error handler is for %s", files ? "communicators" : "files");
    mpi_keep(handler);
    *handler_of(comm) = handler;
    mpi_drop(old);
    return MPI_SUCCESS;
}

static int get_handler(const char *call, struct mpi_comm *comm, MPI_Errhandler *out)
{
    if (!out)
        return mpi_null(comm, call, "errhandler");
    *out = mpi_object_publish(*handler_of(comm));
    return MPI_SUCCESS;
}

/* The program reports an error. */
static int report(struct mpi_comm *comm, const char *call, int code)
{
    if (!valid_code(code))
        return wrong_code(call, code);
    const struct added *row = added_at(code);
    const char *text = row ? (row->text ? row->text : "") : mpi_class_sentence(code);
    last.class = code;
    snprintf(last.sentence, sizeof last.sentence, "%s: the program reports error %d: %.400s", call, code, text);
    handle_of(comm, code);
    return MPI_SUCCESS;
}

#define OF_COMM mpi_comm_at(comm)
ENTRY(MPI_Comm_set_errhandler)(MPI_Comm comm, MPI_Errhandler handle)
    { return CHECK(COMM_OF(comm)) ?: set_handler(NAME, OF_COMM, handle); }
ENTRY(MPI_Comm_get_errhandler)(MPI_Comm comm, MPI_Errhandler *handle)
    { return CHECK(COMM_OF(comm)) ?: get_handler(NAME, OF_COMM, handle); }
ENTRY(MPI_Comm_call_errhandler)(MPI_Comm comm, int code) { return CHECK(COMM_OF(comm)) ?: report(OF_COMM, NAME, code); }

/* Raises that FILE is none, where it is not MPI_FILE_NULL. */
static int wrong_file(const char *call, MPI_File file)
{
    return file == MPI_FILE_NULL ? MPI_SUCCESS
                                 : mpi_error(MPI_OF_FILES, call, MPI_ERR_FILE, "%p is not a file", (void *)file);
}
ENTRY(MPI_File_set_errhandler)(MPI_File file, MPI_Errhandler handle)
    { return CHECK(RUNNING) ?: wrong_file(NAME, file) ?: set_handler(NAME, MPI_OF_FILES, handle); }
ENTRY(MPI_File_get_errhandler)(MPI_File file, MPI_Errhandler *handle)
    { return CHECK(RUNNING) ?: wrong_file(NAME, file) ?: get_handler(NAME, MPI_OF_FILES, handle); }
ENTRY(MPI_File_call_errhandler)(MPI_File file, int code)
    { return CHECK(RUNNING) ?: wrong_file(NAME, file) ?: report(MPI_OF_FILES, NAME, code); }

/* ---- what is not implemented yet -------------------------------------------------------------------------------- */

#define NOT_YET_SENTENCE "this function is not implemented yet: see viaduct info --mpi"

int mpi_not_yet(const char *call) { return mpi_error(NULL, call, MPI_ERR_UNSUPPORTED_OPERATION, NOT_YET_SENTENCE); }
int mpi_no_file(const char *call) { return mpi_error(MPI_OF_FILES, call, MPI_ERR_UNSUPPORTED_OPERATION, NOT_YET_SENTENCE); }
int mpi_no_tool(const char *call)
{
    (void)call;
    return MPI_T_ERR_NOT_SUPPORTED;
}
