/* A rank of ours for mpich.sh: started by a foreign launcher it finds its node, the secret, and passes a descriptor.
 * Run alone it is a job of one.
 * apart: 1 */
#include "base/error.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "check.h"
#include <sys/mman.h>
#include <unistd.h>

static int live(struct boot_job *job, const char *what)
{
    char word[8] = "", command[4200] = "", *end = command;
    int same[64], fd = -1;
    ssize_t length = readlink("/proc/self/exe", command, 4096);
    end += length > 0 ? length : 0;
    memcpy(end, " rank", 6);
    CHECK_EQUAL(vboot_fence(job), OK);
    if (strcmp(what, "abort") == 0 && job->rank == 1)
        vboot_abort(job, 9, "enough");
    if (strcmp(what, "abort") == 0)
        pause();
    if (strcmp(what, "child") == 0) /* a program of a rank without a launcher of its own says so and ends */
        return system(command) < 0 ? 1 : 0;
    CHECK_EQUAL(job->local_count, job->size);
    CHECK_EQUAL(job->local_index, job->rank);
    if (job->rank == 0) {
        fd = memfd_create("word", 0);
        CHECK(write(fd, "viaduct", 7) == 7);
    }
    for (int i = 0; i < 64; i++)
        same[i] = fd;
    CHECK_EQUAL(vboot_share_descriptor(job, same), OK);
    fd = same[0];
    if (job->size > 1) {
        CHECK(pread(fd, word, 7, 0) == 7);
        CHECK_TEXT(word, "viaduct");
    }
    if (check_done() == 0)
        printf("ok %d of %d\n", job->rank, job->size);
    return check_done();
}

int main(int argc, char **argv)
{
    struct boot_job *job;
    const char *what = argc > 1 ? argv[1] : "rank";
    if (vbase_settings_read() != OK || vboot_open(&job) != OK) {
        fprintf(stderr, "%s\n", vbase_error_detail());
        return 1;
    }
    int status = live(job, what);
    vboot_close(job);
    return status;
}
