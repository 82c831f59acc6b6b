/* The processor quota of the cgroups above this process. The inside of topology; a face of its own for its test. */
#ifndef BASE_QUOTA_H
#define BASE_QUOTA_H

#include "base/compiler.h"

/* Processors that the tightest cgroup allows, 0: no quota or none known. ROOT is put before every path ("" outside of
 * tests): ROOT/proc/self/cgroup, ROOT/proc/self/mountinfo and the mount points named there. */
double vbase_quota(const char *root);

#endif
