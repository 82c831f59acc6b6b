/* pack: start and end, and what all ranks do together. Where a death does not end the job, a collective of all ranks
 * ends at the first death. */
#include "coll/coll.h"
#include "pack/pack.h"

static struct {
    bool started;
    uint32_t lives;          /* before this one: where MPI keeps the engine there may be several */
    uint32_t *told, *due;    /* by rank, first frames of remote calls: that it was told of, and that will come */
    struct coll_group group; /* of all ranks */
} pack;

bool vpack_threads;
__thread uint8_t vpack_inside TLS_QUICK;
void (*vpack_end)(bool close);
vd_channel *vpack_calls;
static __thread int last_error;

/* ---- errors ------------------------------------------------------------------------------------------------------ */

VEXPORT const char *vd_error_text(int code)
{
    char *text = vbase_text(TEXT_PACK);
    const char *detail = vbase_error_detail();
    snprintf(text, TEXT_ROOM, "%s%s%s (%s)", vbase_error_sentence(code), code && *detail ? ": " : "",
             code ? detail : "", vbase_error_remedy(code));
    if (!code)
        snprintf(text, TEXT_ROOM, "no error");
    return text;
}

VEXPORT int vd_error(void) { return last_error; }

vd_connection *vpack_fail(int error)
{
    last_error = error;
    return NULL;
}

int vpack_start(void)
{
    return pack.started ? OK : vbase_fail(ERR_STATE, "vd_init must come before, and vd_finalize after");
}

int vpack_start_all(void)
{
    return vpack_inside == PACK_INSIDE_AT_ONCE
               ? vbase_fail(ERR_STATE, "a handler that runs at once must not wait for the other ranks")
               : vpack_start();
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* After a restart a rank may send before others have closed the last one: so each one uses other numbers. */
uint32_t vpack_own_id(uint32_t which) { return pack.lives % 2 * PACK_OWN + which; }

static void threads_start(void) { vpack_threads = true; }

VEXPORT int vd_init(void)
{
    if (pack.started)
        return vbase_fail(ERR_STATE, "vd_init was called before");
    int error = vmsg_start();
    if (error)
        return error;
    const struct boot_job *job = vmsg_job();
    pack.group = (struct coll_group){.rank = job->rank, .size = job->size};
    pack.told = calloc(2 * (size_t)job->size, sizeof *pack.told);
    error = pack.told ? vmsg_context_open(MSG_CONTEXT_PACK + vpack_own_id(0), NULL, job->size, job->rank,
                                          &pack.group.context)
                      : vbase_fail(ERR_MEMORY, "no memory for %d ranks", job->size);
    if (error) {
        free(pack.told);
        vmsg_stop();
        return error;
    }
    pack.due = pack.told + pack.group.size;
    vpack_channels_begin();
    pack.started = true;
    vmsg_threads_begin = threads_start;
    return vmsg_threaded() ? vd_threads() : OK; /* other threads make progress, and run handlers after it */
}

static int rank_has_died(void)
{
    return vbase_fail(ERR_PEER_DEAD, "a rank has died, so not all can agree any more");
}

static bool schedule_is_over(void *schedule) { return vcoll_done(schedule) || vmsg_deaths(); }

/* A collective of all ranks. After a death it is given up, and so are all later ones. */
static int collective_run(const struct coll_call *call)
{
    struct coll_schedule *schedule;
    if (vmsg_deaths())
        return rank_has_died();
    int error = vcoll_prepare(call, &schedule);
    if (error)
        return error;
    error = vcoll_launch(schedule, NULL, NULL);
    if (!error)
        error = vmsg_wait_until(schedule_is_over, schedule);
    return vcoll_abandon(schedule, error || vcoll_done(schedule) ? error : rank_has_died());
}

int vpack_all_here(void)
{
    struct coll_call call = {.kind = COLL_BARRIER, .group = &pack.group};
    return collective_run(&call);
}

/* After a death the survivors meet by messages: each tells all others that it is here, and waits until each other is
 * here, or gone. */
struct survivor {
    struct msg_request here;
    int rank;
};
#define TAG_SURVIVORS 1

static bool survivor_is_here(void *context)
{
    const struct survivor *other = context;
    return vmsg_request_done(&other->here) || vmsg_left(other->rank);
}

static void survivors_meet(void)
{
    for (int rank = 0; rank < pack.group.size; rank++)
        if (rank != pack.group.rank && !vmsg_left(rank))
            (void)vmsg_send(pack.group.context, rank, TAG_SURVIVORS, NULL, 0);
    for (int rank = 0; rank < pack.group.size; rank++) {
        struct survivor other = {.rank = rank};
        struct msg_where from = {pack.group.context, rank, TAG_SURVIVORS};
        if (rank == pack.group.rank || vmsg_recv_start(&other.here, &from, &(struct type_buffer){.count = 0}))
            continue;
        (void)vmsg_wait_until(survivor_is_here, &other);
        vmsg_cancel(&other.here);
        (void)vmsg_wait(&other.here);
    }
}

/* The least of VALUE over all ranks, for each of COUNT. */
int vpack_least(int64_t *value, uint64_t count)
{
    struct type_layout *layout;
    int error = vtype_layout_bytes(sizeof *value, sizeof *value, &layout);
    if (error)
        return error;
    struct coll_call call = {.kind = COLL_ALLREDUCE,
                             .group = &pack.group,
                             .send = {.base = COLL_IN_PLACE, .count = count, .layout = layout},
                             .receive = {.base = value, .count = count, .layout = layout},
                             .reduction = {.kernel = vtype_kernel(OPERATION_MIN, ELEMENT_I64), .commutative = true}};
    error = collective_run(&call);
    vtype_layout_drop(layout);
    return error;
}

/* True: this rank has sent some since it told the others last. */
static bool calls_count(void)
{
    bool sent = false;
    if (!vpack_calls)
        return false;
    if (vpack_threads)
        base_lock(&vpack_calls->first_out);
    for (int rank = 0; rank < pack.group.size; rank++) {
        sent |= vpack_calls->sent[rank] != pack.told[rank];
        pack.told[rank] = vpack_calls->sent[rank];
    }
    if (vpack_threads)
        base_unlock(&vpack_calls->first_out);
    return sent;
}

static bool calls_are_here(void *context)
{
    int *rank = context;
    while (vpack_calls && *rank < pack.group.size &&
           (int32_t)(__atomic_load_n(&vpack_calls->heard[*rank], __ATOMIC_ACQUIRE) - pack.due[*rank]) >= 0)
        ++*rank; /* acquire: pairs with first_frame_heard of rpc */
    return !vpack_calls || *rank == pack.group.size || vmsg_deaths();
}

/* All ranks meet until no call, reply or notice is on its way, and no handler runs that could send one: in each round
 * they tell each other how many they have sent, and wait for so many. What one rank sends another may come later than
 * the messages of a meeting, which go by others. Ends with an error at the first death. */
static int calls_settle(void)
{
    for (;;) {
        int64_t still = calls_count() ? -1 : 0;
        struct coll_call exchange = {.kind = COLL_ALLTOALL,
                                     .group = &pack.group,
                                     .send = {.base = pack.told, .count = sizeof *pack.told},
                                     .receive = {.base = pack.due, .count = sizeof *pack.due}};
        int first = 0, error = vpack_least(&still, 1);
        if (error || !still)
            return error;
        error = collective_run(&exchange);
        if (!error)
            error = vmsg_wait_until(calls_are_here, &first);
        if (!error && vmsg_deaths())
            error = rank_has_died();
        if (error)
            return error;
        if (vpack_end)
            vpack_end(false);
    }
}

VEXPORT int vd_finalize(void)
{
    int error = vpack_start();
    if (!error && vpack_inside)
        error = vbase_fail(ERR_STATE, "vd_finalize waits for the handlers of this rank, and this is one");
    if (!error && !(vpack_threads && vpack_end)) /* else handlers may have some, which they will end */
        error = vpack_channels_ended(); /* before another rank waits for us */
    if (error)
        return error;
    DOING("vd_finalize");
    vpack_event_close();
    if (vpack_end && !vpack_calls)
        vpack_end(true); /* functions were registered and calls never started: as if there were none */
    (void)vd_rpc_start(
        0); /* so that calls from others end with an error: else they would wait for us, and we for them */
    error = calls_settle();
    if (error && !vmsg_deaths())
        return error;
    for (int close = !error; close < 2; close++) {
        if (error)
            survivors_meet();
        if (vpack_end)
            vpack_end(close);
    }
    int closed = vpack_channels_close();
    if (closed)
        return closed;
    vcoll_group_close(&pack.group);
    vmsg_context_close(pack.group.context);
    vmsg_threads_begin = NULL;
    free(pack.told);
    pack.started = vpack_threads = false;
    pack.lives++;
    vmsg_stop();
    return error;
}

VEXPORT int vd_rank(void) { return pack.started ? pack.group.rank : -1; }
VEXPORT int vd_size(void) { return pack.started ? pack.group.size : -1; }

VEXPORT int vd_threads(void)
{
    int error = vpack_start();
    if (error || vpack_threads)
        return error;
    vmsg_threads(true);
    return OK;
}

VEXPORT int vd_progress(void)
{
    (void)vmsg_deaths();
    return vmsg_progress();
}
