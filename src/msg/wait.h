/* The one wait. */
#ifndef MSG_WAIT_H
#define MSG_WAIT_H

#include "msg/request.h"

/* What threads of this process sleep on, and how they are woken: written by wait.c, read by complete.c. */
struct msg_waiters {
    _Atomic uint32_t changes;         /* parked threads sleep on it */
    _Atomic uint32_t parked;          /* how many do */
    _Atomic uint32_t curious;         /* how many sleep, parked or watching, for more than one request */
    _Atomic(_Atomic uint32_t *) bell; /* what the watcher sleeps on, NULL while awake or on descriptors */
    _Atomic bool listening;           /* the watcher sleeps on descriptors, and on the eventfd */
    int ear;                          /* an eventfd, -1: no nic asks for descriptors */
};
extern struct msg_waiters vmsg_waiters;

extern uint32_t vmsg_gap;                  /* pauses between two polls */

/* Between two polls. */
static inline void msg_wait_gap(void)
{
    for (uint32_t i = 0; i < vmsg_gap; i++)
        cpu_pause();
}

int vmsg_wait_start(void) MUST_CHECK;     /* measures the gap, decides how long to spin */
int vmsg_wait_fence(void) MUST_CHECK;     /* the job's fence; progress is made meanwhile */
int vmsg_wait_networked(void) MUST_CHECK; /* from now on sleeps are on descriptors */
void vmsg_wait_stop(void);
/* A round for a thread that waits for it; NULL: for anything. */
bool vmsg_progress_for(const struct msg_request *request);

/* Waits until the request is done; returns its error. If it is done already, one load is enough. */
static inline int msg_wait(struct msg_request *request)
{
    if (!vmsg_request_done(request))
        (void)vmsg_progress_for(request);
    return likely(vmsg_request_done(request)) ? request->result.error : vmsg_wait_first(request, NULL);
}

#endif
