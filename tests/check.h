/* The whole test framework: a check that names file, line, expression and values, and a failure count.
 * A test's main ends with `return check_done();`. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failed;

#define CHECK(x)                                                                                                        \
    do {                                                                                                                \
        if (!(x)) {                                                                                                     \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #x);                                           \
            if (++check_failed > 20)                                                                                    \
                exit(1);                                                                                                \
        }                                                                                                               \
    } while (0)

#define CHECK_EQUAL(a, b)                                                                                               \
    do {                                                                                                                \
        long long a_ = (long long)(a), b_ = (long long)(b);                                                             \
        if (a_ != b_) {                                                                                                 \
            fprintf(stderr, "%s:%d: %s is %lld, not %s = %lld\n", __FILE__, __LINE__, #a, a_, #b, b_);                  \
            if (++check_failed > 20)                                                                                    \
                exit(1);                                                                                                \
        }                                                                                                               \
    } while (0)

#define CHECK_TEXT(a, b)                                                                                                \
    do {                                                                                                                \
        const char *a_ = (a), *b_ = (b);                                                                                \
        if (strcmp(a_, b_) != 0) {                                                                                      \
            fprintf(stderr, "%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #a, a_, b_);                       \
            if (++check_failed > 20)                                                                                    \
                exit(1);                                                                                                \
        }                                                                                                               \
    } while (0)

static inline int check_done(void)
{
    return check_failed != 0;
}

/* Where the random bytes of a test begin: always the same in make check, others in each round of make soak. */
static inline unsigned long long check_seed(void)
{
    const char *text = getenv("CHECK_SEED");
    return 88172645463325252ull ^ (text ? strtoull(text, NULL, 0) * 0x9E3779B97F4A7C15ull : 0);
}

/* A new folder, in TMPDIR or /tmp: its name in TEXT. A test without one has nothing to say. */
static inline void check_folder(char text[200])
{
    const char *place = getenv("TMPDIR");
    if (snprintf(text, 200, "%s/viaduct-test-XXXXXX", place && *place ? place : "/tmp") >= 200 || !mkdtemp(text)) {
        fprintf(stderr, "no folder %s\n", text);
        exit(99);
    }
}

/* A byte that depends on message and place: a shifted, repeated or foreign byte is seen. */
static inline unsigned char check_byte(unsigned message, size_t at)
{
    unsigned long long x = (at + 1) * 0x9E3779B97F4A7C15ull ^ (message + 1) * 0xC2B2AE3D27D4EB4Full;
    return (unsigned char)(x >> 56 ^ x >> 29);
}

#endif
