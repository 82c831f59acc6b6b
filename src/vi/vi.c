/* The table of providers, and what they have in common: opening, and the answer of an operation that is not there. */
#include "vi/vi.h"
#include "base/settings.h"
#include "vi/fault/fault.h"
#include "vi/shm/provider.h"
#include "vi/shm/segment.h"
#include "vi/tcp/provider.h"

#include <stdio.h>
#include <string.h>

const struct vi_provider vi_providers[] = {
    {"shm", &shm_ops},
    {"tcp", &tcp_ops},
    {NULL, NULL},
};

static bool is_provider(const char *name, size_t length)
{
    for (const struct vi_provider *provider = vi_providers; provider->name; provider++)
        if (strlen(provider->name) == length && memcmp(provider->name, name, length) == 0)
            return true;
    return false;
}

int vi_settings_check(void)
{
    struct fault_script script;
    char known[64] = "";
    for (const struct vi_provider *provider = vi_providers; provider->name; provider++)
        snprintf(known + strlen(known), sizeof(known) - strlen(known), " %s", provider->name);
    for (const char *at = vbase_settings.transports; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (!is_provider(at, strcspn(at, ",")))
            return vbase_fail(ERR_ARGUMENT, "VIADUCT_TRANSPORTS=\"%s\" is not understood: the transports are%s",
                              vbase_settings.transports, known);
    return vbase_settings.fault ? fault_script_parse(vbase_settings.fault, &script) : OK;
}

static int no_probe(const struct vi_setup *setup)
{
    (void)setup;
    return vbase_fail(ERR_UNSUPPORTED, "this provider is not opened by itself");
}

static int no_open(const struct vi_setup *setup, struct vi_nic **nic)
{
    (void)setup, (void)nic;
    return vbase_fail(ERR_UNSUPPORTED, "this provider is not opened by itself");
}

static int no_address(struct vi_nic *nic, const struct vi_address *to, void *owner, struct vi **vi)
{
    (void)to, (void)owner, (void)vi;
    return vbase_fail(ERR_UNSUPPORTED, "%s cannot connect", nic->provider->name);
}

static int no_accept(struct vi_nic *nic, uint32_t peer, void *owner, struct vi **vi)
{
    (void)peer, (void)owner, (void)vi;
    return vbase_fail(ERR_UNSUPPORTED, "%s cannot accept", nic->provider->name);
}

static int no_send(struct vi *vi, uint64_t header, const struct iovec *piece, int pieces)
{
    (void)header, (void)piece, (void)pieces;
    return vbase_fail(ERR_UNSUPPORTED, "%s cannot send", vi->nic->provider->name);
}

static int no_transfer(struct vi *vi, const struct vi_transfer *transfer)
{
    (void)transfer;
    return vbase_fail(ERR_UNSUPPORTED, "%s cannot put or get", vi->nic->provider->name);
}

static int no_atomic(struct vi *vi, const struct vi_atomic_call *call)
{
    (void)call;
    return vbase_fail(ERR_UNSUPPORTED, "%s has no atomics", vi->nic->provider->name);
}

static int no_reg(struct vi_nic *nic, void *address, uint64_t length, struct vi_region *region)
{
    (void)address, (void)length, (void)region;
    return vbase_fail(ERR_UNSUPPORTED, "%s cannot register memory", nic->provider->name);
}

static void no_dereg(struct vi_region *region) { (void)region; }

static int no_map(struct vi *vi, struct vi_key key, uint64_t offset, uint64_t length, void **pointer)
{
    (void)key, (void)offset, (void)length, (void)pointer;
    return vbase_fail(ERR_UNSUPPORTED, "%s cannot map memory of a peer", vi->nic->provider->name);
}

static int no_arm(struct vi_nic *nic, enum vi_arm what, struct vi_wait *wait)
{
    (void)what, (void)wait;
    return vbase_fail(ERR_UNSUPPORTED, "%s can only be polled", nic->provider->name);
}

static int no_query(struct vi *vi, struct vi_state *state)
{
    (void)state;
    return vbase_fail(ERR_UNSUPPORTED, "%s tells nothing of its connections", vi->nic->provider->name);
}

/* close, disconnect and poll exist in every provider. */
void vi_ops_fill(struct vi_ops *ops)
{
    ops->probe = ops->probe ? ops->probe : no_probe;
    ops->open = ops->open ? ops->open : no_open;
    ops->connect = ops->connect ? ops->connect : no_address;
    ops->accept = ops->accept ? ops->accept : no_accept;
    ops->send = ops->send ? ops->send : no_send;
    ops->put = ops->put ? ops->put : no_transfer;
    ops->get = ops->get ? ops->get : no_transfer;
    ops->atomic = ops->atomic ? ops->atomic : no_atomic;
    ops->reg = ops->reg ? ops->reg : no_reg;
    ops->dereg = ops->dereg ? ops->dereg : no_dereg;
    ops->map = ops->map ? ops->map : no_map;
    ops->arm = ops->arm ? ops->arm : no_arm;
    ops->query = ops->query ? ops->query : no_query;
}

int vi_nic_open(const struct vi_provider *provider, const struct vi_setup *setup, struct vi_nic **nic)
{
    struct vi_nic *opened;
    if (setup->options && setup->options[0] != '\0')
        return fault_nic_open(provider, setup, nic);
    int error = provider->ops->open(setup, &opened);
    if (error)
        return error;
    opened->provider = provider;
    *nic = opened;
    return OK;
}

int vi_node_create(int ranks, int *fd) { return shm_segment_create(ranks, fd); }
