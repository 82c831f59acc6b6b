/* Errors: the table as data, and this thread's last cause.
 *
 * Called from everywhere. The detail is thread-local memory, overwritten by the next failure of the thread. errno is
 * left as it was. The cause is formatted aside and then copied, because a caller may wrap the detail that it was given:
 * vbase_fail(code, "opening the lane: %s", vbase_error_detail()) is allowed. */
#include "base/base.h"

struct error_row {
    int code;
    enum base_scope scope;
    const char *name, *sentence, *remedy;
};

static const struct error_row table[] = {
    {OK, SCOPE_OPERATION, "OK", "no error", "nothing"},
#define ERROR(name, code, scope, sentence, remedy) {code, SCOPE_##scope, #name, sentence, remedy},
#include "base/error.def"
#undef ERROR
};

static const struct error_row unknown = {1, SCOPE_OPERATION, "UNKNOWN", "an unknown error",
                                         "report it: this code is not in the table of errors"};

#define DETAIL_SIZE 512
static _Thread_local char detail[DETAIL_SIZE];

static const struct error_row *row_of(int code)
{
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++)
        if (table[i].code == code)
            return &table[i];
    return &unknown;
}

const char *vbase_error_name(int code) { return row_of(code)->name; }
const char *vbase_error_sentence(int code) { return row_of(code)->sentence; }
const char *vbase_error_remedy(int code) { return row_of(code)->remedy; }
enum base_scope vbase_error_scope(int code) { return row_of(code)->scope; }
const char *vbase_error_detail(void) { return detail; }

/* REASON is put behind the cause, and kept whole where the cause is too long. */
static int detail_keep(int code, const char *reason, const char *format, va_list arguments)
{
    int saved = errno;
    char cause[DETAIL_SIZE];
    int length = vsnprintf(cause, sizeof(cause), format, arguments);
    if (reason) {
        size_t room = sizeof(cause) - strlen(reason) - 3, at = length < 0 ? 0 : (size_t)length;
        at = at < room ? at : room;
        snprintf(cause + at, sizeof(cause) - at, ": %s", reason);
    }
    memcpy(detail, cause, strlen(cause) + 1);
    LOG_DEBUG("%s: %s", vbase_error_name(code), detail);
    errno = saved;
    return code;
}

int vbase_fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    detail_keep(code, NULL, format, arguments);
    va_end(arguments);
    return code;
}

int vbase_fail_errno(int code, const char *format, ...)
{
    char text[128];
    int saved = errno;
    const char *reason = strerror_r(saved, text, sizeof(text));
    va_list arguments;
    va_start(arguments, format);
    detail_keep(code, reason, format, arguments);
    va_end(arguments);
    errno = saved;
    return code;
}
