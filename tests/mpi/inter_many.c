/* Intercommunicators made, merged and freed, very often: after the first thousand a rank keeps nothing of it: no resident
 * memory of its own, no descriptor. Make soak does it 100,000 times. ranks: 4 takes: 10 timeout: 300 presets: release */
#include "mpi_check.h"
#include <dirent.h>
#include <unistd.h>

#define FIRST 1000
#define RARE 16 /* KiB: pages of what happens seldom. The least that can be kept each time, 16 bytes, would be 218 */
#define TIMES (getenv("CHECK_SEED") ? 100000 : 15000)

/* Kilobytes of its own. What ranks share has its most: blocks of messages, which go round. */
static long resident(void)
{
    char line[200];
    long own = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        (void)sscanf(line, "RssAnon: %ld", &own);
    if (file)
        fclose(file);
    CHECK(own > 0);
    return own;
}

static int descriptors(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n;
}

int main(void)
{
    MPI_Comm half, both, merged;
    long before = 0, after;
    int open = 0, times = TIMES;
    check_init();
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int i = 0; i < times; i++) {
        if (i == FIRST) {
            (void)resident(); /* what stdio takes once */
            open = descriptors();
            before = resident();
        }
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rank % 2), 3, &both);
        MPI_Intercomm_merge(both, rank % 2, &merged);
        MPI_Comm_free(&both);
        MPI_Comm_free(&merged);
    }
    after = resident();
    if (after > before + RARE)
        fprintf(stderr, "rank %d: %ld KiB, not %ld\n", rank, after, before);
    CHECK(after <= before + RARE);
    CHECK_EQUAL(descriptors(), open);
    MPI_Comm_free(&half);
    return check_finalize();
}
