/* How many ranks this host can have: told before the first is started, with what limits them. */
#include "run/job.h"
#include "vi/shm/segment.h"

#define RANK_LEAST (512ull << 10) /* bytes that the smallest process costs, with what the kernel keeps for it */
#define PIDS_SPARE 300            /* of others */

static uint64_t number_in(const char *path, const char *behind)
{
    char text[4096];
    const char *at = vbase_file_read(text, sizeof text, "%s", path) ? strstr(text, behind) : NULL;
    return at ? strtoull(at + strlen(behind), NULL, 10) : UINT64_MAX;
}

int ranks_fit(struct run_job *job)
{
    uint64_t kib = number_in("/proc/meminfo", "MemAvailable:"), pids = number_in("/proc/sys/kernel/pid_max", "");
    const struct {
        uint64_t most;
        const char *why;
    } limit[] = {
        {SHM_MAX_RANKS, "shared memory of a host serves no more"},
        {kib == UINT64_MAX ? kib : kib * 1024 / RANK_LEAST, "no more fit into the memory that is available"},
        {pids > PIDS_SPARE ? pids - PIDS_SPARE : pids, "the kernel gives no more process numbers (kernel.pid_max)"},
    };
    size_t least = 0;
    for (size_t i = 1; i < ARRAY_LENGTH(limit); i++)
        least = limit[i].most < limit[least].most ? i : least;
    if ((uint64_t)job->local <= limit[least].most)
        return OK;
    return vbase_fail(ERR_LIMIT, "%d ranks are too many for %s: at most %llu, since %s", job->local, job->host,
                      (unsigned long long)limit[least].most, limit[least].why);
}
