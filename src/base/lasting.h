/* Memory that programs get from the library and give back to it (MPI_Alloc_mem), so that it is known when its pages
 * end. Programs take little and seldom this way: the pieces are a list. */
#pragma once

#include "base/base.h"

/* NULL: there is no memory. ALIGNMENT: a power of two. */
VEXPORT void *vbase_lasting_take(size_t alignment, size_t bytes);
VEXPORT bool vbase_lasting_give(void *base); /* false: it is not from there, or was given back */

/* Has each page from START up to END bytes of one piece? They are the same pages until it is given back. */
bool vbase_lasting_has(uint64_t start, uint64_t end);

/* Is told before pages go; by any thread. One function, that is there for good once it is set; NULL: none. */
extern void (*_Atomic vbase_lasting_ends)(uint64_t start, uint64_t end);
