/* The job: what all files of the launcher, `viaduct run`, share.
 *
 *   options.c      the command line to a struct run_options      bytes.c   growing buffers
 *   flags.c        its table of flags                            loop.c    one epoll
 *   placing.c      its words of places; rankfile.c, slots.c      map.c     shows what goes where
 *   batch.c        the hosts of a batch job
 *   hosts.c        host names and host files                     sink.c    writing to slow readers
 *   environment.c  what a rank finds in its environment          output.c  lines of ranks to our stdout and stderr
 *   bind.c         processors of each rank                       frame.c   frames between launchers
 *   child.c        one rank: descriptors, fork, exec             agent.c   the process that leads to a host
 *   tree.c         no process is left behind                     remote.c  hosts that we call
 *   pmi.c          the PMI-1 server                              head.c    the launcher that called us
 *   end.c          the end of the job: status and signals        input.c   stdin for a rank elsewhere
 *   report.c       what each rank died of                        fence.c   fences of all hosts
 *   mpir.c         the table for debuggers                       death.c   deaths that do not end the job
 *   state.c        what the ranks of this host do                gather.c  the same of all hosts
 *   stuck.c        who waits for whom, and why                stacks.c  native stacks, by gdb
 *   hint.c         a job in which nothing moves says so
 *   fits.c         how many ranks this host can have             preload.c finds libraries of ours
 *   profile*.c     what --report writes
 *   run.c          the life of a job: prepare, start, serve      helper.c  the verb that another host's launcher starts
 *
 * One thread. The launcher stays the parent of all ranks of its host; the dead stay unreaped until the job ends, so
 * that no pid is used twice while ranks address each other by pid. */
#pragma once

#include "boot/handover.h"
#include "boot/kvs.h"
#include "run/gather.h"
#include "run/host.h"
#include "run/options.h"
#include "run/profile.h"
#include "run/rank.h"
#include "run/stacks.h"
#include "vi/call/listener.h"
#include <signal.h>

enum run_ending { ENDING_NO, ENDING_TERM, ENDING_KILL };

struct run_job {
    struct run_options options;
    struct run_binding binding;
    struct run_rank *rank;
    int size, local, running; /* ranks of the job, of this host, alive on this host */
    int here;                 /* our number among the hosts; -1: no rank is here */
    int away;                 /* hosts that are called or up */
    int *charge, charges;     /* hosts that we must see called, by us or by those that we call */
    int argc;
    char **argv;              /* our command line, for helpers */
    uint64_t alive_ns;        /* when we next report that we are alive */
    int head_silent;          /* a helper: how often we did and heard nothing */
    bool head_rests;          /* the head is stopped, as it told us */
    bool started;             /* all ranks of this host */
    int ended;                /* ranks of this host that ended well and will come to no fence any more */
    int deaths;               /* of the job, that do not end it: no fence is waited for any more */
    bool fence_told;          /* a helper: all below are in the fence, and the head knows */
    struct run_watch head;    /* we are a helper: the wire to the head; fd -1: we are the head */
    struct run_watch input;   /* the head: our stdin, for a rank elsewhere */
    struct run_sink rank_input; /* a helper: to the rank that reads it */
    struct run_bytes heard;   /* a helper: of the head */
    struct run_bytes puts;    /* what was put since the last fence */
    struct run_order *told;   /* by the head; NULL: we are the head */
    char **told_hosts;        /* their names */
    char *told_rankfile;      /* the text of the rank file */
    struct boot_handover_map handover;
    int node_fd;
    struct call_listener *listener; /* one port for all ranks of this host; NULL: not needed, or each has its own */
    struct run_watch at_listener;
    struct run_loop loop;
    struct run_watch signals;
    struct run_gather gather;
    struct run_hint hint;
    struct run_stacks stacks;
    struct run_profile profile;
    sigset_t old_mask;
    bool pipe_ignored;       /* SIGPIPE was ignored when we were started */
    struct run_sink sink[2]; /* stdout, stderr; a helper: the wire to the head, none */
    bool direct_output;      /* too few descriptors: ranks write to our stdout and stderr themselves */
    bool one_sink;           /* our stdout and stderr are one and the same */

    /* PMI */
    struct boot_kvs kvs, names;
    char space[64];
    int in_barrier;

    /* the end */
    enum run_ending ending;
    int exit_status;
    bool failed;          /* exit_status is decided */
    int asked_signal;     /* the signal that asks for the end, 0: none */
    uint64_t deadline_ns; /* of the whole job */
    uint64_t reader_ns;   /* until then the end waits for a reader of the output; 0: for ever */
    uint64_t kill_ns;     /* when TERM becomes KILL */
    uint64_t line_ns;     /* when an unfinished line is shown */
    uint64_t look_ns, looked_ns; /* when all ranks are looked at for the dead: next, 0: no need; last */
    uint64_t oom_kills;   /* of our cgroup, before we began */
    int watchdog;         /* its pid */
    bool silent;          /* a rank ended well without ever joining */
    uint64_t old_limit;   /* of open files, which the ranks get back; 0: not changed */
    char id[160];         /* VIADUCT_JOB_ID */
    char host[256];
};

int run_job(struct run_job *job, int argc, char **argv) MUST_CHECK; /* the whole life of a job; its exit status */

/* end.c */
void end_status(struct run_job *job, int exit_status);             /* the job fails; the first status stays */
#define STATUS_SIGNAL 128 /* and the number: the status of a job that a signal ended */
#define STATUS_TIMEOUT 124
void end_begin(struct run_job *job, int exit_status, uint64_t grace_ns); /* the same, and the job must end */
void end_at_once(struct run_job *job);
void end_timeout(struct run_job *job); /* the time allowed is over */
void end_asked(struct run_job *job, int number, bool from_terminal); /* by a signal; the second time at once */
void end_signal(struct run_job *job, int number, bool from_terminal); /* to the ranks of all hosts */
void end_signal_from_head(struct run_job *job, int number);

/* pmi.c. What a rank said that concerns others: the caller acts on it and calls again, until QUIET (it said nothing
 * more) or MORE (it may have said more, which an event tells). */
enum pmi_event { PMI_QUIET, PMI_MORE, PMI_BARRIER, PMI_ABORT };
enum pmi_event pmi_serve(struct run_job *job, struct run_rank *rank) MUST_CHECK;
void pmi_release(struct run_job *job, const char *puts, size_t length); /* the fence is over */
void pmi_hang_up(struct run_job *job, struct run_rank *rank);
void pmi_close(struct run_job *job);

/* report.c */
void report_death(struct run_job *job, struct run_rank *rank);
void report_deserters(struct run_job *job);
void report_all(struct run_job *job);

/* fits.c */
int ranks_fit(struct run_job *job) MUST_CHECK; /* on this host */

/* mpir.c */
void mpir_publish(struct run_job *job);
