/* Credits: how much unmatched payload one rank may leave at another.
 *
 * The sender counts down its window by payload + MSG_FRAME_COST for each eager message; when it is used up, messages
 * travel as bare envelopes and their payload stays where it is. The receiver counts what it matched and tells it in a
 * CREDIT frame at half a window, before the call that matched returns. Frames themselves are never refused: a posted
 * receive is reached past any number of unmatched messages. If the lane is full the debt stays and is told later; it is
 * one number, so nothing piles up. */
#include "msg/engine.h"

bool vmsg_credit_tell(struct msg_peer *peer)
{
    struct msg_frame_credit body = {(uint64_t)peer->owed};
    struct iovec piece = {&body, sizeof body};
    if (msg_peer_send(peer, msg_header(MSG_FRAME_CREDIT, 0, 0, 0), &piece, 1) == ERR_AGAIN)
        return false;
    peer->owed = 0;
    return true;
}

void vmsg_credit_owe(struct msg_peer *peer, uint64_t cost)
{
    msg_lock(&peer->lock);
    if (peer->world == vmsg_engine.rank) {
        peer->window += (int64_t)cost;
    } else {
        peer->owed += (int64_t)cost;
        if (unlikely(peer->owed >= peer->window_half) && !vmsg_credit_tell(peer))
            vmsg_peer_stuck(peer);
    }
    msg_unlock(&peer->lock);
}

void vmsg_credit_returned(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    (void)header;
    msg_lock(&peer->lock);
    bool sane = body->credit.bytes <= vbase_settings.window - (uint64_t)peer->window;
    if (sane)
        peer->window += (int64_t)body->credit.bytes;
    msg_unlock(&peer->lock);
    if (!sane)
        vmsg_refused(peer, "more credit than was used");
}
