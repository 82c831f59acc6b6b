/* Which memory of this process still has the same pages. The kernel tells of those that are unmapped, moved or
 * discarded, by userfaultfd in write-protect mode with nothing protected: it causes no faults. Called by memory.c.
 *
 * munmap of watched memory waits until its event was read, which a thread of ours does under verbs_watch_lock. So under
 * that lock nothing is allocated, freed, registered or deregistered: each of these may unmap memory. */
#pragma once

#include "base/base.h"

struct verbs_watched {
    struct list_node node;
    uint64_t start, end; /* whole pages */
    bool changed;        /* they are not the pages any more that they were when this began */
};

extern struct base_lock verbs_watch_lock; /* guards all of them; a leaf */
extern uint64_t verbs_watch_changes;      /* so many were noted; under it */

bool verbs_watch_possible(void); /* as far as the kernel says */
void verbs_watch_open(void);  /* once for each user, and */
void verbs_watch_close(void); /* when it has stopped to watch all that it watched */

/* From now on changes are noted, if the result is true. Else they cannot be. */
bool verbs_watch_start(struct verbs_watched *watched);

/* Under the lock: */
void verbs_watch_stop(struct verbs_watched *watched);
bool verbs_watch_quiet(void); /* no change is under way that was not noted yet */
