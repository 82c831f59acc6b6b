/* The client of the PMI-1 wire: lock-step, one line asked, one line answered.
 *
 * Written for what the launchers out there really do: every line leaves with a single write, versions are exactly 1.1,
 * keys come in any order, a missing key is told by rc or by no value. Blocks until the launcher answers; one that
 * vanishes gives ERR_LAUNCHER. */
#ifndef BOOT_PMI1_H
#define BOOT_PMI1_H

#include "boot/line.h"

struct boot_pmi {
    int fd;       /* -1: none */
    bool started; /* init is done */
    int rank, size, appnum, universe;
    int key_max, value_max; /* bytes with the final NUL */
    char space[257];        /* name of the key-value space */
    struct boot_lines lines;
};

/* Connects to PORT ("host:port") as process ID: learns rank and size. Fills pmi->fd. */
int vboot_pmi_dial(struct boot_pmi *pmi, const char *port, const char *id) MUST_CHECK;

/* Says hello on pmi->fd and asks for what the job is. The first answer has a deadline of DEADLINE_MS. */
int vboot_pmi_start(struct boot_pmi *pmi, int deadline_ms) MUST_CHECK;

int vboot_pmi_put(struct boot_pmi *pmi, const char *key, const char *value) MUST_CHECK;
int vboot_pmi_get(struct boot_pmi *pmi, const char *key, char *value, size_t size) MUST_CHECK;
int vboot_pmi_barrier(struct boot_pmi *pmi, void (*meanwhile)(void)) MUST_CHECK; /* MEANWHILE: called now and then, or NULL */
void vboot_pmi_abort(struct boot_pmi *pmi, int status); /* no answer; from any thread */
void vboot_pmi_finish(struct boot_pmi *pmi);            /* says goodbye if it said hello; closes */

#endif
