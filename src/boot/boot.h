/* boot: who am I, who are the others, and who started us.
 *
 * Four ways in: our own launcher (PMI-1 plus a node segment on an inherited descriptor), a foreign launcher that speaks
 * PMI (hydra, Slurm's pmi2 plugin, flux) or PMIx (Open MPI's mpirun, prterun, Slurm's pmix plugin; libpmix is loaded
 * then), solo (no launcher: a job of one). A launcher whose variables are set but whose protocol is missing gives
 * ERR_LAUNCHER with one sentence that names both sides; it never becomes N jobs of one rank (unless
 * VIADUCT_FOREIGN=yes).
 *
 * One job per process. Not thread-safe: used by one thread at start and end, except vboot_abort. Blocking calls wait
 * for the launcher; if it vanishes they return ERR_LAUNCHER. */
#pragma once

#include "base/base.h"

/* Named sets of ranks, told by our launcher: "name=first-last,first-last;name=..." */
#define BOOT_SETS_VARIABLE "VIADUCT_JOB_SETS"

enum boot_kind { BOOT_SOLO, BOOT_PMI, BOOT_PMIX, BOOT_VIADUCT };

struct boot_job {
    enum boot_kind kind;
    int rank, size;
    int appnum;        /* -1 unknown */
    int universe;      /* -1 unknown */
    int local_index;   /* this rank among those of its node, in rank order */
    int local_count;
    int *local_ranks;  /* local_count ranks of this node, ascending */
    int node_fd; /* the node's segment, made by our launcher; -1: not made yet. Then the room that starts the engine
                  * makes one at local_index 0, hands it round by vboot_share_descriptor and stores it here. Closed by
                  * vboot_close. */
    int seat_fd; /* this rank's seat at its node's listener (vi_setup.seat_fd), -1: none. Closed by vboot_close. */
    bool direct_children; /* this process is a direct child of our launcher, which leaves the dead unreaped until the
                           * job ends, and no rank was seen that is not: pids of the node's ranks are not reused */
    bool survives;     /* a death does not end the job: see vboot_deaths */
    int launcher_pid;  /* our launcher's, an ancestor of every rank of the node; 0 unknown */
    uint8_t secret[SECRET_SIZE]; /* of the job, the same at every rank */
    char host[256];    /* for messages */
};

/* Finds the launcher, learns rank and size, meets the ranks of the own node. Owns descriptors and memory until
 * close. */
VEXPORT int vboot_open(struct boot_job **job) MUST_CHECK;
VEXPORT void vboot_close(struct boot_job *job); /* says goodbye to the launcher; frees */

/* The launcher's key-value space. Keys and values are printable, without space or ';', keys without '='; what was put
 * is seen by others after the next fence. Get asks for what RANK put, and copies at most size-1 bytes and a NUL;
 * ERR_NOT_FOUND. Solo jobs have them in memory. */
VEXPORT int vboot_put(struct boot_job *job, const char *key, const char *value) MUST_CHECK;
VEXPORT int vboot_get(struct boot_job *job, int rank, const char *key, char *value, size_t size) MUST_CHECK;
/* The same for a text of any length, which has no '!': under several keys, in parts that every launcher takes. */
VEXPORT int vboot_put_text(struct boot_job *job, const char *key, const char *text) MUST_CHECK;
VEXPORT int vboot_get_text(struct boot_job *job, int rank, const char *key, char *text, size_t size) MUST_CHECK;
VEXPORT int vboot_fence(struct boot_job *job) MUST_CHECK; /* a barrier of all ranks */

/* The same in parts, for a caller that has other things to do until all ranks are there. Between the parts, each of
 * these that is there tells that it is worth asking whether the fence is over. */
struct boot_fence {
    _Atomic uint32_t *word; /* no longer has VALUE; its writer wakes the futex. NULL: not there */
    uint32_t value;
    int descriptor;         /* can be read; -1: not there */
    void (*changed)(void);  /* is called if CALLS, perhaps by another thread. Set before the begin */
    bool calls;
    bool over;              /* private, as is the rest */
    int error;
};
VEXPORT int vboot_fence_begin(struct boot_job *job,
                              struct boot_fence *fence) MUST_CHECK;            /* then it must be ended, else not */
VEXPORT bool vboot_fence_over(struct boot_job *job, struct boot_fence *fence); /* does not wait */
VEXPORT int vboot_fence_end(struct boot_job *job, struct boot_fence *fence) MUST_CHECK; /* waits */

/* READY: nothing is open here any more, so from now on this process may end in any way but by a signal, also without
 * vboot_close. It then counts as arrived at every fence. A foreign launcher must have vboot_close. */
VEXPORT void vboot_ready(struct boot_job *job, bool ready);

/* Ranks of this job that died, where the launcher was told that this does not end the job (mpiexec --enable-recovery);
 * else 0 for ever. It grows; once it has, vboot_dead tells which ranks they are. */
VEXPORT uint32_t vboot_deaths(const struct boot_job *job);
VEXPORT bool vboot_dead(const struct boot_job *job, int rank);

/* Ends the whole job with this exit status; what the program has printed is written, the launcher prints the message.
 * Does not return. From any thread. */
VEXPORT void vboot_abort(struct boot_job *job, int status, const char *message) __attribute__((noreturn));

/* Gives a descriptor of the node's lowest rank to all others of the node, where the launcher did not (an abstract
 * socket; peer credentials, then proof of the job's secret). The lowest rank passes FD, one for each rank of the node
 * in order (its own is not looked at), and keeps them; the others receive theirs in *FD, close-on-exec. Every rank of
 * the node calls it, in the same order. Blocks until all have it or a deadline is over (ERR_TIMEOUT). */
VEXPORT int vboot_share_descriptor(struct boot_job *job, int *fd) MUST_CHECK;
