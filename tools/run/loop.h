/* The event loop: one thread, one epoll. A watch is a descriptor in it, embedded in whatever it belongs to. */
#pragma once

#include "base/base.h"
#include <sys/epoll.h>

#define SECOND_NS 1000000000ull

struct run_job;

struct run_watch {
    void (*ready)(struct run_job *job, struct run_watch *watch);
    int fd; /* -1: none */
    struct list_node paused;
};

struct run_loop {
    int epoll;
    struct list paused; /* watches that wait for the floor (output.c), or for a slow reader of our output */
    uint64_t wake_ns;   /* the next deadline, see loop_due */
};

int loop_open(struct run_loop *loop) MUST_CHECK;
int loop_add(struct run_loop *loop, struct run_watch *watch, uint32_t events) MUST_CHECK;
void loop_remove(struct run_loop *loop, struct run_watch *watch); /* its descriptor stays open */
void loop_close(struct run_loop *loop, struct run_watch *watch);
/* Not read for a while. loop_resume adds all of them again: one that must still wait pauses anew. */
void loop_pause(struct run_loop *loop, struct run_watch *watch);
void loop_resume(struct run_loop *loop);
/* Is it time for what is to happen at AT_NS (0: never)? Else the loop wakes up for it. */
bool loop_due(struct run_loop *loop, uint64_t at_ns, uint64_t now_ns);
/* Waits for events (until the next deadline, at most an hour) and handles them. */
void loop_step(struct run_loop *loop, struct run_job *job, bool wait);
