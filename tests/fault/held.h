/* What the fault provider holds back: events on their way up, and transfers on their way down, in one queue per vi.
 *
 * Threads: a vi may be sent on while its nic is polled, so the queues are under nic->lock; it is never held while the
 * sink or the provider below is called. */
#ifndef TESTS_FAULT_HELD_H
#define TESTS_FAULT_HELD_H

#include "fault/fault.h"

enum fault_kind { FAULT_RECEIVED, FAULT_ARRIVED, FAULT_DONE, FAULT_DOWN, FAULT_TRANSFER };
enum fault_way { FAULT_PUT, FAULT_GET };

struct fault_event {
    struct list_node link;
    enum fault_kind kind;
    uint64_t due; /* ns */
    uint64_t header;
    uint32_t immediate;
    int status;
    void *cookie;
    enum fault_way way;
    struct vi_transfer transfer; /* its pieces lie behind */
    uint64_t bytes; /* of a put that arrived */
    size_t length;
    char data[]; /* a frame, or an array of iovec */
};

struct fault_vi {
    struct vi vi;
    struct vi *inner; /* NULL once the link is dropped */
    struct list_node link; /* in nic->vis */
    struct list held;      /* up, by order of arrival */
    struct list transfers; /* down */
    uint64_t frames, puts;
    _Atomic bool drop, down, gone; /* to be dropped; told down; disconnected by the user, freed after the poll */
    uint64_t ghost; /* ns: told down, and then its transfers are done; 0: no. Nothing else passes */
    bool haunted;   /* they are; it ends when they have left */
};

struct fault_nic {
    struct vi_nic nic;
    struct vi_nic *inner;
    struct fault_script script;
    struct base_lock lock;
    struct list vis;
    uint64_t random, frames;
    _Atomic bool polling;
};

static inline struct fault_nic *fault_nic_of(struct vi_nic *nic) { return (struct fault_nic *)(void *)nic; }
static inline struct fault_vi *fault_vi_of(struct vi *vi) { return (struct fault_vi *)(void *)vi; }

/* Once in HOW_OFTEN of 10,000; under the lock. */
bool fault_chance(struct fault_nic *nic, uint32_t how_often);

/* Queues an event of a vi for later; false: no memory. */
bool fault_hold(struct fault_vi *vi, const struct fault_event *event, const void *data);

int fault_hold_transfer(struct fault_vi *vi, const struct vi_transfer *transfer, enum fault_way way);

/* Delivers what is due, at most BUDGET; returns how many. Transfers first. */
int fault_release(struct fault_nic *nic, int budget);

/* The vi after this one, the first after NULL; connecting goes on meanwhile. */
struct fault_vi *fault_next(struct fault_nic *nic, struct fault_vi *vi);

/* The link is lost, but its puts are not: their data is copied. False: it has none. */
bool fault_haunt(struct fault_vi *vi);

/* Everything that is held is lost; transfers are told as failed. */
void fault_lose(struct fault_vi *vi);
bool fault_holds(struct fault_nic *nic);

#endif
