/* Memory that all members of a context share: for collectives and windows of ranks on one node.
 *
 * Rank 0 allocates on a nic whose memory can be mapped and sends the key to the others; they map it and answer whether
 * they could; rank 0 sends the verdict to all. So either all have it or none. Three short messages a member, once. A
 * member without memory for its own part takes part and says no. A death of any member ends the wait for a message: the
 * one that is to send it may have been told of the death before, and never comes. */
#include "msg/transfer.h"
#include "msg/wait.h"

struct msg_share {
    struct msg_context *context;
    void *memory;
    struct vi_region region;  /* rank 0's; nic NULL elsewhere */
    _Atomic(struct msg_peer *) peer[]; /* of the members, once they were woken: peers stay */
};

struct share_offer {
    struct vi_key key;
    uint64_t bytes; /* 0: there is nothing to share */
};

/* NULL: it is ourselves. */
static int member_vi(struct msg_context *context, int rank, struct vi **vi)
{
    struct msg_peer *peer;
    int error = vmsg_peer_find(context->network, vmsg_context_world(context, rank), &peer);
    *vi = NULL;
    if (error || peer->world == vmsg_engine.rank)
        return error;
    msg_lock(&peer->lock);
    error = vmsg_peer_connect(peer);
    *vi = peer->vi;
    msg_unlock(&peer->lock);
    return error;
}

struct share_wait {
    struct msg_context *context;
    struct msg_request request;
};

static bool member_is_dead(const struct msg_context *context)
{
    for (int rank = 0; rank < context->size; rank++)
        if (vmsg_dead(vmsg_context_world(context, rank)))
            return true;
    return false;
}

static bool share_wait_is_over(void *owner)
{
    const struct share_wait *wait = owner;
    return vmsg_request_done(&wait->request) || (vmsg_deaths() && member_is_dead(wait->context));
}

static int share_receive(struct msg_context *context, int rank, int tag, void *data, uint64_t bytes,
                         struct msg_result *result)
{
    struct share_wait wait = {.context = context};
    struct msg_where from = {context, rank, tag};
    struct type_buffer into = {data, bytes, NULL};
    int error = vmsg_recv_start(&wait.request, &from, &into);
    if (error)
        return error;
    error = vmsg_wait_collective(context, share_wait_is_over, &wait);
    if (!vmsg_request_done(&wait.request))
        vmsg_cancel(&wait.request);
    error = vmsg_wait(&wait.request) ?: error;
    *result = wait.request.result;
    return error;
}

/* Every member must be reached by the nic whose memory is offered. */
static int share_allocate(struct msg_context *context, uint64_t bytes, struct msg_share *share)
{
    struct vi_nic *nic = NULL;
    for (int rank = 1; rank < context->size; rank++) {
        struct vi *vi;
        int error = member_vi(context, rank, &vi);
        if (error)
            return error;
        if (!vi_caps(vi)->map || (nic && nic != vi->nic))
            return ERR_UNSUPPORTED;
        nic = vi->nic;
    }
    int error = vi_reg(nic, NULL, bytes, &share->region);
    share->memory = error ? NULL : share->region.address;
    return error;
}

/* WILLING: we have all that we need ourselves. */
static int share_offer(struct msg_share *share, int tag, uint64_t bytes, bool willing)
{
    struct msg_context *context = share->context;
    struct share_offer offer = {.bytes = 0};
    struct msg_result result;
    char good, verdict;
    int error = willing ? share_allocate(context, bytes, share) : ERR_MEMORY;
    if (!error)
        offer = (struct share_offer){share->region.key, bytes};
    for (int rank = 1; rank < context->size; rank++)
        if (vmsg_send(context, rank, tag, &offer, sizeof offer))
            return ERR_STATE;
    if (error)
        return ERR_UNSUPPORTED;
    verdict = 1;
    for (int rank = 1; rank < context->size; rank++)
        if (share_receive(context, rank, tag, &good, 1, &result) || !good)
            verdict = 0;
    for (int rank = 1; rank < context->size; rank++)
        if (vmsg_send(context, rank, tag, &verdict, 1))
            return ERR_STATE;
    return verdict ? OK : ERR_UNSUPPORTED;
}

static int share_take(struct msg_share *share, int tag, uint64_t bytes, bool willing)
{
    struct msg_context *context = share->context;
    struct share_offer offer;
    struct msg_result result;
    struct vi *vi;
    char good, verdict = 0;
    int error = share_receive(context, 0, tag, &offer, sizeof offer, &result);
    if (error || result.bytes != sizeof offer || offer.bytes != bytes)
        return ERR_UNSUPPORTED;
    error = member_vi(context, 0, &vi) ?: vi_map(vi, offer.key, 0, bytes, &share->memory);
    good = error == OK && willing;
    if (vmsg_send(context, 0, tag, &good, 1) || share_receive(context, 0, tag, &verdict, 1, &result))
        return ERR_STATE;
    return verdict && good ? OK : ERR_UNSUPPORTED;
}

int vmsg_share_open(struct msg_context *context, int tag, uint64_t bytes, bool willing, struct msg_share **out)
{
    if (!vmsg_engine.open)
        return vmsg_closed();
    for (int rank = 0; vmsg_engine.networked && rank < context->size; rank++)
        if (vmsg_nic_remote(0, vmsg_context_world(context, rank)))
            return ERR_UNSUPPORTED; /* all find the same, so no message is needed */
    struct msg_share made = {.context = context};
    struct msg_share *share = calloc(1, sizeof *share + (size_t)context->size * sizeof *share->peer);
    willing = willing && share; /* a rank that lacks memory takes part all the same: the others wait for its answer */
    int error = context->size < 2    ? ERR_UNSUPPORTED
                : context->rank == 0 ? share_offer(&made, tag, bytes, willing)
                                     : share_take(&made, tag, bytes, willing);
    if (error) {
        if (made.region.nic)
            vi_dereg(&made.region);
        free(share);
        return error;
    }
    *share = made;
    *out = share;
    return OK;
}

int vmsg_context_node(const struct msg_context *context)
{
    return vmsg_networks.node && !context->network ? vmsg_engine.job->local_ranks[0] : vmsg_engine.rank;
}

void *vmsg_share_memory(const struct msg_share *share) { return share->memory; }

void vmsg_share_close(struct msg_share *share)
{
    if (!share)
        return;
    if (share->region.nic)
        vi_dereg(&share->region);
    free(share);
}

void vmsg_share_forget(struct msg_share *share) { free(share); }

_Static_assert(sizeof(struct vi_key) == sizeof((struct msg_shown){0}.key) &&
                   sizeof(struct vi_region) == sizeof((struct msg_shown){0}.region), "room for vi's");

int vmsg_share_show(struct msg_share *share, const void *base, uint64_t bytes, struct msg_shown *shown)
{
    struct vi_region region;
    struct vi *vi;
    int error = member_vi(share->context, share->context->rank ? 0 : 1, &vi);
    const void *shown_at = bytes ? base : share; /* NULL would ask the provider for memory */
    error = error ? error : vi_reg(vi->nic, (void *)(uintptr_t)shown_at, bytes, &region);
    if (error)
        return error;
    memcpy(shown->key, &region.key, sizeof shown->key);
    memcpy(shown->region, &region, sizeof shown->region);
    return OK;
}

void vmsg_share_hide(struct msg_shown *shown)
{
    struct vi_region region;
    memcpy(&region, shown->region, sizeof region);
    vi_dereg(&region);
}

bool vmsg_share_reads(struct msg_share *share)
{
    bool all = true;
    for (int rank = 0; rank < share->context->size; rank++) {
        struct vi_state state;
        struct vi *vi;
        if (rank != share->context->rank)
            all = all && member_vi(share->context, rank, &vi) == OK && vi_query(vi, &state) == OK && state.get;
    }
    return all;
}

int vmsg_share_read(struct msg_share *share, int rank, const uint64_t *key, uint64_t offset, void *to, uint64_t bytes)
{
    struct vi *vi;
    struct iovec piece;
    struct vi_transfer get = {.local = &piece, .pieces = 1};
    int error = member_vi(share->context, rank, &vi);
    memcpy(&get.key, key, sizeof get.key);
    for (uint64_t at = 0; at < bytes && !error; at += piece.iov_len) {
        uint64_t most = vi_caps(vi)->max_put;
        piece = (struct iovec){(char *)to + at, bytes - at < most ? bytes - at : most};
        get.offset = offset + at;
        error = vi_get(vi, &get);
        error = error == VI_COMPLETE ? OK : error ? error : ERR_STATE;
    }
    return error;
}

int vmsg_share_await(struct msg_share *share, struct msg_request *request, bool (*ready)(void *owner))
{
    return vmsg_engine.open ? vmsg_word_await(share->context, request, ready), OK : vmsg_closed();
}

/* It is there, or comes before a request would have been made. In a crowd another rank needs the processor first. */
static inline bool is_there_soon(bool (*ready)(void *owner), void *owner)
{
    for (uint64_t look = 0; !ready(owner); look++) {
        if (look == TUNED(POLL_LOOKS) || !vmsg_engine.open || vmsg_crowded(0))
            return false;
        msg_wait_gap();
    }
    return true;
}

int vmsg_share_wait(struct msg_share *share, bool (*ready)(void *owner), void *owner)
{
    struct msg_request request;
    if (likely(is_there_soon(ready, owner)))
        return OK;
    request.completed = NULL;
    request.owner = owner;
    return vmsg_share_await(share, &request, ready) ?: vmsg_wait(&request);
}

static COLD struct msg_peer *peer_find(struct msg_share *share, int rank)
{
    struct vi *vi;
    if (member_vi(share->context, rank, &vi) || !vi)
        return NULL;
    /* relaxed, here and where it is read: all threads find the same */
    atomic_store_explicit(&share->peer[rank], vi->owner, memory_order_relaxed);
    return vi->owner;
}

static inline void share_wake(struct msg_share *share, int rank)
{
    struct msg_peer *peer = atomic_load_explicit(&share->peer[rank], memory_order_relaxed);
    if (unlikely(!peer) && !(peer = peer_find(share, rank)))
        return;
    msg_lock(&peer->lock);
    if (likely(peer->vi))
        (void)vi_wake(peer->vi);
    msg_unlock(&peer->lock);
}

void vmsg_share_wake(struct msg_share *share, int rank) { share_wake(share, rank); }

void vmsg_share_wake_all(struct msg_share *share)
{
    for (int rank = 0, ranks = share->context->size, own = share->context->rank; rank < ranks; rank++)
        if (rank != own)
            share_wake(share, rank);
}
