/* Settings from the environment: values, defaults, errors that name everything, unknown variables, the two listings.
 * Each case runs in a child, because the environment is read once in the life of a process. */
#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"
#include "check.h"
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char said[16384]; /* what the last child wrote to standard error */

/* Runs CASE in a child with these variables ("A=1"), standard error kept in `said`. Its checks count as ours. */
static void in_child(void (*what)(void), const char *const *variables)
{
    int memory = memfd_create("stderr", MFD_CLOEXEC), status = -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(memory, 2);
        clearenv();
        for (; *variables; variables++)
            putenv((char *)*variables);
        what();
        _exit(check_done());
    }
    waitpid(child, &status, 0);
    ssize_t n = pread(memory, said, sizeof(said) - 1, 0);
    said[n < 0 ? 0 : n] = 0;
    close(memory);
    CHECK_EQUAL(status, 0);
    if (status)
        fprintf(stderr, "%s", said);
}
#define IN_CHILD(what, ...) in_child(what, (const char *const[]){__VA_ARGS__, NULL})

static void read_well(void)
{
    CHECK_EQUAL(vbase_settings_read(), OK);
}

static void values_are_taken(void)
{
    CHECK_EQUAL(vbase_settings_read(), OK);
    CHECK_EQUAL(vbase_settings.eager, 64 << 10);
    CHECK_EQUAL(vbase_settings.spin, 500);
    CHECK_EQUAL(vbase_settings.single_copy, false);
    CHECK_EQUAL(vbase_settings.window, 1 << 20); /* set to nothing is not set */
    CHECK_TEXT(vbase_settings.node, "n1");
    CHECK(vbase_settings.log_file == NULL);
    CHECK_EQUAL(vbase_log_level, LOG_LEVEL_INFO);
    setenv("VIADUCT_EAGER", "1K", 1);
    setenv("VIADUCT_NODE", "other", 1);
    CHECK_EQUAL(vbase_settings_read(), OK); /* a second call does nothing */
    CHECK_EQUAL(vbase_settings.eager, 64 << 10);
    CHECK_TEXT(vbase_settings.node, "n1");
}

static void bad_value(void)
{
    CHECK_EQUAL(vbase_settings_read(), ERR_ARGUMENT);
    CHECK_TEXT(vbase_error_detail(),
               "invalid value '12Q' for VIADUCT_EAGER: expected a number with B, K, M, G or T, like 16K");
    CHECK_EQUAL(vbase_settings.eager, 0);
    CHECK_EQUAL(vbase_settings.yield, 5000000); /* the good ones are read all the same */
    CHECK_EQUAL(vbase_settings_read(), ERR_ARGUMENT); /* and whoever asks again is told again */
    CHECK(strstr(vbase_error_detail(), "VIADUCT_EAGER") != NULL);
}

static void bad_level(void)
{
    CHECK_EQUAL(vbase_settings_read(), ERR_ARGUMENT);
    CHECK_TEXT(vbase_error_detail(),
               "invalid value 'debgu' for VIADUCT_LOG: expected error, warn, info or debug (maybe: debug?)");
    CHECK_EQUAL(vbase_log_level, LOG_LEVEL_WARN);
}

static void listing(void)
{
    char *text;
    size_t size;
    CHECK_EQUAL(vbase_settings_read(), OK);
    FILE *out = open_memstream(&text, &size);
    vbase_settings_print(out, false);
    fclose(out);
    CHECK(strstr(text, "VIADUCT_EAGER=32K  (environment)\n") != NULL);
    CHECK(strstr(text, "VIADUCT_SPIN=2us\n") != NULL);
    for (size_t i = 0; i < vbase_setting_count; i++)
        CHECK(strstr(text, vbase_setting_table[i].help) != NULL);
    free(text);

    out = open_memstream(&text, &size);
    vbase_settings_print(out, true);
    fclose(out);
    int rows = 0;
    for (char *p = strstr(text, ".TP\n"); p; p = strstr(p + 1, ".TP\n"))
        rows++;
    CHECK_EQUAL(rows, vbase_setting_count);
    CHECK(strstr(text, "32K") == NULL); /* the manual shows the defaults, not this machine */
    CHECK(strstr(text, ".BR VIADUCT_EAGER") != NULL);
    free(text);
}

static void defaults_before_reading(void)
{
    CHECK_EQUAL(vbase_settings.eager, 0);
    CHECK_EQUAL(vbase_settings.spin, 2000);
    CHECK_EQUAL(vbase_settings.single_copy, true);
    CHECK_TEXT(vbase_settings.log, "warn");
    CHECK(vbase_settings.trace == NULL);
    CHECK_EQUAL(vbase_log_level, LOG_LEVEL_WARN);
    CHECK(vbase_setting_count <= 40);
}

int main(void)
{
    defaults_before_reading();
    IN_CHILD(values_are_taken, "VIADUCT_EAGER=64K", "VIADUCT_SPIN=0.5us", "VIADUCT_SINGLE_COPY=off", "VIADUCT_WINDOW=",
             "VIADUCT_NODE=n1", "VIADUCT_LOG=info", "VIADUCT_LOG_FILE=");
    CHECK_TEXT(said, "");
    IN_CHILD(bad_value, "VIADUCT_EAGER=12Q", "VIADUCT_SPIN=7 parsecs", "VIADUCT_YIELD=5ms");
    CHECK_TEXT(said, "");
    IN_CHILD(bad_level, "VIADUCT_LOG=debgu");
    IN_CHILD(listing, "VIADUCT_EAGER=32K");

    IN_CHILD(read_well, "VIADUCT_SPIM=1", "VIADUCT_SINGLECOPY=no");
    CHECK_TEXT(said, "viaduct: warning: the variable VIADUCT_SPIM is unknown (maybe: VIADUCT_SPIN?)\n"
                     "viaduct: warning: the variable VIADUCT_SINGLECOPY is unknown (maybe: VIADUCT_SINGLE_COPY?)\n");
    IN_CHILD(read_well, "VIADUCT_ZZZZZZ=1");
    CHECK_TEXT(said, "viaduct: warning: the variable VIADUCT_ZZZZZZ is unknown; viaduct info --settings lists those there "
                     "are\n");
    IN_CHILD(read_well, "VIADUCT_spin=2us"); /* variables have capitals */
    CHECK_TEXT(said, "viaduct: warning: the variable VIADUCT_spin is unknown (maybe: VIADUCT_SPIN?)\n");
    IN_CHILD(read_well, "VIADUCT_HUGE_PAGES=no");
    CHECK_TEXT(said, "viaduct: warning: the variable VIADUCT_HUGE_PAGES has no effect any more: the program's memory stays on "
                     "the pages that it has\n");
    IN_CHILD(read_well, "VIADUCT_SPIN=2us", "VIADUCT_ROOT=/opt/viaduct", "VIADUCTX=1", "XVIADUCT_Y=1");
    CHECK_TEXT(said, "");
    IN_CHILD(read_well, "VIADUCT_JOB_NODE_FD=5", "VIADUCT_SPIM=1"); /* a rank of our launcher, which has warned */
    CHECK_TEXT(said, "");
    static char longest[5000] = "VIADUCT_";
    memset(longest + 8, 'A', sizeof(longest) - 12);
    strcpy(longest + sizeof(longest) - 4, "=1");
    IN_CHILD(read_well, longest);
    CHECK(strncmp(said, "viaduct: warning: the variable VIADUCT_AAAA", 43) == 0);
    CHECK(strlen(said) < 300);
    return check_done();
}
