/* mplite: start, end, and what happens in between when something is wrong. Called by the program's threads. */
#include "lite.h"
#include "mplite.h"

struct lite vmplite;

/* ---- errors ---- */

__attribute__((noreturn)) static void end(const char *call, const char *text)
{
    char sentence[600];
    if (vmsg_job()) { /* the launcher puts rank and host before it */
        snprintf(sentence, sizeof sentence, "%s: %s", call, text);
        vmsg_abort(1, sentence);
    }
    fprintf(stderr, "viaduct: %s: %s\n", call, text);
    exit(1);
}

void vmplite_fail(const char *call, const char *format, ...)
{
    char text[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    end(call, text);
}

void vmplite_fail_code(const char *call, int error)
{
    vmplite_fail(call, "%s: %s (%s)", vbase_error_sentence(error), vbase_error_detail(), vbase_error_remedy(error));
}

void vmplite_check_started(const char *call)
{
    if (unlikely(!vmplite.started))
        vmplite_fail(call, "MP_Init must come before, and MP_Finalize after");
}

void vmplite_check_rank(const char *call, const char *what, int rank)
{
    vmplite_check_started(call);
    if (unlikely(rank < 0 || rank >= vmplite.size))
        vmplite_fail(call, "the %s %d is no rank of this job: they are 0 to %d", what, rank, vmplite.size - 1);
}

uint64_t vmplite_bytes(const char *call, long count, size_t size)
{
    uint64_t bytes;
    if (unlikely(count < 0 || __builtin_mul_overflow((uint64_t)count, size, &bytes) || bytes > INT64_MAX))
        vmplite_fail(call, "a count of %ld", count);
    return bytes;
}

/* ---- life ---- */

static int open_contexts(void)
{
    const struct boot_job *job = vmsg_job();
    vmplite.rank = job->rank;
    vmplite.size = job->size;
    int error = vmsg_context_open(MSG_CONTEXT_MPLITE, NULL, job->size, job->rank, &vmplite.messages) ?:
                vmsg_context_open(MSG_CONTEXT_MPLITE + 1, NULL, job->size, job->rank, &vmplite.inner) ?:
                vmsg_context_open(MSG_CONTEXT_MPLITE + 2, NULL, job->size, job->rank, &vmplite.group.context);
    vmplite.group.rank = job->rank;
    vmplite.group.size = job->size;
    vmplite.group.sequence = 0;
    return error;
}

VEXPORT void MP_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv; /* nothing of ours is ever in them */
    if (vmplite.started)
        vmplite_fail("MP_Init", "it was called before");
    int error = vmsg_start() ?: open_contexts();
    vmplite_must("MP_Init", error);
    vmplite_messages_open();
    vmplite.started = true;
}

VEXPORT void MP_Finalize(void)
{
    vmplite_check_started("MP_Finalize");
    DOING("MP_Finalize");
    vmplite_messages_close();
    vcoll_group_close(&vmplite.group);
    vmsg_context_close(vmplite.messages);
    vmsg_context_close(vmplite.inner);
    vmsg_context_close(vmplite.group.context);
    vmplite.started = false;
    vmsg_stop();
}

VEXPORT void MP_Bedlam(const char *reason) { vmplite_fail("MP_Bedlam", "%s", reason ? reason : "the program gave up"); }

VEXPORT void MP_Nprocs(int *nprocs)
{
    vmplite_check_started("MP_Nprocs");
    *nprocs = vmplite.size;
}

VEXPORT void MP_Myproc(int *myproc)
{
    vmplite_check_started("MP_Myproc");
    *myproc = vmplite.rank;
}

VEXPORT double MP_Time(void) { return (double)vbase_clock_ns() * 1e-9; }
