/* Making and checking a sealed memfd; see memory.h. */
#include "base/base.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

int vbase_memory_make(const char *name, uint64_t size, int seals, int *fd)
{
    struct rlimit limit;
    *fd = -1;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur) /* ftruncate would not fail but raise SIGXFSZ */
        return vbase_fail(ERR_LIMIT, "the file size limit (ulimit -f) of %llu bytes is below the %llu bytes of shared "
                                     "memory that are needed",
                          (unsigned long long)limit.rlim_cur, (unsigned long long)size);
    int made = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0)
        return vbase_fail_errno(ERR_SYSTEM, "memfd_create");
    if (ftruncate(made, (off_t)size) != 0 || fcntl(made, F_ADD_SEALS, SEALS | seals) != 0) {
        int error = vbase_fail_errno(errno == EFBIG ? ERR_LIMIT : ERR_SYSTEM, "shared memory of %llu bytes",
                                     (unsigned long long)size);
        close(made);
        return error;
    }
    *fd = made;
    return OK;
}

uint64_t vbase_memory_size(int fd)
{
    struct stat status;
    int seals = fcntl(fd, F_GET_SEALS);
    bool keeps = seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &status) == 0;
    return keeps ? (uint64_t)status.st_size : 0;
}
