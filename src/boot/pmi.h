/* The client of the PMI wire, version 1.1: lock-step, one command asked ("cmd=get kvsname=12.0 key=card-3\n"), one answered.
 * So do hydra, Slurm's pmi2, flux and our own launcher; what PMI 2.0 has more is of no use here.
 *
 * Written for what the launchers out there really do: every command leaves with a single write, the version is exactly
 * 1.1, keys come in any order, a missing key is told by rc or by no value. Every answer but a
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

/* Says hello on pmi->fd and asks for what the job is. */
int vboot_pmi_start(struct boot_pmi *pmi) MUST_CHECK;

int vboot_pmi_put(struct boot_pmi *pmi, const char *key, const char *value) MUST_CHECK;
int vboot_pmi_get(struct boot_pmi *pmi, const char *key, char *value, size_t size) MUST_CHECK;
int vboot_pmi_fence(struct boot_pmi *pmi, void (*meanwhile)(void)) MUST_CHECK; /* MEANWHILE: called now and then, or NULL */
void vboot_pmi_abort(struct boot_pmi *pmi, int status); /* no answer; from any thread */
void vboot_pmi_finish(struct boot_pmi *pmi);            /* says goodbye if it said hello; closes */

#endif
