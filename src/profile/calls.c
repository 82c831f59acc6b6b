/* The functions of MPI as a program sees them under `mpiexec --report`: this library is preloaded, and each function
 * takes the time of the one behind it, of a tool's or MPI's own, and notes what it sends. Made from the table of calls;
 * by hand are those that begin and end MPI. It is loaded into every process of the job, shells among them, and so it
 * needs no library but libc: MPI is found when it is called for the first time. */
#pragma GCC visibility push(default)
#include "mpi.h"
#pragma GCC visibility pop
#include "profile/calls.h"
#include "profile/record.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void *_Atomic profile_functions[PROFILE_CALLS];

void *profile_find(enum profile_call call, const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) { /* it was loaded for a plug-in alone */
        void *library = dlopen("libmpi_abi.so.1", RTLD_LAZY | RTLD_NOLOAD);
        function = library ? dlsym(library, name) : NULL;
    }
    if (!function) {
        fprintf(stderr, "viaduct: %s is called, and no library has it; run the job without --report\n", name);
        abort();
    }
    __atomic_store_n((void **)(uintptr_t)&profile_functions[call], function, __ATOMIC_RELAXED);
    return function;
}

/* ---- what is noted of a call beside its time: AFTER it succeeded, or BEFORE it begins ---- */

#define AFTER_Send                , profile_sent(comm, dest, count, datatype)
#define AFTER_Bsend               AFTER_Send
#define AFTER_Ssend               AFTER_Send
#define AFTER_Rsend               AFTER_Send
#define AFTER_Isend               AFTER_Send
#define AFTER_Ibsend              AFTER_Send
#define AFTER_Issend              AFTER_Send
#define AFTER_Irsend              AFTER_Send
#define AFTER_Sendrecv            , profile_sent(comm, dest, sendcount, sendtype)
#define AFTER_Isendrecv           AFTER_Sendrecv
#define AFTER_Sendrecv_replace    AFTER_Send
#define AFTER_Isendrecv_replace   AFTER_Send
#define AFTER_Send_init           , profile_made(*request, comm, dest, count, datatype)
#define AFTER_Bsend_init          AFTER_Send_init
#define AFTER_Ssend_init          AFTER_Send_init
#define AFTER_Rsend_init          AFTER_Send_init
#define AFTER_Psend_init          , profile_made(*request, comm, dest, (MPI_Count)count * partitions, datatype)
#define AFTER_Start               , profile_started(*request)
#define AFTER_Startall            , all_started(array_of_requests, count)
#define AFTER_Session_init        , profile_several()
#define AFTER_Session_finalize    , profile_end()
#define BEFORE_Request_free       , freed_request(request)
#define BEFORE_Comm_free          , freed_comm(comm)
#define BEFORE_Comm_disconnect    , freed_comm(comm)

static void all_started(const MPI_Request *request, int count)
{
    for (int i = 0; i < count; i++)
        profile_started(request[i]);
}

static void freed_request(const MPI_Request *request)
{
    if (request)
        profile_freed(*request);
}

static void freed_comm(const MPI_Comm *comm)
{
    if (comm)
        profile_comm_freed(*comm);
}

/* The second of its arguments: what a row above holds, or else the NOTHING that follows it. */
#define SECOND(first, second, ...) second
#define CHOSEN(...)                SECOND(__VA_ARGS__)
#define NOTED(note)                CHOSEN(note, (void)0, )

/* ---- the functions ---- */

#define PARAMETER(size, kind, name, ...) __typeof__(C_PARAMETER(size, kind, name, ##__VA_ARGS__)) name
#define ARGUMENT(size, kind, name, ...)  name
#define TIMED(Name, suffix, size, ...)                                                                                 \
    int MPI_##Name##suffix(EACH_LISTED(PARAMETER, size, __VA_ARGS__))                                                  \
    {                                                                                                                  \
        NOTED(BEFORE_##Name);                                                                                          \
        uint64_t began_ = profile_enter();                                                                             \
        int result_ = NEXT(Name##suffix)(EACH_LISTED(ARGUMENT, size, __VA_ARGS__));                                    \
        profile_leave(PROFILE_##Name##suffix, began_);                                                                 \
        if (began_ && result_ == MPI_SUCCESS) {                                                                        \
            NOTED(AFTER_##Name);                                                                                       \
        }                                                                                                              \
        return result_;                                                                                                \
    }
#define NOT_TIMED(...)

#define ROW_Buffer_flush    , NOT_TIMED /* has no parameter, */
#define ROW_Finalize        , NOT_TIMED
#define ROW_Init            , NOT_TIMED /* or two that are one in the table, */
#define ROW_Init_thread     , NOT_TIMED
#define ROW_Info_create_env , NOT_TIMED
#define ROW_Pcontrol        , NOT_TIMED /* or any number */
#define CALL(Name, name, ...) CHOSEN(ROW_##Name, TIMED, )(Name, , SMALL, __VA_ARGS__)
#define CALL_C(Name, name, ...)                                                                                        \
    CALL(Name, name, __VA_ARGS__)                                                                                      \
    TIMED(Name, _c, LARGE, __VA_ARGS__)
#define BUFFER   CALL
#define BUFFER_C CALL_C
#define OWN      CALL
#define OWN_C    CALL_C
#define OLD(...)
#define FUNCTION(...)
#include "mpi/calls.def"

int MPI_Init(int *argc, char ***argv)
{
    uint64_t began = profile_enter();
    int result = NEXT(Init)(argc, argv);
    profile_leave(PROFILE_Init, began);
    profile_summarize();
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    uint64_t began = profile_enter();
    if (required >= MPI_THREAD_MULTIPLE)
        profile_several();
    int result = NEXT(Init_thread)(argc, argv, required, provided);
    profile_leave(PROFILE_Init_thread, began);
    profile_summarize();
    return result;
}

int MPI_Finalize(void)
{
    uint64_t began = profile_enter();
    int result = NEXT(Finalize)();
    profile_leave(PROFILE_Finalize, began);
    profile_end();
    return result;
}
