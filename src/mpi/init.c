/* The world in a process: init, finalize, abort; and what can be asked at any time. */
#include "mpi/attribute.h"
#include "mpi/check.h"
#include "mpi/info.h"
#include "mpi/message.h"
#include "mpi/request.h"
#include <pthread.h>

static pthread_t main_thread;

static void world_start(const char *call, int required, const int *argc, char ***argv)
{
    if (mpi_process.world || mpi_process.world_ended)
        mpi_die(call, mpi_process.world ? "called twice" : "called after MPI_Finalize: MPI cannot begin again");
    (void)!mpi_process_begin(call, NULL, required == MPI_THREAD_MULTIPLE);
    mpi_process.thread_level = required;
    main_thread = pthread_self();
    mpi_info_environment_open(argc && argv ? *argc : 0, argc && argv ? *argv : NULL);
    int error = mpi_comm_worlds_open();
    if (error)
        mpi_die(call, mpi_class_sentence(error));
    mpi_stage_settle();
}

ENTRY(MPI_Init)(int *argc, char ***argv)
{
    world_start(NAME, MPI_THREAD_SINGLE, argc, argv);
    return MPI_SUCCESS;
}

ENTRY(MPI_Init_thread)(int *argc, char ***argv, int required, int *provided)
{
    int level = mpi_thread_level(required);
    world_start(NAME, level, argc, argv);
    if (provided)
        *provided = level;
    return MPI_SUCCESS;
}

ENTRY(MPI_Finalize)(void)
{
    ENTER("MPI_Finalize");
    if (!mpi_process.world)
        mpi_die(NAME, mpi_process.world_ended ? "called twice" : "called before MPI_Init");
    int error = mpi_attributes_delete(&mpi_process.self->thing);
    if (error)
        return mpi_error(NULL, NAME, error, "the delete function of an attribute of MPI_COMM_SELF failed");
    error = mpi_attributes_delete(&mpi_process.world->thing);
    if (error)
        return mpi_error(NULL, NAME, error, "the delete function of an attribute of MPI_COMM_WORLD failed");
    bool last = mpi_process_leave();
    if (last)
        mpi_check_leftovers();
    if (mpi_buffer_flush(NAME, NULL, &mpi_process_buffer) == MPI_SUCCESS && last) /* sessions use it, too */
        mpi_process_buffer.attached = NULL;
    if (last)
        mpi_handles_finish();
    mpi_comm_worlds_close();
    mpi_process.world_ended = true;
    mpi_process_end();
    return MPI_SUCCESS;
}

ENTRY(MPI_Initialized)(int *flag)
    { return CHECK(GIVEN(flag)) ?: mpi_tell(flag, mpi_process.world || mpi_process.world_ended); }
ENTRY(MPI_Finalized)(int *flag) { return CHECK(GIVEN(flag)) ?: mpi_tell(flag, mpi_process.world_ended); }
ENTRY(MPI_Query_thread)(int *provided)
    { return CHECK(RUNNING, GIVEN(provided)) ?: mpi_tell(provided, mpi_process.thread_level); }
ENTRY(MPI_Is_thread_main)(int *flag)
    { return CHECK(RUNNING, GIVEN(flag)) ?: mpi_tell(flag, pthread_equal(main_thread, pthread_self()) != 0); }

ENTRY(MPI_Abort)(MPI_Comm handle, int code)
{
    char text[160], name[64] = "a communicator that is none";
    DOING("MPI_Abort");
    if (!mpi_is_running()) {
        vbase_flush();
        dprintf(STDERR_FILENO, "viaduct: MPI_Abort(%d) outside of MPI_Init and MPI_Finalize\n", code);
        _exit(code);
    }
    const struct mpi_comm *comm = mpi_comm_at(handle);
    if (comm)
        mpi_thing_name(comm, name);
    snprintf(text, sizeof text, "MPI_Abort: the program ends the job with error code %d (rank %d of %s)", code,
             comm ? comm->thing.rank : mpi_process.job->rank, name);
    vmsg_abort(code, text);
}

ENTRY(MPI_Get_version)(int *version, int *subversion)
    { return CHECK(GIVEN(version), GIVEN(subversion)) ?:
             mpi_tell(version, MPI_VERSION) + mpi_tell(subversion, MPI_SUBVERSION); }

static int library_version(char *text, int *length)
{
    return mpi_tell(length,
                    snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "Viaduct %s, MPI %d.%d, standard ABI %d.%d",
                             VIADUCT_VERSION, MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION));
}
ENTRY(MPI_Get_library_version)(char *version, int *resultlen)
    { return CHECK(GIVEN(version), GIVEN(resultlen)) ?: library_version(version, resultlen); }

ENTRY(MPI_Get_processor_name)(char *name, int *resultlen)
    { return CHECK(RUNNING, GIVEN(name), GIVEN(resultlen)) ?:
             mpi_tell(resultlen, snprintf(name, MPI_MAX_PROCESSOR_NAME, "%s", mpi_process.job->host)); }

ENTRY_OF(double, MPI_Wtime)(void) { return (double)vbase_clock_ns() * 1e-9; }

ENTRY_OF(double, MPI_Wtick)(void) { return 1e-9; }

ENTRY(MPI_Pcontrol)(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}
