/* Memory that processes share: a file in no folder (memfd), passed on by its descriptor. Nobody can change its size, so
 * that who has mapped it reads it safely, and a crash leaves nothing behind. */
#pragma once

#include "base/error.h"

/* SIZE bytes of zeros; *FD is close-on-exec, -1 after an error. SEALS: beside those of the size; F_SEAL_SEAL ends it.
 * ERR_LIMIT, ERR_SYSTEM. */
int vbase_memory_make(const char *name, uint64_t size, int seals, int *fd) MUST_CHECK;

/* How many bytes FD has and keeps; 0: it is no such memory. */
uint64_t vbase_memory_size(int fd);
