/* Networks that channels ask for: a nic and peers of their own, to all ranks. */
#include "msg/peer.h"
#include "msg/wait.h"

/* From now on it is polled and slept on like the others. */
static int network_enter(struct vi_nic *nic, int network)
{
    int error = vmsg_scratch_grow(nic);
    msg_progress_keep_out();
    if (!error)
        error = vmsg_wait_networked();
    if (!error) {
        vi_threads(nic, vmsg_engine.threads);
        vmsg_engine.nic[vmsg_engine.nics++] = vmsg_networks.nic[network] = nic;
        vmsg_engine.single = NULL;
    }
    msg_progress_leave();
    vmsg_wake();
    return error;
}

/* Over the provider of this name, or the first one that has a card of this name. */
static int nic_open(const char *name, struct vi_nic **nic)
{
    const struct vi_provider *named = vi_provider_find(name);
    struct vi_setup setup = vmsg_nic_setup();
    int error = vbase_fail(ERR_UNSUPPORTED, "this build has no transport over network cards");
    setup.seat_fd = -1; /* the node's belongs to the usual ways */
    setup.card = named ? NULL : name;
    for (const struct vi_provider *provider = vi_providers; provider->name && error; provider++)
        if (provider->cards && (!named || provider == named))
            error = vi_nic_open(provider, &setup, nic);
    return error;
}

static int network_nic(const char *name, int network)
{
    struct vi_nic *nic;
    int error = nic_open(name, &nic);
    if (error)
        return error;
    error = vmsg_cards_put(&nic, 1, vmsg_networks.tried_as[network]) ?: network_enter(nic, network);
    if (error)
        vi_nic_close(nic);
    return error;
}

int vmsg_network_open(const char *name, int *out)
{
    int network = 1;
    if (!vmsg_engine.open)
        return vmsg_closed();
    while (network < MSG_NETWORKS && vmsg_networks.nic[network])
        network++;
    int tried = vmsg_networks.tried++, error = OK;
    if (network == MSG_NETWORKS)
        error =
            vbase_fail(ERR_LIMIT, "%d networks were asked for by channels, more than this cannot be", MSG_NETWORKS - 1);
    else
        vmsg_networks.tried_as[network] = tried;
    error = error ? error : network_nic(name, network);
    int fence = vmsg_wait_fence(); /* a rank that failed takes part all the same */
    error = error ? error : fence;
    if (!error)
        *out = network;
    return error;
}

bool vmsg_transport_named(const char *name, bool *opens)
{
    const struct vi_provider *provider = vi_provider_find(name);
    *opens = !provider || provider->cards;
    return provider;
}

/* A rank may have connected to it already: then it stays. */
void vmsg_network_close(int network)
{
    struct msg_engine *engine = &vmsg_engine;
    struct vi_nic *nic = vmsg_networks.nic[network];
    uint32_t place = 0;
    msg_progress_keep_out();
    for (int world = 0; world < engine->size && nic; world++)
        if (engine->peer[network * engine->size + world])
            nic = NULL;
    while (nic && engine->nic[place] != nic)
        place++;
    if (nic) {
        engine->nics--;
        memmove(&engine->nic[place], &engine->nic[place + 1], (engine->nics - place) * sizeof *engine->nic);
        vmsg_networks.nic[network] = NULL;
    }
    msg_progress_leave();
    if (nic)
        vi_nic_close(nic);
    vmsg_wake();
}
