/* Lines of ranks, and our own, to our stdout and stderr. */
#pragma once

#include "run/sink.h"

struct run_stream { /* a pipe that a rank writes to, or lines of a rank elsewhere, by frames of its host */
    struct run_watch watch;
    struct run_sink *sink;
    int rank;              /* -1: of a host */
    int which;             /* 0 stdout, 1 stderr */
    bool fresh;            /* the next byte begins a line */
    struct run_bytes line; /* the unfinished one */
    uint64_t since_ns;     /* when its last byte came */
};

int output_open(struct run_job *job) MUST_CHECK;
int output_stream(struct run_job *job, struct run_stream *stream, int rank, int fd, int which) MUST_CHECK;
struct run_rank;
void output_drain(struct run_job *job, struct run_rank *rank); /* what RANK has written until now */
void output_line(struct run_job *job, const char *format, ...) PRINTF_LIKE(2, 3); /* our own, to stderr */
void output_flush_quiet(struct run_job *job, uint64_t now_ns); /* unfinished lines that wait long enough */
bool output_finish(struct run_job *job) MUST_CHECK; /* everything out, as far as it is read; false: something is lost */
bool output_behind(const struct run_job *job);      /* too many bytes wait: read no more */
void output_take(struct run_job *job, struct run_stream *stream, const char *data, size_t length); /* of a host */
void output_end(struct run_job *job, struct run_stream *stream);                                   /* of a host */
