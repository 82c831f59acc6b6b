/* One rank of the job, and how it is started: its environment, its processors, its process. */
#pragma once

#include "boot/handover.h"
#include "boot/line.h"
#include "run/options.h"
#include "run/output.h"
#include <sched.h>
#include <sys/types.h>

enum run_rank_state { RANK_WAITING, RANK_RUNNING, RANK_DEAD };

struct run_rank {
    int rank;
    int host, seat; /* its host, and its number among the ranks there */
    struct run_app *app;
    enum run_rank_state state;
    pid_t pid;
    bool own_group; /* leads a process group; false: shares ours, because it reads our terminal */
    bool aborted;   /* asked for the end of the job */
    int abort_status;
    int status;                /* as of wait, once dead */
    struct run_stream out[2];  /* stdout, stderr; watch.fd -1: both in one pipe, or not ours */
    struct run_watch pmi;
    struct boot_lines *lines;  /* NULL until it says something */
    enum boot_seat_state wire; /* what it said over PMI */
    bool in_barrier;
    bool death_known; /* it is dead, and the job goes on: all have been told */
};

/* environment.c: built into a block of the app and changed for each rank in place. */
struct run_environment {
    char **list;
    char *ours;   /* texts that differ from rank to rank */
    char *search; /* "PATH=...": where the program may be */
    char *sets;   /* the process sets of the job; NULL: none */
    char *front[2]; /* what the loader looks for before what the user says: a library, a folder; NULL: neither */
};
void environment_build(struct run_environment *out, const struct run_job *job, const struct run_app *app);
void environment_for(struct run_environment *environment, const struct run_job *job, int rank, int pmi_fd, int seat_fd);
void environment_free(struct run_environment *environment);

/* bind.c: sets of processors, given to ranks in turn. */
struct run_place { /* of one processor: the number of the unit that it is in, of each kind */
    int in[UNITS];
};
struct run_binding {
    struct run_unit {
        cpu_set_t cpus;
        struct run_place place; /* of its first processor */
        int at, turn;           /* its number among its neighbours; and among those that it is dealt with */
    } *unit;
    int count; /* 0: no binding */
};
int binding_plan(struct run_job *job) MUST_CHECK;
const cpu_set_t *binding_of(const struct run_binding *binding, int rank); /* NULL: as we are */

/* slots.c: the processors that a line of a rank file names, of those in PLACE, which lie by nearness. */
int slots_parse(const char *text, const struct run_place *place, int places, cpu_set_t *out) MUST_CHECK;

/* map.c: what --report-bindings, --display-map and --display-allocation show. */
void map_report(struct run_job *job);

/* child.c */
int child_files_begin(const struct run_job *job) MUST_CHECK; /* empties output files that several ranks share, first */
int child_start(struct run_job *job, struct run_rank *rank, struct run_environment *environment) MUST_CHECK;

/* tree.c: no process is left behind. */
int tree_guard(struct run_job *job) MUST_CHECK; /* subreaper and watchdog; before the first rank */
void tree_guard_again(struct run_job *job);     /* a child has died: if it was the watchdog there is a new one */
void tree_started(int place, pid_t leader);     /* of a group: of a rank, or of the agent for a host */
void tree_signal(struct run_job *job, int signal, bool from_terminal); /* to the ranks of this host */
void tree_clear(struct run_job *job); /* at the end: kills what is left, reaps all */
