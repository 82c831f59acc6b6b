/* By LD_PRELOAD: how often libviaduct copies what is about as long as a message (4 KiB and more). At its end a process adds a line to the
 * file COPIES: how many copies, and how many bytes. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 4096

static uint64_t copies, bytes;

static void count(const void *caller, size_t length)
{
    Dl_info where;
    if (length < LEAST || !dladdr(caller, &where) || !strstr(where.dli_fname, "libviaduct"))
        return;
    copies++;
    bytes += length;
}

void *memmove(void *to, const void *from, size_t length)
{
    static void *(*real)(void *, const void *, size_t);
    if (!real)
        real = (void *(*)(void *, const void *, size_t))dlsym(RTLD_NEXT, "memmove");
    count(__builtin_return_address(0), length);
    return real(to, from, length);
}

void *memcpy(void *to, const void *from, size_t length)
{
    static void *(*real)(void *, const void *, size_t);
    if (!real)
        real = (void *(*)(void *, const void *, size_t))dlsym(RTLD_NEXT, "memcpy");
    count(__builtin_return_address(0), length);
    return real(to, from, length);
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("COPIES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "copies %lu bytes %lu\n", copies, bytes);
    fclose(file);
}
