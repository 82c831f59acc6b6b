/* The chapter of errors: classes and codes that programs add (at any time, also before MPI_Init), the texts of all,
 * handlers of programs, and the answers of functions that are not implemented yet. Raising is in raise.c. */
#include "mpi/attribute.h"
#include "mpi/comm.h"
#include "mpi/not_yet.h"
#include "mpi/session.h"

/* ---- classes and codes of programs ---- */

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
static int code_add(int class)
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

static bool code_is_valid(int code)
{
    return mpi_class_name(code) || added_at(code);
}

static int code_wrong(const char *call, int code)
{
    return mpi_error(NULL, call, MPI_ERR_ARG, "%d is not an error code", code);
}

static int code_make(const char *call, int class, int *out)
{
    int code = code_add(class);
    if (!code)
        return mpi_error(NULL, call, MPI_ERR_NO_MEM, "%d classes and codes are the most", ADDED_MOST);
    return mpi_tell(out, code);
}
ENTRY(MPI_Add_error_class)(int *errorclass) { return CHECK(GIVEN(errorclass)) ?: code_make(NAME, 0, errorclass); }
ENTRY(MPI_Add_error_code)(int errorclass, int *errorcode)
{
    return CHECK(GIVEN(errorcode)) ?:
           code_is_valid(errorclass) ? code_make(NAME, errorclass ? errorclass : MPI_ERR_UNKNOWN, errorcode)
                                            : code_wrong(NAME, errorclass);
}

ENTRY(MPI_Add_error_string)(int code, const char *text)
{
    struct added *row = added_at(code);
    if (!row || !text)
        return code_wrong(NAME, code);
    char *copy = strndup(text, MPI_MAX_ERROR_STRING - 1);
    if (!copy)
        return mpi_error(NULL, NAME, MPI_ERR_NO_MEM, "no memory for a text");
    free(row->text);
    row->text = copy;
    return MPI_SUCCESS;
}

static int code_remove(const char *call, int code, bool class, bool text_only)
{
    struct added *row = added_at(code);
    if (!row || (!text_only && (row->class == code) != class))
        return code_wrong(call, code);
    if (text_only == !row->text)
        return mpi_error(NULL, call, MPI_ERR_ARG, "code %d has %s text", code, row->text ? "still its" : "no");
    for (int i = 0; class && i < added_used; i++)
        if (added[i].class == code && &added[i] != row)
            return mpi_error(NULL, call, MPI_ERR_ARG, "class %d still has code %d", code, MPI_ERR_LASTCODE + 1 + i);
    free(row->text);
    row->text = NULL;
    if (!text_only)
        row->class = 0;
    return MPI_SUCCESS;
}

ENTRY(MPI_Remove_error_class)(int class) { return code_remove(NAME, class, true, false); }
ENTRY(MPI_Remove_error_code)(int code) { return code_remove(NAME, code, false, false); }
ENTRY(MPI_Remove_error_string)(int code) { return code_remove(NAME, code, false, true); }

static int code_class(int code)
{
    const struct added *row = added_at(code);
    return row ? row->class : code;
}
ENTRY(MPI_Error_class)(int errorcode, int *errorclass)
    { return CHECK(GIVEN(errorclass)) ?:
             code_is_valid(errorcode) ? mpi_tell(errorclass, code_class(errorcode)) : code_wrong(NAME, errorcode); }

static int code_text(int code, char *text)
{
    const struct added *row = added_at(code);
    if (row)
        return snprintf(text, MPI_MAX_ERROR_STRING, "%s", row->text ? row->text : "");
    if (code != MPI_SUCCESS && mpi_last_sentence(code))
        return snprintf(text, MPI_MAX_ERROR_STRING, "%s", mpi_last_sentence(code));
    return snprintf(text, MPI_MAX_ERROR_STRING, "%s: %s", mpi_class_name(code), mpi_class_sentence(code));
}
ENTRY(MPI_Error_string)(int errorcode, char *string, int *resultlen)
{
    return CHECK(GIVEN(string), GIVEN(resultlen)) ?:
           code_is_valid(errorcode) ? mpi_tell(resultlen, code_text(errorcode, string)) : code_wrong(NAME, errorcode);
}

/* ---- handlers of programs ---- */

#define NEW_HANDLER(kind)                                                                                              \
    &(struct mpi_errhandler){                                                                                          \
        .what = HANDLER_FUNCTION, .of = kind, .function = (void (*)(void *, int *, ...))function}
#define NEW_HANDLER_GIVEN GIVEN_AS((void *)function, "the function"), GIVEN(errhandler)
ENTRY(MPI_Comm_create_errhandler)(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
    return CHECK(NEW_HANDLER_GIVEN) ?: mpi_object_make(NAME, &mpi_kind_errhandler, NEW_HANDLER(KIND_COMM), errhandler);
}
ENTRY(MPI_File_create_errhandler)(MPI_File_errhandler_function *function, MPI_Errhandler *errhandler)
{
    return CHECK(NEW_HANDLER_GIVEN) ?: mpi_object_make(NAME, &mpi_kind_errhandler, NEW_HANDLER(KIND_FILE), errhandler);
}

ENTRY(MPI_Session_create_errhandler)(MPI_Session_errhandler_function *function, MPI_Errhandler *errhandler)
{
    return CHECK(NEW_HANDLER_GIVEN)
               ?: mpi_object_make(NAME, &mpi_kind_errhandler, NEW_HANDLER(KIND_SESSION), errhandler);
}

ENTRY(MPI_Errhandler_free)(MPI_Errhandler *errhandler)
{
    return CHECK(BEHIND(mpi_kind_errhandler, errhandler)) ?: mpi_free_handle(NAME, &mpi_kind_errhandler, errhandler);
}

static int handler_set(const char *call, struct mpi_thing *thing, MPI_Errhandler handle)
{
    struct mpi_errhandler *handler = mpi_errhandler_at(handle), *old = thing->errhandler;
    if (!handler)
        return mpi_wrong(thing, call, &mpi_kind_errhandler, handle);
    if (!mpi_predefined(handler) && handler->of != mpi_thing_kind(thing))
        return mpi_error(thing, call, MPI_ERR_ERRHANDLER, "the error handler is for another kind of objects");
    mpi_keep(handler);
    thing->errhandler = handler;
    mpi_drop(old);
    return MPI_SUCCESS;
}

static int handler_get(const char *call, struct mpi_thing *thing, MPI_Errhandler *out)
{
    if (!out)
        return mpi_null(thing, call, "errhandler");
    *out = mpi_object_publish(thing->errhandler);
    return MPI_SUCCESS;
}

/* The program reports an error. */
static int code_report(struct mpi_thing *thing, const char *call, int code)
{
    if (!code_is_valid(code))
        return code_wrong(call, code);
    const struct added *row = added_at(code);
    const char *text = row ? (row->text ? row->text : "") : mpi_class_sentence(code);
    char sentence[MPI_MAX_ERROR_STRING];
    snprintf(sentence, sizeof sentence, "%s: the program reports error %d: %.400s", call, code, text);
    mpi_report(thing, code, sentence);
    return MPI_SUCCESS;
}

#define OF_COMM &mpi_comm_at(comm)->thing
ENTRY(MPI_Comm_set_errhandler)(MPI_Comm comm, MPI_Errhandler handle)
    { return CHECK(COMM_OF(comm)) ?: handler_set(NAME, OF_COMM, handle); }
ENTRY(MPI_Comm_get_errhandler)(MPI_Comm comm, MPI_Errhandler *handle)
    { return CHECK(COMM_OF(comm)) ?: handler_get(NAME, OF_COMM, handle); }
ENTRY(MPI_Comm_call_errhandler)(MPI_Comm comm, int code)
    { return CHECK(COMM_OF(comm)) ?: code_report(OF_COMM, NAME, code); }

#define OF_SESSION &mpi_session_at(session)->thing
ENTRY(MPI_Session_set_errhandler)(MPI_Session session, MPI_Errhandler handle)
    { return CHECK(SESSION_OF(session)) ?: handler_set(NAME, OF_SESSION, handle); }
ENTRY(MPI_Session_get_errhandler)(MPI_Session session, MPI_Errhandler *handle)
    { return CHECK(SESSION_OF(session)) ?: handler_get(NAME, OF_SESSION, handle); }
ENTRY(MPI_Session_call_errhandler)(MPI_Session session, int code)
    { return CHECK(SESSION_OF(session)) ?: code_report(OF_SESSION, NAME, code); }

/* Raises that FILE is none, where it is not MPI_FILE_NULL. */
static int file_wrong(const char *call, MPI_File file)
{
    return file == MPI_FILE_NULL ? MPI_SUCCESS
                                 : mpi_error(&mpi_file_null, call, MPI_ERR_FILE, "%p is not a file", (void *)file);
}
ENTRY(MPI_File_set_errhandler)(MPI_File file, MPI_Errhandler handle)
    { return CHECK(RUNNING) ?: file_wrong(NAME, file) ?: handler_set(NAME, &mpi_file_null, handle); }
ENTRY(MPI_File_get_errhandler)(MPI_File file, MPI_Errhandler *handle)
    { return CHECK(RUNNING) ?: file_wrong(NAME, file) ?: handler_get(NAME, &mpi_file_null, handle); }
ENTRY(MPI_File_call_errhandler)(MPI_File file, int code)
    { return CHECK(RUNNING) ?: file_wrong(NAME, file) ?: code_report(&mpi_file_null, NAME, code); }

/* ---- what is not implemented yet ---- */

#ifndef MPI_OTHER_NUMBERS
#define NOT_YET_SENTENCE "this function is not implemented yet: see viaduct info --mpi"
#elif defined(MPI_ADDRESS_HANDLES)
#define NOT_YET_SENTENCE "this function is not implemented yet; mpirun of Open MPI runs the program with its own MPI"
#else
#define NOT_YET_SENTENCE "this function is not implemented yet; mpiexec --abi=none runs the program with its own MPI"
#endif

int mpi_not_yet(const char *call) { return mpi_error(NULL, call, MPI_ERR_UNSUPPORTED_OPERATION, NOT_YET_SENTENCE); }
int mpi_not_yet_of(const char *call, void *comm)
{
    return mpi_error((struct mpi_thing *)mpi_comm_at(comm), call, MPI_ERR_UNSUPPORTED_OPERATION, NOT_YET_SENTENCE);
}
int mpi_no_file(const char *call)
{
    return mpi_error(&mpi_file_null, call, MPI_ERR_UNSUPPORTED_OPERATION, NOT_YET_SENTENCE);
}
