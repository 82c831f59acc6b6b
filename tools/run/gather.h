/* What the ranks of all hosts do, gathered from their launchers: for viaduct jobs and stuck, for a signal that asks,
 * when the time allowed is over, and when nothing moves any more. */
#pragma once

#include "run/loop.h"
#include "run/bytes.h"

#define GATHER_CLIENTS 8

struct run_gather {
    struct run_watch listener;   /* tools of this user ask here; fd -1: there is none */
    bool under_way, for_head, for_report, for_end, for_hint; /* for_end: the time allowed is over */
    int owed;                /* hosts that have not answered */
    uint64_t until_ns;       /* then those count that have */
    struct run_bytes ranks;  /* struct state_rank */
    int client[GATHER_CLIENTS], clients;
};

enum gather_for { GATHER_HEAD, GATHER_REPORT, GATHER_END, GATHER_HINT };

void gather_open(struct run_job *job);
void gather_close(struct run_job *job);
void gather_begin(struct run_job *job, enum gather_for what);
void gather_tick(struct run_job *job, uint64_t now_ns);
void gather_heard(struct run_job *job, const char *ranks, size_t length); /* from a host below */

/* Nothing moves any more: hint.c. */
struct run_hint {
    uint64_t look_ns;      /* the next look; 0: none was planned */
    struct run_bytes seen; /* struct state_rank of all, at the last look, if all slept */
    bool said;
};
struct state_job;
void hint_tick(struct run_job *job, uint64_t now_ns);
void hint_judge(struct run_job *job, const struct state_job *all);

/* The tool's side: asks the launcher with this PID. ERR_NOT_FOUND: it cannot be asked, or is none. */
int gather_ask(pid_t launcher, struct state_job *out) MUST_CHECK;
