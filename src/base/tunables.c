/* The table of tunables as data. */
#include "base/tunables.h"

#define TUNABLE_ALL(name, unit, value, text, row) TUNABLE(name, unit, value, value, value, value, text, row)
#define TUNABLE(name, unit, near, slow, far, remote, text, row) {#name, #unit, {near, slow, far, remote}, text, row},
const struct base_tunable vbase_tunable_table[] = {
#include VIADUCT_TUNABLES
};
