/* Errors: 0 or a negative code from one table (error.def), with a sentence and a scope for each.
 *
 * The first function that decides an error calls vbase_fail(): it keeps the exact cause, with its numbers, as this
 * thread's detail and logs it at level debug; callers only propagate the code. Code that shows the error to the user
 * (an MPI error handler, the launcher) joins sentence and detail. Outputs are written on success only. */
#pragma once

#include "base/compiler.h"

enum base_error {
    OK = 0,
#define ERROR(name, code, scope, sentence, remedy) ERR_##name = code,
#include "base/error.def"
#undef ERROR
};

enum base_scope { SCOPE_OPERATION, SCOPE_LINK, SCOPE_NIC, SCOPE_JOB };

VEXPORT const char *vbase_error_name(int code);     /* "AGAIN"; "UNKNOWN" for a code that is not in the table */
VEXPORT const char *vbase_error_sentence(int code);
VEXPORT const char *vbase_error_remedy(int code);
VEXPORT enum base_scope vbase_error_scope(int code);

/* Decide an error: keep the formatted cause as this thread's detail, log it at debug level, return CODE. */
VEXPORT int vbase_fail(int code, const char *format, ...) PRINTF_LIKE(2, 3) COLD;

/* The same for a refused system call: appends ": " and the text of errno to the detail. */
VEXPORT int vbase_fail_errno(int code, const char *format, ...) PRINTF_LIKE(2, 3) COLD;

/* Texts of this thread, each valid until the next one of its kind. They are no thread-local variables: a library that
 * is loaded later, by Python or as a plug-in, gets little memory for those. */
enum base_text { TEXT_DETAIL, TEXT_RAISED, TEXT_PACK, TEXTS };
#define TEXT_ROOM 600
VEXPORT char *vbase_text(enum base_text which);

/* The cause kept last in this thread, "" if none. Valid until the next vbase_fail of the thread. */
VEXPORT const char *vbase_error_detail(void);
