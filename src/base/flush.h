/* Before a process ends without exit(). */
#pragma once

#include "base/compiler.h"

/* Writes what the buffers of stdio hold. Takes a second at most, also where a lock of stdio is held, and where the
 * output is not read. From any thread, and from a signal handler. Afterwards only _exit is safe, and what takes no such
 * lock. */
VEXPORT void vbase_flush(void);
