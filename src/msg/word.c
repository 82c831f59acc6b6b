/* Requests for a word: what other ranks store in shared memory, which no lane brings.
 *
 * Each round of progress asks all of them; a thread that waits for one asks that one between two looks at the lanes.
 * The rank that stores wakes those that sleep, and a rank that is about to sleep makes a round after the nics are
 * armed, so no store is missed. The thread that takes a request out of the list, under leaf, completes it. */
#include "msg/match.h"
#include "msg/wait.h"

void vmsg_word_await(struct msg_context *context, struct msg_request *request, bool (*ready)(void *owner))
{
    struct msg_engine *engine = &vmsg_engine;
    request->kind = MSG_WORD;
    request->mode = MSG_STANDARD;
    request->awaited = request->waited = false;
    request->context = context;
    request->peer = NULL;
    request->ready = ready;
    request->extra = NULL;
    msg_phase_set(request, MSG_PHASE_POSTED);
    atomic_store_explicit(&request->state, MSG_PENDING, memory_order_relaxed);
    msg_lock(&engine->leaf);
    msg_chore(&engine->words, &request->link);
    msg_unlock(&engine->leaf);
    if (unlikely(atomic_load_explicit(&engine->deaths, memory_order_relaxed)))
        msg_death_again();
}

bool vmsg_word_take(struct msg_request *request)
{
    msg_lock(&vmsg_engine.leaf);
    bool posted = msg_phase(request) == MSG_PHASE_POSTED;
    if (posted) {
        msg_chore_remove(&request->link);
        msg_phase_set(request, MSG_PHASE_MOVING);
    }
    msg_unlock(&vmsg_engine.leaf);
    return posted;
}

bool vmsg_word_look(struct msg_request *request)
{
    if (msg_phase(request) != MSG_PHASE_POSTED || !request->ready(request->owner) || !vmsg_word_take(request))
        return false;
    msg_complete(request, OK);
    return true;
}

/* Those that NEEDED picks end with ERROR. Under progress, so that none comes back while the list is walked. */
static bool words_complete(bool (*needed)(struct msg_request *request, int world), int world, int error)
{
    struct list over;
    list_init(&over);
    msg_lock(&vmsg_engine.leaf);
    list_for_each(node, &vmsg_engine.words) {
        struct msg_request *request = container_of(node, struct msg_request, link);
        if (!needed(request, world))
            continue;
        msg_chore_remove(node);
        msg_phase_set(request, MSG_PHASE_MOVING);
        list_append(&over, node);
    }
    msg_unlock(&vmsg_engine.leaf);
    bool some = !list_empty(&over);
    list_take_each(node, &over)
        msg_complete(container_of(node, struct msg_request, link), error);
    return some;
}

static bool is_there(struct msg_request *request, int world)
{
    (void)world;
    return request->ready(request->owner);
}

static bool never_comes(struct msg_request *request, int world)
{
    return vmsg_context_rank_of(request->context, world) >= 0;
}

bool vmsg_words_look(void) { return words_complete(is_there, 0, OK); }

void vmsg_words_end(int world, int error) { words_complete(never_comes, world, error); }
