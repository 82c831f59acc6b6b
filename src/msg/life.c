/* The engine's life: start, which nics are open, and the goodbye.
 *
 * Stopping: first everything of ours is delivered (no send without its receiver's answer, nothing queued), then every
 * peer gets GOODBYE, and each peer that knows us has sent it, too: nothing of theirs is under way to us any more. Then
 * all ranks meet at the launcher's fence before the segment is left. A peer that never talked to us is not waited for.
 * A rank that rests has delivered everything, and so has each other one that comes to that fence: then goodbyes are not
 * waited for, because a process may end while it rests and say none. All ranks may meet in the same way before they
 * rest: then a new life of the engine begins, in which what was said in the last one counts no more.
 *
 * A child made by fork has the engine's memory but is no rank: `open` is false there from the first moment, so every
 * call returns ERR_STATE and nothing is torn down. */
#include "msg/transfer.h"
#include "msg/wait.h"
#include <pthread.h>

#define MESSAGES_MOST (1u << 24)

static void child_made(void)
{
    vmsg_engine.open = false;
    vmsg_engine.child = true;
}

static int segment_ready(struct boot_job *job)
{
    if (job->node_fd >= 0 || job->local_count == 1)
        return OK;
    int *fd = malloc((size_t)job->local_count * sizeof *fd); /* the same for all */
    int error = fd ? OK : vbase_fail(ERR_MEMORY, "no memory to share a segment");
    if (!error && job->local_index == 0)
        error = vi_node_create(job->local_count, fd);
    for (int i = 1; !error && i < job->local_count; i++)
        fd[i] = fd[0];
    if (!error)
        error = vboot_share_descriptor(job, fd);
    if (!error)
        job->node_fd = fd[0];
    free(fd);
    return error;
}

static int memory_ready(struct msg_engine *engine)
{
    engine->rank = engine->job->rank;
    engine->size = engine->job->size;
    vbase_counters->rank = (uint32_t)engine->rank;
    vbase_counters->ranks = (uint32_t)engine->size;
    list_init(&engine->work);
    list_init(&engine->stuck);
    list_init(&engine->finished);
    list_init(&engine->words);
    list_init(&engine->guards);
    list_init(&engine->withdrawals);
    list_init(&vmsg_early);
    vbase_pool_open(&vmsg_messages, sizeof(struct msg_message), MESSAGES_MOST);
    vbase_pool_open(&vmsg_transfers, sizeof(struct msg_transfer), MESSAGES_MOST);
    engine->peer = calloc((size_t)engine->size * MSG_NETWORKS, sizeof *engine->peer);
    engine->context = calloc(MSG_CONTEXTS, sizeof *engine->context);
    if (!engine->peer || !engine->context)
        return vbase_fail(ERR_MEMORY, "no memory to start a job of %d ranks", engine->size);
    int error = OK;
    for (uint32_t i = 0; i < engine->nics && !error; i++)
        error = vmsg_scratch_grow(engine->nic[i]);
    return error;
}

static void memory_close(struct msg_engine *engine)
{
    if (engine->withdrawals.head.next)
        vmsg_withdrawals_drop(NULL);
    vbase_pool_close(&vmsg_messages);
    vbase_pool_close(&vmsg_transfers);
    vmsg_scratch_close();
    free(engine->dead);
    free(engine->context);
    free(engine->peer);
}

int vmsg_start(void)
{
    struct msg_engine *engine = &vmsg_engine;
    if (engine->child)
        return vmsg_closed();
    if (engine->starts) {
        engine->starts++;
        return OK;
    }
    int error = vbase_settings_read();
    if (!error)
        error = vboot_open(&engine->job);
    if (error)
        return error;
    vbase_log_rank(engine->job->rank);
    TRACE("start");
    error = segment_ready(engine->job);
    if (error)
        goto undo_boot;
    vi_counters_share(engine->job->node_fd, (uint32_t)engine->job->local_index);
    error = vmsg_nics_open(&vmsg_sink);
    if (error)
        goto undo_nics;
    error = memory_ready(engine);
    if (!error)
        error = vmsg_wait_start();
    if (error)
        goto undo_memory;
    static bool watched;
    if (!watched)
        watched = pthread_atfork(NULL, NULL, child_made) == 0;
    engine->starts = 1;
    engine->open = true;
    vmsg_threads(false);
    if (LOG_LEVEL_INFO <= vbase_log_level && engine->rank == 0) {
        char summary[400];
        vmsg_summary(summary, sizeof summary);
        LOG_INFO("%s", summary);
    }
    return OK;

undo_memory:
    memory_close(engine);
undo_nics:
    vmsg_nics_close();
    vi_counters_keep();
undo_boot: {
        struct boot_job *job = engine->job;
        memset(engine, 0, sizeof *engine);
        engine->job = job; /* vmsg_abort tells the launcher why */
    }
    return error;
}

void (*vmsg_threads_begin)(void);

void vmsg_threads(bool several)
{
    vmsg_engine.threads = several;
    for (uint32_t i = 0; i < vmsg_engine.nics; i++)
        vi_threads(vmsg_engine.nic[i], several);
    if (several && vmsg_threads_begin)
        vmsg_threads_begin();
}

void vmsg_abort(int status, const char *message)
{
    if (vmsg_engine.job && !vmsg_engine.child)
        vboot_abort(vmsg_engine.job, status, message);
    if (!vmsg_engine.child) /* there the buffers are copies */
        vbase_flush();
    if (message)
        LOG_ERROR("%s", message);
    _exit(status);
}

/* ---- stop -------------------------------------------------------------------------------------------------------- */

static bool all_delivered(void *context)
{
    (void)context;
    msg_lock(&vmsg_engine.leaf);
    bool all = !vmsg_engine.pending_sends && list_empty(&vmsg_engine.work) && list_empty(&vmsg_engine.stuck) &&
               list_empty(&vmsg_engine.finished);
    msg_unlock(&vmsg_engine.leaf);
    return all;
}

static bool all_parted(void *context)
{
    (void)context;
    if (!all_delivered(NULL))
        return false; /* our goodbye did not even reach all peers */
    for (int i = 0; i < vmsg_engine.size * MSG_NETWORKS; i++)
        if (vmsg_engine.peer[i] && vmsg_engine.peer[i]->heard && !vmsg_engine.peer[i]->parted)
            return false;
    return true;
}

/* What was sent never arrives, and no call is left to say so. */
static void end_if_lost(void)
{
    if (vmsg_failure() != OK)
        vmsg_abort(1, vbase_error_detail());
}

/* A connection that is closed with something unread is reset, and what it has sent may be lost with it. */
static bool goodbyes_arrived(void *context)
{
    (void)context;
    for (int i = 0; i < vmsg_engine.size * MSG_NETWORKS; i++)
        if (vmsg_engine.peer[i] && vmsg_engine.peer[i]->remote && !vmsg_rails_quiet(vmsg_engine.peer[i]))
            return false;
    return true;
}

static void goodbye_say(struct msg_engine *engine)
{
    if (engine->failed)
        return; /* the job is lost, and a call has returned that */
    if (!engine->resting) {
        (void)vmsg_wait_until(all_delivered, NULL);
        end_if_lost();
    }
    msg_await();
    engine->leaving = true;
    for (int i = 0; i < engine->size * MSG_NETWORKS; i++)
        if (engine->peer[i] && engine->peer[i]->frame_most && !engine->peer[i]->gone)
            vmsg_peer_control(engine->peer[i], msg_header(MSG_FRAME_GOODBYE, 0, engine->lives, 0), NULL, 0);
    if (!engine->resting) {
        (void)vmsg_wait_goodbye(all_parted, NULL);
        end_if_lost();
    }
    /* progress goes on: a peer may cancel what it sent, or ask about a message that was left behind */
    int error = vmsg_wait_fence();
    if (!engine->resting)
        end_if_lost();
    if (error)
        LOG_DEBUG("the last fence: %s", vbase_error_detail());
    if (error && !engine->resting) /* some may still be before it, after a death */
        (void)vmsg_wait_until(goodbyes_arrived, NULL);
}

/* All have met, so every goodbye of this life is here: a peer that said it may come again, unless it was quick and has
 * said that of the next life, too. */
static void peers_return(struct msg_engine *engine)
{
    engine->leaving = false;
    engine->lives++;
    for (int i = 0; i < engine->size * MSG_NETWORKS; i++) {
        struct msg_peer *peer = engine->peer[i];
        if (!peer || msg_dead(peer->world))
            continue;
        /* another thread may hear its next goodbye just now, and notes it before `parted` */
        msg_lock(&engine->leaf);
        bool again = peer->parted && peer->goodbye < engine->lives;
        if (again)
            peer->parted = false;
        msg_unlock(&engine->leaf);
        if (!again)
            continue;
        msg_lock(&peer->lock);
        peer->short_limit = peer->gone || peer->parted ? -1 : peer->eager; /* nothing is queued any more */
        msg_unlock(&peer->lock);
    }
    msg_await_end();
}

void vmsg_rest(bool meet)
{
    struct msg_engine *engine = &vmsg_engine;
    if (!engine->open || engine->failed)
        return;
    TRACE("rest");
    if (meet)
        goodbye_say(engine);
    if (meet && !engine->failed)
        peers_return(engine);
    (void)vmsg_wait_until(all_delivered, NULL);
    end_if_lost();
    engine->resting = true;
    vboot_ready(engine->job, true);
}

void vmsg_rest_end(void)
{
    if (!vmsg_engine.open)
        return;
    vmsg_engine.resting = false;
    vboot_ready(vmsg_engine.job, false);
}

void vmsg_stop(void)
{
    struct msg_engine *engine = &vmsg_engine;
    if (!engine->open || --engine->starts)
        return;
    TRACE("goodbye");
    goodbye_say(engine);
    engine->stopping = true;
    vmsg_contexts_close();
    vmsg_slots_close();
    vmsg_peers_close();
    vmsg_wait_stop();
    vmsg_nics_close();
    vi_counters_keep();
    memory_close(engine);
    vboot_close(engine->job);
    memset(&vmsg_networks, 0, sizeof vmsg_networks);
    memset(engine, 0, sizeof *engine);
}
