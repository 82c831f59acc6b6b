/* What the files of mplite share. The interface itself is include/mplite.h.
 *
 * Three contexts, so that nothing meets what it should not: the user's messages, the collectives of all, and what
 * mplite says for itself (shifts, masked collectives). There is one mplite in a process; it may live beside MPI on one
 * engine. */
#pragma once

#include "coll/coll.h"
#include "msg/msg.h"

struct lite {
    bool started;
    int rank, size;
    struct msg_context *messages, *inner;
    struct coll_group group;
    struct msg_result last; /* of the last receive or probe */
};
extern struct lite vmplite;

/* One sentence, and the job ends: "MP_Recv: the text"; the launcher says which rank it was. */
void vmplite_fail(const char *call, const char *format, ...) PRINTF_LIKE(2, 3) COLD __attribute__((noreturn));
void vmplite_fail_code(const char *call, int error) COLD __attribute__((noreturn));

static inline void vmplite_must(const char *call, int error)
{
    if (unlikely(error))
        vmplite_fail_code(call, error);
}

void vmplite_check_started(const char *call);
void vmplite_check_rank(const char *call, const char *what, int rank);
/* COUNT elements in bytes; negative counts and overflow end the job. */
uint64_t vmplite_bytes(const char *call, long count, size_t size);

/* The functions of a family, by the type of their data: ROW(name, type, what follows ROW). */
#define OF_NUMBERS(doubles, ints, floats, row, ...)                                                                    \
    row(doubles, double, __VA_ARGS__) row(ints, int, __VA_ARGS__) row(floats, float, __VA_ARGS__)
#define OF_ALL(bytes, doubles, ints, floats, row, ...)                                                                 \
    row(bytes, void, __VA_ARGS__) OF_NUMBERS(doubles, ints, floats, row, __VA_ARGS__)
/* A function that does what follows its PARAMETERS, and one that shows its name before. */
#define NAMED(name, parameters, ...)                                                                                   \
    VEXPORT void name parameters { __VA_ARGS__; }
#define FUNCTION(name, parameters, ...) NAMED(name, parameters, DOING(#name); __VA_ARGS__)

/* message.c: what Finalize has to wait for or to cancel. */
void vmplite_messages_open(void);
void vmplite_messages_close(void);
