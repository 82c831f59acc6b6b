/* Events for tools: what the engine notes while somebody wants it, in a ring that a reader empties from a place where
 * it may call anything. Where the ring is full an event is counted and dropped.
 *
 * Threads: `lock` is a leaf; VMSG_EVENT costs a load where nobody wants the event. */
#include "msg/event.h"

#define MSG_EVENT_ROOM 256

_Atomic uint32_t vmsg_events_wanted; /* a bit for each kind */

static struct base_lock lock;
static struct msg_event ring[MSG_EVENT_ROOM];
static uint64_t noted, taken, dropped[MSG_EVENTS];

void vmsg_event_note(enum msg_event_kind kind, int rank, uint64_t bytes)
{
    base_lock(&lock);
    if (noted - taken == MSG_EVENT_ROOM)
        dropped[kind]++;
    else
        ring[noted++ % MSG_EVENT_ROOM] = (struct msg_event){kind, rank, bytes, vbase_clock_ns()};
    base_unlock(&lock);
}

bool vmsg_event_take(struct msg_event *event)
{
    base_lock(&lock);
    bool some = noted != taken;
    if (some)
        *event = ring[taken++ % MSG_EVENT_ROOM];
    base_unlock(&lock);
    return some;
}

uint64_t vmsg_events_dropped(enum msg_event_kind kind)
{
    base_lock(&lock);
    uint64_t count = dropped[kind];
    dropped[kind] = 0;
    base_unlock(&lock);
    return count;
}
