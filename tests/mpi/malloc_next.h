/* The malloc that one of a test passes calls on to. */
#pragma once

#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#define malloc_next __interceptor_malloc
#else
#define malloc_next __libc_malloc
#endif
void *malloc_next(size_t size);
