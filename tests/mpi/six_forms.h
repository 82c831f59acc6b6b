/* For tests of collectives in their six forms: blocking, started, persistent; with int and with 64-bit counts. WHERE is
 * the communicator; before_call() is the test's, and runs before each call. */
#ifndef TESTS_MPI_SIX_FORMS_H
#define TESTS_MPI_SIX_FORMS_H

#include "mpi_check.h"

enum { RUN, START, PERSIST, FORMS };
static int form, wide; /* that are tried */
static void before_call(void);

static void again(MPI_Request *request)
{
    for (int i = 0; i < 2; i++) {
        CHECK_OK(MPI_Start(request));
        CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Request_free(request));
}

#define ARGUMENTS(...) __VA_ARGS__
#define CALL_ONE(run, start, prepare, ...)                                                                             \
    do {                                                                                                               \
        MPI_Request request;                                                                                           \
        if (form == RUN) {                                                                                             \
            CHECK_OK(run(__VA_ARGS__, WHERE));                                                                         \
        } else if (form == START) {                                                                                    \
            CHECK_OK(start(__VA_ARGS__, WHERE, &request));                                                             \
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                           \
        } else {                                                                                                       \
            CHECK_OK(prepare(__VA_ARGS__, WHERE, MPI_INFO_NULL, &request));                                            \
            again(&request);                                                                                           \
        }                                                                                                              \
    } while (0)
/* NARROW and WIDER are arguments in parentheses. */
#define CALL(Name, name, narrow, wider)                                                                                \
    do {                                                                                                               \
        before_call();                                                                                                 \
        if (wide)                                                                                                      \
            CALL_ONE(MPI_##Name##_c, MPI_I##name##_c, MPI_##Name##_init_c, ARGUMENTS wider);                           \
        else                                                                                                           \
            CALL_ONE(MPI_##Name, MPI_I##name, MPI_##Name##_init, ARGUMENTS narrow);                                    \
    } while (0)
#define CALL_BOTH(Name, name, ...) CALL(Name, name, (__VA_ARGS__), (__VA_ARGS__))

/* Arrays for the partners, in both widths. */
#define MOST 64
struct blocks {
    int counts[MOST], places[MOST];
    MPI_Count counts_c[MOST];
    MPI_Aint places_c[MOST];
    int total;
};
static inline void block_add(struct blocks *b, int i, int count)
{
    b->counts[i] = (int)(b->counts_c[i] = count);
    b->places[i] = (int)(b->places_c[i] = b->total);
    b->total += count;
}
/* In bytes, for the w forms. */
static inline struct blocks in_bytes(struct blocks b, int stride)
{
    for (int i = 0; i < MOST; i++)
        b.places[i] = (int)(b.places_c[i] = b.places[i] * stride * (int)sizeof(unsigned));
    return b;
}
#define NARROW(b) (b).counts, (b).places
#define NARROW_FAR(b) (b).counts, (b).places_c
#define WIDE(b) (b).counts_c, (b).places_c

#endif
