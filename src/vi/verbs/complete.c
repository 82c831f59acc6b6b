/* What completes, one after the other: requests of ours, whose blocks and memory are free then, and what came. Called
 * by the poll. Whatever comes is checked; what makes no sense ends the connection. */
#include "vi/verbs/verbs.h"
#include <arpa/inet.h>

/* ---- our requests ------------------------------------------------------------------------------------------------ */

void verbs_places_end(struct verbs_vi *vi, uint64_t upto, int status)
{
    for (;;) {
        base_lock(&vi->lock);
        bool more = vi->over < upto;
        struct verbs_place place = vi->place[vi->over % VERBS_PLACES];
        vi->over += more;
        vi->blocks -= more && place.block;
        bool newest = vi->over == upto;
        base_unlock(&vi->lock);
        if (!more)
            return;
        if (place.block)
            verbs_block_give(vi->adapter, place.block);
        if (place.transfer)
            verbs_transfer_end(vi, place.transfer, newest ? status : OK);
        if (place.last)
            verbs_break_later(vi, vbase_fail(ERR_LINK_DOWN, "the goodbye has arrived"));
    }
}

static COLD void wc_failed(struct verbs_vi *vi, const struct ibverbs_wc *wc)
{
    const struct verbs_adapter *adapter = vi->adapter;
    base_lock(&vi->lock);
    vi->failed = true;
    base_unlock(&vi->lock);
    verbs_break_later(vi, vbase_fail(ERR_LINK_DOWN, "%s, port %u, to rank %u: %s", adapter->name, adapter->port.number,
                                     vi->call.vi.peer, adapter->home->library->ibv_wc_status_str((int)wc->status)));
}

static void request_complete(const struct ibverbs_wc *wc)
{
    struct verbs_place *place = (struct verbs_place *)(uintptr_t)wc->wr_id;
    struct verbs_vi *vi = place->vi;
    uint64_t first = vi->over % VERBS_PLACES, at = (uint64_t)(place - vi->place);
    if (unlikely(wc->status))
        wc_failed(vi, wc);
    verbs_places_end(vi, vi->over + (at + VERBS_PLACES - first) % VERBS_PLACES + 1, wc->status ? ERR_LINK_DOWN : OK);
}

/* ---- what came --------------------------------------------------------------------------------------------------- */

/* What the other side has taken of ours. */
static bool credit_take(struct verbs_vi *vi, uint32_t word)
{
    uint64_t taken = atomic_load_explicit(&vi->taken, memory_order_relaxed);
    /* acquire: pairs with verbs_send */
    uint64_t sent = atomic_load_explicit(&vi->sent, memory_order_acquire);
    uint32_t more = word - (uint32_t)taken;
    if (more > sent - taken)
        return false;
    atomic_store_explicit(&vi->taken, taken + more, memory_order_relaxed);
    return true;
}

/* One that took credit. */
static void count_one(struct verbs_vi *vi)
{
    uint32_t took = atomic_load_explicit(&vi->took, memory_order_relaxed) + 1;
    atomic_store_explicit(&vi->took, took, memory_order_relaxed);
    if (took - atomic_load_explicit(&vi->told, memory_order_relaxed) >= VERBS_DEPTH / 2)
        verbs_control_send(vi, VERBS_TAKEN);
}

static void frame_take(struct verbs_vi *vi, const uint8_t *block, uint32_t length)
{
    struct verbs_nic *nic = verbs_home(vi);
    struct verbs_frame frame;
    memcpy(&frame, block, sizeof(frame));
    const char *fault = verbs_frame_fault(&frame, length);
    if (!fault && !credit_take(vi, frame.taken))
        fault = "a credit for what was not sent";
    if (unlikely(fault)) {
        vi->refused = true;
        call_refuse(vi->call.link ? vi->call.link->fd : -1, fault);
        verbs_break_later(vi, vbase_fail(ERR_PROTOCOL, "rank %u sends %s", vi->call.vi.peer, fault));
        return;
    }
    if (frame.kind == VERBS_GOODBYE)
        verbs_break_later(vi, vbase_fail(ERR_LINK_DOWN, "rank %u has disconnected", vi->call.vi.peer));
    if (frame.kind != VERBS_SEND)
        return;
    if (atomic_load_explicit(&vi->call.open, memory_order_relaxed)) {
        nic->call.told++;
        nic->enough |= nic->call.nic.sink.received(&vi->call.vi, frame.word, block + sizeof(frame),
                                                   length - sizeof(frame), 1);
    }
    count_one(vi);
}

static void immediate_take(struct verbs_vi *vi, const struct ibverbs_wc *wc)
{
    struct verbs_nic *nic = verbs_home(vi);
    if (atomic_load_explicit(&vi->call.open, memory_order_relaxed)) {
        nic->call.told++;
        nic->call.nic.sink.arrived(&vi->call.vi, ntohl(wc->imm_data), wc->byte_len);
    }
    count_one(vi);
}

static void receive_complete(struct verbs_adapter *adapter, struct verbs_vi *vi, const struct ibverbs_wc *wc)
{
    uint32_t index = (uint32_t)(wc->wr_id >> 2);
    if (vi && wc->status)
        wc_failed(vi, wc);
    if (vi && !wc->status && !vi->refused) {
        if (unlikely(vi->state == VERBS_READY)) /* so the other side is ready, too */
            verbs_session_up(vi);
        if (wc->opcode == IBVERBS_WC_RECV_RDMA_WITH_IMM)
            immediate_take(vi, wc);
        else
            frame_take(vi, adapter->memory + (size_t)index * VERBS_BLOCK, wc->byte_len);
    }
    if (verbs_receive_post(adapter, index) != OK)
        LOG_ERROR("%s", vbase_error_detail());
}

bool verbs_complete(struct verbs_adapter *adapter)
{
    struct verbs_event event;
    if (!verbs_event_take(adapter, &event))
        return false;
    if ((event.wc.wr_id & VERBS_TAGS) == VERBS_OF_RECEIVE)
        receive_complete(adapter, event.vi, &event.wc);
    else
        request_complete(&event.wc);
    return true;
}
