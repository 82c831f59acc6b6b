/* Growing buffers, and memory without which there is no job. */
#pragma once

#include "base/base.h"

struct run_bytes {
    char *data;
    size_t length, capacity;
};

/* Zeroed memory; LIST with room for one more item of SIZE bytes behind the first COUNT. Never NULL: without it we
 * abort. */
void *run_zeros(size_t count, size_t size);
void *run_grown(void *list, int count, size_t size);

void bytes_add(struct run_bytes *bytes, const void *data, size_t length);
void bytes_drop(struct run_bytes *bytes, size_t length); /* from the front */
/* One read into BYTES. False: end of file. */
bool bytes_read(struct run_bytes *bytes, int fd) MUST_CHECK;
