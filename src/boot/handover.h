/* What our launcher hands to the ranks of a node: one sealed memfd with the job's description and a seat for each rank.
 * The second header of boot, for the launcher (tools/run); other rooms use boot.h.
 *
 *   +--------+-------------------+---------------------------------------------+---------------------------+
 *   | header | rank of each seat | seats, 256 bytes each: one writer at a time | a byte a rank of the job: |
 *   |        |                   |                                             | 1: it is dead             |
 *   +--------+-------------------+---------------------------------------------+---------------------------+
 *
 * A rank finds it through VIADUCT_JOB_SEAT="job descriptor,node segment's descriptor,seat,descriptor of its seat at the
 * listener (-1: none)" and takes its seat once. It then overwrites the variable's text in place with "taken", so that a
 * program which the rank starts knows that it is no rank. VIADUCT_JOB_ID is in the environment of every process of the
 * job: random, outer jobs first, apart by '/'. It is no secret; the launcher finds strayed processes by it. */
#pragma once

#include "base/base.h"

#define HANDOVER_SEAT_VARIABLE "VIADUCT_JOB_SEAT"
#define HANDOVER_ID_VARIABLE   "VIADUCT_JOB_ID"
#define HANDOVER_TAKEN         "taken"

#define HANDOVER_MAGIC   0x7463756461697601ull
#define HANDOVER_VERSION 5u

/* Our launcher's server takes keys and values of these sizes, with the final NUL, and needs no hello from our ranks. */
#define HANDOVER_KEY_MAX   64
#define HANDOVER_VALUE_MAX 1024

/* Written by the launcher before any rank starts, then only read, but for the fence. */
struct boot_handover {
    uint64_t magic;
    uint32_t version;
    uint32_t size;        /* ranks of the job */
    uint32_t local_count; /* seats: ranks of this node */
    int32_t universe;
    uint32_t launcher_pid;
    uint32_t seats_at; /* offset of the first seat */
    char build[16];    /* of the launcher: its segment and its listener are for ranks of the same */
    uint8_t secret[SECRET_SIZE];
    uint32_t survives;       /* 1: a death does not end the job */
    _Atomic uint32_t strays; /* 1: a rank is not a direct child of the launcher (a script stands between) */
    _Atomic uint32_t deaths; /* ranks of the job that died, where that does not end it; see vboot_handover_dead */
    _Atomic uint32_t fence_epoch; /* the fence of a job of one node; written by ranks, and when one has ended */
    _Atomic uint64_t fence_count; /* low half: ranks that have arrived; high half: ranks that have ended well */
    uint32_t rank[];                             /* of each seat, ascending */
};

enum boot_seat_state { SEAT_EMPTY, SEAT_JOINED, SEAT_READY, SEAT_LEFT };

/* EMPTY becomes JOINED by the process that takes the seat (compare and swap); the same process changes it later: READY
 * while nothing of MPI is open, and LEFT at the end. The launcher reads it after the rank has died. */
struct boot_seat {
    _Atomic uint32_t state; /* release by the rank, acquire by the launcher */
    uint32_t child;         /* pid that the launcher started; written before exec */
    uint32_t pid;           /* pid that took the seat */
    int32_t appnum;
    char message[240]; /* last words of vboot_abort, for the launcher to print */
};
_Static_assert(sizeof(struct boot_seat) == 256, "a seat is four lines");

/* A mapped handover. */
struct boot_handover_map {
    int fd;
    size_t length;
    struct boot_handover *header;
    struct boot_seat *seat;
    _Atomic uint8_t *dead; /* by world rank */
};

/* For the launcher: makes it for LOCAL_COUNT ranks of a job of SIZE, with a fresh secret; ranks are 0, 1, ... and
 * may be changed before the first start. fd is close-on-exec. */
int vboot_handover_create(int size, int local_count, struct boot_handover_map *map) MUST_CHECK;

/* For the launcher, where a death does not end the job: this rank of it is dead. Wakes the fence. */
void vboot_handover_dead(struct boot_handover_map *map, int rank);

/* One more rank has arrived at the fence; the last one opens it: true. And for the launcher: one has ended well, and
 * will come to no fence any more. */
bool vboot_handover_arrive(struct boot_handover *header);
void vboot_handover_ended(struct boot_handover_map *map);

/* Maps one that was inherited. ERR_LAUNCHER: the descriptor is not a handover; ERR_MISMATCH: of another version. */
int vboot_handover_open(int fd, struct boot_handover_map *map) MUST_CHECK;

void vboot_handover_close(struct boot_handover_map *map); /* unmaps, closes fd */
