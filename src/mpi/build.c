/* Run when libmpi_abi is loaded, before main: it refuses a libviaduct of another build, which LD_LIBRARY_PATH or half
 * an upgrade can bring about, and notes that this library is there (base/one_mpi.h). Refusing ends the process, since
 * nothing that would follow could be trusted; so it speaks by write and uses nothing of libviaduct but the text it
 * compares. */
#include "base/build.h"
#include "base/one_mpi.h"
#include "build_id.h"
#include "mpi/process.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char own_build[] = BUILD_ID;

static const char *file_of(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "an unknown file";
}

const char *mpi_library_file(void) { return file_of(own_build); }

__attribute__((destructor)) static void library_closed(void) { vbase_mpi_closed(mpi_library_file()); }

__attribute__((constructor)) static void refuse_another_build(void)
{
    char text[1024];
    if (strcmp(vbase_build_id, own_build) == 0) {
        vbase_mpi_loaded(mpi_library_file());
        return;
    }
    snprintf(text, sizeof text,
             "viaduct: %s (build %s) does not belong to %s (build %.16s): install both from one build, or look what "
             "LD_LIBRARY_PATH and LD_PRELOAD name\n",
             file_of(own_build), own_build, file_of(vbase_build_id), vbase_build_id);
    ssize_t told = write(STDERR_FILENO, text, strlen(text));
    _exit(told > 0 ? 1 : 2);
}
