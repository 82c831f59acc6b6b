/* What launchers of several hosts tell each other: frames of a kind, a length and a body. See docs/wire.md. */
#pragma once

#include "run/sink.h"

enum run_frame {
    FRAME_JOB = 1, FRAME_SIGNAL, FRAME_FENCE, FRAME_STDIN, FRAME_OUT, FRAME_ERR, FRAME_END, FRAME_MORE, FRAME_DONE,
    FRAME_MISSED, FRAME_ALIVE, FRAME_DEATH, FRAME_STATE, FRAME_REPORT
};
#define FRAME_LAST FRAME_REPORT
#define FRAME_MOST (1u << 26)

struct run_frame_header {
    uint32_t kind, length;
};

/* The body of JOB. Behind its numbers lie texts: folder, job id, name of the key-value space, rank file, files
 * of parts, variables, words, hosts. */
#define ORDER_TEXTS 5 /* before the variables */
struct run_order {
    char build[16]; /* another one refuses */
    uint8_t secret[SECRET_SIZE];
    int32_t apps, size, hosts, here, charges, variables, words; /* how many there are; HERE: the host that is called */
    int32_t number[]; /* ranks of each program; host of each rank; each host that it must see called */
};
#define HELPER_HELLO "viaduct-helper\n" /* before its first frame */

/* The whole frame at the front of BYTES, or NULL; *broken: what stands there is no frame. */
const char *frame_next(const struct run_bytes *bytes, struct run_frame_header *header, bool *broken);
int frame_number(const struct run_frame_header *header, const char *body);
void frame_send(struct run_job *job, struct run_sink *sink, enum run_frame kind, const void *body, size_t length);
void frame_send_number(struct run_job *job, struct run_sink *sink, enum run_frame kind, int number);

/* The body of JOB for HOST; the texts of one that came, which stay in it, or NULL: it is malformed. */
struct run_host;
void order_write(const struct run_job *job, const struct run_host *host, struct run_bytes *body);
char **order_texts(const struct run_order *order, size_t length) MUST_CHECK;
