/* What the command line asks for: programs, hosts, how to start and to print. */
#pragma once

#include "base/base.h"

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

#define RUN_LABEL "[%r] "

struct run_options {
    struct run_app *app;
    int apps;
    struct run_app common; /* -genv and the like: for all parts */
    struct run_host *host; /* all that were named */
    int hosts;
    bool told;             /* we are a helper: the head has decided which rank goes where */
    int fanout, patience;  /* hosts called by one launcher; seconds for each; 0: not given */
    const char *agent;     /* the command that reaches other hosts; NULL: ssh */
    int per_node;          /* -ppn; 0: not given */
    int stdin_rank;        /* the rank that reads our stdin; -1: none */
    bool timestamp, merge;
    const char *label; /* what each line begins with, as a pattern; NULL: nothing */
    const char *pattern[2], *out_directory; /* files for stdout and stderr */
    const char *bind_to, *map_by, *cpu_list;
    bool report_bindings, print_exitcodes, keep_going;
    uint64_t timeout_ns; /* 0: none */
    int universe;        /* -usize; 0: not given */
};

/* OK; 1: nothing to do, the answer was printed; ERR_ARGUMENT. */
int options_read(struct run_options *options, int argc, char **argv) MUST_CHECK;

/* hosts.c: how many ranks the hosts of a part offer; which rank goes where. */
int hosts_slots(const struct run_options *options, const struct run_app *app);
void hosts_place(struct run_job *job);
