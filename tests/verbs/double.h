/* What a test asks of the double beside verbs; found in the library by dlsym. */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct double_counts {
    uint64_t sends, send_doorbells;       /* requests, and calls that posted them */
    uint64_t receives, receive_doorbells;
    uint64_t registered, deregistered;    /* regions */
    uint64_t polls;
    uint64_t connected, levels, classes;  /* queue pairs; sums of their service levels and traffic classes */
    uint64_t global, lids;                /* of these by GIDs; sum of the LIDs of the others' ports */
    uint64_t entries, overruns;           /* of the longest completion queue; completions that found theirs full */
    uint64_t mtus, empties;               /* sum of those of queue pairs; sends that found no receive */
    uint64_t held;                        /* receives of one queue at once, at most */
};
struct double_counts *double_counted(void);

void double_fail(unsigned nth, enum ibv_wc_status status); /* the nth request from now on, from 1, ends so; 0: none */
void double_hold(bool hold); /* completions of sends wait; at the end those of the youngest queue pair come first */
void double_late(bool late); /* requests wait until they are carried out, those to come, too */
/* The pages of a range of this process are others from now on. What was registered before is of no use then: a device would
 * go on with the old ones, the double refuses it. */
void double_changed(const void *address, size_t length);
bool double_good(uint32_t key);       /* of a region; none of its pages has changed */
void double_lockable(uint64_t bytes); /* by all regions together; 0: any number */
void double_gone(void);               /* the devices of this process are removed */
void double_overrun(void);            /* the completion queues of this process are lost, and their queue pairs broken */
void double_port(const char *device, bool up);
