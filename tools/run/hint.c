/* A job in which nothing moves any more says so itself, once: all ranks have waited in MPI for VIADUCT_STUCK, each in
 * one wait, and have used no processor. Then the launcher says what `viaduct stuck` would say. A hint and no more: the
 * job goes on. The launcher looks twice in that time, and asks other hosts only while all ranks of its own wait.
 *
 * Processor time, and bytes sent over the network, tell a job that hangs from one whose large message takes as long, or
 * in which another thread computes. Where it cannot be read (a container of its own), nothing is said; nor of a rank
 * where several threads may call MPI and one of them sleeps elsewhere: it may send when it wakes. */
#include "run/job.h"
#include "run/state.h"

#define LEAST_GAP_NS (SECOND_NS / 10)
/* A rank that sleeps uses less than one part in so many of a processor: about one in 2000. A thread that computes may
 * get little more where processors are short. */
#define IDLE_PART 250

/* Between two looks. */
static uint64_t gap_ns(void)
{
    uint64_t half = vbase_settings.stuck / 2;
    return half > LEAST_GAP_NS ? half : LEAST_GAP_NS;
}

static bool rank_sleeps(const struct state_rank *rank)
{
    return rank->wait.kind != WAITS_NOT && !rank->others &&
           (rank->process == 'S' || rank->process == 'R' || rank->process == 'D');
}

/* Every rank that lives; there is one. */
static bool all_sleep(const struct state_job *all)
{
    int living = 0;
    for (int i = 0; i < all->count; i++) {
        living += all->rank[i].alive;
        if (all->rank[i].alive && !rank_sleeps(&all->rank[i]))
            return false;
    }
    return living > 0;
}

/* Since the look before nothing has moved, and the shortest wait is long enough: longer than the time between looks. */
static bool nothing_moved(const struct run_hint *hint, const struct state_job *all)
{
    uint64_t enough_ms = 2 * gap_ns() / 1000000; /* VIADUCT_STUCK, if that is not shorter than 0.2 s */
    const struct state_rank *then = (const void *)hint->seen.data;
    if (hint->seen.length != (size_t)all->count * sizeof *then)
        return false;
    for (int i = 0; i < all->count; i++) {
        const struct state_rank *now = &all->rank[i];
        bool same = now->rank == then[i].rank && now->alive == then[i].alive && now->sent == then[i].sent;
        if (!same || (now->alive && (now->waits_ms < enough_ms ||
                                     now->cpu_us - then[i].cpu_us > enough_ms * 1000 / 2 / IDLE_PART)))
            return false;
    }
    return true;
}

static void line_say(void *at, const char *text)
{
    struct run_job *job = at;
    if (!job->hint.said)
        output_line(job,
                    "warning: all ranks have waited in MPI for %.3g s, and nothing moves. What viaduct stuck %d says "
                    "(VIADUCT_STUCK sets the time, 0 is never):",
                    (double)vbase_settings.stuck / 1e9, (int)getpid());
    job->hint.said = true;
    output_line(job, "%s", text);
}

void hint_judge(struct run_job *job, const struct state_job *all)
{
    struct run_hint *hint = &job->hint;
    bool sleep = all->count == job->size && all_sleep(all);
    if (sleep && nothing_moved(hint, all) && job->ending == ENDING_NO)
        (void)stuck_explain(all, NULL, line_say, job);
    bytes_drop(&hint->seen, hint->seen.length);
    if (sleep && !hint->said)
        bytes_add(&hint->seen, all->rank, (size_t)all->count * sizeof *all->rank);
}

static bool own_ranks_sleep(const struct run_job *job)
{
    struct state_job own;
    if (job->local == 0)
        return true;
    if (job->node_fd < 0 || state_read(job->node_fd, &own) != OK)
        return false;
    bool sleep = all_sleep(&own);
    state_free(&own);
    return sleep;
}

void hint_tick(struct run_job *job, uint64_t now_ns)
{
    struct run_hint *hint = &job->hint;
    bool wanted = vbase_settings.stuck > 0 && vbase_log_level >= LOG_LEVEL_WARN && job->head.fd < 0 && !hint->said;
    bool due = wanted && loop_due(&job->loop, hint->look_ns, now_ns);
    if (!wanted || (hint->look_ns && !due))
        return;
    hint->look_ns = now_ns + gap_ns();
    (void)loop_due(&job->loop, hint->look_ns, now_ns);
    if (due && job->ending == ENDING_NO && own_ranks_sleep(job))
        gather_begin(job, GATHER_HINT);
}
