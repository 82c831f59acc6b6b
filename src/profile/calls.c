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
#include <string.h>

void *_Atomic profile_functions[2][PROFILE_CALLS];

static void *function_behind(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function)
        return function;
    void *library = dlopen("libmpi_abi.so.1", RTLD_LAZY | RTLD_NOLOAD); /* it was loaded for a plug-in alone */
    return library ? dlsym(library, name) : NULL;
}

bool profile_handles_differ(void)
{
    Dl_info library;
    void *function = function_behind("PMPI_Comm_size");
    return function && dladdr(function, &library) && !strstr(library.dli_fname, "libmpi_abi.");
}

void *profile_find(void *_Atomic *at, const char *name)
{
    void *function = function_behind(name);
    if (!function) {
        fprintf(stderr, "viaduct: %s is called, and no library has it; run the job without --report\n", name);
        abort();
    }
    atomic_store_explicit(at, function, memory_order_relaxed);
    return function;
}

/* ---- what is noted of a call beside its time: AFTER it succeeded, or BEFORE it begins ----
 * A row begins with a comma, see NOTED: NOTED(AFTER_Send) becomes profile_sent(...), NOTED(AFTER_Recv) (void)0. */

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
#define AFTER_Send_init           , profile_made(request, comm, dest, count, datatype)
#define AFTER_Bsend_init          AFTER_Send_init
#define AFTER_Ssend_init          AFTER_Send_init
#define AFTER_Rsend_init          AFTER_Send_init
#define AFTER_Psend_init          , profile_made(request, comm, dest, (MPI_Count)count * partitions, datatype)
#define AFTER_Start               , all_started(request, 1)
#define AFTER_Startall            , all_started(array_of_requests, count)
#define BEFORE_Session_init       , profile_several()
#define AFTER_Session_init        , profile_begin()
#define AFTER_Session_finalize    , profile_end()
#define BEFORE_Comm_free          , freed_comm(comm)
#define BEFORE_Comm_disconnect    , freed_comm(comm)

static void all_started(const MPI_Request *request, int count)
{
    for (int i = 0; profile_messages && i < count; i++)
        profile_started(request[i]);
}

static void freed_comm(const MPI_Comm *comm)
{
    if (comm && profile_messages)
        profile_comm_freed(*comm);
}

/* The second of its arguments: what a row above holds, or else the NOTHING that follows it. */
#define SECOND(first, second, ...) second
#define CHOSEN(...)                SECOND(__VA_ARGS__)
#define NOTED(note)                CHOSEN(note, (void)0, )

/* ---- what is noted of brief calls, where it is known beforehand that it can be ---- */

#define ABLE_Isend                , profile_sends_directly(comm, dest, count, datatype)
#define AHEAD_Isend               , profile_sent_directly(slice_, dest, count)
#define ABLE_Issend               ABLE_Isend
#define AHEAD_Issend              AHEAD_Isend
#define ABLE_Irsend               ABLE_Isend
#define AHEAD_Irsend              AHEAD_Isend

/* ---- frequent calls that do not wait, or whose waits the engine counts: not all of them are timed ---- */

#define KIND_Isend                , PROFILE_SHORT
#define KIND_Ibsend               KIND_Isend
#define KIND_Issend               KIND_Isend
#define KIND_Irsend               KIND_Isend
#define KIND_Irecv                KIND_Isend
#define KIND_Isendrecv            KIND_Isend
#define KIND_Isendrecv_replace    KIND_Isend
#define KIND_Imrecv               KIND_Isend
#define KIND_Start                KIND_Isend
#define KIND_Startall             KIND_Isend
#define KIND_Pready               KIND_Isend
#define KIND_Pready_range         KIND_Isend
#define KIND_Pready_list          KIND_Isend
#define KIND_Parrived             KIND_Isend
#define KIND_Iprobe               KIND_Isend
#define KIND_Improbe              KIND_Isend
#define KIND_Test                 KIND_Isend
#define KIND_Testall              KIND_Isend
#define KIND_Testany              KIND_Isend
#define KIND_Testsome             KIND_Isend
#define KIND_Request_get_status   KIND_Isend
#define KIND_Test_cancelled       KIND_Isend
#define KIND_Get_count            KIND_Isend
#define KIND_Get_elements         KIND_Isend
#define KIND_Put                  KIND_Isend
#define KIND_Get                  KIND_Isend
#define KIND_Accumulate           KIND_Isend
#define KIND_Comm_rank            KIND_Isend
#define KIND_Comm_size            KIND_Isend
#define KIND_Cart_coords          KIND_Isend
#define KIND_Cart_rank            KIND_Isend
#define KIND_Cart_shift           KIND_Isend
#define KIND_Type_size            KIND_Isend
#define KIND_Type_get_extent      KIND_Isend
#define KIND_Get_address          KIND_Isend
#define KIND_Initialized          KIND_Isend
#define KIND_Finalized            KIND_Isend

#define KIND_Wait                , PROFILE_WAITS
#define KIND_Waitall             KIND_Wait
#define KIND_Waitany             KIND_Wait
#define KIND_Waitsome            KIND_Wait
#define KIND_Send                KIND_Wait
#define KIND_Recv                KIND_Wait
#define KIND_Sendrecv            KIND_Wait

/* ---- the functions ---- */

#define KIND_OF(Name)                     CHOSEN(KIND_##Name, PROFILE_LONG, )
#define PARAMETER(size, kind, name, ...) __typeof__(C_PARAMETER(size, kind, name, __VA_ARGS__)) name
#define ARGUMENT(size, kind, name, ...)  name
/* Each is two functions: one for a call that only passes, and one that times it. The first calls the second last, so a
 * call that passes keeps no argument but what is noted of it. */
#define TIMING(Name, suffix, size, ...)                                                                                \
    static __attribute__((noinline)) int timed_##Name##suffix(EACH_LISTED(PARAMETER, size, __VA_ARGS__))               \
    {                                                                                                                  \
        NOTED(BEFORE_##Name);                                                                                          \
        struct profile_entry entry_ = profile_enter(PROFILE_##Name##suffix, KIND_OF(Name));                            \
        int result_ = NEXT(Name##suffix)(EACH_LISTED(ARGUMENT, size, __VA_ARGS__));                                    \
        if (likely(entry_.began)) {                                                                                    \
            profile_record(PROFILE_##Name##suffix, &entry_);                                                           \
            if (result_ == MPI_SUCCESS) {                                                                              \
                NOTED(AFTER_##Name);                                                                                   \
            }                                                                                                          \
            profile_leave();                                                                                           \
        }                                                                                                              \
        return result_;                                                                                                \
    }
#define PASSING(function, Name, suffix, size, ...)                                                                     \
    function(EACH_LISTED(PARAMETER, size, __VA_ARGS__))                                                                \
    {                                                                                                                  \
        struct profile_passage passage_ = {0};                                                                         \
        if (KIND_OF(Name) == PROFILE_LONG || !profile_pass(&passage_, PROFILE_##Name##suffix, KIND_OF(Name)))          \
            return timed_##Name##suffix(EACH_LISTED(ARGUMENT, size, __VA_ARGS__));                                     \
        int result_ = NEXT_KNOWN(Name##suffix)(EACH_LISTED(ARGUMENT, size, __VA_ARGS__));                              \
        if (profile_passed(passage_, PROFILE_##Name##suffix, KIND_OF(Name)) && result_ == MPI_SUCCESS) {               \
            NOTED(AFTER_##Name);                                                                                       \
        }                                                                                                              \
        return result_;                                                                                                \
    }
#define TIMED(Name, suffix, size, ...)                                                                                 \
    TIMING(Name, suffix, size, __VA_ARGS__)                                                                            \
    PASSING(int MPI_##Name##suffix, Name, suffix, size, __VA_ARGS__)
/* And those in the middle of which nothing of the program's is called, but for an error: all is noted before, and MPI's
 * function is called last. A send that fails has been counted then. */
#define BRIEF(Name, suffix, size, ...)                                                                                 \
    TIMING(Name, suffix, size, __VA_ARGS__)                                                                            \
    PASSING(static __attribute__((noinline)) int passing_##Name##suffix, Name, suffix, size, __VA_ARGS__)              \
    int MPI_##Name##suffix(EACH_LISTED(PARAMETER, size, __VA_ARGS__))                                                  \
    {                                                                                                                  \
        struct profile_slice *slice_ = profile_thread.slice;                                                           \
        if (!profile_is_brief(slice_, PROFILE_##Name##suffix) || !CHOSEN(ABLE_##Name, true, ))                         \
            return passing_##Name##suffix(EACH_LISTED(ARGUMENT, size, __VA_ARGS__));                                   \
        profile_brief_count(slice_, PROFILE_##Name##suffix);                                                           \
        NOTED(AHEAD_##Name);                                                                                           \
        return NEXT_KNOWN(Name##suffix)(EACH_LISTED(ARGUMENT, size, __VA_ARGS__));                                     \
    }
#define NOT_TIMED(...)

#define ROW_Buffer_flush    , NOT_TIMED /* has no parameter, */
#define ROW_Finalize        , NOT_TIMED
#define ROW_Init            , NOT_TIMED /* or two that are one in the table, */
#define ROW_Init_thread     , NOT_TIMED
#define ROW_Info_create_env , NOT_TIMED
#define ROW_Request_free    , NOT_TIMED /* or notes what depends on how it ends */
#define ROW_Isend           , BRIEF
#define ROW_Issend          , BRIEF
#define ROW_Irsend          , BRIEF
#define ROW_Irecv           , BRIEF
#define ROW_Comm_rank       , BRIEF
#define ROW_Comm_size       , BRIEF
#define ROW_Get_count       , BRIEF
#define CALL(Name, name, ...) CHOSEN(ROW_##Name, TIMED, )(Name, , SMALL, __VA_ARGS__)
#define CALL_C(Name, name, ...)                                                                                        \
    CALL(Name, name, __VA_ARGS__)                                                                                      \
    CHOSEN(ROW_##Name, TIMED, )(Name, _c, LARGE, __VA_ARGS__)
#define BUFFER   CALL
#define BUFFER_C CALL_C
#define OWN      CALL
#define OWN_C    CALL_C
#define OLD(...)
#include "mpi/calls.def"

static int timed(enum profile_call call, struct profile_entry entry, int result)
{
    if (entry.began) {
        profile_record(call, &entry);
        profile_leave();
    }
    return result;
}

int MPI_Init(int *argc, char ***argv)
{
    struct profile_entry entry = profile_enter(PROFILE_Init, PROFILE_LONG);
    int result = timed(PROFILE_Init, entry, NEXT(Init)(argc, argv));
    profile_begin();
    profile_summarize();
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct profile_entry entry = profile_enter(PROFILE_Init_thread, PROFILE_LONG);
    if (required >= MPI_THREAD_MULTIPLE)
        profile_several();
    int result = timed(PROFILE_Init_thread, entry, NEXT(Init_thread)(argc, argv, required, provided));
    profile_begin();
    profile_summarize();
    return result;
}

int MPI_Finalize(void)
{
    struct profile_entry entry = profile_enter(PROFILE_Finalize, PROFILE_LONG);
    int result = timed(PROFILE_Finalize, entry, NEXT(Finalize)());
    profile_end();
    return result;
}

/* The request is forgotten before it is freed: the next one that is made may have its handle. */
int MPI_Request_free(MPI_Request *request)
{
    struct profile_made *one = request && profile_messages ? profile_made_take(*request) : NULL;
    struct profile_entry entry = profile_enter(PROFILE_Request_free, PROFILE_LONG);
    int result = timed(PROFILE_Request_free, entry, NEXT(Request_free)(request));
    if (result == MPI_SUCCESS)
        free(one);
    else if (one)
        profile_made_keep(one);
    return result;
}
