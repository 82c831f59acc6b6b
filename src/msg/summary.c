/* One line about a job that begins, by its first rank, for the log (VIADUCT_LOG=info) and for mpiexec --report: how
 * many ranks, by what ways they reach each other, and the limits that hold. */
#include "msg/nics.h"
#include <sys/uio.h>

/* Whether large messages may be copied once, as far as this process can say without a peer. */
static const char *single_copy(void)
{
    char scope[8] = "";
    static volatile uint64_t word;
    uint64_t copy;
    struct iovec here = {&copy, sizeof copy}, there = {(void *)(uintptr_t)&word, sizeof word};
    if (!vbase_settings.single_copy)
        return "no (VIADUCT_SINGLE_COPY)";
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != sizeof word)
        return errno == EPERM ? "no (process_vm_readv is not permitted)" : "no (the kernel has no process_vm_readv)";
    if (vbase_file_read(scope, sizeof scope, "/proc/sys/kernel/yama/ptrace_scope") && *scope >= '2' && geteuid() != 0)
        return "no (kernel.yama.ptrace_scope forbids it)";
    return "yes";
}

void vmsg_summary(char *text, size_t size)
{
    const struct msg_engine *engine = &vmsg_engine;
    char ways[64] = "";
    for (uint32_t i = 0; i < engine->nics; i++)
        snprintf(ways + strlen(ways), sizeof ways - strlen(ways), "%s%s", i ? ", " : "",
                 engine->nic[i]->provider->name);
    snprintf(text, size,
             "a job of %d ranks, %d of them here on %s; transports: %s; single copy: %s; window: %llu KiB; "
             "%d processors%s",
             engine->size, engine->job->local_count, engine->job->host, engine->nics ? ways : "none", single_copy(),
             (unsigned long long)vbase_settings.window >> 10, vbase_topology()->cpus,
             engine->job->local_count > vbase_topology()->cpus ? ", fewer than ranks" : "");
}
