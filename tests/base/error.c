/* The error table and the thread's detail. */
#include "base/error.h"
#include "check.h"
#include <errno.h>
#include <pthread.h>

static void table_is_sound(void)
{
    static const int codes[] = {
#define ERROR(name, code, scope, sentence, remedy) code,
#include "base/error.def"
#undef ERROR
    };
    for (size_t i = 0; i < ARRAY_LENGTH(codes); i++) {
        CHECK(codes[i] < 0);
        for (size_t j = 0; j < i; j++)
            CHECK(codes[i] != codes[j]);
        CHECK(strcmp(vbase_error_name(codes[i]), "UNKNOWN") != 0);
        CHECK(strlen(vbase_error_sentence(codes[i])) > 5);
        CHECK(strlen(vbase_error_remedy(codes[i])) > 5);
    }
    CHECK_TEXT(vbase_error_name(OK), "OK");
    CHECK_TEXT(vbase_error_name(ERR_AGAIN), "AGAIN");
    CHECK_TEXT(vbase_error_sentence(ERR_MEMORY), "out of memory");
    CHECK_EQUAL(vbase_error_scope(ERR_LINK_DOWN), SCOPE_LINK);
    CHECK_EQUAL(vbase_error_scope(ERR_PEER_DEAD), SCOPE_JOB);
    CHECK_TEXT(vbase_error_name(1), "UNKNOWN");
    CHECK_TEXT(vbase_error_name(-4711), "UNKNOWN");
    CHECK_TEXT(vbase_error_name(INT32_MIN), "UNKNOWN");
}

static void *other_thread(void *unused)
{
    (void)unused;
    CHECK_TEXT(vbase_error_detail(), "");
    CHECK_EQUAL(vbase_fail(ERR_STATE, "of the other thread"), ERR_STATE);
    CHECK_TEXT(vbase_error_detail(), "of the other thread");
    return NULL;
}

static void detail_belongs_to_its_thread(void)
{
    pthread_t thread;
    CHECK_TEXT(vbase_error_detail(), "");
    CHECK_EQUAL(vbase_fail(ERR_LIMIT, "%d of %d files", 7, 5), ERR_LIMIT);
    CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0);
    pthread_join(thread, NULL);
    CHECK_TEXT(vbase_error_detail(), "7 of 5 files");
}

static void detail_may_be_wrapped(void)
{
    CHECK_EQUAL(vbase_fail(ERR_LIMIT, "the inner cause"), ERR_LIMIT);
    CHECK_EQUAL(vbase_fail(ERR_SYSTEM, "outside: %s", vbase_error_detail()), ERR_SYSTEM);
    CHECK_TEXT(vbase_error_detail(), "outside: the inner cause");
}

static void errno_is_told_and_kept(void)
{
    errno = ENOENT;
    CHECK_EQUAL(vbase_fail_errno(ERR_SYSTEM, "open of %s", "/x"), ERR_SYSTEM);
    CHECK_EQUAL(errno, ENOENT);
    CHECK_TEXT(vbase_error_detail(), "open of /x: No such file or directory");
    errno = EINTR;
    CHECK_EQUAL(vbase_fail(ERR_STATE, "plain"), ERR_STATE);
    CHECK_EQUAL(errno, EINTR);
}

static void long_causes_are_cut(void)
{
    char text[3000];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = 0;
    CHECK_EQUAL(vbase_fail(ERR_STATE, "%s", text), ERR_STATE);
    size_t length = strlen(vbase_error_detail());
    CHECK(length >= 200 && length < sizeof(text) - 1);
    errno = EACCES; /* the reason survives a sentence that is too long */
    CHECK_EQUAL(vbase_fail_errno(ERR_SYSTEM, "%s", text), ERR_SYSTEM);
    CHECK(strstr(vbase_error_detail(), ": Permission denied") != NULL);
}

int main(void)
{
    table_is_sound();
    detail_belongs_to_its_thread();
    detail_may_be_wrapped();
    errno_is_told_and_kept();
    long_causes_are_cut();
    return check_done();
}
