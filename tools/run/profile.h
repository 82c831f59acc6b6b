/* mpiexec --report: what calls of MPI took and sent, gathered from the ranks' pages (profile/page.h) of all hosts.
 *
 *   profile.c        the pages of this host, samples, and what goes to the head
 *   profile_job.c    all that came, as sums of the job
 *   profile_page.c   the page for people: its tables           profile_draw.c   its drawings
 *   profile_trace.c  events for trace viewers */
#pragma once

#include "profile/page.h"
#include "run/bytes.h"

#define PROFILE_SAMPLES 512 /* when there are more, every second one goes, and the gap doubles */

struct profile_sample { /* of all ranks of a host together; only grows */
    uint64_t at_ns, mpi_ns, messages, bytes, card[COUNT_CARDS];
};

struct run_profile {
    int fd;    /* of the pages; -1: none are wanted */
    char *map; /* of them */
    size_t length;
    const struct profile_header *header;
    uint64_t started_ticks, started_ns, real_ns; /* one moment by three clocks; the last: CLOCK_REALTIME */
    struct profile_sample sample[PROFILE_SAMPLES];
    int samples;
    uint64_t every_ns, next_ns;
    char *preload;        /* LD_PRELOAD of the ranks */
    struct run_bytes got; /* the head: parts of all hosts, each behind its length */
};

/* What a host says at its end: a part about itself, with samples behind it, and one for each of its ranks. Times are
 * ns; of an event since 1970. */
struct profile_host {
    int32_t rank; /* -1: it is a host */
    int32_t samples, ranks;
    char host[64];
};
struct profile_rank {
    int32_t rank, pid;
    uint32_t sums, traffics, events;
    bool ended; /* it came to the end of MPI */
    bool no_messages;
    char host[64], summary[400];
    uint64_t ran_ns, mpi_ns, calls, shortest_ns;
    struct profile_traffic sent, size[PROFILE_SIZES];
    struct base_counters counters;
    /* behind it: struct profile_call_sum sums, struct profile_to traffics, struct profile_moment events */
};
struct profile_call_sum {
    uint64_t call, count, ns, most_ns;
};
struct profile_to {
    uint64_t block;
    struct profile_traffic traffic;
};
struct profile_moment {
    uint64_t start_ns, ns, call;
};

struct run_job;
int profile_open(struct run_job *job) MUST_CHECK; /* before the first rank */
void profile_tick(struct run_job *job, uint64_t now_ns);
void profile_heard(struct run_job *job, const char *part, size_t length); /* from a host below */
void profile_finish(struct run_job *job, int status);                     /* sends to the head, or writes the files */
const char *profile_call_name(uint64_t call);
void profile_variable(const struct run_job *job, int rank, char *text, size_t size); /* for its environment */

/* profile_job.c: a job as a reader wants it. */
struct profile_mean {
    uint64_t count, ns, most_ns, least_ns; /* least: of a rank that made the call */
    int most_rank, slowest;                /* of the longest call; of the largest sum */
    uint64_t slowest_ns;
};
struct profile_job {
    const struct run_job *job;
    int status, ranks, hosts;         /* that are here */
    const struct profile_rank **rank; /* of the job's ranks; NULL: it is missing */
    const struct profile_host **host;
    struct profile_mean call[PROFILE_CALLS];
    struct profile_traffic sent, size[PROFILE_SIZES];
    struct profile_traffic *to; /* blocks x blocks: from, to */
    uint32_t blocks;
    uint64_t ran_ns, mpi_ns, calls; /* ran: the longest */
    bool no_messages; /* of some rank none are counted */
    const char *summary;
};
int profile_job_make(struct profile_job *out, const struct run_job *job, int status) MUST_CHECK;
void profile_job_free(struct profile_job *all);
const struct profile_call_sum *profile_sums(const struct profile_rank *rank);
const struct profile_to *profile_traffics(const struct profile_rank *rank);
const struct profile_moment *profile_moments(const struct profile_rank *rank);
const struct profile_sample *profile_samples(const struct profile_host *host);

/* The two kinds of file. */
void profile_page_write(FILE *file, const struct profile_job *all);
void profile_trace_write(FILE *file, const struct profile_job *all);
/* profile_draw.c */
void draw_ranks(FILE *file, const struct profile_job *all, const int *call, int calls);
void draw_map(FILE *file, const struct profile_job *all);
void draw_time(FILE *file, const struct profile_job *all);
void print_escaped(FILE *file, const char *text, size_t most); /* into HTML, or a text of JSON */
const char *print_bytes(double bytes, char text[32]);
const char *print_seconds(double ns, char text[32]);
