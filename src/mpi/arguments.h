/* The arguments of calls: what a call wants of them is a list, which one function checks. And how handles are made and
 * freed for a program, and counts are told to it. */
#pragma once

#include "mpi/raise.h"

/* What a call wants of one argument. */
enum mpi_want {
    WANT_NOTHING, /* the end of a list */
    WANT_OBJECT,
    WANT_BEHIND,  /* a pointer to the handle of an object */
    WANT_PLAIN,   /* a communicator of one group */
    WANT_INTER,   /* an intercommunicator */
    WANT_GRID,    /* a communicator with a Cartesian topology, */
    WANT_GRAPH,   /* one with a graph, */
    WANT_DIST_GRAPH, /* one with a distributed graph */
    WANT_HINTS,   /* an info object, or none */
    WANT_GIVEN,   /* not NULL */
    WANT_RUNNING, /* MPI runs; so it must for all handles but those of info and error handlers */
    WANT_THING    /* nothing: what is wrong with the others is raised on this thing */
};
struct mpi_argument {
    enum mpi_want want;
    const struct mpi_kind_row *kind;
    const void *value;
    const char *name;
    void *found; /* the place for a pointer to the object; NULL: nowhere */
};
/* A handle, and where the object is told. */
#define COMM_OF(handle, ...) {WANT_OBJECT, &mpi_kind_comm, handle, #handle, __VA_ARGS__}
#define PLAIN_OF(handle, ...) {WANT_PLAIN, &mpi_kind_comm, handle, #handle, __VA_ARGS__}
#define INTER_OF(handle, ...) {WANT_INTER, &mpi_kind_comm, handle, #handle, __VA_ARGS__}
#define GROUP_OF(handle, ...) {WANT_OBJECT, &mpi_kind_group, handle, #handle, __VA_ARGS__}
#define TYPE_OF(handle, ...) {WANT_OBJECT, &mpi_kind_type, handle, #handle, __VA_ARGS__}
#define OP_OF(handle, ...) {WANT_OBJECT, &mpi_kind_op, handle, #handle, __VA_ARGS__}
#define INFO_OF(handle, ...) {WANT_OBJECT, &mpi_kind_info, handle, #handle, __VA_ARGS__}
#define REQUEST_OF(handle, ...) {WANT_OBJECT, &mpi_kind_request, handle, #handle, __VA_ARGS__}
#define GRID_OF(handle, ...) {WANT_GRID, &mpi_kind_comm, handle, #handle, __VA_ARGS__}
#define GRAPH_OF(handle, ...) {WANT_GRAPH, &mpi_kind_comm, handle, #handle, __VA_ARGS__}
#define DIST_GRAPH_OF(handle, ...) {WANT_DIST_GRAPH, &mpi_kind_comm, handle, #handle, __VA_ARGS__}
#define SESSION_OF(handle, ...) {WANT_OBJECT, &mpi_kind_session, handle, #handle, __VA_ARGS__}
#define HINTS(info) {WANT_HINTS, &mpi_kind_info, info, #info}
#define BEHIND(kind, pointer, ...) {WANT_BEHIND, &kind, pointer, #pointer, __VA_ARGS__}
#define GIVEN(pointer) GIVEN_AS(pointer, #pointer)
#define GIVEN_AS(pointer, name) {WANT_GIVEN, NULL, pointer, name}
#define GIVEN_IF(needed, pointer, name) GIVEN_AS((needed) ? (const void *)(pointer) : "", name)
#define RUNNING {WANT_RUNNING}
#define RAISED_ON(thing) {WANT_THING, NULL, thing}

/* Checks the arguments of CALL one after the other and raises what is wrong with the first that is not as wanted, on
 * the first communicator, session or RAISED_ON among them. */
int mpi_arguments(const char *call, const struct mpi_argument *list);
#define ARGUMENTS(...) ((const struct mpi_argument[]){__VA_ARGS__, {0}})
/* The arguments of the entry that this is written in; and the same in a call that can wait, which shows where the
 * process is. */
#define CHECK(...) mpi_arguments(NAME, ARGUMENTS(__VA_ARGS__))
#define CHECK_WAITS(...) (mpi_doing(NAME), CHECK(__VA_ARGS__))

/* HANDLE is no datatype, or not committed. SIDE: "send " or "receive " where a call takes one for each, else "". */
int mpi_wrong_type(struct mpi_comm *comm, const char *call, MPI_Datatype handle, const char *side) COLD;

/* A new object with the content of LIKE is the program's: its handle is at HANDLE. A class: that there is no memory is
 * raised. */
int mpi_object_make(const char *call, const struct mpi_kind_row *kind, const void *like, void *handle);
/* The program frees the handle at PLACE, which becomes null. A class: that there is none is raised. */
int mpi_free_handle(const char *call, const struct mpi_kind_row *kind, void *place);

static inline int mpi_tell(int *out, int value)
{
    *out = value;
    return MPI_SUCCESS;
}

/* Where a body tells a count: as MPI_Count, or as int, where what does not fit is MPI_UNDEFINED. Both NULL: nowhere. */
struct mpi_count {
    MPI_Count *wide;
    int *narrow;
};
#define COUNT_AT(place)                                                                                                \
    ((struct mpi_count){_Generic((place), MPI_Count *: (place), default: NULL),                                        \
                        _Generic((place), int *: (place), default: NULL)})
static inline bool mpi_count_wanted(struct mpi_count at) { return at.wide || at.narrow; }
static inline int mpi_count_tell(struct mpi_count at, MPI_Count count)
{
    if (at.wide)
        *at.wide = count;
    else
        *at.narrow = count > INT32_MAX ? MPI_UNDEFINED : (int)count;
    return MPI_SUCCESS;
}
