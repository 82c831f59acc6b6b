/* Room in the completion queue of an adapter: for what its queue pairs may have under way. Called where one is made and
 * ended, by senders that find no place, and where requests complete.
 *
 * The queue holds the receives and, as an error completes all of them at once, every request that may be under way:
 * adapter->needed, at most adapter->room. A queue pair has VERBS_LEAST places, and one more for what drains it. The
 * others are lent to those that are full: so many that room for the next queue pair stays. */
#include "vi/verbs/verbs.h"

static int room_for(const struct verbs_adapter *adapter, uint32_t sessions)
{
    uint32_t most = sessions * (VERBS_PLACES - VERBS_LEAST), shared = (uint32_t)TUNED(VERBS_SHARED);
    uint64_t all = adapter->receives_most + (uint64_t)sessions * (VERBS_LEAST + 1) + (most < shared ? most : shared);
    return all < (uint64_t)adapter->room_most ? (int)all : adapter->room_most;
}

/* It becomes longer by half, for it is made anew each time. */
static void room_grow(struct verbs_adapter *adapter, int least)
{
    uint32_t sessions = adapter->sessions + 1;
    const int longer[] = {room_for(adapter, sessions + sessions / 2), room_for(adapter, sessions), least};
    for (size_t i = 0; i < ARRAY_LENGTH(longer) && adapter->room < longer[1]; i++)
        if (longer[i] > adapter->room && longer[i] <= adapter->room_most &&
            adapter->home->library->ibv_resize_cq(adapter->cq, longer[i]) == 0)
            adapter->room = longer[i];
}

int verbs_room_make(struct verbs_adapter *adapter)
{
    base_lock(&adapter->lock);
    int needed = adapter->needed + (int)VERBS_LEAST + 1, error = OK;
    room_grow(adapter, needed);
    if (needed > adapter->room) {
        error = vbase_fail(ERR_LIMIT, "%s has a completion queue of %d, enough for %u connections", adapter->name,
                           adapter->room, adapter->sessions);
    } else {
        adapter->needed = needed;
        adapter->sessions++;
    }
    base_unlock(&adapter->lock);
    return error;
}

void verbs_room_give(struct verbs_adapter *adapter, struct verbs_vi *vi)
{
    adapter->needed -= (int)vi->places + 1;
    adapter->sessions--;
    vi->places = VERBS_LEAST; /* of it verbs_places_less gives nothing back */
}

bool verbs_places_more(struct verbs_vi *vi)
{
    struct verbs_adapter *adapter = vi->adapter;
    int more = (int)(VERBS_PLACES - vi->places);
    if (more == 0 || !vi->qp)
        return false;
    base_lock(&adapter->lock);
    int most = room_for(adapter, adapter->sessions);
    int free = (most < adapter->room ? most : adapter->room) - adapter->needed;
    more = more < free ? more : free;
    more = more > 0 ? more : 0;
    adapter->needed += more;
    base_unlock(&adapter->lock);
    vi->places += (uint32_t)more;
    return more > 0;
}

void verbs_places_less(struct verbs_vi *vi)
{
    struct verbs_adapter *adapter = vi->adapter;
    if (vi->places == VERBS_LEAST || vi->posted - vi->over > VERBS_LEAST / 2)
        return;
    base_lock(&adapter->lock);
    adapter->needed -= (int)(vi->places - VERBS_LEAST);
    base_unlock(&adapter->lock);
    vi->places = VERBS_LEAST;
}
