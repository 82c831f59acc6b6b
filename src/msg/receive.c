/* Receiving and probing: look among the messages that are there, else wait in a posted list. The buffer is the engine's
 * until the request is complete; a blocking receive's request lies on the stack. */
#include "msg/transfer.h"
#include "msg/wait.h"

struct msg_expected vmsg_expected;
uint32_t vmsg_looks, vmsg_straight;

#define GUESSES 8 /* one receive from anyone of so many looks at all lanes alike */

static int member_of(const struct msg_where *from, struct msg_member **member)
{
    if (unlikely(!vmsg_engine.open))
        return vmsg_closed();
    if (unlikely(from->tag < 0 && from->tag != MSG_ANY_TAG))
        return vbase_fail(ERR_ARGUMENT, "tag %d of a receive is negative", from->tag);
    *member = NULL;
    return from->rank == MSG_ANY_SOURCE ? OK : vmsg_member_find(from->context, from->rank, member);
}

static inline void request_prepare(struct msg_request *request, const struct msg_where *from,
                                   const struct type_buffer *buffer)
{
    atomic_store_explicit(&request->state, MSG_PENDING, memory_order_relaxed); /* nobody else knows it yet */
    request->kind = MSG_RECEIVE;
    request->mode = MSG_STANDARD;
    request->awaited = false;
    msg_phase_set(request, MSG_PHASE_MOVING);
    request->result = (struct msg_result){.source = from->rank, .tag = from->tag};
    request->context = from->context;
    request->peer = NULL;
    request->buffer.base = buffer->base; /* one by one: as a whole it would be read back before it is written */
    request->buffer.count = buffer->count;
    request->buffer.layout = buffer->layout;
    request->total = type_buffer_bytes(buffer);
    request->extra = NULL;
}

int vmsg_recv_start(struct msg_request *request, const struct msg_where *from, const struct type_buffer *buffer)
{
    struct msg_context *context = from->context;
    struct msg_member *member;
    int error = member_of(from, &member);
    if (unlikely(error))
        return error;
    request_prepare(request, from, buffer);
    if (unlikely(vmsg_expected.header))
        vmsg_expected_post(); /* it was first */

    msg_lock(&context->lock);
    struct msg_message *message = vmsg_match_posting(context, member, from->tag);
    bool never = !message && member && msg_dead(member->peer->world);
    if (message)
        vmsg_match_take(message);
    else if (!never)
        vmsg_match_post(context, member, request);
    msg_unlock(&context->lock);
    if (message)
        vmsg_message_give(message, request);
    return never ? vbase_fail(ERR_PEER_DEAD, "rank %d is dead", member->peer->world) : OK;
}

int vmsg_recv_now(struct msg_request *request, struct msg_context *context, int rank, int tag, void *data, uint64_t bytes)
{
    struct msg_where from = {context, rank, tag};
    struct type_buffer buffer = {.base = data, .count = bytes};
    struct msg_member *member = NULL;
    if (likely((unsigned)rank < (unsigned)context->size && tag >= 0 && vmsg_engine.quick && !vmsg_expected.header))
        member = context->member[rank];
    if (unlikely(!member || !list_empty(&member->unexpected) || member->peer->remote))
        return ERR_AGAIN;
    request_prepare(request, &from, &buffer);
    request->order = context->order++;
    msg_phase_set(request, MSG_PHASE_POSTED);
    list_append(&member->posted, &request->link);
    return OK;
}

/* ---- the blocking receive ------------------------------------------------------------------------------------------ */

/* What is overheard needs none: the listener's own receive is posted. */
void vmsg_expected_post(void)
{
    struct msg_expected *expected = &vmsg_expected;
    struct msg_context *context = vmsg_engine.context[msg_header_context(expected->header)];
    if (context->listened && msg_header_tag(expected->header) == vmsg_engine.listener->tag) {
        expected->header = 0;
        return;
    }
    struct msg_where from = {context, expected->member ? expected->member->rank : MSG_ANY_SOURCE,
                             msg_header_tag(expected->header)};
    struct type_buffer buffer = {.base = expected->data, .count = expected->room};
    expected->header = 0;
    request_prepare(expected->request, &from, &buffer);
    vmsg_match_post(context, expected->member, expected->request);
}

/* One thread, nothing that would do is here, and no other receive could get what comes next. MEMBER NULL: from anyone, but for
 * whom a receive is posted, which the sink sees. */
static inline bool may_expect(const struct msg_context *context, const struct msg_member *member)
{
    const struct msg_engine *engine = &vmsg_engine;
    if (unlikely(!engine->quick || vmsg_expected.header || !list_empty(&context->wildcard)))
        return false;
    return member ? list_empty(&member->unexpected) && list_empty(&member->posted) && member->peer->vi
                  : list_empty(&context->arrivals);
}

/* FAR: a remote rank may send it. */
static __attribute__((noinline)) int recv_waiting(struct msg_request *request, bool far, struct msg_result *result)
{
    int error = OK;
    if (unlikely(far))
        msg_await();
    if (!vmsg_request_done(request))
        error = vmsg_wait(request);
    if (unlikely(far))
        msg_await_end();
    vmsg_expected.header = 0; /* where the wait failed */
    if (likely(atomic_load_explicit(&request->state, memory_order_relaxed) == MSG_TAKEN))
        return OK;
    if (!vmsg_request_done(request))
        return error;
    *result = request->result;
    return result->error;
}

static __attribute__((noinline)) int recv_slowly(struct msg_where from, void *data, uint64_t bytes,
                                                 struct msg_result *result)
{
    struct msg_request request = {.completed = NULL};
    struct type_buffer buffer = {.base = data, .count = bytes};
    if (unlikely(from.rank == MSG_ANY_SOURCE && msg_context_bereaved(from.context)))
        return vbase_fail(ERR_PEER_DEAD, "somebody has died"); /* as such a wait ends at each death */
    int error = vmsg_recv_start(&request, &from, &buffer);
    if (error)
        return error;
    error = vmsg_wait(&request);
    if (vmsg_request_done(&request) && result)
        *result = request.result;
    return error;
}

/* How often to look for what is expected before waiting like everybody. At the lane of PEER alone: once where something else may
 * want progress, and now and then not at all. At ALL of them: not where something else does. */
static inline uint32_t looks_for(const struct msg_peer *peer, bool all)
{
    struct msg_engine *engine = &vmsg_engine;
    bool others = atomic_load_explicit(&engine->chores, memory_order_relaxed) || (all ? engine->networked : peer->remote);
    if (all)
        return unlikely(others || !engine->nics) ? 0 : vmsg_looks;
    if (unlikely(++vmsg_straight % (others ? 16 : 64) == 0))
        return 0;
    return unlikely(others) ? 1 : vmsg_looks;
}

/* From anyone: he whose message was the last such one is looked at first, and expected as if he alone could send it, but not
 * always: so others have their turn though he never stops. Not where a receive is posted for him, which comes first. */
static inline struct msg_peer *guess(struct msg_context *context)
{
    struct msg_member *last = context->last;
    bool well = last && ++context->guesses % GUESSES && list_empty(&last->posted) && last->peer->vi && !vmsg_engine.networked;
    return likely(well) ? last->peer : NULL;
}

/* Looks so often for what EXPECTED says, at one lane alone if that is all there is to do: however many others are connected. True:
 * it is here. False: it is still expected, or was posted meanwhile. */
static inline __attribute__((always_inline)) bool expect(struct msg_expected expected, uint32_t looks)
{
    struct msg_engine *engine = &vmsg_engine;
    struct msg_peer *peer = expected.peer;
    bool all = !expected.member;
    atomic_store_explicit(&expected.request->state, MSG_PENDING, memory_order_relaxed); /* nobody else knows it yet */
    vmsg_expected = expected;
    for (; looks > 0; looks--) {
        int came = all && !peer ? 0 : vi_poll_only(peer->vi, 1);
        if (all && !came)
            came = vi_poll(engine->nic[0], 1);
        if (likely(atomic_load_explicit(&expected.request->state, memory_order_relaxed) == MSG_TAKEN))
            return true;
        if (came)
            break;
        msg_wait_gap();
    }
    return false;
}

/* From MEMBER; NULL: from anyone. */
static inline __attribute__((always_inline)) int recv_from(struct msg_context *context, struct msg_member *member, int tag,
                                                           void *data, uint64_t bytes, struct msg_result *result)
{
    struct msg_request request;
    struct msg_result own;
    result = result ? result : &own;
    if (unlikely(tag < 0 || !may_expect(context, member)))
        return recv_slowly((struct msg_where){context, member ? member->rank : MSG_ANY_SOURCE, tag}, data, bytes, result);
    struct msg_peer *peer = member ? member->peer : guess(context);
    request.completed = NULL;
    *result = (struct msg_result){.source = member ? member->rank : peer ? context->last->rank : MSG_ANY_SOURCE, .tag = tag};
    if (likely(expect((struct msg_expected){.header = msg_header(MSG_FRAME_EAGER, context->id, tag, 0),
                                            .peer = peer, .member = member, .data = data, .room = bytes,
                                            .result = result, .request = &request}, looks_for(peer, !member))))
        return OK;
    return recv_waiting(&request, member ? peer->remote : vmsg_engine.networked, result);
}

int vmsg_recv_anyone(struct msg_context *context, int tag, void *data, uint64_t bytes, struct msg_result *result)
{
    return recv_from(context, NULL, tag, data, bytes, result);
}

int vmsg_recv(struct msg_context *context, int rank, int tag, void *data, uint64_t bytes, struct msg_result *result)
{
    struct msg_member *member = NULL;
    if (likely((unsigned)rank < (unsigned)context->size))
        member = __atomic_load_n(&context->member[rank], __ATOMIC_ACQUIRE); /* pairs with vmsg_member_make */
    if (likely(member != NULL))
        return recv_from(context, member, tag, data, bytes, result);
    return rank == MSG_ANY_SOURCE ? vmsg_recv_anyone(context, tag, data, bytes, result)
                                  : recv_slowly((struct msg_where){context, rank, tag}, data, bytes, result);
}

int vmsg_overhear(struct msg_context *context, int rank, void *data, uint64_t room, struct msg_result *result)
{
    struct msg_engine *engine = &vmsg_engine;
    struct msg_request request;
    struct msg_member *member = rank == MSG_ANY_SOURCE ? NULL : context->member[rank];
    if (unlikely(!engine->quick || engine->networked || !engine->nics || vmsg_expected.header ||
                 atomic_load_explicit(&engine->chores, memory_order_relaxed) ||
                 atomic_load_explicit(&engine->turn, memory_order_relaxed) || /* somebody may be waited for */
                 msg_phase(engine->listener->receive) != MSG_PHASE_POSTED ||
                 (rank != MSG_ANY_SOURCE && (!member || !member->peer->vi))))
        return ERR_AGAIN;
    struct msg_expected expected = {.header = msg_header(MSG_FRAME_EAGER, context->id, engine->listener->tag, 0),
                                    .peer = member ? member->peer : guess(context), .member = member, .data = data,
                                    .room = room, .result = result, .request = &request};
    result->source = !member && expected.peer ? context->last->rank : rank;
    bool here = expect(expected, member ? looks_for(expected.peer, false) : vmsg_looks);
    vmsg_expected.header = 0;
    return here ? OK : ERR_AGAIN;
}

static void result_of(const struct msg_message *message, struct msg_result *result)
{
    const struct msg_envelope *envelope = &message->envelope;
    *result = (struct msg_result){.source = envelope->source, .tag = envelope->tag, .bytes = envelope->total};
}

/* Looks for a message, once before and once after a round of progress; TAKE: out of matching. */
static int look(const struct msg_where *from, bool take, struct msg_message **found, struct msg_result *result)
{
    struct msg_context *context = from->context;
    struct msg_member *member;
    int error = member_of(from, &member);
    if (error)
        return error;
    struct msg_message *message = NULL;
    bool far = vmsg_engine.networked && (!member || member->peer->remote);
    for (int round = 0; round < 2 && !message; round++) {
        if (round && far)
            msg_await();
        if (round)
            vmsg_progress();
        if (round && far)
            msg_await_end();
        msg_lock(&context->lock);
        message = vmsg_match_posting(context, member, from->tag);
        if (message) {
            result_of(message, result);
            if (take)
                vmsg_match_take(message);
        }
        msg_unlock(&context->lock);
    }
    *found = message;
    return OK;
}

int vmsg_probe(const struct msg_where *from, bool *found, struct msg_result *result)
{
    struct msg_message *message;
    int error = look(from, false, &message, result);
    if (!error)
        *found = message != NULL;
    return error;
}

int vmsg_message_probe(const struct msg_where *from, struct msg_message **message, struct msg_result *result)
{
    return look(from, true, message, result);
}

int vmsg_message_recv(struct msg_request *request, struct msg_message *message, const struct type_buffer *buffer)
{
    if (unlikely(!vmsg_engine.open))
        return vmsg_closed();
    struct msg_where from = {message->context, message->envelope.source, message->envelope.tag};
    request_prepare(request, &from, buffer);
    vmsg_message_give(message, request);
    return OK;
}
