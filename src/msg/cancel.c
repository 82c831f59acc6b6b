/* Cancelling. A receive that is still posted and a send that is still here are decided at once. A send that its
 * receiver knows of is decided there: CANCEL goes out, and the answer says whether the message was forgotten or had
 * been matched before; in the second case the message simply goes on, and the late answer is ignored. */
#include "msg/transfer.h"
#include "msg/wait.h"

/* Unlinks it from the list that it is in; true: it was waiting there, not moving. */
static bool request_unlink(struct msg_request *request)
{
    if (request->kind == MSG_WORD)
        return vmsg_word_take(request);
    struct base_lock *lock = request->kind == MSG_RECEIVE ? &request->context->lock : &request->peer->lock;
    msg_lock(lock);
    enum msg_phase phase = msg_phase(request);
    bool waits = phase == MSG_PHASE_POSTED || phase == MSG_PHASE_QUEUED;
    if (waits) {
        list_remove(&request->link);
        msg_phase_set(request, MSG_PHASE_MOVING);
    }
    msg_unlock(lock);
    return waits;
}

static void local_cancel(struct msg_request *request)
{
    struct msg_context *context = request->context;
    msg_lock(&context->lock);
    struct msg_message *message = request->extra;
    if (message)
        vmsg_match_take(message);
    msg_unlock(&context->lock);
    if (message) {
        vmsg_message_forget(message);
        msg_complete(request, ERR_CANCELLED);
    }
}

static void send_cancel(struct msg_request *request)
{
    struct msg_peer *peer = request->peer;
    struct msg_frame_id body = {0};
    msg_lock(&peer->lock);
    uint64_t header = request->order | MSG_FRAME_CANCEL << 8;
    struct msg_transfer *transfer = request->extra;
    if (msg_phase(request) == MSG_PHASE_QUEUED) {
        list_remove(&request->link);
        if (transfer)
            vmsg_transfer_give(transfer);
        msg_complete(request, ERR_CANCELLED);
    } else if (msg_phase(request) == MSG_PHASE_ANNOUNCED && !transfer->cancelling) {
        transfer->cancelling = true;
        body.id = vmsg_transfer_id(transfer);
    }
    msg_unlock(&peer->lock);
    if (body.id)
        vmsg_peer_control(peer, header, &body, sizeof body);
}

void vmsg_cancel(struct msg_request *request)
{
    if (!vmsg_engine.open || vmsg_request_done(request))
        return;
    if (request->kind != MSG_SEND && request_unlink(request))
        msg_complete(request, ERR_CANCELLED);
    else if (request->kind != MSG_SEND)
        return;
    else if (request->peer->world == vmsg_engine.rank)
        local_cancel(request);
    else
        send_cancel(request);
}

/* ---- a lost job -------------------------------------------------------------------------------------------------- */

/* The job is lost and the caller will reuse the memory of the request: nothing of the engine may point to it any
 * more. */
void vmsg_request_abandon(struct msg_request *request, int error)
{
    msg_progress_keep_out();
    if (!vmsg_request_done(request)) {
        bool to_self = request->kind == MSG_SEND && request->peer->world == vmsg_engine.rank;
        if (to_self)
            local_cancel(request);
        else if (request_unlink(request) || request->extra) {
            if (request->extra)
                vmsg_transfer_give(request->extra);
            msg_complete(request, error);
        }
    }
    msg_progress_leave();
}

/* ---- the two ends of a cancel ---------------------------------------------------------------------------------------
 */

static struct msg_message *early_take(struct msg_peer *peer, uint64_t id)
{
    list_for_each(node, &vmsg_early) {
        struct msg_message *message = container_of(node, struct msg_message, of_context);
        if (message->envelope.peer == peer && message->envelope.id == id) {
            list_remove(node);
            return message;
        }
    }
    return NULL;
}

static struct msg_message *unmatched_take(struct msg_peer *peer, struct msg_context *context, uint64_t id)
{
    int rank = vmsg_context_rank_of(context, peer->world);
    struct msg_message *message = NULL;
    if (rank < 0)
        return NULL;
    msg_lock(&context->lock);
    if (context->member[rank])
        message = vmsg_match_sent(context->member[rank], id);
    if (message)
        vmsg_match_take(message);
    msg_unlock(&context->lock);
    return message;
}

void vmsg_cancel_asked(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    uint64_t id = body->id.id;
    struct msg_context *context = vmsg_engine.context[msg_header_context(header)];
    struct msg_message *message = NULL;
    if (id) /* messages that await nothing have id 0 */
        message = context ? unmatched_take(peer, context, id) : early_take(peer, id);
    vmsg_peer_control(peer, msg_header(MSG_FRAME_CANCELLED, 0, 0, message ? MSG_FLAG_WON : 0), &body->id,
                      sizeof body->id);
    if (message)
        vmsg_message_forget(message);
}

void vmsg_cancel_answered(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    bool won = msg_header_flags(header) & MSG_FLAG_WON;
    msg_lock(&peer->lock);
    struct msg_transfer *transfer = vmsg_transfer_sent(peer, body->id.id);
    if (transfer && transfer->phase != MSG_WAITING)
        transfer = NULL;
    bool sane = !won || (transfer && transfer->cancelling);
    if (!won && peer->parted && transfer) {
        transfer->cancelling = false;
        vmsg_send_forsake(transfer->request);
    } else if (won && sane) { /* else too late: the message goes on */
        struct msg_request *request = transfer->request;
        vmsg_transfer_give(transfer);
        msg_complete(request, ERR_CANCELLED);
    }
    msg_unlock(&peer->lock);
    if (!sane)
        vmsg_refused(peer, "the answer to a cancel that was not requested");
}
