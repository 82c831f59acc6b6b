/* Targets of coverage-guided fuzzing: one file for each parser of bytes from outside, with one function, FUZZ. A target is
 * built twice: with clang's libFuzzer by scripts/fuzz, which looks for new inputs, and with replay.c for make check, which runs
 * what is in corpus/NAME. Each input begins with a fresh state as far as that is possible. A CHECK that fails aborts. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef FUZZ
#define FUZZ LLVMFuzzerTestOneInput
#endif
int FUZZ(const uint8_t *data, size_t size);

static const uint8_t *fuzz_at, *fuzz_end;

static inline void fuzz_begin(const uint8_t *data, size_t size)
{
    fuzz_at = data;
    fuzz_end = data + size;
}

static inline bool fuzz_over(void) { return fuzz_at >= fuzz_end; }
static inline unsigned fuzz_byte(void) { return fuzz_over() ? 0 : *fuzz_at++; }

/* Something near NOW, or any number. */
static inline uint64_t fuzz_word(uint64_t now)
{
    unsigned how = fuzz_byte();
    if (how < 128)
        return now + how - 64;
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | fuzz_byte();
    return value >> how % 64;
}

/* As many bytes as N wants. */
static inline unsigned fuzz_below(unsigned n)
{
    unsigned any = fuzz_byte();
    for (unsigned most = 256; most && most < n; most <<= 8)
        any = any << 8 | fuzz_byte();
    return n ? any % n : 0;
}

/* What is left, as a text. Freed by the caller. */
static inline char *fuzz_text(void)
{
    size_t size = (size_t)(fuzz_end - fuzz_at);
    char *text = calloc(1, size + 1);
    if (!text)
        abort();
    if (size)
        memcpy(text, fuzz_at, size);
    fuzz_at = fuzz_end;
    return text;
}

#endif
