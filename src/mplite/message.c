/* mplite: messages. A receive is a stream: it takes messages of its source and tag until it is full. So two receives
 * that could take the same message must not lie at the engine at once, or the second would take what the first still
 * needs: a receive started later waits in our list, and is handed to the engine when none before it can take its
 * messages. The end of each request hands the next ones over, from progress inside whatever call the program waits in.
 *
 * Blocking calls with no receive in the list go to the engine directly. The calls of mplite come from one thread. The
 * lock is for MPI's sake: where the program also uses MPI with threads, another thread may make progress. It is never
 * held while waiting. */
#include "lite.h"
#include "mplite.h"

struct lite_message {
    struct msg_request request;
    const char *call;
    int id;
    bool receive;
    bool posted;          /* at the engine */
    _Atomic bool full;    /* a receive: all has come */
    int source, tag;      /* asked for; after the first message: of that one */
    char *next;           /* where the next bytes go */
    uint64_t left, bytes; /* to come; that came */
    struct list_node link;
};

static struct {
    struct base_lock lock;
    struct base_pool pool;
    struct base_map by_id; /* all that were started and not waited for */
    struct list receives;  /* those that are not full, in the order of their start */
    /* how many; relaxed: the program's thread, which asks, has seen those that it waited for end */
    _Atomic int streams;
    bool closing;          /* nothing is posted any more */
    int last_id;
} lite;

/* ---- receives as streams ---- */

/* Takes in what one message brought. */
static void account(struct lite_message *message, const struct msg_result *result)
{
    if (unlikely(result->error == ERR_TRUNCATED))
        vmplite_fail(message->call,
                     "a message of tag %d came from rank %d that is longer than the %llu bytes left of %llu",
                     result->tag, result->source, (unsigned long long)message->left,
                     (unsigned long long)(message->left + message->bytes));
    if (unlikely(result->error))
        vmplite_fail_code(message->call, result->error);
    message->source = result->source;
    message->tag = result->tag;
    if (result->bytes) /* else it may be NULL */
        message->next += result->bytes;
    message->bytes += result->bytes;
    message->left -= result->bytes;
}

static bool could_take_the_same(const struct lite_message *a, const struct lite_message *b)
{
    return (a->source == b->source || a->source < 0 || b->source < 0) && (a->tag == b->tag || a->tag < 0 || b->tag < 0);
}

static void came(struct msg_request *request);

static void post(struct lite_message *message)
{
    struct msg_where from = {vmplite.messages, message->source, message->tag};
    struct type_buffer buffer = {message->next, message->left, NULL};
    message->posted = true;
    message->request.completed = came;
    message->request.owner = message;
    vmplite_must(message->call, vmsg_recv_start(&message->request, &from, &buffer));
}

static bool is_first(const struct lite_message *message)
{
    list_for_each(node, &lite.receives) {
        const struct lite_message *before = container_of(node, struct lite_message, link);
        if (before == message)
            break;
        if (could_take_the_same(before, message))
            return false;
    }
    return true;
}

/* Locked: whatever can go to the engine now. */
static void post_all(void)
{
    list_for_each(node, &lite.receives) {
        struct lite_message *message = container_of(node, struct lite_message, link);
        if (!message->posted && !lite.closing && is_first(message))
            post(message);
    }
}

/* A message has come, or the receive was withdrawn. */
static void came(struct msg_request *request)
{
    struct lite_message *message = request->owner;
    bool withdrawn = lite.closing && request->result.error;
    base_lock(&lite.lock);
    if (!withdrawn)
        account(message, &request->result);
    if (message->left && !lite.closing) {
        post(message);
    } else {
        list_remove(&message->link);
        atomic_fetch_sub_explicit(&lite.streams, 1, memory_order_relaxed);
        /* release: pairs with the acquire of is_full; data and result are seen with it */
        atomic_store_explicit(&message->full, true, memory_order_release);
    }
    post_all(); /* the first message of a stream from anyone tells whose the others are, and others may go on */
    base_unlock(&lite.lock);
    vmsg_wake();
}

static void stream_start(struct lite_message *message)
{
    base_lock(&lite.lock);
    list_append(&lite.receives, &message->link);
    atomic_fetch_add_explicit(&lite.streams, 1, memory_order_relaxed);
    post_all();
    base_unlock(&lite.lock);
}

static bool is_full(void *context)
{
    const struct lite_message *message = context;
    /* acquire: pairs with the release of came */
    return atomic_load_explicit((_Atomic bool *)&message->full, memory_order_acquire);
}

static void stream_wait(struct lite_message *message)
{
    vmplite_must(message->call, vmsg_wait_until(is_full, message));
}

static void remember(const struct lite_message *message)
{
    vmplite.last = (struct msg_result){.source = message->source, .tag = message->tag, .bytes = message->bytes};
}

/* ---- blocking ---- */

static void check_send(const char *call, int dest, int tag)
{
    vmplite_check_rank(call, "destination", dest);
    if (unlikely(tag < 0))
        vmplite_fail(call, "a tag of %d: it must not be negative", tag);
}

static void check_receive(const char *call, int source)
{
    if (source != MSG_ANY_SOURCE)
        vmplite_check_rank(call, "source", source);
    else
        vmplite_check_started(call);
}

VEXPORT void MP_Send(const void *data, long bytes, int dest, int tag)
{
    check_send("MP_Send", dest, tag);
    DOING("MP_Send");
    vmplite_must("MP_Send", vmsg_send(vmplite.messages, dest, tag, data, vmplite_bytes("MP_Send", bytes, 1)));
}

VEXPORT void MP_SSend(const void *data, long bytes, int dest, int tag)
{
    check_send("MP_SSend", dest, tag);
    DOING("MP_SSend");
    struct msg_request request = {.completed = NULL};
    struct msg_where to = {vmplite.messages, dest, tag};
    struct type_buffer buffer = {(void *)data, vmplite_bytes("MP_SSend", bytes, 1), NULL};
    vmplite_must("MP_SSend", vmsg_send_start(&request, &to, &buffer, MSG_SYNCHRONOUS) ?: vmsg_wait(&request));
}

static void receive(const char *call, void *data, long bytes, int source, int tag)
{
    check_receive(call, source);
    struct lite_message message = {.call = call, .receive = true, .source = source, .tag = tag, .next = data,
                                   .left = vmplite_bytes(call, bytes, 1)};
    /* some were started before: they come first */
    if (unlikely(atomic_load_explicit(&lite.streams, memory_order_relaxed))) {
        stream_start(&message);
        stream_wait(&message);
    } else {
        do {
            struct msg_result result;
            result.error =
                vmsg_recv(vmplite.messages, message.source, message.tag, message.next, message.left, &result);
            account(&message, &result);
        } while (message.left);
    }
    remember(&message);
}

FUNCTION(MP_Recv, (void *data, long bytes, int source, int tag), receive("MP_Recv", data, bytes, source, tag))

FUNCTION(MP_SRecv, (void *data, long bytes, int source, int tag), receive("MP_SRecv", data, bytes, source, tag))

VEXPORT void MP_SShift(const void *out, int dest, void *in, int source, long bytes)
{
    vmplite_check_rank("MP_SShift", "destination", dest);
    vmplite_check_rank("MP_SShift", "source", source);
    DOING("MP_SShift");
    uint64_t size = vmplite_bytes("MP_SShift", bytes, 1);
    struct msg_request request = {.completed = NULL};
    struct msg_where from = {vmplite.inner, source, 0};
    struct type_buffer buffer = {in, size, NULL};
    int error = vmsg_recv_start(&request, &from, &buffer) ?:
                vmsg_send(vmplite.inner, dest, 0, out, size) ?: vmsg_wait(&request);
    if (!error && request.result.bytes != size)
        vmplite_fail("MP_SShift", "%ld bytes were awaited from rank %d, %llu came", bytes, source,
                     (unsigned long long)request.result.bytes);
    vmplite_must("MP_SShift", error);
}

/* ---- started and waited for ---- */

static struct lite_message *take(const char *call, int *id)
{
    base_lock(&lite.lock);
    struct lite_message *message = vbase_pool_take(&lite.pool);
    int error = message ? OK : ERR_MEMORY;
    if (message) {
        do
            lite.last_id = lite.last_id == INT_MAX ? 1 : lite.last_id + 1;
        while (vbase_map_get(&lite.by_id, (uint64_t)lite.last_id));
        *message = (struct lite_message){.call = call, .id = lite.last_id};
        error = vbase_map_put(&lite.by_id, (uint64_t)lite.last_id, message);
    }
    base_unlock(&lite.lock);
    if (error)
        vmplite_fail(call, "no memory for a message; %u are started and not waited for", lite.by_id.count);
    *id = message->id;
    return message;
}

static struct lite_message *find(const char *call, int id)
{
    vmplite_check_started(call);
    base_lock(&lite.lock);
    struct lite_message *message = vbase_map_get(&lite.by_id, (uint64_t)id);
    base_unlock(&lite.lock);
    if (unlikely(!message))
        vmplite_fail(call, "%d is the id of no message that was started and not yet waited for", id);
    return message;
}

static void give(struct lite_message *message, int *id)
{
    base_lock(&lite.lock);
    vbase_map_remove(&lite.by_id, (uint64_t)message->id);
    vbase_pool_give(&lite.pool, message);
    base_unlock(&lite.lock);
    *id = -1;
}

VEXPORT void MP_ASend(const void *data, long bytes, int dest, int tag, int *id)
{
    check_send("MP_ASend", dest, tag);
    DOING("MP_ASend");
    struct type_buffer buffer = {(void *)data, vmplite_bytes("MP_ASend", bytes, 1), NULL};
    struct msg_where to = {vmplite.messages, dest, tag};
    struct lite_message *message = take("MP_ASend", id);
    vmplite_must("MP_ASend", vmsg_send_start(&message->request, &to, &buffer, MSG_STANDARD));
}

VEXPORT void MP_ARecv(void *data, long bytes, int source, int tag, int *id)
{
    check_receive("MP_ARecv", source);
    DOING("MP_ARecv");
    uint64_t size = vmplite_bytes("MP_ARecv", bytes, 1);
    struct lite_message *message = take("MP_ARecv", id);
    message->receive = true;
    message->source = source;
    message->tag = tag;
    message->next = data;
    message->left = size;
    stream_start(message);
}

static void wait_for(const char *call, int *id)
{
    if (*id == -1)
        return;
    struct lite_message *message = find(call, *id);
    if (message->receive) {
        stream_wait(message);
        remember(message);
    } else {
        vmplite_must(call, vmsg_wait(&message->request));
    }
    give(message, id);
}

FUNCTION(MP_Wait, (int *id), wait_for("MP_Wait", id))

FUNCTION(MP_Block, (int *id), wait_for("MP_Block", id))

static bool finished(const char *call, int id)
{
    if (id == -1)
        return true;
    struct lite_message *message = find(call, id);
    return message->receive ? is_full(message) : vmsg_request_done(&message->request);
}

VEXPORT int MP_Test(int *id, int *flag) { return MP_Testall(1, id, flag); }

VEXPORT int MP_Testall(int count, int *ids, int *flag)
{
    vmplite_check_started("MP_Testall");
    DOING("MP_Testall");
    vmsg_progress();
    *flag = 1;
    for (int i = 0; i < count; i++)
        *flag &= finished("MP_Testall", ids[i]);
    for (int i = 0; *flag && i < count; i++)
        wait_for("MP_Testall", &ids[i]);
    return *flag;
}

/* ---- probing ---- */

struct probe {
    const char *call;
    struct msg_where from;
    long bytes;
    struct msg_result found;
};

static bool probe_finds(void *context)
{
    struct probe *probe = context;
    bool found;
    vmplite_must(probe->call, vmsg_probe(&probe->from, &found, &probe->found));
    return found && (probe->bytes < 0 || probe->found.bytes <= (uint64_t)probe->bytes);
}

VEXPORT int MP_AProbe(long bytes, int source, int tag, int *flag)
{
    check_receive("MP_AProbe", source);
    DOING("MP_AProbe");
    struct probe probe = {.call = "MP_AProbe", .from = {vmplite.messages, source, tag}, .bytes = bytes};
    *flag = probe_finds(&probe);
    if (*flag)
        vmplite.last = probe.found;
    return *flag;
}

VEXPORT int MP_Probe(long bytes, int source, int tag)
{
    check_receive("MP_Probe", source);
    DOING("MP_Probe");
    struct probe probe = {.call = "MP_Probe", .from = {vmplite.messages, source, tag}, .bytes = bytes};
    vmplite_must("MP_Probe", vmsg_wait_until(probe_finds, &probe));
    vmplite.last = probe.found;
    return 1;
}

VEXPORT void MP_Get_Last_Source(int *source) { *source = vmplite.last.source; }
VEXPORT void MP_Get_Last_Tag(int *tag) { *tag = vmplite.last.tag; }
VEXPORT void MP_Get_Last_Size(int *bytes) { *bytes = vmplite.last.bytes > INT_MAX ? INT_MAX : (int)vmplite.last.bytes; }

/* ---- by type: each is its byte-wise sister with the count turned into bytes ---- */

/* COUNT elements of SIZE bytes, for the functions that count bytes. */
static long bytes_of(const char *call, long count, size_t size) { return (long)vmplite_bytes(call, count, size); }

/* A function with the PARAMETERS of its sister, whose words behind the count are what follows them. */
#define OF_TYPE(name, type, sister, parameters, ...)                                                                   \
    NAMED(name, parameters, sister(data, bytes_of(#name, count, sizeof(type)), __VA_ARGS__))

#define SEND_PARAMETERS const void *data, long count, int dest, int tag
#define RECEIVE_PARAMETERS void *data, long count, int source, int tag
OF_NUMBERS(MP_dSend, MP_iSend, MP_fSend, OF_TYPE, MP_Send, (SEND_PARAMETERS), dest, tag)
OF_NUMBERS(MP_dSSend, MP_iSSend, MP_fSSend, OF_TYPE, MP_SSend, (SEND_PARAMETERS), dest, tag)
OF_NUMBERS(MP_dRecv, MP_iRecv, MP_fRecv, OF_TYPE, MP_Recv, (RECEIVE_PARAMETERS), source, tag)
OF_NUMBERS(MP_dASend, MP_iASend, MP_fASend, OF_TYPE, MP_ASend, (SEND_PARAMETERS, int *id), dest, tag, id)
OF_NUMBERS(MP_dARecv, MP_iARecv, MP_fARecv, OF_TYPE, MP_ARecv, (RECEIVE_PARAMETERS, int *id), source, tag, id)

/* ---- life ---- */

void vmplite_messages_open(void)
{
    vbase_pool_open(&lite.pool, sizeof(struct lite_message), 0);
    list_init(&lite.receives);
    lite.closing = false;
    atomic_store_explicit(&lite.streams, 0, memory_order_relaxed);
}

/* Sends that were not waited for are finished; receives that are still open are withdrawn. */
void vmplite_messages_close(void)
{
    lite.closing = true;
    for (uint32_t i = 0; i < lite.by_id.capacity; i++) {
        struct lite_message *message = lite.by_id.entry[i].value;
        if (message && !message->receive)
            (void)vmsg_wait(&message->request);
        if (!message || !message->receive || !message->posted || is_full(message))
            continue;
        vmsg_cancel(&message->request);
        if (vmsg_wait_until(is_full, message))
            return; /* the job is lost, and what is posted stays with the engine */
    }
    vbase_map_close(&lite.by_id);
    vbase_pool_close(&lite.pool);
}
