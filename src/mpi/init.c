/* The life of the library in a process: init, finalize, abort; and what can be asked at any time. */
#include "base/clock.h"
#include "mpi/inside.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mpi_process mpi_process;
static pthread_t main_thread;

static int stage(void)
{
    /* acquire: pairs with the release in set_stage */
    return atomic_load_explicit(&mpi_process.stage, memory_order_acquire);
}

static void set_stage(enum mpi_stage now) { atomic_store_explicit(&mpi_process.stage, now, memory_order_release); }

bool mpi_is_running(void) { return stage() == MPI_RUNNING; }

/* There is no communicator to raise an error on, and perhaps no engine: say it and end. */
void mpi_end_early(const char *sentence)
{
    if (mpi_is_running())
        vmsg_abort(1, sentence);
    fprintf(stderr, "viaduct: %s\n", sentence);
    fflush(NULL);
    _exit(1);
}

static void die(const char *call, const char *why) __attribute__((noreturn));
static void die(const char *call, const char *why)
{
    char text[600];
    snprintf(text, sizeof text, "%s: %s", call, why);
    mpi_end_early(text);
}

void mpi_not_running(const char *call)
{
    die(call, stage() == MPI_BEFORE ? "called before MPI_Init" : "called after MPI_Finalize");
}

static void start(const char *call, int required)
{
    if (stage() != MPI_BEFORE)
        die(call, stage() == MPI_RUNNING ? "called twice" : "called after MPI_Finalize: MPI cannot begin again");
    int error = vmsg_start();
    if (error) {
        char text[512];
        const char *detail = vbase_error_detail();
        snprintf(text, sizeof text, "%s%s%s", vbase_error_sentence(error), detail[0] ? ": " : "", detail);
        die(call, text);
    }
    mpi_process.job = vmsg_job();
    mpi_process.thread_level = required;
    main_thread = pthread_self();
    mpi_threads = required == MPI_THREAD_MULTIPLE;
    if (mpi_threads)
        vmsg_threads(true);
    mpi_info_environment_open();
    mpi_ops_open();
    error = mpi_types_open();
    if (!error)
        error = mpi_comm_worlds_open();
    if (error)
        die(call, mpi_class_sentence(error));
    set_stage(MPI_RUNNING);
}

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    DOING("MPI_Init");
    start("MPI_Init", MPI_THREAD_SINGLE);
    return MPI_SUCCESS;
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc;
    (void)argv;
    DOING("MPI_Init_thread");
    /* every level is granted; one between two of the ABI's is rounded up */
    int level = required <= MPI_THREAD_SINGLE       ? MPI_THREAD_SINGLE
                : required <= MPI_THREAD_FUNNELED   ? MPI_THREAD_FUNNELED
                : required <= MPI_THREAD_SERIALIZED ? MPI_THREAD_SERIALIZED
                                                    : MPI_THREAD_MULTIPLE;
    start("MPI_Init_thread", level);
    if (provided)
        *provided = level;
    return MPI_SUCCESS;
}

int PMPI_Finalize(void)
{
    ENTER("MPI_Finalize");
    int error = mpi_attributes_delete(MPI_COMM_SELF, &mpi_process.self->attributes);
    if (error)
        return mpi_error(NULL, "MPI_Finalize", error, "the delete function of an attribute of MPI_COMM_SELF failed");
    error = mpi_attributes_delete(MPI_COMM_WORLD, &mpi_process.world->attributes);
    if (error)
        return mpi_error(NULL, "MPI_Finalize", error, "the delete function of an attribute of MPI_COMM_WORLD failed");
    mpi_buffers_finish();
    mpi_requests_finish();
    mpi_comm_worlds_close();
    mpi_threads = true; /* info objects live on */
    set_stage(MPI_AFTER);
    vmsg_stop();
    return MPI_SUCCESS;
}

int PMPI_Initialized(int *flag)
{
    if (!flag)
        return MPI_ERR_ARG;
    *flag = stage() != MPI_BEFORE;
    return MPI_SUCCESS;
}

int PMPI_Finalized(int *flag)
{
    if (!flag)
        return MPI_ERR_ARG;
    *flag = stage() == MPI_AFTER;
    return MPI_SUCCESS;
}

int PMPI_Query_thread(int *provided)
{
    mpi_enter("MPI_Query_thread");
    if (!provided)
        return mpi_error(NULL, "MPI_Query_thread", MPI_ERR_ARG, "provided is NULL");
    *provided = mpi_process.thread_level;
    return MPI_SUCCESS;
}

int PMPI_Is_thread_main(int *flag)
{
    mpi_enter("MPI_Is_thread_main");
    if (!flag)
        return mpi_error(NULL, "MPI_Is_thread_main", MPI_ERR_ARG, "flag is NULL");
    *flag = pthread_equal(main_thread, pthread_self()) != 0;
    return MPI_SUCCESS;
}

int PMPI_Abort(MPI_Comm handle, int code)
{
    char text[160], name[64] = "a communicator that is none";
    DOING("MPI_Abort");
    if (stage() != MPI_RUNNING) {
        fprintf(stderr, "viaduct: MPI_Abort(%d) outside of MPI_Init and MPI_Finalize\n", code);
        fflush(NULL);
        _exit(code);
    }
    const struct mpi_comm *comm = mpi_comm_at(handle);
    if (comm)
        mpi_comm_name(comm, name);
    snprintf(text, sizeof text, "MPI_Abort: the program ends the job with error code %d (rank %d of %s)", code,
             comm ? comm->rank : mpi_process.job->rank, name);
    vmsg_abort(code, text);
}

int PMPI_Get_version(int *version, int *subversion)
{
    if (!version || !subversion)
        return MPI_ERR_ARG;
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int PMPI_Get_library_version(char *text, int *length)
{
    if (!text || !length)
        return MPI_ERR_ARG;
    *length = snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "Viaduct %s, MPI %d.%d, standard ABI %d.%d",
                       VIADUCT_VERSION, MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
    return MPI_SUCCESS;
}

int PMPI_Get_processor_name(char *name, int *length)
{
    mpi_enter("MPI_Get_processor_name");
    if (!name || !length)
        return mpi_error(NULL, "MPI_Get_processor_name", MPI_ERR_ARG, "%s is NULL", name ? "resultlen" : "name");
    *length = snprintf(name, MPI_MAX_PROCESSOR_NAME, "%s", mpi_process.job->host);
    return MPI_SUCCESS;
}

double PMPI_Wtime(void) { return (double)vbase_clock_ns() * 1e-9; }

double PMPI_Wtick(void) { return 1e-9; }

int PMPI_Pcontrol(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *base)
{
    const char *call = "MPI_Alloc_mem";
    mpi_enter(call);
    if (size < 0 || !base)
        return mpi_error(NULL, call, MPI_ERR_ARG, "%s", base ? "size is negative" : "baseptr is NULL");
    if (!mpi_info_valid(info))
        return mpi_error(NULL, call, MPI_ERR_INFO, "%p is not an info object", (void *)info);
    void *memory = NULL;
    if (posix_memalign(&memory, CACHE_LINE, size > 0 ? (size_t)size : 1))
        return mpi_error(NULL, call, MPI_ERR_NO_MEM, "no memory for %lld bytes", (long long)size);
    *(void **)base = memory;
    return MPI_SUCCESS;
}

int PMPI_Free_mem(void *base)
{
    mpi_enter("MPI_Free_mem");
    free(base);
    return MPI_SUCCESS;
}

ALIAS(MPI_Init);
ALIAS(MPI_Init_thread);
ALIAS(MPI_Finalize);
ALIAS(MPI_Initialized);
ALIAS(MPI_Finalized);
ALIAS(MPI_Query_thread);
ALIAS(MPI_Is_thread_main);
ALIAS(MPI_Abort);
ALIAS(MPI_Get_version);
ALIAS(MPI_Get_library_version);
ALIAS(MPI_Get_processor_name);
ALIAS(MPI_Wtime);
ALIAS(MPI_Wtick);
ALIAS(MPI_Pcontrol);
ALIAS(MPI_Alloc_mem);
ALIAS(MPI_Free_mem);
