/* The launcher, `viaduct run`: what its files share.
 *
 *   options.c      the command line to a struct run_options      child.c    one rank: descriptors, fork, exec
 *   environment.c  what a rank finds in its environment          output.c   lines of ranks to our stdout and stderr
 *   hosts.c        host names and host files                     pmi.c      the PMI-1 server
 *   bind.c         processors of each rank                       tree.c     nobody is left behind, however we end
 *   mpir.c         the table for debuggers                       report.c   who died of what, and the exit status
 *   run.c          the life of a job: prepare, start, ...       flags.c    the table of flags, for options.c
 *   remote.c       hosts that we call                         helper.c   our own side, when we are called
 *   agent.c        the process that leads to a host           frame.c    what passes over it
 *
 * One thread, one epoll. The launcher stays the parent of all ranks; the dead stay unreaped until the job ends, so that
 * no pid is used twice while ranks address each other by pid. */
#ifndef TOOLS_RUN_RUN_H
#define TOOLS_RUN_RUN_H

#include "boot/handover.h"
#include "boot/kvs.h"
#include "boot/line.h"
#include "vi/tcp/door.h"
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* ---- what was asked for (options.c) ---- */

struct run_list { /* a growing list of texts; the texts belong to the command line or live for ever */
    const char **item;
    int count;
};

struct run_offer {
    int host, slots;
};

struct run_app { /* what stands between two colons */
    int count;   /* ranks; 0: not said */
    char **argv; /* ends with NULL */
    const char *directory, *path;
    struct run_list set;  /* "NAME=value", or "NAME": as it is here */
    struct run_list only; /* with `bare`: names passed on */
    bool bare;            /* nothing of our environment is passed on but `only` */
    struct run_offer *offer; /* hosts named in this part */
    int offers;
};

#define RUN_LABEL "[%r] "

struct run_options {
    struct run_app *app;
    int apps;
    struct run_app common; /* -genv and its kin: for all parts */
    struct run_host *host; /* all that were named */
    int hosts;
    bool told;             /* we are a helper: the head has said who goes where */
    int fanout, patience;  /* hosts called by one; seconds for each; 0: not said */
    const char *agent;     /* what reaches other hosts; NULL: ssh */
    int per_node;          /* -ppn; 0: not said */
    int stdin_rank;        /* who reads our stdin; -1: nobody */
    bool timestamp, merge;
    const char *label; /* what each line begins with, as a pattern; NULL: nothing */
    const char *pattern[2], *out_directory; /* files for stdout and stderr */
    const char *bind_to, *map_by, *cpu_list;
    bool report_bindings, print_exitcodes, keep_going;
    uint64_t timeout_ns; /* 0: none */
    int universe;        /* -usize; 0: not said */
};

/* OK; 1: nothing to do, the answer was printed; ERR_ARGUMENT. */
int options_read(struct run_options *options, int argc, char **argv) MUST_CHECK;

/* hosts.c: how many ranks the hosts of a part offer; which rank goes where. */
int hosts_slots(const struct run_options *options, const struct run_app *app);
struct run_job;
void hosts_place(struct run_job *job);

/* ---- the job ---- */

struct run_watch { /* a descriptor in the epoll: embedded in whatever it belongs to */
    void (*ready)(struct run_job *job, struct run_watch *watch);
    int fd; /* -1: none */
    struct list_node paused; /* among those of the job that are not watched for a while */
};

struct run_bytes { /* a growing buffer */
    char *data;
    size_t length, capacity;
};

struct run_sink { /* where lines go: our stdout or our stderr */
    struct run_watch watch;
    bool never_blocks, watched, broken;
    int lost;   /* errno of what made it broken, 0: nothing, or a reader who went away */
    struct run_bytes bytes; /* they could not be written yet */
    struct run_stream *open_line; /* wrote the last piece and did not end it: it has the floor for a while */
    uint64_t open_ns;             /* since when */
};

struct run_stream { /* a pipe that a rank writes to */
    struct run_watch watch;
    struct run_sink *sink;
    int rank;
    int which;   /* 0 stdout, 1 stderr */
    bool fresh;  /* the next byte begins a line */
    struct run_bytes line; /* the unfinished one */
    uint64_t since_ns; /* when its last byte came */
};

/* Another host, as its caller sees it: an agent (ssh) whose pipes lead to a helper. See docs/wire.md. */
enum run_host_state { HOST_NOT_CALLED, HOST_CALLED, HOST_RESTING, HOST_UP, HOST_DONE }; /* RESTING: to be called again */
struct run_host {
    const char *name;
    bool here;
    int number, ranks;
    int via;             /* the host that we call to reach it; itself: called by us */
    int *charge, charges; /* what it is to call, and those below */
    enum run_host_state state;
    pid_t agent;
    struct run_watch in, complaints; /* the agent's stdout and stderr */
    struct run_sink wire;            /* its stdin */
    struct run_stream out[2];        /* lines of its ranks: stdout, stderr */
    struct run_bytes got;            /* the frame that is not whole yet */
    char said[256];                  /* the last line of the agent's own */
    uint64_t called_ns, look_ns, again_ns;
    bool in_fence;
};

enum run_state { RANK_WAITING, RANK_RUNNING, RANK_DEAD };

struct run_rank {
    int rank;
    int host, seat; /* which host, and its number among the ranks there */
    struct run_app *app;
    enum run_state state;
    pid_t pid;
    bool own_group; /* leads a process group; false: shares ours, because it reads our terminal */
    bool aborted;   /* asked for the end of the job */
    int abort_status;
    int status;                 /* as of wait, once dead */
    struct run_stream out[2]; /* stdout, stderr; watch.fd -1: both in one pipe, or not ours */
    struct run_watch pmi;
    struct boot_lines *lines; /* NULL until it says something */
    enum boot_seat_state wire; /* what it said over PMI */
    bool in_barrier;
    bool mourned; /* it is dead, and the job goes on: all have been told */
};

struct run_binding { /* sets of processors, given to ranks in turn */
    struct run_unit {
        cpu_set_t cpus;
        int group, turn; /* the socket or numa node that it is of, and which of those there */
    } *unit;
    int count; /* 0: no binding */
};

enum run_ending { ENDING_NO, ENDING_TERM, ENDING_KILL };

struct run_job {
    struct run_options options;
    struct run_binding binding;
    struct run_rank *rank;
    int size, local, running; /* ranks of the job, of this host, alive on this host */
    int here;                 /* our number among the hosts; -1: no rank is here */
    int away;                 /* hosts that are called or up */
    int *charge, charges;     /* hosts that we must see called, by us or by those whom we call */
    int argc;
    char **argv;              /* our command line, for helpers */
    uint64_t alive_ns;        /* when we say again that we are alive */
    int head_silent;          /* a helper: how often we did and heard nothing */
    bool head_rests;          /* it said that it is stopped */
    bool started;             /* all ranks of this host */
    int deaths;               /* of the job, that do not end it: no fence is waited for any more */
    bool fence_told;          /* a helper: all below are in the fence, and the head knows */
    struct run_watch head;    /* we are a helper: the wire to the head; fd -1: we are the head */
    struct run_watch input;   /* the head: our stdin, for a rank elsewhere */
    struct run_sink rank_input; /* a helper: to the rank that reads it */
    struct run_bytes heard;   /* a helper: of the head */
    struct run_bytes puts;    /* what was put since the last fence */
    struct run_order *told;   /* by the head; NULL: we are the head */
    char **told_hosts;        /* their names */
    struct boot_handover_map handover;
    int node_fd;
    struct tcp_door *door; /* one port for all ranks of this host; NULL: nobody calls them, or they have their own */
    struct run_watch at_door;
    int epoll;
    struct list paused;       /* watches that wait for the floor, or for a slow reader of our output */
    uint64_t wake_ns;         /* when act_on_time is to look next, as far as it knows */
    struct run_watch signals;
    sigset_t old_mask;
    bool pipe_ignored;       /* SIGPIPE was ignored when we came */
    struct run_sink sink[2]; /* stdout, stderr */
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

/* environment.c: the environment of one rank. Built into a block of the app and changed for each rank in place. */
struct run_environment {
    char **list;
    char *ours;   /* texts that differ from rank to rank */
    char *search; /* "PATH=...": where the program may be */
};
void environment_build(struct run_environment *out, const struct run_job *job, const struct run_app *app);
void environment_for(struct run_environment *environment, const struct run_job *job, int rank, int pmi_fd, int door_fd);
void environment_free(struct run_environment *environment);

/* child.c */
int child_start(struct run_job *job, struct run_rank *rank, struct run_environment *environment) MUST_CHECK;

/* bind.c */
int binding_plan(struct run_job *job) MUST_CHECK;
const cpu_set_t *binding_of(const struct run_binding *binding, int rank); /* NULL: as we are */
void binding_report(struct run_job *job);

/* output.c */
int output_open(struct run_job *job) MUST_CHECK;
int output_stream(struct run_job *job, struct run_stream *stream, int rank, int fd, int which) MUST_CHECK;
void output_drain(struct run_job *job, struct run_stream *stream);                /* whatever is there now */
void output_line(struct run_job *job, const char *format, ...) PRINTF_LIKE(2, 3); /* our own word, to stderr */
void output_flush_quiet(struct run_job *job, uint64_t now_ns); /* unfinished lines that wait long enough */
bool output_finish(struct run_job *job) MUST_CHECK;            /* everything out, as far as somebody reads; false: lost */

void output_push(struct run_job *job, struct run_sink *sink, const char *data, size_t length); /* and pumps it */
void output_take(struct run_job *job, struct run_stream *stream, const char *data, size_t length); /* of a host */
void output_end(struct run_job *job, struct run_stream *stream);                                   /* of a host */
void output_wire(struct run_sink *sink, int fd); /* a pipe or socket to another process of ours */
bool output_behind(const struct run_job *job);

/* frame.c. Numbers and bodies: docs/wire.md. */
enum run_frame {
    FRAME_JOB = 1, FRAME_SIGNAL, FRAME_FENCE, FRAME_STDIN, FRAME_OUT, FRAME_ERR, FRAME_END, FRAME_MORE, FRAME_DONE,
    FRAME_MISSED, FRAME_ALIVE, FRAME_DEATH
};
struct run_frame_header {
    uint32_t kind, length;
};
/* The body of JOB. Behind its numbers lie texts: folder, job id, name of the key-value space, variables, words, hosts. */
struct run_order {
    char build[16]; /* another one refuses */
    uint8_t secret[SECRET_SIZE];
    int32_t apps, size, hosts, here, charges, variables, words; /* how many there are; HERE: which host is called */
    int32_t number[]; /* ranks of each program; host of each rank; each host that it must see called */
};
#define HELPER_HELLO "viaduct-helper\n"
#define FRAME_LAST  FRAME_DEATH
#define FRAME_MOST   (1u << 26)
/* Memory without which there is no job: zeros; one more item of SIZE bytes behind the first COUNT. Never NULL. */
void *run_zeros(size_t count, size_t size);
void *run_grown(void *list, int count, size_t size);
void bytes_add(struct run_bytes *bytes, const void *data, size_t length);
void bytes_drop(struct run_bytes *bytes, size_t length);
/* One read into BYTES. False: end. */
bool bytes_read(struct run_bytes *bytes, int fd) MUST_CHECK;
/* The whole frame at the front of BYTES, or NULL; *broken: what stands there is none. */
const char *frame_next(const struct run_bytes *bytes, struct run_frame_header *header, bool *broken);
void frame_send(struct run_job *job, struct run_sink *sink, enum run_frame kind, const void *body, size_t length);
void frame_send_number(struct run_job *job, struct run_sink *sink, enum run_frame kind, int number);
int frame_number(const struct run_frame_header *header, const char *body);

/* remote.c, agent.c, helper.c */
int agent_start(struct run_job *job, struct run_host *host) MUST_CHECK; /* fills agent, wire, in.fd, complaints.fd */
void remote_start(struct run_job *job);
bool remote_input(struct run_job *job, const char *data, size_t length); /* for a rank elsewhere; false: there is none */
void remote_more(struct run_job *job);   /* it has taken that */
void remote_forget(struct run_job *job); /* hangs up on all */
void remote_signal(struct run_job *job, int number);
void remote_tick(struct run_job *job, uint64_t now_ns);
void remote_fence(struct run_job *job); /* have all arrived? */
void remote_release(struct run_job *job, const char *puts, size_t length);
/* --enable-recovery: what a DEATH says. What is news goes to our ranks and to all launchers around us. */
void remote_death(struct run_job *job, const int *said, size_t count);
int helper_listen(struct run_job *job) MUST_CHECK;
void helper_orphaned(struct run_job *job); /* its head is gone: the end */
int run_job(struct run_job *job, int argc, char **argv) MUST_CHECK; /* the whole life of a job; its exit status */
void run_signal(struct run_job *job, int number); /* a helper hears a signal from the head */

/* pmi.c */
void pmi_release(struct run_job *job, const char *puts, size_t length);
void pmi_ready(struct run_job *job, struct run_watch *watch);
void pmi_drain(struct run_job *job, struct run_rank *rank); /* what a dead rank still said */
void pmi_close(struct run_job *job);

/* tree.c */
int tree_guard(struct run_job *job) MUST_CHECK; /* subreaper and watchdog; before the first rank */
void tree_started(int place, pid_t leader); /* of a group: of a rank, or of the agent for a host */
void tree_signal(struct run_job *job, int signal, bool from_terminal);
void tree_clear(struct run_job *job); /* at the end: kills what is left, reaps all */

/* report.c */
void report_death(struct run_job *job, struct run_rank *rank);
void report_deserters(struct run_job *job);
void report_timeout(struct run_job *job);
void report_all(struct run_job *job);

/* run.c */
void run_failed(struct run_job *job, int exit_status);                 /* the first status stays */
void run_end(struct run_job *job, int exit_status, uint64_t grace_ns); /* the same, and the job must end */
/* Is it time for what is to happen at AT_NS (0: never)? We look again when it is, and at once where it is: it may bring more. */
bool run_due(struct run_job *job, uint64_t at_ns, uint64_t now_ns);
int run_watch_add(struct run_job *job, struct run_watch *watch, uint32_t events) MUST_CHECK;
void run_watch_close(struct run_job *job, struct run_watch *watch);
/* Not read for a while; all of them are then tried again: who must still wait pauses anew. */
void run_watch_pause(struct run_job *job, struct run_watch *watch);
void run_watch_resume(struct run_job *job);

/* mpir.c */
void mpir_publish(struct run_job *job);

#endif
