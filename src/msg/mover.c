/* Which side moves a large message: chosen by its receiver when it is matched. Nothing is learned while a program runs:
 * the choice depends on what both ends can do, on the class of the line between their processors, and on whether awake
 * ranks outnumber processors; if they do, a copy by one side alone costs least. */
#include "msg/transfer.h"

/* Whether the kernel should copy into the pieces of this receive's buffer; the first ones tell. */
static bool pieces_pay(const struct msg_transfer *transfer)
{
    struct iovec piece[MSG_GATHERED];
    int pieces;
    struct type_cursor cursor = *transfer->cursor;
    return vtype_gather(&cursor, piece, MSG_GATHERED, transfer->want, &pieces) >= (uint64_t)pieces * TUNED(PIECE_LEAST);
}

/* Its memory can be got: over a network by some rail, and none is up that cannot get at all: that one would have no
 * part. Peer lock held, or it is not remote. */
static bool gets_work(const struct msg_transfer *transfer, struct vi_state *state)
{
    const struct msg_peer *peer = transfer->peer;
    bool work = false;
    if (!peer->remote)
        return transfer->keys.count && vi_query(peer->vi, state) == OK && state->get;
    for (int i = 0; i < MSG_REPLAY_RAILS; i++) {
        struct vi *vi = peer->far->vi[i];
        if (vi && vi->name && !vi_caps(vi)->get)
            return false;
        work |= vi && !work && vmsg_key_for(transfer, vi) && vi_query(vi, state) == OK && state->get;
    }
    return work;
}

/* In shared memory: from so many bytes on one copy by a kernel is cheaper than two by the processors. */
static uint64_t single_from(const struct vi_state *state)
{
    if (vbase_settings.single_from)
        return vbase_settings.single_from;
    return vmsg_crowded(0) ? TUNED(SINGLE_CROWD) : vbase_tuned(TUNABLE_SINGLE_FROM, state->line);
}

/* It has large messages of ours to copy: where both directions are busy, each side copies what it receives. */
static bool receives_from_us(const struct msg_peer *peer)
{
    msg_lock(&vmsg_engine.leaf);
    bool some = peer->pending_sends > 0;
    msg_unlock(&vmsg_engine.leaf);
    return some;
}

static enum msg_mover choose_shared(const struct msg_transfer *transfer, const struct vi_state *state)
{
    if (transfer->want < single_from(state))
        return transfer->cursor ? MSG_PUSH : MSG_PUSH_SLOT;
    bool alone = transfer->cursor || !state->put || (!vbase_settings.single_from && vmsg_crowded(0)) ||
                 receives_from_us(transfer->peer);
    return alone ? MSG_PULL : MSG_SHARE;
}

enum msg_mover vmsg_mover_choose(struct msg_transfer *transfer)
{
    struct msg_peer *peer = transfer->peer;
    struct vi_state state = {.get = false};
    if (!gets_work(transfer, &state) || vmsg_transfer_cursor(transfer, 0) != OK)
        return MSG_PUSH;
    if (transfer->cursor && !pieces_pay(transfer))
        return MSG_PUSH;
    bool whole = !transfer->cursor && vmsg_keys_register(transfer, transfer->want, false);
    if (peer->remote || !(transfer->cursor || (whole && vi_caps(peer->vi)->map)))
        return MSG_PULL;
    return choose_shared(transfer, &state);
}
