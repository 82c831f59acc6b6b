/* rpc: the server. Calls wait in two queues in the order of their coming: those that run at once, one at a time, on the
 * thread that has just made progress, and those of the pool's threads. */
#include "rpc/rpc.h"

#define DEATH_TURNS 1024
#define AT_ONCE_MOST 64 /* calls in one turn */

VEXPORT int vd_rpc_register(const char *name, vd_handler *handler, void *context, vd_place place)
{
    int error = vpack_start();
    if (!error && (!name || !*name || strlen(name) >= sizeof((struct rpc_function *)0)->name || !handler))
        error = vbase_fail(ERR_ARGUMENT, "vd_rpc_register: a name of 1 to %zu letters and a handler",
                           sizeof((struct rpc_function *)0)->name - 1);
    if (!error && place != VD_AT_ONCE && place != VD_POOL)
        error = vbase_fail(ERR_ARGUMENT, "%s: place %d is neither VD_AT_ONCE nor VD_POOL", name, (int)place);
    if (!error && place == VD_POOL && vrpc.open && !vrpc.threads)
        error = vbase_fail(ERR_ARGUMENT, "%s is for the pool, but vd_rpc_start was asked for no threads", name);
    if (error)
        return error;
    uint64_t hash = vbase_hash_bytes(name, strlen(name));
    struct rpc_function *function = malloc(sizeof *function);
    if (!function)
        return vbase_fail(ERR_MEMORY, "no memory to register %s", name);
    *function = (struct rpc_function){.handler = handler, .context = context, .place = place};
    snprintf(function->name, sizeof function->name, "%s", name);
    rpc_lock();
    const struct rpc_function *other = vbase_map_get(&vrpc.functions, hash);
    error = other ? vbase_fail(ERR_ARGUMENT, "%s is registered already%s%s", name,
                               strcmp(other->name, name) ? ", under the name " : "",
                               strcmp(other->name, name) ? other->name : "")
                  : vbase_map_put(&vrpc.functions, hash, function);
    if (!error && place == VD_POOL)
        vrpc.pooled = function->name;
    vpack_end = vrpc_end;
    rpc_unlock();
    if (error)
        free(function);
    return error;
}

/* ---- the end of a call ------------------------------------------------------------------------------------------- */

static void error_log(const char *what, int remote)
{
    static struct base_log_gate gate;
    char more[LOG_MORE];
    if (vbase_log_gate_open(&gate, 10, more))
        LOG_WARN("%s rank %d: %s%s", what, remote, vbase_error_detail(), more);
}

static void credit_send(int remote)
{
    rpc_lock();
    uint32_t count = ++vrpc.remote[remote].owed >= RPC_OWED_MOST ? RPC_OWED_MOST : 0;
    vrpc.remote[remote].owed -= count;
    rpc_unlock();
    struct rpc_head head = {.code = count, .kind = RPC_CREDIT};
    if (count && vrpc_tell(remote, &head))
        error_log("a notice is lost to", remote);
}

static struct rpc_head reply_head(const vd_call *call)
{
    return (struct rpc_head){.id = call->head.id, .code = call->code, .kind = RPC_REPLY};
}

/* Instead of a reply that was begun, its code is sent. */
static void reply_send(vd_call *call)
{
    if (call->reply && call->code) {
        (void)vpack_packing_over(call->reply);
        call->reply = NULL;
    }
    struct rpc_head head = reply_head(call);
    if (call->reply ? vrpc_leave(call->reply) : vrpc_tell(call->remote, &head))
        error_log("a reply is lost to", call->remote);
}

static void call_finish(vd_call *call)
{
    int remote = call->remote;
    bool one_way = call->one_way;
    if (call->arguments && call->arguments->error && !call->code)
        call->code = call->arguments->error;
    if (!one_way)
        reply_send(call);
    if (call->arguments)
        vrpc_drop(call->arguments);
    rpc_lock();
    if (call == vrpc.running)
        vrpc.running = NULL;
    else
        list_remove(&call->link);
    rpc_call_give(call);
    vrpc.served++;
    rpc_unlock();
    if (one_way)
        credit_send(remote);
    vmsg_wake(); /* vd_rpc_serve looks at what handlers change */
}

static void call_run(vd_call *call)
{
    if (unlikely(!call->function))
        call->code = vbase_fail(ERR_NOT_FOUND, "it calls a function that is not registered here");
    else if (atomic_load_explicit(&call->cancelled, memory_order_relaxed))
        call->code = ERR_CANCELLED;
    else if (call->limit && clock_ticks() >= call->limit)
        call->code = ERR_TIMEOUT;
    else
        call->function->handler(call, call->function->context);
    if (unlikely(!call->function && call->one_way))
        error_log("a one-way call was dropped from", call->remote);
    call_finish(call);
}

/* ---- queues ------------------------------------------------------------------------------------------------------ */

/* Tells the caller, or gives it its place back. */
COLD void vrpc_turn_away(int remote, const struct rpc_head *head)
{
    struct rpc_head answer = {.id = head->id, .code = ERR_MEMORY, .kind = RPC_REPLY};
    (void)vbase_fail(ERR_MEMORY, "no memory for it");
    error_log("something is turned away, of", remote);
    if (head->kind == RPC_ONE_WAY)
        credit_send(remote);
    else if (head->kind == RPC_REPLY)
        vrpc_answered(remote, &answer, NULL);
    else if (head->kind == RPC_CALL && vrpc_tell(remote, &answer))
        error_log("a reply is lost to", remote);
}

void vrpc_called(int remote, const struct rpc_head *head, vd_connection *connection)
{
    rpc_lock();
    vd_call *call = rpc_call_take();
    rpc_unlock();
    if (unlikely(!call)) {
        vrpc_turn_away(remote, head);
        vrpc_drop(connection);
        return;
    }
    call->arguments = connection;
    call->reply = NULL;
    call->head.id = head->id;
    call->limit = 0;
    call->remote = remote;
    call->code = OK;
    call->one_way = head->kind == RPC_ONE_WAY;
    atomic_store_explicit(&call->state, RPC_SERVED, memory_order_relaxed); /* ordered by the queue, as is this: */
    atomic_store_explicit(&call->cancelled, false, memory_order_relaxed);
    if (unlikely(head->ns))
        call->limit = rpc_limit(head->ns);
    rpc_lock();
    call->function = vbase_map_get(&vrpc.functions, head->name);
    bool pool = call->function && call->function->place == VD_POOL;
    list_append(pool ? &vrpc.queue : &vrpc.at_once, &call->link); /* after the unlock another thread may have it */
    rpc_unlock();
    if (pool) {
        pthread_mutex_lock(&vrpc.mutex);
        pthread_cond_signal(&vrpc.more);
        pthread_mutex_unlock(&vrpc.mutex);
    }
}

/* While a handler waits for a long block others are queued. After so many the thread looks at what it waits for
 * itself. */
void vrpc_run_at_once(void)
{
    struct list_node *node;
    int left = AT_ONCE_MOST;
    do {
        rpc_lock();
        node = vrpc.running || !left ? NULL : list_take_first(&vrpc.at_once);
        if (node)
            vrpc.running = container_of(node, vd_call, link);
        rpc_unlock();
        if (node) {
            uint8_t outside = vpack_inside; /* a handler of the pool may be waiting in it */
            vpack_inside = PACK_INSIDE_AT_ONCE;
            call_run(container_of(node, vd_call, link));
            vpack_inside = outside;
            left--;
        }
    } while (node);
    if (unlikely(!left))
        vmsg_taker_again();
}

static bool call_cancel(vd_call *call, int remote, uint64_t id)
{
    if (!call || call->remote != remote || call->head.id != id || call->one_way)
        return false;
    atomic_store_explicit(&call->cancelled, true, memory_order_relaxed); /* a hint; run looks once more */
    return true;
}

static bool list_cancel(struct list *calls, int remote, uint64_t id)
{
    list_for_each(node, calls)
        if (call_cancel(container_of(node, vd_call, link), remote, id))
            return true;
    return false;
}

void vrpc_cancel_asked(int remote, uint64_t id)
{
    rpc_lock();
    (void)(list_cancel(&vrpc.queue, remote, id) || list_cancel(&vrpc.at_once, remote, id) ||
           list_cancel(&vrpc.runs, remote, id) || call_cancel(vrpc.running, remote, id));
    rpc_unlock();
}

bool vrpc_idle(void *unused)
{
    (void)unused;
    rpc_lock();
    bool idle = list_empty(&vrpc.at_once) && list_empty(&vrpc.queue) && list_empty(&vrpc.runs) && !vrpc.running;
    rpc_unlock();
    return idle;
}

/* ---- the pool ---------------------------------------------------------------------------------------------------- */

static void *pool_thread(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&vrpc.mutex);
        struct list_node *node = NULL;
        while (!vrpc.stopping) {
            base_lock(&vrpc.lock);
            node = list_take_first(&vrpc.queue);
            if (node)
                list_append(&vrpc.runs, node);
            base_unlock(&vrpc.lock);
            if (node)
                break;
            COUNT_TOGETHER(helpers, 1); /* until there is a call it does nothing that another rank could wait for */
            pthread_cond_wait(&vrpc.more, &vrpc.mutex);
            COUNT_TOGETHER(helpers, -1);
        }
        pthread_mutex_unlock(&vrpc.mutex);
        if (!node)
            return unused;
        vpack_inside = PACK_INSIDE_POOL;
        call_run(container_of(node, vd_call, link));
    }
}

int vrpc_pool_open(int threads)
{
    pthread_mutex_init(&vrpc.mutex, NULL);
    pthread_cond_init(&vrpc.more, NULL);
    vrpc.thread = calloc((size_t)threads + 1, sizeof *vrpc.thread);
    if (!vrpc.thread)
        return vbase_fail(ERR_MEMORY, "no memory for %d threads", threads);
    for (; vrpc.threads < threads; vrpc.threads++)
        if (pthread_create(&vrpc.thread[vrpc.threads], NULL, pool_thread, NULL))
            return vbase_fail(ERR_LIMIT, "thread %d of %d cannot be made (ulimit -u)", vrpc.threads, threads);
    return OK;
}

void vrpc_pool_close(void)
{
    if (!vrpc.thread)
        return;
    pthread_mutex_lock(&vrpc.mutex);
    vrpc.stopping = true;
    pthread_cond_broadcast(&vrpc.more);
    pthread_mutex_unlock(&vrpc.mutex);
    while (vrpc.threads)
        pthread_join(vrpc.thread[--vrpc.threads], NULL);
    free(vrpc.thread);
    vrpc.thread = NULL;
    pthread_cond_destroy(&vrpc.more);
    pthread_mutex_destroy(&vrpc.mutex);
}

/* ---- inside a handler -------------------------------------------------------------------------------------------- */

VEXPORT int vd_rpc_caller(const vd_call *call) { return rpc_state(call) == RPC_SERVED ? call->remote : ERR_STATE; }

VEXPORT vd_connection *vd_rpc_reply(vd_call *call)
{
    if (rpc_state(call) != RPC_SERVED)
        return vpack_fail(vbase_fail(ERR_STATE, "vd_rpc_reply is for handlers"));
    if (call->one_way)
        return vpack_fail(vbase_fail(ERR_STATE, "the caller does not wait for a reply to this call"));
    if (!call->reply) {
        struct rpc_head head = reply_head(call);
        call->reply = vrpc_begin(call->remote, &head);
    }
    return call->reply;
}

VEXPORT void vd_rpc_fail(vd_call *call, int code)
{
    if (rpc_state(call) == RPC_SERVED)
        call->code = code < ERR_AGAIN ? code : ERR_ARGUMENT; /* ERR_AGAIN: the caller would wait on */
}

VEXPORT int vd_rpc_cancelled(const vd_call *call)
{
    return rpc_state(call) == RPC_SERVED &&
           (atomic_load_explicit((_Atomic bool *)&call->cancelled, memory_order_relaxed) ||
            (call->limit && clock_ticks() >= call->limit));
}

/* ---- serving ----------------------------------------------------------------------------------------------------- */

struct serving {
    int (*finished)(void *context);
    void *context;
    uint32_t served; /* so many then; unused with several threads */
};

static bool served(void *context)
{
    struct serving *serving = context;
    return serving->finished(serving->context) != 0 || (!vpack_threads && vrpc.served != serving->served);
}

VEXPORT int vd_rpc_serve(int (*finished)(void *context), void *context)
{
    int error = vrpc_check_open();
    if (!error && !finished)
        error = vbase_fail(ERR_ARGUMENT, "vd_rpc_serve: finished is NULL");
    if (!error && vpack_inside == PACK_INSIDE_AT_ONCE)
        error = vbase_fail(ERR_STATE, "vd_rpc_serve: this handler runs at once, so others wait for its end");
    for (uint32_t turn = 1; !error && !finished(context); turn++) {
        if (turn % DEATH_TURNS == 0)
            (void)vmsg_deaths(); /* a server that never waits learns of deaths here alone */
        struct serving serving = {finished, context, vpack_threads ? 0 : vrpc.served};
        error = vmsg_wait_until(served, &serving);
    }
    return error;
}
