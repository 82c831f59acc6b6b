/* Noting events for tools (event.c); msg.h has what readers need. */
#pragma once

#include "msg/engine.h"

void vmsg_event_note(enum msg_event_kind kind, int rank, uint64_t bytes) COLD;
/* relaxed: an event at the moment when somebody begins to want it may be missed */
#define VMSG_EVENT(kind, rank, bytes)                                                                                  \
    do {                                                                                                               \
        if (unlikely(atomic_load_explicit(&vmsg_events_wanted, memory_order_relaxed) >> (kind) & 1))                   \
            vmsg_event_note(kind, rank, bytes);                                                                        \
    } while (0)
