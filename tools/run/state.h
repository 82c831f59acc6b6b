/* What the ranks of this host do, as they wrote it into the node's segment and as the kernel tells. Read by the
 * launcher for its reports, and by viaduct jobs and stuck. Nothing is written, and no rank is asked or slowed down. */
#pragma once

#include "base/base.h"
#include <sys/types.h>

/* PID counts in another namespace than ours, where another process may have it: nothing but its counters is read. */
#define PROCESS_ELSEWHERE 'N'

struct state_rank {
    int rank;
    pid_t pid;
    bool alive;               /* of /proc; a dead one that nobody has reaped is not; one that is not ours to see is */
    char process;             /* R, S, D, T ... as /proc tells; ? where it does not; elsewhere: PROCESS_ELSEWHERE */
    char call[48];            /* the library call entered last, printable; "" : none */
    struct base_waiting wait; /* kind WAITS_NOT: it runs, or polls for what came a moment ago */
    uint64_t cpu_us, memory_kib, threads;
    bool others;              /* it waits, and a thread of it that does not may call the library */
    uint64_t sent;            /* bytes, over network cards */
    uint64_t waits_ms;        /* since wait.since_ns, when it was read: clocks of hosts differ */
    char host[32];            /* "": this one */
    int64_t counters;         /* where they lie in the segment of its host */
};
struct state_job {
    int ranks, count; /* of the whole job; that are below */
    struct state_rank *rank; /* ascending */
};

/* From the segment behind this descriptor; ranks that have not come to MPI_Init are left out. ERR_MISMATCH: it was made
 * by another build. */
int state_read(int segment, struct state_job *job) MUST_CHECK;
void state_free(struct state_job *job);
bool state_is_stopped(pid_t pid);
void state_sort(struct state_job *job); /* by rank */
extern const char state_nothing[]; /* what is said of a job without ranks */

/* The rank in the communicator of RANK, which is of the job; -1: it is none, or not known. */
int state_member(const struct base_members *members, int rank);
/* "MPI_COMM_WORLD", "communicator 5": of a context's id. */
const char *state_communicator(uint32_t context, char *room, size_t size);
/* What one rank does, in words: "waits 12.3 s in MPI_Recv for a message from rank 3 with tag 7 on MPI_COMM_WORLD". */
void state_describe(const struct state_rank *rank, char *text, size_t size);

/* Prints a line each; stuck.c: who waits for whom. EARLIER is the same some time ago, NULL: only what is noted counts.
 * The number of things found. */
typedef void state_line(void *to, const char *text);
int stuck_explain(const struct state_job *job, const struct state_job *earlier, state_line *line, void *to);
/* A line for each rank; those that do the same share one. */
void state_list(const struct state_job *job, state_line *line, void *to);
