/* What we use of libpmix.so.2, which is loaded at run time: no header of it is needed to build. Its structures are
 * the same for all versions of that soname; tests/boot/pmix.sh compares them with the library's own header. */
#pragma once

#include "base/base.h"

#define BOOT_PMIX_LIBRARY  "libpmix.so.2"
#define BOOT_PMIX_ALL      (UINT32_MAX - 1) /* the rank that stands for the job */
#define BOOT_PMIX_EVERYONE 3                /* the scope of a key: here and on other nodes */
#define BOOT_PMIX_DONE     -157             /* done already, so there is no callback */

/* The keys of what may be asked, and of how. */
#define BOOT_PMIX_SIZE      "pmix.job.size"
#define BOOT_PMIX_UNIVERSE  "pmix.univ.size"
#define BOOT_PMIX_APPNUM    "pmix.appnum"
#define BOOT_PMIX_COLLECT   "pmix.collect"
#define BOOT_PMIX_IMMEDIATE "pmix.immediate"
#define BOOT_PMIX_TIMEOUT   "pmix.timeout"

enum boot_pmix_type { BOOT_PMIX_FLAG = 1, BOOT_PMIX_STRING = 3, BOOT_PMIX_INT = 6, BOOT_PMIX_UINT32 = 14 };

struct boot_pmix_process {
    char space[256];
    uint32_t rank;
};

struct boot_pmix_value {
    uint16_t type; /* enum boot_pmix_type */
    union {
        bool flag;
        char *string;
        int integer;
        uint32_t uint32;
        uint64_t room[3];
    } data;
};

struct boot_pmix_info {
    char key[512];
    uint32_t directives;
    struct boot_pmix_value value;
};

/* name, result, parameters. Results are 0 or a negative number, which error_string tells in words. */
#define BOOT_PMIX_FUNCTIONS(F)                                                                                        \
    F(Init, int, (struct boot_pmix_process *, struct boot_pmix_info *, size_t))                                        \
    F(Finalize, int, (const struct boot_pmix_info *, size_t))                                                          \
    F(Abort, int, (int, const char *, struct boot_pmix_process *, size_t))                                             \
    F(Put, int, (uint8_t, const char *, struct boot_pmix_value *))                                                     \
    F(Commit, int, (void))                                                                                            \
    F(Fence_nb, int,                                                                                                  \
      (const struct boot_pmix_process *, size_t, const struct boot_pmix_info *, size_t, void (*)(int, void *), void *))\
    F(Get, int,                                                                                                       \
      (const struct boot_pmix_process *, const char *, const struct boot_pmix_info *, size_t,                          \
       struct boot_pmix_value **))                                                                                    \
    F(Error_string, const char *, (int))
