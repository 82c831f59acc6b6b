/* Settings: one table (settings.def), read once from VIADUCT_* at start, then only read.
 *
 * An unknown VIADUCT_* variable is warned about with the nearest name; a value that does not parse is an error that
 * names the variable, the value and what is accepted. An empty value counts as not set. The launcher's own variables
 * (VIADUCT_JOB_*) are not settings; where one is seen nothing is warned about, because the launcher has read the same
 * environment and has warned once for all its ranks. The defaults stand before main. */
#pragma once

#include "base/compiler.h"
#include <stdio.h>

enum base_setting_type { SETTING_BOOL, SETTING_SIZE, SETTING_TIME, SETTING_TEXT };
typedef bool base_value_BOOL;
typedef uint64_t base_value_SIZE;
typedef uint64_t base_value_TIME;
typedef const char *base_value_TEXT;

struct base_settings {
#define SETTING(name, type, when, group, standard, unit, help) base_value_##type name;
#include "base/settings.def"
#undef SETTING
};
VEXPORT extern struct base_settings vbase_settings;

struct base_setting { /* a row of the table, for info, man page and tests */
    const char *name, *group; /* "single_copy", "messages" */
    enum base_setting_type type;
    enum { SETTING_START, SETTING_LATER } when;
    const char *standard, *unit, *help;
    size_t offset; /* in struct base_settings */
};
VEXPORT extern const struct base_setting vbase_setting_table[];
VEXPORT extern const size_t vbase_setting_count;

/* Reads the environment into vbase_settings. Called once, before anything else of the library; a second call does
 * nothing. ERR_ARGUMENT names the first bad value. */
VEXPORT int vbase_settings_read(void) MUST_CHECK;

/* One value by its type: the parser of the table, also the launcher's. OUT is a base_value_TYPE. */
VEXPORT int vbase_setting_parse(enum base_setting_type type, const char *text, void *out) MUST_CHECK;

/* For viaduct info --settings and the man page: every row with its value, where it came from, and its help. */
void vbase_settings_print(FILE *out, bool as_man_page);

/* The name of the table that is nearest to NAME, NULL if none is near: "maybe: X?" */
const char *vbase_name_nearest(const char *name, const char *const *names, size_t count);

/* Is WORD one of the words of LIST, which are separated by commas? */
VEXPORT bool vbase_list_has(const char *list, const char *word);

/* PATTERN with %r replaced by RANK, %h by HOST, and %g by 0, the group of other launchers. Its length; from SIZE on:
 * cut. */
size_t vbase_expand(char *out, size_t size, const char *pattern, int rank, const char *host);

/* The only access to the environment: no other room calls getenv. */
VEXPORT const char *vbase_environment(const char *name);
