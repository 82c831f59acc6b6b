/* Settings: the table as data, and the environment read into it.
 *
 * The defaults are in place before main (a constructor reads them with the same parser), so that nothing depends on the
 * order of initialization. Texts are copied: the environment may change later. After vbase_settings_read the structure
 * is only read. Parsing one value is parse.c. */
#include "base/base.h"
#include <ctype.h>

#define PREFIX "VIADUCT_"
#define NAME_SIZE 64

struct base_settings vbase_settings;

const struct base_setting vbase_setting_table[] = {
#define SETTING(name, type, when, group, standard, unit, help)                                                         \
    {#name, #group, SETTING_##type, SETTING_##when, standard, unit, help, offsetof(struct base_settings, name)},
#include "base/settings.def"
#undef SETTING
};
const size_t vbase_setting_count = ARRAY_LENGTH(vbase_setting_table);
_Static_assert(ARRAY_LENGTH(vbase_setting_table) <= 40, "forty settings at most");

static char variable[ARRAY_LENGTH(vbase_setting_table)][NAME_SIZE]; /* the name of each in the environment */
static const char *from_environment[ARRAY_LENGTH(vbase_setting_table)]; /* the text that was read, NULL: the default */
static struct base_lock reading;
static bool settings_read;

/* Not settings: variables that module files and build scripts often set. */
static const char *const passed_over[] = {"ROOT", "HOME", "DIR", "PREFIX", "BIN", "LIB", "BUILD", "SOURCE", "VERSION"};

/* Settings of earlier versions, and what holds now. */
static const char *const gone[][2] = {
    {"HUGE_PAGES", "the program's memory stays on the pages that it has"},
};

static void *value_of(const struct base_setting *row) { return (char *)&vbase_settings + row->offset; }

__attribute__((constructor(111))) static void defaults_set(void)
{
    for (size_t i = 0; i < vbase_setting_count; i++) {
        const struct base_setting *row = &vbase_setting_table[i];
        snprintf(variable[i], NAME_SIZE, PREFIX "%s", row->name);
        for (char *at = variable[i]; *at; at++)
            *at = (char)toupper((unsigned char)*at);
        if (vbase_setting_parse(row->type, row->standard, value_of(row)) != OK)
            abort(); /* the table itself is wrong, which the first run of any test shows */
    }
}

const char *vbase_environment(const char *name) { return secure_getenv(name); }

static int setting_read(size_t i)
{
    const struct base_setting *row = &vbase_setting_table[i];
    const char *text = vbase_environment(variable[i]);
    if (!text || !*text)
        return OK; /* set to nothing is not set */
    char *copy = strdup(text);
    if (!copy)
        return vbase_fail(ERR_MEMORY, "no memory for the value of %s", variable[i]);
    int status = vbase_setting_parse(row->type, copy, value_of(row));
    if (status) {
        free(copy);
        return vbase_fail(status, "invalid value '%.100s' for %s: %s", text, variable[i], vbase_error_detail());
    }
    from_environment[i] = copy;
    return OK;
}

/* NAME is what follows VIADUCT_ in a variable. */
static void variable_warn_if_unknown(const char *name)
{
    const char *known[ARRAY_LENGTH(variable)];
    for (size_t i = 0; i < ARRAY_LENGTH(passed_over); i++)
        if (strcmp(name, passed_over[i]) == 0)
            return;
    for (size_t i = 0; i < ARRAY_LENGTH(variable); i++) {
        known[i] = variable[i] + sizeof(PREFIX) - 1;
        if (strcmp(name, known[i]) == 0)
            return;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(gone); i++)
        if (strcmp(name, gone[i][0]) == 0) {
            LOG_WARN("the variable " PREFIX "%s has no effect any more: %s", name, gone[i][1]);
            return;
        }
    const char *near = vbase_name_nearest(name, known, ARRAY_LENGTH(known));
    if (near)
        LOG_WARN("the variable " PREFIX "%s is unknown (maybe: " PREFIX "%s?)", name, near);
    else
        LOG_WARN("the variable " PREFIX "%s is unknown; viaduct info --settings lists those there are", name);
}

/* Under our launcher only the launcher warns: one line for a job, not one for every rank. */
static void variables_warn_of_unknown(void)
{
    for (char **text = environ; text && *text; text++)
        if (strncmp(*text, PREFIX "JOB_", sizeof(PREFIX "JOB_") - 1) == 0)
            return;
    for (char **text = environ; text && *text; text++) {
        char name[NAME_SIZE];
        const char *rest = *text + sizeof(PREFIX) - 1;
        if (strncmp(*text, PREFIX, sizeof(PREFIX) - 1) != 0)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(rest, "="), rest);
        variable_warn_if_unknown(name);
    }
}

static int environment_read(void)
{
    int first = OK;
    char cause[512] = "";
    for (size_t i = 0; i < vbase_setting_count; i++) {
        int status = setting_read(i);
        if (status && !first) {
            first = status;
            snprintf(cause, sizeof(cause), "%s", vbase_error_detail());
        }
    }
    int status = vbase_log_start();
    if (first)
        return vbase_fail(first, "%s", cause);
    if (status)
        return status;
    variables_warn_of_unknown();
    return OK;
}

int vbase_settings_read(void)
{
    /* after a bad value the next call fails the same way, for a second personality that starts */
    base_lock(&reading);
    int status = settings_read ? OK : environment_read();
    settings_read = status == OK;
    base_unlock(&reading);
    return status;
}

static void roff_print(FILE *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        const char *escape = *p == '-' ? "\\-" : *p == '\\' ? "\\e" : *p == '"' ? "\\(dq" : NULL;
        if (escape)
            fputs(escape, out);
        else
            putc(*p, out);
    }
}

static void row_print_as_man(FILE *out, const struct base_setting *row, const char *name)
{
    fprintf(out, ".TP\n.BR %s \" (", name);
    roff_print(out, row->type == SETTING_BOOL ? "yes | no" : row->unit);
    fputs(*row->standard ? "; default " : "", out);
    roff_print(out, row->standard);
    fputs(")\"\n", out);
    putc(toupper((unsigned char)row->help[0]), out);
    roff_print(out, row->help + 1);
    fputs(".\n", out);
}

void vbase_settings_print(FILE *out, bool as_man_page)
{
    for (size_t i = 0; i < vbase_setting_count; i++) {
        const struct base_setting *row = &vbase_setting_table[i];
        if (as_man_page) {
            row_print_as_man(out, row, variable[i]);
            continue;
        }
        const char *text = from_environment[i] ? from_environment[i] : row->standard;
        fprintf(out, "%s=%s%s\n    %s%s%s%s\n", variable[i], text, from_environment[i] ? "  (environment)" : "",
                row->help, row->type == SETTING_BOOL || *row->unit ? " [" : "",
                row->type == SETTING_BOOL ? "yes | no" : row->unit, row->type == SETTING_BOOL || *row->unit ? "]" : "");
    }
}
