/* What the files of mplite share. The interface itself is include/mplite.h.
 *
 * Three contexts, so that nothing meets what it should not: the user's messages, the collectives of all, and what mplite
 * says for itself (shifts, masked collectives). There is one mplite in a process; it may live beside MPI on one engine. */
#ifndef MPLITE_LITE_H
#define MPLITE_LITE_H

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

void vmplite_check_started(const char *call);
void vmplite_check_rank(const char *call, const char *what, int rank);
/* COUNT elements in bytes; negative counts and overflow end the job. */
uint64_t vmplite_bytes(const char *call, long count, size_t size);

/* message.c: what Finalize has to wait for or to cancel. */
void vmplite_messages_open(void);
void vmplite_messages_close(void);

#endif
