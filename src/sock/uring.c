/* The first calls of liburing, which programs make in place of liburing's own: that makes its system calls past libc.
 * With an io_uring descriptors are read and written past our functions, so the process uses shared memory no more
 * (sandbox.h). What the arguments point to is the program's. Any thread may call.
 *
 * liburing may have come with a plugin, for that alone: then it is not among the libraries behind us. */
#include "sock/real.h"
#include "sock/sandbox.h"

#include <dlfcn.h>
#include <errno.h>

static void *liburing_find(const char *name)
{
    static const char *const libraries[] = {"liburing.so.2", "liburing.so.1"};
    void *function = dlsym(RTLD_NEXT, name);
    for (size_t i = 0; !function && i < ARRAY_LENGTH(libraries); i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (!library)
            continue;
        function = dlsym(library, name);
        (void)dlclose(library); /* the caller has it */
    }
    return function;
}

static void *ring_begins(const char *name)
{
    sock_sandbox_enter();
    return liburing_find(name);
}

typedef int flags_call(unsigned, void *, unsigned);
VEXPORT int hook_queue_init(unsigned entries, void *ring, unsigned flags) __asm__("io_uring_queue_init");
int hook_queue_init(unsigned entries, void *ring, unsigned flags)
{
    flags_call *next = (flags_call *)ring_begins("io_uring_queue_init");
    return next ? next(entries, ring, flags) : -ENOSYS;
}

typedef int params_call(unsigned, void *, void *);
VEXPORT int hook_queue_init_params(unsigned entries, void *ring, void *params) __asm__("io_uring_queue_init_params");
int hook_queue_init_params(unsigned entries, void *ring, void *params)
{
    params_call *next = (params_call *)ring_begins("io_uring_queue_init_params");
    return next ? next(entries, ring, params) : -ENOSYS;
}

typedef int memory_call(unsigned, void *, void *, void *, size_t);
VEXPORT int hook_queue_init_mem(unsigned entries, void *ring, void *params, void *memory, size_t size)
    __asm__("io_uring_queue_init_mem");
int hook_queue_init_mem(unsigned entries, void *ring, void *params, void *memory, size_t size)
{
    memory_call *next = (memory_call *)ring_begins("io_uring_queue_init_mem");
    return next ? next(entries, ring, params, memory, size) : -ENOSYS;
}

typedef int setup_call(unsigned, void *);
VEXPORT int hook_uring_setup(unsigned entries, void *params) __asm__("io_uring_setup");
int hook_uring_setup(unsigned entries, void *params)
{
    setup_call *next = (setup_call *)ring_begins("io_uring_setup");
    return next ? next(entries, params) : -ENOSYS;
}
