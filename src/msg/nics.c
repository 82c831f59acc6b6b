/* Which nics are open, how their peers are reached, and whether anything is awaited from the network.
 *
 * Those of network cards are opened only where a rank is not on this node: else the network is never touched, not by a
 * single system call; all that can be opened are, for a peer may be reached by several (ways.c). The nics that accept
 * connections have an address (vi_nic.card). All ranks put theirs into the launcher's key-value space, meet in a fence,
 * and read those of another rank when they first talk to it.
 *
 * What is awaited from remote ranks is counted: posted receives that a remote rank may match, transfers with one,
 * queues to one. While there is none, the network is polled rarely, whatever happens in shared memory. Rarely and not
 * never: a remote rank may connect, cancel, or say goodbye. */
#include "msg/peer.h"
#include "msg/wait.h"

struct msg_networks vmsg_networks;

/* True: every other rank is reached by what is open; NODE: by nics for this node alone. */
static bool nics_suffice(const struct msg_engine *engine, bool node)
{
    for (uint32_t i = 0; i < engine->nics; i++)
        if (engine->nic[i]->caps.node ? engine->job->local_count == engine->size : !node)
            return true;
    return false;
}

/* Ranks of this node are reached by what reaches this node alone, where that is open. */
bool vmsg_nic_remote(int network, int world)
{
    const struct msg_engine *engine = &vmsg_engine;
    if (!engine->networked || world == engine->rank)
        return false;
    for (int i = 0; vmsg_networks.node && !network && i < engine->job->local_count; i++)
        if (engine->job->local_ranks[i] == world)
            return false;
    return true;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* The lowest rank makes the listener and hands out its seats. */
static int listener_share(struct msg_engine *engine, const struct vi_setup *setup)
{
    struct boot_job *job = engine->job;
    int *seat = malloc((size_t)job->local_count * sizeof *seat);
    int error = seat ? OK : vbase_fail(ERR_MEMORY, "no memory to share a listener");
    if (!error && job->local_index == 0)
        error = vi_listener_open(setup, seat, &vmsg_networks.listener);
    if (!error)
        error = vboot_share_descriptor(job, seat);
    if (!error)
        job->seat_fd = seat[0];
    for (int i = 1; vmsg_networks.listener && i < job->local_count; i++)
        close(seat[i]);
    free(seat);
    return error;
}

/* One listener a node, where ranks accept connections over the network and the launcher has made none. */
static int listener_ready(struct msg_engine *engine, struct vi_setup *setup)
{
    struct boot_job *job = engine->job;
    bool needed = vi_listener_needed((uint32_t)job->local_count, (uint32_t)job->size);
    int error = OK;
    if (needed && job->local_count > 1 && job->seat_fd < 0)
        error = listener_share(engine, setup);
    setup->seat_fd = job->seat_fd;
    setup->seat = &vmsg_networks.seat;
    return error;
}

struct vi_setup vmsg_nic_setup(void)
{
    const struct boot_job *job = vmsg_engine.job;
    return (struct vi_setup){.rank = (uint32_t)job->rank,
                             .ranks = (uint32_t)job->size,
                             .secret = job->secret,
                             .local_index = (uint32_t)job->local_index,
                             .local_count = (uint32_t)job->local_count,
                             .local_ranks = job->local_ranks,
                             .node_fd = job->node_fd,
                             .launcher_pid = job->launcher_pid,
                             .direct_children = job->direct_children,
                             .descriptors = job->local_count < job->size,
                             .sink = vmsg_networks.sink};
}

static int open_all(struct msg_engine *engine)
{
    struct boot_job *job = engine->job;
    struct vi_setup setup = vmsg_nic_setup();
    int error = listener_ready(engine, &setup);
    if (error)
        return error;
    for (const struct vi_provider *provider = vi_providers; provider->name && !nics_suffice(engine, true); provider++) {
        if (!vi_provider_allowed(provider) || engine->nics == MSG_NICS || (engine->size == 1 && provider->cards))
            continue; /* a rank alone has a place in its launcher's segment, where it is seen, and needs no more */
        error = vi_nic_open(provider, &setup, &engine->nic[engine->nics]);
        if (error == OK)
            engine->nics++;
        else if (error == ERR_MISMATCH) /* the others of the node would wait for us there */
            return error;
        else
            LOG_INFO("transport %s is not used: %s", provider->name, vbase_error_detail());
    }
    if (engine->size == 1)
        return OK;
    if (!engine->nics)
        return vbase_fail(ERR_UNREACHABLE, "none of the transports %s can be opened (VIADUCT_LOG=info tells why)",
                          vbase_settings.transports ? vbase_settings.transports : "of this build");
    if (!nics_suffice(engine, false))
        return vbase_fail(ERR_UNREACHABLE, "%d ranks are on other nodes, and no transport %s can be opened to them "
                          "(VIADUCT_LOG=info tells why)", job->size - job->local_count,
                          vbase_settings.transports ? "that is allowed" : "of this build");
    return OK;
}

int vmsg_nics_open(const struct vi_sink *sink)
{
    struct msg_engine *engine = &vmsg_engine;
    engine->rank = engine->job->rank;
    engine->size = engine->job->size;
    vmsg_networks =
        (struct msg_networks){.sink = sink, .tried = 1, .processors = (uint32_t)vbase_topology()->cpus};
    int error = vi_settings_check() ?: open_all(engine);
    engine->usual = engine->nics;
    for (uint32_t i = 0; i < engine->nics && !vmsg_networks.asleep; i++)
        vmsg_networks.asleep = engine->nic[i]->asleep;
    for (uint32_t i = 0; i < engine->nics && !error; i++) {
        vmsg_networks.node |= engine->nic[i]->caps.node;
        engine->networked |= engine->nic[i]->caps.polls_cost;
        engine->single = engine->nics == 1 && !engine->networked ? engine->nic[i] : NULL;
    }
    if (!error && engine->networked)
        error = vmsg_cards_put(engine->nic, engine->nics, 0) ?: vboot_fence(engine->job);
    return error;
}

void vmsg_nics_close(void)
{
    if (vmsg_networks.listener)
        vi_listener_close(vmsg_networks.listener); /* first: its thread counts in memory that goes next */
    vmsg_networks.listener = NULL;
    while (vmsg_engine.nics)
        vi_nic_close(vmsg_engine.nic[--vmsg_engine.nics]);
    vi_seat_close(vmsg_networks.seat);
    vmsg_networks.seat = NULL;
}

/* ---- polling ----------------------------------------------------------------------------------------------------- */

/* One round over several nics. */
bool vmsg_nics_poll(int budget)
{
    bool moved = false;
    /* relaxed: a count; a thread that adds to it polls afterwards */
    bool none = atomic_load_explicit(&vmsg_engine.awaited, memory_order_relaxed) == 0;
    for (uint32_t i = 0; i < vmsg_engine.nics; i++) {
        struct vi_nic *nic = vmsg_engine.nic[i];
        if (none && nic->caps.polls_cost)
            moved |= vi_poll_rarely(nic, budget) > 0;
        else
            moved |= vi_poll(nic, budget) > 0;
    }
    return moved;
}

/* Ranks that sleep need no processor. */
bool vmsg_crowded(uint32_t more)
{
    const _Atomic uint32_t *count = vmsg_networks.asleep;
    uint32_t asleep = count ? atomic_load_explicit(count, memory_order_relaxed) : 0;
    return (uint32_t)vmsg_engine.job->local_count - asleep + more > vmsg_networks.processors;
}

/* ---- sleeping ---------------------------------------------------------------------------------------------------- */

void vmsg_nics_tell(enum vi_arm what)
{
    msg_progress_keep_out();
    for (uint32_t i = 0; i < vmsg_engine.nics; i++)
        (void)vi_arm(vmsg_engine.nic[i], what, NULL);
    msg_progress_leave();
}

bool vmsg_nics_shared_processor(void)
{
    bool shared = false;
    if (!msg_progress_enter())
        return false;
    for (uint32_t i = 0; i < vmsg_engine.nics; i++)
        shared |= vi_arm(vmsg_engine.nic[i], VI_ARM_HERE, NULL) == ERR_AGAIN;
    msg_progress_leave();
    return shared;
}

bool vmsg_nics_arm(struct vi_wait *from)
{
    bool quiet = msg_progress_enter();
    if (!quiet)
        return false;
    vmsg_engine.looks = 0; /* the next round looks at all: something may have come from others */
    for (uint32_t i = 0; i < vmsg_engine.nics && quiet; i++)
        quiet = vi_arm(vmsg_engine.nic[i], VI_ARM_SLEEP, &from[i]) == OK;
    msg_progress_leave();
    return quiet;
}
