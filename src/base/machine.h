/* Which processors of this machine share what, as the kernel tells in /sys. */
#pragma once

#include "base/compiler.h"

/* The smallest first. */
enum base_unit { UNIT_HWTHREAD, UNIT_CORE, UNIT_L2, UNIT_L3, UNIT_NUMA, UNIT_SOCKET, UNIT_BOARD, UNITS };

/* The number of the unit that a processor is in; -1: the machine does not tell. ROOT is put before every path. */
VEXPORT int vbase_machine_unit(const char *root, enum base_unit unit, int cpu);

/* The unit that all processors of MASK are in; UNIT_NOT_ONE: there is none; UNIT_ABSENT: the machine has no such
 * units. */
#define UNIT_NOT_ONE (-1)
#define UNIT_ABSENT (-2)
VEXPORT int vbase_machine_bound(const char *root, enum base_unit unit, const uint64_t *mask, int words);
