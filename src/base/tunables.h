/* The table of tunables as data and as constants. TUNED(NAME) is a constant: the value of a row that has one for all
 * classes. vbase_tuned(TUNABLE_NAME, class) is read when two ends meet, or when the class of their line changes, never
 * for a message. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* How far apart two processes are. The first three: on one host, by what a line costs that the other processor has
 * written. */
enum base_class { CLASS_NEAR, CLASS_SLOW, CLASS_FAR, CLASS_REMOTE, CLASSES };

#ifndef VIADUCT_TUNABLES
#define VIADUCT_TUNABLES "base/tunables.def" /* a build of the tests names another one, in which every value differs */
#endif

#define TUNABLE(name, unit, near, slow, far, remote, text, row) TUNABLE_##name,
#define TUNABLE_ALL(name, unit, value, text, row) TUNABLE_##name,
enum base_tunable_name {
#include VIADUCT_TUNABLES
    TUNABLES
};
#undef TUNABLE
#undef TUNABLE_ALL
#define TUNABLE(name, unit, near, slow, far, remote, text, row)
#define TUNABLE_ALL(name, unit, value, text, row) TUNED_##name = (value),
enum base_tuned {
#include VIADUCT_TUNABLES
};
#undef TUNABLE
#undef TUNABLE_ALL
#define TUNED(name) ((uint64_t)TUNED_##name)
#define TUNED_NS(name) (TUNED(name) * 1000000) /* of a row in ms */

struct base_tunable {
    const char *name, *unit;
    uint64_t value[CLASSES];
    const char *text, *row;
};
extern const struct base_tunable vbase_tunable_table[];

static inline uint64_t vbase_tuned(enum base_tunable_name name, enum base_class line)
{
    return vbase_tunable_table[name].value[line];
}
