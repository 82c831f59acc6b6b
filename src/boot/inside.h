/* What the files of boot share with each other. No other room includes this. */
#pragma once

#include "boot/boot.h"
#include "boot/handover.h"
#include "boot/kvs.h"
#include "boot/line.h"

#define ANSWER_DEADLINE_MS 30000 /* of a foreign launcher, to anything but a fence */

struct boot_own;

/* The same six functions of every kind of launcher; boot.h documents what they do. Keys and values are checked already.
 */
struct boot_starter {
    int (*put)(struct boot_own *own, const char *key, const char *value);
    int (*get)(struct boot_own *own, int rank, const char *key, char *value, size_t size);
    int (*fence_begin)(struct boot_own *own, struct boot_fence *fence);
    void (*fence_look)(struct boot_own *own,
                       struct boot_fence *fence); /* without waiting: sets OVER, and ERROR before */
    void (*abort)(struct boot_own *own, int status, const char *message); /* from any thread; returns when it is told */
    void (*finish)(struct boot_own *own, bool goodbye); /* without a goodbye the launcher ends the others with us */
};
extern const struct boot_starter vboot_starter_solo, vboot_starter_pmi, vboot_starter_pmix, vboot_starter_ours;

struct boot_pmi {
    int fd;          /* -1: none */
    bool started;    /* init is done */
    int deadline_ms; /* of an answer; 0: none */
    int key_max, value_max; /* bytes with the final NUL */
    char space[257];        /* name of the key-value space */
    struct boot_lines lines;
    bool fencing; /* the answer to a fence is to come; questions asked meanwhile are answered before it or after */
    bool fence_failed;
};

struct boot_own {
    struct boot_job job; /* first: a pointer to it is a pointer to this */
    const struct boot_starter *starter;
    struct boot_pmi pmi; /* fd -1: none */
    struct boot_kvs kvs; /* solo */
    struct boot_handover_map handover;
    struct boot_seat *seat; /* this rank's, under our launcher */
    unsigned shared;        /* descriptors handed round so far: part of the next rendezvous' name */
};

/* launcher.c: which launcher started us? Fills kind, rank, size and what that launcher hands over. */
int vboot_launcher_find(struct boot_own *own) MUST_CHECK;

/* pmi.c: says hello on pmi.fd and asks for what the job is. The others are the starter's; our launcher has two of its
 * own. */
int vboot_pmi_start(struct boot_own *own) MUST_CHECK;
int vboot_pmi_put(struct boot_own *own, const char *key, const char *value) MUST_CHECK;
int vboot_pmi_get(struct boot_own *own, int rank, const char *key, char *value, size_t size) MUST_CHECK;
int vboot_pmi_fence_begin(struct boot_own *own, struct boot_fence *fence) MUST_CHECK;
void vboot_pmi_fence_look(struct boot_own *own, struct boot_fence *fence);
void vboot_pmi_abort(struct boot_own *own, int status, const char *message);
void vboot_pmi_finish(struct boot_own *own, bool goodbye);

/* pmix.c: joins by libpmix. */
int vboot_pmix_join(struct boot_own *own) MUST_CHECK;

/* node.c: the ranks that share this node and the secret, through the key-value space of a foreign launcher.
 * Collective. */
int vboot_node_meet(struct boot_own *own) MUST_CHECK;
