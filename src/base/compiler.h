/* Attributes and small macros. Included by every header; nothing here costs anything at run time.
 *
 * VEXPORT marks the few functions of libviaduct that its sister libraries call: they carry a name that no program will
 * have (a layer's prefix with a leading v) and are bound once, without a PLT. Everything else is hidden. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef VEXPORT /* a library that keeps base to itself defines it as nothing */
#define VEXPORT __attribute__((visibility("default")))
#endif
#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(at, first) __attribute__((format(printf, at, first)))
#define COLD __attribute__((cold, noinline))
#define ALIGNED(n) __attribute__((aligned(n)))

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define CACHE_LINE 64
#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* The structure of type TYPE whose MEMBER lies at POINTER. */
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))

/* For a few small thread-local variables on the hot path: they use the little static TLS that the loader keeps for
 * libraries loaded later. */
#define TLS_QUICK __attribute__((tls_model("initial-exec")))
