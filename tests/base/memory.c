/* Shared memory without a name: its size is kept, and what could shrink is told from it. */
#include "base/base.h"
#include "check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void size_is_kept(void)
{
    struct stat status;
    int fd;
    CHECK_EQUAL(vbase_memory_make("test", 1ull << 40, F_SEAL_SEAL, &fd), OK);
    CHECK_EQUAL(vbase_memory_size(fd), 1ull << 40);
    CHECK_EQUAL(fstat(fd, &status), 0);
    CHECK(status.st_blocks == 0); /* nothing is touched */
    CHECK_EQUAL(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    CHECK(ftruncate(fd, 1) != 0 && ftruncate(fd, 1ll << 41) != 0);
    CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) != 0);
    close(fd);

    CHECK_EQUAL(vbase_memory_make("test", 4096, 0, &fd), OK); /* more seals may follow */
    CHECK_EQUAL(vbase_memory_size(fd), 4096);
    CHECK_EQUAL(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
    close(fd);
}

static void others(void)
{
    int fd = memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK_EQUAL(ftruncate(fd, 4096), 0);
    CHECK_EQUAL(vbase_memory_size(fd), 0); /* its owner could shrink it */
    CHECK_EQUAL(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    CHECK_EQUAL(vbase_memory_size(fd), 0);
    close(fd);
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    CHECK_EQUAL(vbase_memory_size(fd), 0);
    close(fd);
    CHECK_EQUAL(vbase_memory_size(-1), 0);
}

static void limits(void)
{
    struct rlimit limit = {8192, 8192};
    int fd;
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_EQUAL(vbase_memory_make("test", 8192, 0, &fd), OK);
    close(fd);
    CHECK_EQUAL(vbase_memory_make("test", 8193, 0, &fd), ERR_LIMIT); /* the signal of ftruncate would end us */
    CHECK_EQUAL(fd, -1);
    CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, limit.rlim_max}), 0);
    CHECK_EQUAL(vbase_memory_make("test", 4096, 0, &fd), ERR_SYSTEM);
    CHECK_EQUAL(fd, -1);
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0); /* a sanitizer opens files at the end */
}

int main(void)
{
    size_is_kept();
    others();
    limits();
    return check_done();
}
