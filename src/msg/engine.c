/* The engine: its state, why it failed, and the lock of progress. */
#include "msg/engine.h"
#include "msg/peer.h"

struct msg_engine vmsg_engine;

static char engine_why[512]; /* the job is lost, in words; under leaf, unchanged once it is */

int vmsg_closed(void)
{
    if (vmsg_engine.child)
        return vbase_fail(ERR_STATE, "this process was made by fork from rank %d and is no rank of the job",
                          vmsg_engine.rank);
    return vbase_fail(ERR_STATE, "the engine is not running: start comes before, stop comes after");
}

void vmsg_failed(int error)
{
    msg_lock(&vmsg_engine.leaf);
    bool first = !vmsg_engine.failed; /* the first cause stays */
    if (first) {
        snprintf(engine_why, sizeof engine_why, "%s", vbase_error_detail());
        atomic_store_explicit(&vmsg_engine.failed, error, memory_order_release); /* pairs with vmsg_failure */
    }
    msg_unlock(&vmsg_engine.leaf);
    if (first)
        LOG_ERROR("%s: %s", vbase_error_sentence(error), vbase_error_detail());
}

int vmsg_failure(void)
{
    int error = atomic_load_explicit(&vmsg_engine.failed, memory_order_acquire); /* pairs with vmsg_failed */
    return error ? vbase_fail(error, "%s", engine_why) : OK;
}

void vmsg_refused(const struct msg_peer *peer, const char *what)
{
    static struct base_log_gate gate;
    char more[LOG_MORE];
    COUNT(refused);
    if (vbase_log_gate_open(&gate, 10, more))
        LOG_WARN("rank %d sent %s; it was dropped%s", peer->world, what, more);
}

bool vmsg_threaded(void) { return vmsg_engine.threads; }

const struct boot_job *vmsg_job(void) { return vmsg_engine.job; }
