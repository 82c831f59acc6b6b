/* A model of msg for tests of coll: many ranks in one thread, messages that take random time, nothing ever in parallel, so
 * every run can be repeated. Included once by a test, whose functions take the place of msg's.
 *
 * It is unfriendly on purpose: a receive's buffer is filled with garbage when the receive is posted; a send completes at
 * once, a little later, or only when it is matched, by chance; a send's buffer must hold the same bytes when it completes
 * as when it started. It can let one message fail. */
#ifndef TESTS_COLL_FAKE_MSG_H
#define TESTS_COLL_FAKE_MSG_H

#include "msg/engine.h"

#include "coll/bytes.h"

struct msg_context {
    int rank, size;
    struct fake_recv *posted;       /* in posting order */
    struct fake_message *arrived;   /* unmatched, in order of arrival */
};

struct fake_recv {
    struct fake_recv *next;
    struct msg_request *request;
    int from, tag;
};

struct fake_message {
    struct fake_message *next;
    int from, tag;
    uint64_t bytes;
    unsigned char *data;
    struct msg_request *sender; /* not complete yet; NULL: it is */
    bool late;                  /* the sender completes with the match */
};

static struct {
    struct msg_context context[CASE_RANKS];
    struct fake_message *way[CASE_RANKS][CASE_RANKS]; /* [from][to], in order */
    long messages, under_way, posted;
    int sent[CASE_RANKS][CASE_RANKS];                 /* [from][to], messages so far */
    long fail_at;                                     /* the number of the message that fails; -1: none */
} fake;

static void fake_open(int size, uint64_t seed)
{
    memset(&fake, 0, sizeof fake);
    case_seed(seed);
    fake.fail_at = -1;
    for (int i = 0; i < size; i++)
        fake.context[i] = (struct msg_context){.rank = i, .size = size};
}

/* Nothing may be left: neither a message that nobody took nor a receive that nothing came for. */
static void fake_close(void)
{
    CHECK_EQUAL(fake.under_way, 0);
    CHECK_EQUAL(fake.posted, 0);
}

static void fake_complete(struct msg_request *request, int error, uint64_t bytes)
{
    request->result.error = error;
    request->result.bytes = bytes;
    atomic_store(&request->state, MSG_DONE);
    if (request->completed)
        request->completed(request);
}

static void fake_poison(const struct type_buffer *buffer)
{
    uint64_t bytes = type_buffer_bytes(buffer);
    unsigned char *garbage = malloc(bytes + 1);
    memset(garbage, 0xEE, bytes);
    case_unpack(buffer, garbage, bytes);
    free(garbage);
}

static void fake_sender_done(struct fake_message *message, int error)
{
    struct msg_request *sender = message->sender;
    if (!sender)
        return;
    message->sender = NULL;
    unsigned char *now = case_packed(&sender->buffer);
    CHECK(memcmp(now, message->data, message->bytes) == 0); /* changed while it was being sent */
    free(now);
    fake_complete(sender, error, message->bytes);
}

static void fake_deliver(struct fake_message *message, struct msg_request *receiver)
{
    uint64_t room = type_buffer_bytes(&receiver->buffer);
    uint64_t bytes = message->bytes < room ? message->bytes : room;
    int error = fake.messages++ == fake.fail_at ? ERR_PEER_DEAD : message->bytes > room ? ERR_TRUNCATED : OK;
    case_unpack(&receiver->buffer, message->data, bytes);
    fake.under_way--;
    fake_sender_done(message, error == ERR_PEER_DEAD ? error : OK);
    fake_complete(receiver, error, bytes);
    free(message->data);
    free(message);
}

static void fake_arrive(struct fake_message *message, int to)
{
    struct fake_recv **at = &fake.context[to].posted;
    while (*at && ((*at)->from != message->from || (*at)->tag != message->tag))
        at = &(*at)->next;
    if (*at) {
        struct fake_recv *recv = *at;
        struct msg_request *request = recv->request;
        *at = recv->next;
        free(recv);
        fake.posted--;
        fake_deliver(message, request);
        return;
    }
    struct fake_message **end = &fake.context[to].arrived;
    while (*end)
        end = &(*end)->next;
    *end = message;
    if (!message->late)
        fake_sender_done(message, OK);
}

/* One message of a random pair arrives; false: none is on its way. */
static bool fake_step(int size)
{
    int start = (int)case_random((uint64_t)size * (uint64_t)size);
    for (int i = 0; i < size * size; i++) {
        int pair = (start + i) % (size * size), from = pair / size, to = pair % size;
        struct fake_message *message = fake.way[from][to];
        if (!message)
            continue;
        fake.way[from][to] = message->next;
        message->next = NULL;
        fake_arrive(message, to);
        return true;
    }
    return false;
}

static struct fake_message *fake_send(struct msg_context *context, int to, int tag, const struct type_buffer *buffer)
{
    CHECK(to >= 0 && to < context->size && to != context->rank && tag >= 0);
    struct fake_message *message = calloc(1, sizeof *message), **end = &fake.way[context->rank][to];
    *message = (struct fake_message){.from = context->rank, .tag = tag, .bytes = type_buffer_bytes(buffer),
                                     .data = case_packed(buffer)};
    while (*end)
        end = &(*end)->next;
    *end = message;
    fake.sent[context->rank][to]++;
    fake.under_way++;
    return message;
}

/* One of three leaves at once. */
int vmsg_send_now(struct msg_context *context, int rank, int tag, const void *data, uint64_t bytes)
{
    struct type_buffer buffer = {(void *)(uintptr_t)data, bytes, NULL};
    if (case_random(3))
        return ERR_AGAIN;
    fake_send(context, rank, tag, &buffer);
    return OK;
}

int vmsg_send_start(struct msg_request *request, const struct msg_where *to, const struct type_buffer *buffer,
                    enum msg_mode mode)
{
    CHECK_EQUAL(mode, MSG_STANDARD);
    struct fake_message *message = fake_send(to->context, to->rank, to->tag, buffer);
    request->buffer = *buffer;
    request->context = to->context;
    atomic_store(&request->state, MSG_PENDING);
    message->sender = request;
    uint64_t chance = case_random(3);
    message->late = chance == 0;
    if (chance == 1)
        fake_sender_done(message, OK);
    return OK;
}

int vmsg_recv_start(struct msg_request *request, const struct msg_where *from, const struct type_buffer *buffer)
{
    struct msg_context *context = from->context;
    CHECK(from->rank >= 0 && from->rank < context->size && from->rank != context->rank && from->tag >= 0);
    request->buffer = *buffer;
    request->context = context;
    atomic_store(&request->state, MSG_PENDING);
    fake_poison(buffer);
    for (struct fake_message **at = &context->arrived; *at; at = &(*at)->next) {
        struct fake_message *message = *at;
        if (message->from == from->rank && message->tag == from->tag) {
            *at = message->next;
            fake_deliver(message, request);
            return OK;
        }
    }
    struct fake_recv *recv = malloc(sizeof *recv), **end = &context->posted;
    *recv = (struct fake_recv){NULL, request, from->rank, from->tag};
    while (*end)
        end = &(*end)->next;
    *end = recv;
    fake.posted++;
    return OK;
}

static bool fake_cancel_in(struct fake_message **at, struct msg_request *request)
{
    for (; *at; at = &(*at)->next) {
        struct fake_message *message = *at;
        if (message->sender != request)
            continue;
        *at = message->next;
        fake.under_way--;
        fake_sender_done(message, ERR_CANCELLED);
        free(message->data);
        free(message);
        return true;
    }
    return false;
}

void vmsg_cancel(struct msg_request *request)
{
    if (vmsg_request_done(request))
        return;
    int rank = request->context->rank;
    for (struct fake_recv **at = &fake.context[rank].posted; *at; at = &(*at)->next) {
        struct fake_recv *recv = *at;
        if (recv->request != request)
            continue;
        *at = recv->next;
        free(recv);
        fake.posted--;
        fake_complete(request, ERR_CANCELLED, 0);
        return;
    }
    for (int to = 0; to < request->context->size; to++)
        if (fake_cancel_in(&fake.way[rank][to], request) || fake_cancel_in(&fake.context[to].arrived, request))
            return;
}

int vmsg_wait_until(bool (*ready)(void *context), void *context)
{
    while (!ready(context))
        if (!fake_step(fake.context[0].size)) {
            fprintf(stderr, "a hang: nothing is on its way and somebody still waits\n");
            abort();
        }
    return OK;
}
int vmsg_wait_collective(struct msg_context *context, bool (*ready)(void *owner), void *owner)
{
    (void)context;
    return vmsg_wait_until(ready, owner);
}

/* No rank dies here, and none withdraws. */
void vmsg_failed(int error) { CHECK_EQUAL(error, OK); }
void vmsg_withdraw(struct msg_context *context, const int *members, int size, int tag)
{
    (void)context, (void)members, (void)size, (void)tag;
}
int vmsg_guard_start(struct msg_request *guard, struct msg_context *context, int tag, const int *members, int size)
{
    (void)guard, (void)context, (void)tag, (void)members, (void)size;
    return OK;
}
bool vmsg_guard_end(struct msg_request *guard)
{
    (void)guard;
    return true;
}

/* The ranks live on many nodes: nothing is shared. Which these are the tests say themselves. */
int vmsg_context_node(const struct msg_context *context) { return context->rank; }
int vmsg_share_open(struct msg_context *context, int tag, uint64_t bytes, bool willing, struct msg_share **share)
{
    (void)context, (void)tag, (void)bytes, (void)willing, (void)share;
    return ERR_UNSUPPORTED;
}

void *vmsg_share_memory(const struct msg_share *share) { return (void *)(uintptr_t)share; }
void vmsg_share_close(struct msg_share *share) { (void)share; }
void vmsg_share_forget(struct msg_share *share) { (void)share; }
int vmsg_share_await(struct msg_share *share, struct msg_request *request, bool (*ready)(void *owner))
{
    (void)share, (void)request, (void)ready;
    return ERR_UNSUPPORTED;
}
int vmsg_share_wait(struct msg_share *share, bool (*ready)(void *owner), void *owner)
{
    (void)share;
    return vmsg_wait_until(ready, owner);
}
void vmsg_share_wake(struct msg_share *share, int rank) { (void)share, (void)rank; }
void vmsg_share_wake_all(struct msg_share *share) { (void)share; }
bool vmsg_share_reads(struct msg_share *share) { (void)share; return false; }
void vmsg_share_hide(struct msg_shown *shown) { (void)shown; }
int vmsg_share_show(struct msg_share *share, const void *base, uint64_t bytes, struct msg_shown *shown)
{
    (void)share, (void)base, (void)bytes, (void)shown;
    return ERR_UNSUPPORTED;
}
int vmsg_share_read(struct msg_share *share, int rank, const uint64_t *key, uint64_t offset, void *to, uint64_t bytes)
{
    (void)share, (void)rank, (void)key, (void)offset, (void)to, (void)bytes;
    return ERR_UNSUPPORTED;
}

#endif
