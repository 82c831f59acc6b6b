/* What the verbs provider says over a proven socket before its queue pairs are up, and what stands at the head of each
 * send between them. Little endian. */
#pragma once

#include "base/base.h"

#define VERBS_MAGIC 0x3173626572647600ull

struct verbs_meeting { /* each side's first message: how its queue pair is reached */
    uint64_t magic;
    uint32_t number, first; /* of the queue pair; of its first packet */
    uint8_t gid[16];
    uint16_t lid;
    uint8_t mtu;            /* as verbs count it: 1: 256 bytes ... 5: 4096 */
    uint8_t iwarp, zero[4]; /* 1: `number` is the port where librdmacm listens, `gid` a word for this connection */
};
_Static_assert(sizeof(struct verbs_meeting) == 40, "a meeting on the wire");

#define VERBS_MTU_MOST 5
#define VERBS_MAX_PUT  (1u << 30)
#define VERBS_MAX_SEND ((16u << 10) + 256) /* 16 KiB and what stands before them */
/* What is wrong with it; NULL: nothing. */
const char *verbs_meeting_fault(const struct verbs_meeting *meeting);

struct verbs_ready { /* its second: its queue pair can send and receive */
    uint64_t magic;
};

enum verbs_kind {
    VERBS_SEND = 1, /* word: the header of the send */
    VERBS_TAKEN,    /* `taken`, and nothing else */
    VERBS_GOODBYE,  /* the last frame: this side has disconnected */
    VERBS_ARRIVED,  /* word: immediate << 32 | length: a put is there that a device without immediates has written */
    VERBS_WRITTEN,  /* so is one of which the sender wants to know: answer with VERBS_TAKEN at once */
    VERBS_KINDS
};

/* `taken` counts what this side has taken of the other one's sends and immediates, modulo 2^32: it is credit.
 * VERBS_ARRIVED and VERBS_WRITTEN count as immediates. */
struct verbs_frame {
    uint64_t word;
    uint32_t taken;
    uint16_t kind, zero;
};
_Static_assert(sizeof(struct verbs_frame) == 16, "a frame on the wire");

/* What is wrong with it, if the completion says LENGTH; NULL: nothing. */
const char *verbs_frame_fault(const struct verbs_frame *frame, uint32_t length);
