/* What the cgroups of this process tell: the processor quota, and who was killed for want of memory. */
#ifndef BASE_QUOTA_H
#define BASE_QUOTA_H

#include "base/compiler.h"

/* Processors that the tightest cgroup allows, 0: no quota or none known. ROOT is put before every path ("" outside of
 * tests). */
double vbase_quota(const char *root);

/* Kills for want of memory so far: of this process's cgroup where the kernel counts them there, else of the machine. */
uint64_t vbase_oom_kills(void);

#endif
