/* The inside of log and trace: what settings.c and log.c tell trace.c. Nobody outside base includes this. */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include "base/compiler.h"

/* The settings are known: takes over level and file. ERR_ARGUMENT for a level that does not exist. */
int vbase_log_start(void) MUST_CHECK;

/* PATTERN with %r replaced by the rank; false when it does not fit or the rank (-1) is not known but needed. */
bool vbase_log_path(char *out, size_t size, const char *pattern, int rank);

/* The rank is known: turns the trace on if VIADUCT_TRACE asks for it; does nothing if it is on. */
void vbase_trace_start(int rank);

#endif
