/* What the files of boot share with each other. Nobody else includes this. */
#ifndef BOOT_INSIDE_H
#define BOOT_INSIDE_H

#include "boot/boot.h"
#include "boot/handover.h"
#include "boot/kvs.h"
#include "boot/pmi1.h"

struct boot_own {
    struct boot_job job; /* first: the face's pointer is ours */
    struct boot_pmi pmi; /* fd -1: none */
    struct boot_kvs kvs; /* solo */
    struct boot_handover_map handover;
    struct boot_seat *seat; /* this rank's, under our launcher */
    unsigned shared;        /* descriptors handed round so far: part of the next rendezvous' name */
};

/* launcher.c: who started us? Fills kind, rank, size and what each way in brings. */
int vboot_launcher_find(struct boot_own *own) MUST_CHECK;

/* node.c: the ranks that share this node and the secret, through the key-value space of a foreign launcher. Collective.
 */
int vboot_node_meet(struct boot_own *own) MUST_CHECK;
int vboot_node_alone(struct boot_own *own) MUST_CHECK; /* a job of one */

#endif
