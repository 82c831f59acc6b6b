/* The life of the engine in a process. It starts with MPI_Init or the first session and rests while neither is open,
 * but ends only with the process: a session may begin again, and other ranks may still have some. A process may end at
 * any moment while its engine rests. A foreign launcher wants to hear of the end by a goodbye: under one a program that
 * has no sessions says it in MPI_Finalize.
 *
 * Threads: sessions begin and end in any thread; one lock orders all that. Whether calls take locks is decided before a
 * second thread can call, so it changes only in the thread that was alone until then. */
#include "base/one_mpi.h"
#include "mpi/check.h"
#include "mpi/info.h"
#include "mpi/message.h"
#include "mpi/request.h"
#include <pthread.h>

static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;
static int users; /* the world, and sessions; */
static int leaving; /* of them so many are about to end */
static bool ready, stopped, had_sessions;
static pthread_t alone; /* the only thread that calls, while there are no locks */

static int engine_start(void)
{
    static bool started;
    const char *own = mpi_library_file(), *other = vbase_mpi_beside(own);
    if (other)
        return vbase_fail(ERR_STATE, "both %s and %s are in this process: the program and its libraries were built for "
                                     "different MPIs", own, other);
    int error = started ? OK : vmsg_start();
    if (error)
        return error;
    started = true;
    mpi_process.job = vmsg_job();
    mpi_check_open();
    mpi_info_environment_open(0, NULL);
    mpi_ops_open();
    if (mpi_types_open() || mpi_fortran_apply())
        return vbase_fail(ERR_MEMORY, "no memory for the predefined datatypes");
    ready = true;
    return OK;
}

static int threads_allow(bool several)
{
    static bool locks;
    if (users == 0)
        alone = pthread_self();
    if (several && users > 0 && !locks && !pthread_equal(alone, pthread_self()))
        return vbase_fail(ERR_STATE, "MPI runs in another thread without locks: call MPI_Init_thread with "
                                     "MPI_THREAD_MULTIPLE, or open the first session before MPI_Init");
    if (several && !locks)
        vmsg_threads(true);
    locks |= several;
    if (mpi_threads != locks) /* other threads may read it while it stays as it is */
        mpi_threads = locks;
    return OK;
}

static int begin(bool several)
{
    if (stopped)
        return vbase_fail(ERR_STATE, "MPI has ended, and this launcher lets a rank begin only once: open a session "
                                     "before MPI_Finalize");
    int error = ready ? OK : engine_start();
    if (!error && users == 0)
        vmsg_rest_end();
    return error ?: threads_allow(several);
}

int mpi_process_begin(const char *call, struct mpi_thing *thing, bool several)
{
    char text[512];
    pthread_mutex_lock(&life);
    mpi_doing(call); /* under the lock: the first one moves the counters */
    int error = begin(several);
    if (!error && users++ == 0)
        mpi_stage_set(MPI_WATCHED);
    had_sessions |= thing != NULL;
    pthread_mutex_unlock(&life);
    if (!error)
        return MPI_SUCCESS;
    if (thing)
        return mpi_engine_error(thing, call, error);
    const char *detail = vbase_error_detail();
    snprintf(text, sizeof text, "%s%s%s", vbase_error_sentence(error), detail[0] ? ": " : "", detail);
    mpi_die(call, text);
}

bool mpi_process_leave(void)
{
    pthread_mutex_lock(&life);
    bool last = users == ++leaving;
    pthread_mutex_unlock(&life);
    return last;
}

void mpi_process_end(void)
{
    static bool met;
    bool foreign = mpi_process.job->kind == BOOT_PMI || mpi_process.job->kind == BOOT_PMIX;
    pthread_mutex_lock(&life);
    leaving--;
    mpi_stage_set(--users ? MPI_WATCHED : MPI_AFTER);
    if (users == 0) {
        if (!mpi_threads)
            mpi_threads = true; /* info objects live on */
        stopped = foreign && !had_sessions;
        if (stopped)
            vmsg_stop();
        else
            /* with sessions a rank may come here while others still need it: they do not meet */
            vmsg_rest(mpi_process.world_ended && !met && !had_sessions);
        met = mpi_process.world_ended;
    }
    pthread_mutex_unlock(&life);
    mpi_stage_settle();
}

__attribute__((destructor)) static void process_ends(void)
{
    if (ready && !stopped && users == 0)
        vmsg_stop();
}
