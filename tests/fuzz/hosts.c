/* A host file, as mpiexec reads it. */
#include "fuzz.h"
#include "check.h"
#include "run/flags.h"
#include "run/host.h"
#include <sys/mman.h>
#include <unistd.h>

int FUZZ(const uint8_t *data, size_t size)
{
    struct run_options options = {.stdin_rank = -1};
    struct run_app app = {0};
    struct reader reader = {.options = &options, .app = &app, .flag = "-f"};
    char path[40], *word[] = {path, NULL};
    int fd = memfd_create("hosts", 0);
    if (fd < 0)
        return 0;
    if (write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int error = hosts_read_file(&reader, word);
    for (int i = 0; i < app.offers; i++)
        if (app.offer[i].host >= options.hosts || (error == OK && app.offer[i].slots < 0))
            abort();
    for (int i = 0; i < options.hosts; i++)
        free((void *)(uintptr_t)options.host[i].name);
    free(options.host);
    free(app.offer);
    close(fd);
    return 0;
}
