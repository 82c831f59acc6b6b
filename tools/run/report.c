/* What each rank died of: one message for the first cause, in time, and the exit status of the job.
 *
 * What a rank was doing comes from its counters in the node's segment, whether it left as it should from its seat or,
 * for programs of other libraries, from what it said over PMI. */
#include "run/job.h"
#include "vi/shm/segment.h"
#include <sys/wait.h>

#define FAILURE_GRACE_NS SECOND_NS

/* ---- what a rank was doing ---- */

/* The library call that the rank entered last; "" if it never did. */
static void last_call(const struct run_job *job, int seat, char *text, size_t size)
{
    char copy[sizeof((struct base_counters *)0)->last_call + 1] = "";
    off_t at;
    if (job->node_fd >= 0 && shm_segment_counters(job->node_fd, seat, &at) == OK &&
        pread(job->node_fd, copy, sizeof copy - 1, at + (off_t)offsetof(struct base_counters, last_call)) < 0)
        *copy = 0;
    for (char *letter = copy; *letter; letter++)
        if (*letter < ' ' || *letter > '~')
            *letter = '?'; /* the rank wrote it */
    snprintf(text, size, "%s", copy);
}

/* By its seat, else by what it said over PMI. */
static enum boot_seat_state progress_of(const struct run_job *job, const struct run_rank *rank)
{
    /* acquire: pairs with the rank's release, so its last words are seen */
    uint32_t seat = atomic_load_explicit(&job->handover.seat[rank->seat].state, memory_order_acquire);
    return seat == SEAT_EMPTY ? rank->wire : seat == SEAT_JOINED ? SEAT_JOINED : SEAT_LEFT;
}

/* ---- one message ---- */

static void rank_print_death(struct run_job *job, const struct run_rank *rank)
{
    const char *words = job->handover.seat[rank->seat].message; /* the rank wrote it, perhaps without an end */
    bool killed = WIFSIGNALED(rank->status);
    int number = WTERMSIG(rank->status), code = WEXITSTATUS(rank->status);
    /* what the kernel did, if it did it since we began; a shell tells its child's end by its status */
    const char *memory = (killed ? number == SIGKILL : code == 128 + SIGKILL) && vbase_oom_kills() > job->oom_kills
                             ? ": the kernel's out-of-memory killer; use fewer ranks or raise the memory limit"
                             : "";
    char how[512], call[64];
    last_call(job, rank->seat, call, sizeof call);
    if (rank->aborted)
        snprintf(how, sizeof how, "ended the job with status %d%s%.*s", rank->abort_status, *words ? ": " : "",
                 (int)sizeof job->handover.seat->message - 1, words);
    else if (killed)
        snprintf(how, sizeof how, "was killed by signal %d (%s)%s%s%s%s", number, strsignal(number),
                 WCOREDUMP(rank->status) ? ", core dumped" : "", memory, *call ? "; its last MPI call was " : "", call);
    else if (progress_of(job, rank) == SEAT_JOINED)
        snprintf(how, sizeof how, "ended without MPI_Finalize, with exit status %d", code);
    else
        snprintf(how, sizeof how, "ended with exit status %d%s", code, memory);
    output_line(job, "rank %d (pid %d on %s) %s", rank->rank, rank->pid, job->host, how);
}

/* A rank that ended well and never joined, while another is inside MPI: that other would wait for it for ever. */
static const struct run_rank *rank_deserted(const struct run_job *job)
{
    for (int i = 0; i < job->size; i++)
        if (job->rank[i].state == RANK_RUNNING && progress_of(job, &job->rank[i]) == SEAT_JOINED)
            return &job->rank[i];
    return NULL;
}

void report_deserters(struct run_job *job)
{
    const struct run_rank *waiting = !job->silent || job->failed || job->ending ? NULL : rank_deserted(job);
    for (int i = 0; waiting && i < job->size; i++) {
        const struct run_rank *rank = &job->rank[i];
        if (rank->state != RANK_DEAD || progress_of(job, rank) != SEAT_EMPTY)
            continue;
        output_line(job, "rank %d (pid %d on %s) ended without MPI_Init, but rank %d is in MPI and would wait for it",
                    rank->rank, rank->pid, job->host, waiting->rank);
        if (job->options.keep_going)
            death_spread(job, (int[]){1, i}, 2);
        else
            end_begin(job, 1, FAILURE_GRACE_NS);
        return;
    }
}

static int rank_status(const struct run_rank *rank)
{
    if (rank->aborted)
        return rank->abort_status;
    return WIFSIGNALED(rank->status) ? 128 + WTERMSIG(rank->status) : WEXITSTATUS(rank->status) ?: 1;
}

void report_death(struct run_job *job, struct run_rank *rank)
{
    enum boot_seat_state progress = progress_of(job, rank);
    int status = rank_status(rank);
    if (progress == SEAT_LEFT)
        fence_ended(job);
    bool well = !rank->aborted && WIFEXITED(rank->status) && WEXITSTATUS(rank->status) == 0;
    bool goes_on = job->options.keep_going && !rank->aborted;
    bool left = progress == SEAT_LEFT && !rank->aborted && WIFEXITED(rank->status); /* the others may go on */
    bool told =
        job->ending != ENDING_NO || (job->failed && (goes_on || !job->options.keep_going)); /* the first cause */
    if (well && progress != SEAT_JOINED) {
        job->silent |= progress == SEAT_EMPTY;
        if (progress == SEAT_LEFT && job->deaths) /* no last fence kept it until nobody needs it any more */
            death_spread(job, (int[]){job->exit_status, rank->rank}, 2);
        return;
    }
    if (!told && !well)
        output_drain(job, rank); /* its own output comes before our message about it */
    if (!told && !left)
        rank_print_death(job, rank);
    if (goes_on && (progress != SEAT_LEFT || job->deaths))
        death_spread(job, (int[]){status, rank->rank}, 2);
    if (!told && !goes_on && !left)
        end_begin(job, status, FAILURE_GRACE_NS);
    else if (!told)
        end_status(job, status);
}

/* ---- at the end ---- */

void report_all(struct run_job *job)
{
    for (int i = 0; job->options.print_exitcodes && i < job->size; i++) {
        const struct run_rank *rank = &job->rank[i];
        if (rank->host != job->here)
            continue; /* its helper tells */
        if (rank->state != RANK_DEAD)
            output_line(job, "rank %d was not started", i);
        else if (WIFSIGNALED(rank->status))
            output_line(job, "rank %d (pid %d): signal %d (%s)", i, rank->pid, WTERMSIG(rank->status),
                        strsignal(WTERMSIG(rank->status)));
        else
            output_line(job, "rank %d (pid %d): exit status %d", i, rank->pid, WEXITSTATUS(rank->status));
    }
}
