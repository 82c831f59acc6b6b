/* rpc: the caller. A call and its reply carry its place in the pool and its number, so that the reply to one that was
 * given up finds nothing. */
#include "rpc/rpc.h"

static void count_lower(uint32_t *number, uint32_t count)
{
    *number -= count < *number ? count : *number;
} /* COUNT comes from the other side */

static COLD void events_wake(void)
{
    void (*over)(struct msg_request *) = atomic_load_explicit(&vpack_event_over, memory_order_relaxed);
    if (over)
        over(NULL);
}

void vrpc_place_free(int remote, uint32_t count, bool one_way)
{
    rpc_lock();
    count_lower(&vrpc.remote[remote].out, count);
    if (one_way)
        count_lower(&vrpc.remote[remote].quiet, count);
    rpc_unlock();
    if (unlikely(vpack_threads) && one_way)
        events_wake(); /* vd_rpc_begin_now may have returned that there is none */
    vmsg_wake();
}

/* Lock held. Calls that were begun and not sent. Of several threads another one may send them: then none. */
static uint32_t calls_not_sent(int remote)
{
    uint32_t i = 0, count = 0;
    vd_call *call;
    while (!vpack_threads && (call = vbase_pool_next(&vrpc.calls, &i)))
        count += call->remote == remote && rpc_state(call) == RPC_NEW;
    return count;
}

/* Lock held, all places are taken: can only the program free one? The server does not report so few one-way calls. */
static COLD bool place_never_comes(int remote)
{
    uint32_t quiet = vrpc.remote[remote].quiet;
    return quiet < RPC_OWED_MOST && vrpc.remote[remote].held + quiet + calls_not_sent(remote) >= VD_RPC_ROOM;
}

/* Also true when the server is dead, or no place can become free: call_take then finds out. */
static bool place_may_be_free(void *context)
{
    int remote = *(int *)context;
    rpc_lock();
    bool room = vrpc.remote[remote].out < VD_RPC_ROOM || place_never_comes(remote);
    rpc_unlock();
    return room || vmsg_dead(remote);
}

static vd_call *call_fail(int error)
{
    (void)vpack_fail(error);
    return NULL;
}

static COLD int call_refuse(int remote, const char *name)
{
    int error = vrpc_check_open();
    if (error)
        return error;
    return name && *name ? vpack_argument(vrpc.channel, remote) : vbase_fail(ERR_ARGUMENT, "a call without a name");
}

static inline int call_check(int remote, const char *name)
{
    bool well = vrpc.open && name && *name && (unsigned)remote < (unsigned)vrpc.channel->size;
    return likely(well) ? OK : call_refuse(remote, name);
}

static __attribute__((noinline)) void name_set(vd_call *call, const char *name)
{
    call->hash = vbase_hash_bytes(name, strlen(name));
    if (snprintf(call->name, sizeof call->name, "%s", name) >= (int)sizeof call->name)
        call->name[0] = 0; /* cut short it could equal another name */
}

static inline __attribute__((always_inline)) void call_begin(vd_call *call, int remote, const char *name, uint64_t ns)
{
    uint64_t id = (uint64_t)++call->number << 32 | call->place;
    if (unlikely(strcmp(name, call->name) != 0))
        name_set(call, name);
    call->one_way = ns == VD_ONE_WAY;
    call->head = (struct rpc_head){.name = call->hash, .id = id, .ns = call->one_way ? 0 : ns,
                                   .kind = call->one_way ? RPC_ONE_WAY : RPC_CALL};
    call->arguments = call->reply = NULL;
    call->limit = 0;
    call->remote = remote;
    call->code = OK;
    atomic_store_explicit(&call->state, RPC_NEW, memory_order_relaxed); /* no other thread knows it yet */
}

/* A call with a place at REMOTE. ERR_AGAIN, not told: there is none now. */
static inline __attribute__((always_inline)) int call_take(int remote, const char *name, uint64_t ns, vd_call **out)
{
    int error = ERR_AGAIN;
    *out = NULL;
    rpc_lock();
    if (likely(vrpc.remote[remote].out < VD_RPC_ROOM)) {
        *out = rpc_call_take();
        error = *out ? OK : vbase_fail(ERR_MEMORY, "no memory for a call of %s", name);
    } else if (place_never_comes(remote)) {
        error = vbase_fail(ERR_LIMIT,
                           "all %d calls to rank %d are being unpacked or not sent yet: end or send some of them",
                           VD_RPC_ROOM, remote);
    }
    if (likely(!error)) {
        vrpc.remote[remote].out++;
        call_begin(*out, remote, name, ns);
    }
    rpc_unlock();
    return error;
}

VEXPORT vd_call *vd_rpc_begin_now(int remote, const char *name, uint64_t ns)
{
    vd_call *call = NULL;
    int error = call_check(remote, name);
    if (!error && (error = call_take(remote, name, ns, &call)) == ERR_AGAIN)
        error = vmsg_deaths() && vmsg_dead(remote)
                    ? vbase_fail(ERR_PEER_DEAD, "rank %d has ended", remote)
                    : vbase_fail(error, "%d calls to rank %d are not over", VD_RPC_ROOM, remote);
    return error ? call_fail(error) : call;
}

/* Waits for a place, no longer than the call may take. */
static __attribute__((noinline)) int call_take_waiting(int remote, const char *name, uint64_t ns, vd_call **call)
{
    uint64_t limit = ns && ns != VD_ONE_WAY ? rpc_limit(ns) : 0;
    int error = ERR_AGAIN;
    while (error == ERR_AGAIN) {
        error = limit ? vmsg_wait_until_ticks(place_may_be_free, &remote, limit)
                      : vmsg_wait_until(place_may_be_free, &remote);
        if (error == ERR_TIMEOUT)
            return vbase_fail(error, "%s: %d calls to rank %d are not over", name, VD_RPC_ROOM, remote);
        if (!error && vmsg_dead(remote))
            error = vbase_fail(ERR_PEER_DEAD, "rank %d has ended", remote);
        error = error ? error : call_take(remote, name, ns, call);
    }
    return error;
}

VEXPORT vd_call *vd_rpc_begin(int remote, const char *name, uint64_t ns)
{
    vd_call *call = NULL;
    if (vpack_inside == PACK_INSIDE_AT_ONCE)
        return vd_rpc_begin_now(remote, name, ns);
    int error = call_check(remote, name);
    if (likely(!error))
        vrpc_sweep();
    if (likely(!error) && unlikely((error = call_take(remote, name, ns, &call)) == ERR_AGAIN))
        error = call_take_waiting(remote, name, ns, &call);
    return unlikely(error) ? call_fail(error) : call;
}

VEXPORT vd_connection *vd_rpc_arguments(vd_call *call)
{
    enum rpc_state state = rpc_state(call);
    if (state != RPC_NEW && state != RPC_SERVED)
        return vpack_fail(
            vbase_fail(ERR_STATE, "vd_rpc_arguments: of a call that was begun and not sent, or in its handler"));
    if (!call->arguments && state == RPC_SERVED) {
        call->arguments = vrpc_nothing(call->remote);
    } else if (!call->arguments) {
        call->arguments = vrpc_begin(call->remote, &call->head);
    }
    return call->arguments;
}

/* No reply will come. False: it is here. */
static bool call_set_unanswered(vd_call *call, int error)
{
    rpc_lock();
    bool out = rpc_state(call) == RPC_OUT;
    if (out) {
        call->code = error;
        atomic_store_explicit(&call->state, RPC_ANSWERED, memory_order_release); /* pairs with is_answered */
    }
    rpc_unlock();
    return out;
}

static void call_give(vd_call *call)
{
    rpc_lock();
    rpc_call_give(call);
    rpc_unlock();
}

/* Before it is sent: the server may report it at once. */
static void remote_add_quiet(int remote)
{
    rpc_lock();
    vrpc.remote[remote].quiet++;
    rpc_unlock();
}

VEXPORT int vd_rpc_send(vd_call *call)
{
    if (unlikely(rpc_state(call) != RPC_NEW))
        return vbase_fail(ERR_STATE, "vd_rpc_send: vd_rpc_begin must come before, once");
    vd_connection *arguments = call->arguments;
    bool one_way = call->one_way;
    int remote = call->remote;
    call->arguments = NULL;
    if (unlikely(call->head.ns))
        call->limit = rpc_limit(call->head.ns);
    if (one_way)
        remote_add_quiet(remote);
    else
        atomic_store_explicit(&call->state, RPC_OUT, memory_order_relaxed); /* the message orders it */
    int error = arguments ? vrpc_leave(arguments) : vrpc_tell(remote, &call->head);
    if (one_way)
        call_give(call);
    if (unlikely(error) && (one_way || call_set_unanswered(call, error)))
        vrpc_place_free(remote, 1, one_way);
    return error;
}

/* Lock held. More of the reply than its first frame is still at the server, so its place is not free. */
static COLD void call_hold_place(vd_call *call)
{
    if (call->reply->frames_left || call->reply->alone_left || !call->reply->counted) {
        call->holds = true;
        vrpc.remote[call->remote].held++;
        vrpc.remote[call->remote].out++;
    }
}

/* From progress. A reply whose call was given up is taken and dropped. */
void vrpc_answered(int remote, const struct rpc_head *head, vd_connection *connection)
{
    rpc_lock();
    uint32_t *out = &vrpc.remote[remote].out;
    *out -= *out > 0;
    vd_call *call = vbase_pool_at(&vrpc.calls, (uint32_t)head->id, 1); /* no call is ever given back to the pool */
    bool awaited = rpc_state(call) == RPC_OUT && call->head.id == head->id && call->remote == remote;
    if (likely(awaited)) {
        call->code = head->code > 0 || head->code < INT32_MIN ? ERR_PROTOCOL : (int)head->code;
        call->reply = connection;
        if (unlikely(connection))
            call_hold_place(call);
        /* release: pairs with is_answered; from then on the reply is the caller's */
        atomic_store_explicit(&call->state, RPC_ANSWERED, memory_order_release);
    }
    if (unlikely(vpack_threads)) {
        base_unlock(&vrpc.lock);
        events_wake();
    }
    if (unlikely(!awaited))
        vrpc_drop(connection);
    vmsg_wake();
}

static bool call_is_answered(void *context)
{
    vd_call *call = context;
    return atomic_load_explicit(&call->state, memory_order_acquire) == RPC_ANSWERED; /* pairs with vrpc_answered */
}

static int call_outcome(const vd_call *call)
{
    const char *name = *call->name ? call->name : "of so long a name";
    if (call->code == ERR_NOT_FOUND)
        return vbase_fail(call->code, "rank %d has no function %s, or it found nothing", call->remote, name);
    if (call->code == ERR_PEER_DEAD)
        return vbase_fail(call->code, "%s at rank %d: the peer has ended", name, call->remote);
    if (call->code)
        return vbase_fail(call->code, "%s at rank %d", name, call->remote);
    return OK;
}

static int call_check_out(const vd_call *call)
{
    enum rpc_state state = rpc_state(call);
    return likely(state == RPC_OUT || state == RPC_ANSWERED)
               ? OK
               : vbase_fail(ERR_STATE, "this call was not sent: vd_rpc_send must come before");
}

/* Also where the server is dead: no reply will come. */
static bool call_is_over(void *context)
{
    vd_call *call = context;
    if (likely(call_is_answered(call)))
        return true;
    if (likely(!vmsg_dead(call->remote)))
        return false;
    if (call_set_unanswered(call, ERR_PEER_DEAD))
        vrpc_place_free(call->remote, 1, false);
    return true;
}

VEXPORT int vd_rpc_done(vd_call *call)
{
    int error = call_check_out(call);
    if (error)
        return error;
    (void)vd_progress();
    if (call_is_over(call))
        return call_outcome(call);
    return call->limit && clock_ticks() >= call->limit ? ERR_TIMEOUT : ERR_AGAIN;
}

VEXPORT int vd_rpc_wait(vd_call *call, vd_connection **reply)
{
    int error = call_check_out(call);
    if (error)
        return error;
    DOING("vd_rpc_wait");
    if (unlikely(!call_is_answered(call)) && vpack_inside == PACK_INSIDE_AT_ONCE && !call_is_over(call))
        return vbase_fail(ERR_STATE, "a handler that runs at once must not wait for %s: register it for the pool",
                          call->name);
    if (unlikely(!call_is_answered(call)))
        error =
            call->limit ? vmsg_wait_until_ticks(call_is_over, call, call->limit) : vmsg_wait_until(call_is_over, call);
    if (error == ERR_TIMEOUT)
        return vbase_fail(error, "%s at rank %d has not answered", call->name, call->remote);
    if (!error && unlikely(call->code))
        error = call_outcome(call);
    if (!error && reply) {
        call->reply = call->reply ? call->reply : vrpc_nothing(call->remote);
        *reply = call->reply;
        error = call->reply ? OK : vd_error();
    }
    return error;
}

VEXPORT int vd_rpc_cancel(vd_call *call)
{
    int error = call_check_out(call);
    if (error || call_is_answered(call))
        return error;
    struct rpc_head head = {.id = call->head.id, .kind = RPC_CANCEL};
    return vrpc_tell(call->remote, &head);
}

/* It was begun and never sent: nothing of it has left. */
static int call_give_up(vd_call *call)
{
    if (call->arguments)
        (void)vpack_packing_over(call->arguments);
    vrpc_place_free(call->remote, 1, false);
    call_give(call);
    return OK;
}

/* Was some of it unpacked? Else it is dropped. */
static bool reply_was_read(const vd_connection *reply)
{
    return !reply->here || reply->fill != sizeof(struct rpc_head) || reply->waiting_blocks || reply->blocks ||
           reply->error;
}

/* Lock held, and given back. */
static __attribute__((noinline)) int reply_end(vd_call *call, vd_connection *reply)
{
    int error = OK, remote = call->remote;
    bool wanted = !call->code && reply->state == PACK_OPEN && reply_was_read(reply), holds = call->holds;
    call->holds = false;
    vrpc.remote[remote].held -= holds;
    rpc_call_give(call);
    rpc_unlock();
    if (wanted)
        error = vd_end_unpacking(reply);
    vrpc_drop(reply);
    if (holds)
        vrpc_place_free(remote, 1, false);
    return error;
}

VEXPORT int vd_rpc_end(vd_call *call)
{
    if (rpc_state(call) == RPC_NEW)
        return call_give_up(call);
    int error = call_check_out(call);
    if (unlikely(error))
        return error;
    rpc_lock(); /* a reply from now on finds no call */
    if (unlikely(call_is_answered(call) && call->reply))
        return reply_end(call, call->reply);
    rpc_call_give(call);
    rpc_unlock();
    return OK;
}
