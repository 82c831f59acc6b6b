/* Errors: the table as data, and this thread's last cause.
 *
 * Called from everywhere. The detail is memory of the thread, overwritten by the next failure of the thread. errno is
 * left as it was. The cause is formatted aside and then copied, because a caller may wrap the detail that it was given:
 * vbase_fail(code, "opening the lane: %s", vbase_error_detail()) is allowed. */
#include "base/base.h"
#include <pthread.h>
#include <sys/mman.h>

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

/* A thread's texts, mapped when it first has one and freed at its end. A mapping and no malloc: an error may be decided
 * in a handler of signals. A thread that gets none uses TEXTS_OF_ALL. The key goes with the library: a thread may end
 * after it was unloaded. */
#define NO_KEY ((pthread_key_t)-1)
static _Thread_local char (*texts)[TEXT_ROOM];
static char texts_of_all[TEXTS][TEXT_ROOM];
static pthread_key_t texts_key = NO_KEY;

static void texts_close(void *mapped)
{
    munmap(mapped, TEXTS * TEXT_ROOM);
    texts = NULL;
}

__attribute__((constructor)) static void key_make(void)
{
    if (pthread_key_create(&texts_key, texts_close) != 0)
        texts_key = NO_KEY;
}

__attribute__((destructor)) static void key_drop(void)
{
    if (texts_key != NO_KEY)
        pthread_key_delete(texts_key);
    texts_key = NO_KEY;
}

static COLD void texts_open(void)
{
    int saved = errno;
    void *mapped = texts_key == NO_KEY ? MAP_FAILED : mmap(NULL, TEXTS * TEXT_ROOM, PROT_READ | PROT_WRITE,
                                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED && pthread_setspecific(texts_key, mapped) == 0)
        texts = mapped;
    else if (mapped != MAP_FAILED)
        munmap(mapped, TEXTS * TEXT_ROOM);
    errno = saved;
}

char *vbase_text(enum base_text which)
{
    if (unlikely(!texts))
        texts_open();
    return texts ? texts[which] : texts_of_all[which];
}

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
const char *vbase_error_detail(void) { return vbase_text(TEXT_DETAIL); }

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
    memcpy(vbase_text(TEXT_DETAIL), cause, strlen(cause) + 1);
    LOG_DEBUG("%s: %s", vbase_error_name(code), cause);
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
