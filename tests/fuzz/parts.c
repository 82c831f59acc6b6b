/* A file of parts of a job (mpiexec -configfile): a line of flags and a program for each. What is read lives as long as
 * the launcher, so nothing is freed. */
#include "fuzz.h"
#include "check.h"
#include "run/flags.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int FUZZ(const uint8_t *data, size_t size)
{
    static struct run_options options;
    static int silent;
    char path[40], *words[] = {"mpiexec", "-configfile", path, NULL};
    if (!silent) { /* what is told of the flags */
        silent = open("/dev/null", O_WRONLY);
        dup2(silent, 1);
    }
    fuzz_begin(data, size);
    char *text = fuzz_text();
    /* no files of this machine, under whatever quotes and backslashes */
    bool files = strpbrk(text, "\"'\\") ? strchr(text, 'f') || strstr(text, "app")
                                        : strstr(text, "file") || strstr(text, "-f") || strstr(text, "app");
    free(text);
    int fd = memfd_create("parts", 0);
    if (fd < 0 || files)
        return fd < 0 ? 0 : close(fd);
    if (write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    memset(&options, 0, sizeof options);
    int error = options_read(&options, 3, words);
    (void)error; /* refused is as good */
    close(fd);
    return 0;
}
