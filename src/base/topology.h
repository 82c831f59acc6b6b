/* What this process may use of the machine. Read once; cheap afterwards. */
#pragma once

#include "base/compiler.h"

struct base_topology {
    int cpus_online;      /* in the machine */
    int cpus_allowed;     /* in the affinity mask of this process */
    double cpus_quota;    /* of the tightest cgroup above it (v1 or v2), 0: no quota */
    int cpus;             /* whole processors that can run at once: the lesser of the two above, at least 1 */
};

VEXPORT const struct base_topology *vbase_topology(void);

/* The processors this process may use now: bit i of word i / 64 for each of the first 64 * WORDS processors. */
VEXPORT void vbase_affinity(uint64_t *mask, int words);

/* Equal for two processes that reach each other over the loopback interface, different otherwise: the boot of this
 * kernel, or the host's name where that is hidden, and the network namespace. */
uint64_t vbase_host_identity(void);

/* Processors that the tightest cgroup allows, 0: no quota or none known. ROOT is put before every path ("" outside of
 * tests). Processes killed for lack of memory so far: of this process's cgroup where the kernel counts them there, else
 * of the machine. */
double vbase_quota(const char *root);
uint64_t vbase_oom_kills(void);
