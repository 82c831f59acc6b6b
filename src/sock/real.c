/* Where the real functions are found; see real.h. A function that is more than a system call is looked up at its
 * first call if that comes before the constructor. */
#include "sock/real.h"
#include "base/descriptor.h"

#include <dlfcn.h>
#include <errno.h>

long sock_raw(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
    long (*call)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"); /* the twin in C */
    long result = call(number, a, b, c, d, e, f);
    return result < 0 ? -errno : result;
#endif
}

static long call_early(long number, long a, long b, long c, long d, long e, long f)
{
    long result = sock_raw(number, a, b, c, d, e, f);
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

/* The arguments of a row as words, filled up to six. */
#define WORDS(...)                          WORDS_OF(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define WORDS_OF(a, b, c, d, e, f, ...)     (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)

/* For what a newer libc has: who finds it by dlsym finds ours. */
static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

#define HOOK(type, name, parameters, arguments)                                                                        \
    static type early_##name parameters                                                                                \
    {                                                                                                                  \
        void *found = dlsym(RTLD_NEXT, #name);                                                                         \
        return ((type(*) parameters)(found ? found : (void *)missing))arguments;                                       \
    }
#define CALL(type, name, parameters, arguments, number)                                                                \
    static type early_##name parameters { return (type)call_early(number, WORDS arguments); }
#include "sock/hooks.def"

struct sock_real sock_real = {
#define HOOK(type, name, parameters, arguments) .name = early_##name,
#include "sock/hooks.def"
};

/* A function that this libc does not have keeps its stand-in. */
void sock_real_find(void)
{
    void *found;
#define HOOK(type, name, parameters, arguments)                                                                        \
    if ((found = dlsym(RTLD_NEXT, #name)))                                                                             \
        sock_real.name = (type(*) parameters)found;
#include "sock/hooks.def"
}
