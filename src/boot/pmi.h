/* The client of the PMI wire: lock-step, one command asked, one answered. Two dialects:
 *
 *   1.1   "cmd=get kvsname=12.0 key=card-3\n"               hydra, flux, our own launcher, Slurm too
 *   2.0   "    26cmd=kvs-get;jobid=12.0;key=card-3;"        Slurm's pmi2, after a hello in the manner of 1.1
 *
 * Written for what the launchers out there really do: every command leaves with a single write, versions are exactly
 * 1.1 or 2.0, keys come in any order, a missing key is told by rc, by found=FALSE or by no value. Every answer but a
 * fence's has a deadline; a launcher that vanishes gives ERR_LAUNCHER. */
#ifndef BOOT_PMI_H
#define BOOT_PMI_H

#include "boot/line.h"

struct boot_pmi {
    int fd;          /* -1: none */
    bool started;    /* init is done */
    int deadline_ms; /* of an answer; 0: none */
    int rank, size, appnum, universe;
    int key_max, value_max; /* bytes with the final NUL */
    char space[257];        /* name of the key-value space */
    struct boot_lines lines;
    bool fencing; /* the answer to a fence is to come; what goes on meanwhile may ask, and is answered before it or after */
    bool fence_failed;
};

/* Connects to PORT ("host:port") as process ID: learns rank and size. Fills pmi->fd. */
int vboot_pmi_dial(struct boot_pmi *pmi, const char *port, const char *id) MUST_CHECK;

/* Says hello on pmi->fd and asks for what the job is. JOB: the process is of this job of a launcher that speaks 2.0, which
 * is tried first; NULL: it need not. */
int vboot_pmi_start(struct boot_pmi *pmi, const char *job) MUST_CHECK;

int vboot_pmi_put(struct boot_pmi *pmi, const char *key, const char *value) MUST_CHECK;
int vboot_pmi_get(struct boot_pmi *pmi, const char *key, char *value, size_t size) MUST_CHECK;
int vboot_pmi_fence(struct boot_pmi *pmi, void (*meanwhile)(void)) MUST_CHECK; /* MEANWHILE: called now and then, or NULL */
void vboot_pmi_abort(struct boot_pmi *pmi, int status); /* no answer; from any thread */
void vboot_pmi_finish(struct boot_pmi *pmi);            /* says goodbye if it said hello; closes */

#endif
