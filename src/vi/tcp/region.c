/* Registered memory: a table of what peers may put into. A peer names an index, a generation and an offset; what they
 * mean is looked up here. The poll holds the one region that it writes to; deregistering that region waits until it is
 * released, so memory that is deregistered is not written any more. No lock is held over a system call. */
#include "vi/tcp/tcp.h"

#include <sched.h>

int tcp_reg(struct vi_nic *base, void *address, uint64_t length, struct vi_region *out)
{
    struct tcp_nic *nic = tcp_nic_of(base);
    bool own = address == NULL;
    if (own)
        address = calloc(1, length ? length : 1);
    if (!address)
        return vbase_fail(ERR_MEMORY, "%llu bytes of registered memory", (unsigned long long)length);
    base_lock(&nic->regions_lock);
    struct tcp_region *region = vbase_pool_take(&nic->regions);
    if (region)
        *region = (struct tcp_region){address, length, own};
    base_unlock(&nic->regions_lock);
    if (!region) {
        if (own)
            free(address);
        return vbase_fail(ERR_LIMIT, "too many registered regions");
    }
    *out = (struct vi_region){base,
                              address,
                              length,
                              {{(uint64_t)vbase_pool_generation(region) << 32 | vbase_pool_index(region), length}},
                              region};
    return OK;
}

void tcp_dereg(struct vi_region *out)
{
    struct tcp_nic *nic = tcp_nic_of(out->nic);
    struct tcp_region *region = out->own;
    if (!region)
        return;
    base_lock(&nic->regions_lock);
    while (nic->landing == region) {
        base_unlock(&nic->regions_lock);
        sched_yield();
        base_lock(&nic->regions_lock);
    }
    void *address = region->own ? region->address : NULL;
    vbase_pool_give(&nic->regions, region);
    base_unlock(&nic->regions_lock);
    free(address);
    out->own = NULL;
}

void *tcp_region_hold(struct tcp_nic *nic, uint64_t id, uint64_t offset, uint64_t length)
{
    base_lock(&nic->regions_lock);
    const struct tcp_region *region = vbase_pool_at(&nic->regions, (uint32_t)id, (uint32_t)(id >> 32));
    if (region && (offset > region->length || length > region->length - offset))
        region = NULL;
    nic->landing = region;
    base_unlock(&nic->regions_lock);
    return region ? (uint8_t *)region->address + offset : NULL;
}

void tcp_region_release(struct tcp_nic *nic)
{
    base_lock(&nic->regions_lock);
    nic->landing = NULL;
    base_unlock(&nic->regions_lock);
}
