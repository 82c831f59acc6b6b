/* The table of ranks for debuggers (the MPIR interface): they set MPIR_being_debugged, stop at MPIR_Breakpoint and read
 * MPIR_proctable. The names and types are given by that interface; they are exported, so that they outlive
 * stripping. */
#include "run/job.h"

typedef struct {
    char *host_name;
    char *executable_name;
    int pid;
} MPIR_PROCDESC;

VEXPORT extern MPIR_PROCDESC *MPIR_proctable;
VEXPORT extern int MPIR_proctable_size;
VEXPORT extern volatile int MPIR_being_debugged, MPIR_debug_state;
VEXPORT extern int MPIR_i_am_starter, MPIR_partial_attach_ok;
VEXPORT extern char *MPIR_debug_abort_string;
VEXPORT void MPIR_Breakpoint(void);

#define MPIR_DEBUG_SPAWNED 1

MPIR_PROCDESC *MPIR_proctable;
int MPIR_proctable_size;
volatile int MPIR_being_debugged, MPIR_debug_state;
int MPIR_i_am_starter, MPIR_partial_attach_ok;
char *MPIR_debug_abort_string;

__attribute__((noinline)) void MPIR_Breakpoint(void) { __asm__ volatile("" ::: "memory"); }

void mpir_publish(struct run_job *job)
{
    MPIR_PROCDESC *table = calloc((size_t)job->size, sizeof *table);
    if (!table)
        return; /* a debugger then sees no table */
    for (int i = 0; i < job->size; i++)
        table[i] = (MPIR_PROCDESC){job->host, job->rank[i].app->argv[0], job->rank[i].pid};
    MPIR_proctable = table;
    MPIR_proctable_size = job->size;
    MPIR_debug_state = MPIR_DEBUG_SPAWNED;
    MPIR_Breakpoint();
}
