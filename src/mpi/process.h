/* The process: whether MPI runs in it, and what is there from MPI_Init on. The lowest header of this room.
 *
 * MPI runs while MPI_COMM_WORLD is open, between MPI_Init and MPI_Finalize, or a session. The engine starts with the
 * first of these and goes on until the process ends (life.c). */
#pragma once

#include "base/base.h"
#include "msg/msg.h"

#pragma GCC visibility push(hidden)

struct mpi_thing;

/* MPI_RUNNING: the world is open. MPI_WATCHED: MPI runs, but no call takes a short way: there is no world, or calls are
 * traced or checked, or a tool watches them. */
enum mpi_stage { MPI_BEFORE, MPI_RUNNING, MPI_WATCHED, MPI_AFTER };
struct mpi_process {
    _Atomic int stage; /* enum mpi_stage */
    int thread_level;
    const struct boot_job *job;
    struct mpi_comm *_Atomic world, *_Atomic self; /* NULL: not open. Atomic: threads with sessions outlive the world */
    _Atomic bool world_ended;                      /* by MPI_Finalize */
    struct mpi_session *session;                   /* the youngest that is open, see session.h */
};
extern struct mpi_process mpi_process;
extern bool mpi_threads; /* several threads may call; set before the second one can exist */

int mpi_thread_level(int required); /* every level is granted; one between two of the ABI's is rounded up */

/* One more user of the engine: the world, or a session. SEVERAL threads may call. A class: that it cannot begin is
 * raised on THING, or, where that is NULL, ends the process. LEAVE, before the world or the session is closed: true,
 * all others have left. END, after it: the last one lets the engine rest, after MPI_Finalize together with all ranks
 * where there was no session. */
int mpi_process_begin(const char *call, struct mpi_thing *thing, bool several) MUST_CHECK;
bool mpi_process_leave(void);
void mpi_process_end(void);
const char *mpi_library_file(void); /* this library's (build.c) */

extern bool mpi_checking;      /* VIADUCT_CHECK, see check.h */
extern bool mpi_tool_counting; /* a tool counts messages */
extern bool mpi_watching;      /* one of both: no message takes a short way */
void mpi_watching_settle(void);
void mpi_stage_settle(void);   /* these two: after a change of what they depend on */
/* So many more tools want that calls take the long way, which counts messages and delivers events. */
void mpi_tool_watch(int more);
void mpi_tool_deliver(void); /* events to their callbacks; where a call of MPI begins */

int mpi_stage(void);
void mpi_stage_set(enum mpi_stage stage);
bool mpi_is_running(void);
void mpi_enter_watched(const char *call) COLD;
/* Ends the process where no communicator can handle an error. */
void mpi_die(const char *call, const char *why) __attribute__((noreturn)) COLD;
void mpi_end_early(const char *sentence) __attribute__((noreturn)) COLD;

/* False: the call is too early or too late, or watched; mpi_enter tells these apart. */
static inline bool mpi_quick(void)
{
    /* relaxed: a thread that may call at all was made after MPI_Init or waited for it */
    return likely(atomic_load_explicit(&mpi_process.stage, memory_order_relaxed) == MPI_RUNNING);
}

/* Comes first in a call that needs MPI to be initialized. */
static inline void mpi_enter(const char *call)
{
    if (unlikely(!mpi_quick()))
        mpi_enter_watched(call);
}

/* The same in a call that can wait: the name is shown to other processes that ask what this rank is doing, and in the
 * trace. The few calls whose speed would suffer from it ask mpi_quick instead. */
#define ENTER(call)                                                                                                    \
    DOING(call);                                                                                                       \
    mpi_enter(call);                                                                                                   \
    TRACE(call)

/* Shows CALL where the name is no constant: a body that serves several entries. Slower than DOING. */
void mpi_doing(const char *call);

static inline void mpi_lock(struct base_lock *lock)
{
    if (mpi_threads)
        base_lock(lock);
}
static inline void mpi_unlock(struct base_lock *lock)
{
    if (mpi_threads)
        base_unlock(lock);
}

#pragma GCC visibility pop
