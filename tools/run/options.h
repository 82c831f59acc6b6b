/* What the command line asks for: programs, hosts, how to start and to print. */
#pragma once

#include "base/base.h"
#include "run/bytes.h"

struct run_job;
struct run_host;

struct run_list { /* a growing list of texts; the texts belong to the command line or live for ever */
    const char **item;
    int count;
};

struct run_offer {
    int host, slots;
};

struct run_app { /* what stands between two colons */
    int count;   /* ranks; 0: not given */
    char **argv; /* ends with NULL */
    const char *directory, *path, *process_set;
    struct run_list set;     /* "NAME=value", or "NAME": as it is here */
    struct run_list only;    /* with `bare`: names passed on */
    bool bare;               /* nothing of our environment is passed on but `only` */
    struct run_offer *offer; /* hosts named in this part */
    int offers;
};

/* By which units of a machine ranks are bound, spread and numbered. */
enum run_by {
    BY_NOTHING, /* not said */
    BY_HWTHREAD, BY_CORE, BY_L2, BY_L3, BY_NUMA, BY_SOCKET, BY_BOARD, /* as enum base_unit, from 1 */
    BY_SLOT, BY_NODE, BY_NONE
};
_Static_assert(BY_BOARD == UNIT_BOARD + 1, "in the order of the units");

struct run_placing {
    enum run_by bind, map, rank;
    int width;    /* units for each rank; 0: one */
    bool threads; /* a processing element is a hardware thread, else a core */
    const char *cpu_list;
};

struct run_line { /* of a rank file */
    const char *host, *slots;
};

#define FILE_END   '\036'
#define RUN_LABEL  "[%r] "
#define RANKS_MOST 1000000

struct run_options {
    struct run_app *app;
    int apps;
    struct run_app common; /* -genv and the like: for all parts */
    struct run_host *host; /* all that were named */
    int hosts;
    bool told;             /* we are a helper: the head has decided which rank goes where */
    struct run_bytes files; /* the text of each file of parts, and FILE_END, for helpers */
    const char *told_files; /* of a helper: those that it has not read yet */
    int fanout, patience;  /* hosts called by one launcher; seconds for each; 0: not given */
    const char *agent;     /* the command that reaches other hosts; NULL: ssh */
    const char *batch;     /* whose hosts count where none is named, or "none"; NULL: any's */
    int per_node;          /* -ppn; 0: not given */
    int stdin_rank;        /* the rank that reads our stdin; -1: none */
    bool timestamp, merge;
    const char *label; /* what each line begins with, as a pattern; NULL: nothing */
    const char *pattern[2], *out_directory; /* files for stdout and stderr */
    struct run_placing placing;
    char *rankfile;        /* its text; NULL: none */
    struct run_line *line; /* of each rank */
    int lines;
    bool slots_limit, elsewhere; /* no more ranks than slots; none on this host */
    bool show_map, show_hosts, report_bindings, print_exitcodes, keep_going, stack_traces;
    bool abi_none;       /* programs run with the MPI that they find by themselves */
    uint64_t timeout_ns; /* 0: none */
    int universe;        /* -usize; 0: not given */
    const char *report_page, *report_trace; /* files; NULL: not wanted */
};

/* OK; 1: nothing to do, the answer was printed; ERR_ARGUMENT. */
int options_read(struct run_options *options, int argc, char **argv) MUST_CHECK;

/* hosts.c: how many ranks the hosts of a part offer; which rank goes where. */
int hosts_slots(const struct run_options *options, const struct run_app *app);
int hosts_offer(const struct run_app *app, int host); /* the slots that a part names there */
int hosts_place(struct run_job *job) MUST_CHECK;

/* rankfile.c: the lines in TEXT, which stays. */
int rankfile_parse(struct run_options *options, char *text) MUST_CHECK;
