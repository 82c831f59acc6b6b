/* The process: its stage, and its end where there is no communicator yet, or no more, to raise an error on. */
#include "mpi/process.h"
#include "mpi/arguments.h"

struct mpi_process mpi_process;
bool mpi_threads = true; /* before MPI_Init the number of threads is unknown */
bool mpi_checking, mpi_tool_counting, mpi_watching;
static struct base_lock stage_lock;
static int tools; /* that watch; under the lock */

int mpi_stage(void)
{
    /* acquire: pairs with the release in mpi_stage_set */
    return atomic_load_explicit(&mpi_process.stage, memory_order_acquire);
}

static void stage_store(enum mpi_stage stage)
{
    atomic_store_explicit(&mpi_process.stage, stage, memory_order_release);
}

void mpi_stage_set(enum mpi_stage stage)
{
    base_lock(&stage_lock);
    stage_store(stage);
    base_unlock(&stage_lock);
}

void mpi_stage_settle(void)
{
    base_lock(&stage_lock);
    bool quick = mpi_process.world && !vbase_trace_on && !mpi_checking && !tools;
    if (mpi_is_running())
        stage_store(quick ? MPI_RUNNING : MPI_WATCHED);
    base_unlock(&stage_lock);
}

int mpi_thread_level(int required)
{
    return required <= MPI_THREAD_SINGLE       ? MPI_THREAD_SINGLE
           : required <= MPI_THREAD_FUNNELED   ? MPI_THREAD_FUNNELED
           : required <= MPI_THREAD_SERIALIZED ? MPI_THREAD_SERIALIZED
                                               : MPI_THREAD_MULTIPLE;
}

void mpi_watching_settle(void) { mpi_watching = mpi_checking || mpi_tool_counting; }

void mpi_tool_watch(int more)
{
    base_lock(&stage_lock);
    tools += more;
    base_unlock(&stage_lock);
    mpi_stage_settle();
}

bool mpi_is_running(void)
{
    int stage = mpi_stage(); /* once: another thread may move it between these two */
    return stage == MPI_RUNNING || stage == MPI_WATCHED;
}

void mpi_doing(const char *call)
{
    uint64_t word[sizeof vbase_counters->last_call / 8] = {0};
    strncpy((char *)word, call, sizeof word - 1);
    for (size_t i = 0; i < ARRAY_LENGTH(word); i++)
        __atomic_store_n((uint64_t *)(void *)vbase_counters->last_call + i, word[i], __ATOMIC_RELAXED);
}

void mpi_end_early(const char *sentence)
{
    if (vmsg_job())
        vmsg_abort(1, sentence);
    vbase_flush();
    dprintf(STDERR_FILENO, "viaduct: %s\n", sentence);
    _exit(1);
}

void mpi_die(const char *call, const char *why)
{
    char text[600];
    snprintf(text, sizeof text, "%s: %s", call, why);
    mpi_end_early(text);
}

void mpi_enter_watched(const char *call)
{
    if (!mpi_is_running())
        mpi_die(call, mpi_stage() == MPI_BEFORE ? "called before MPI_Init" : "called after MPI_Finalize");
    mpi_tool_deliver();
}
