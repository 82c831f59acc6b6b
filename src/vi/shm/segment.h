/* The node's segment: one sparse memfd, sealed against resizing. It has no name in any file system and dies with its
 * last descriptor. Pages cost memory only when touched. What lies where: vi/shm/layout.h.
 *
 * Made by the launcher or by the lowest rank of the node. This header is for users outside the shm provider: the
 * launcher (tools/run) and the tools that read counters. */
#pragma once

#include "base/base.h"
#include <sys/types.h>

#define SHM_MAX_RANKS 65536u /* of a node: a segment takes 16 KiB of addresses for each pair of ranks */

/* A new segment for RANKS processes of one node; *fd is close-on-exec. ERR_SYSTEM, ERR_LIMIT (file size limit: the
 * detail names it). */
VEXPORT int shm_segment_create(int ranks, int *fd) MUST_CHECK;

/* For tools: where in it the counters of the rank with this local index lie, a struct base_counters, for pread.
 * ERR_ARGUMENT: there is no such rank. */
int shm_segment_counters(int fd, int index, off_t *at) MUST_CHECK;
