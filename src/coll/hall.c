/* coll/hall: which calls are carried out in a hall, and what they need for it (hall.h).
 *
 * A group gets a hall at its first suitable call that may block and in which all members wait for all. It gets an annex
 * at such a call, too: wide blocks when the first call needs them, the others when the third one does. So groups that
 * live for a moment, or do no more than a barrier, pay little. Until there are desks sums of such a kind do without,
 * with operands in the same order (without_annex). Rooted calls open nothing: a root whose message is under way may go
 * on before the others have begun, and programs rely on it. Suitability depends only on what is the same on all
 * members, and either all members get the memory or none, so all decide alike; which way they take then is the plan's
 * (choose.h). Only the root of a broadcast knows its length, and tells it in the hall.
 *
 * Calls that do not block take the tracks behind the first by turns. A persistent one has a track of its own, because
 * members start them in orders of their own; which are free is agreed on when it is prepared.
 *
 * A rank that has no memory for its part decides what all decide, and goes through the rounds all the same, since
 * others wait for it: in a visit of a small reserve, which says so in each of them (vcoll_visit_withdraw). */
#include "coll/hall.h"
#include "base/tunables.h"
#include "coll/nodes.h"

/* coll_group.meetings; 0: there was none */
#define MET 1                /* there is a hall, and nothing is to be opened */
#define DUE 2                /* there is a hall, and an annex is to be opened */
#define NONE UINT32_MAX      /* there is no hall and never will be */

#define ANNEX_AFTER 2        /* calls that needed one */
#define MASK_WORDS 16        /* 1,024 processors, as vbase_affinity knows them */
#define BLOCK_WORDS (HALL_DATA / sizeof(uint64_t))
#define KEPT_MOST 5          /* tracks of persistent calls: two are left for the others */

/* The bitwise OR of what all members say, in COUNT words of a block. */
static int members_or(struct coll_hall *hall, uint64_t *words, size_t count)
{
    struct coll_visit visit = {.hall = hall, .track = &hall->track[0], .own = (const char *)words, .out = (char *)words,
                               .kernel = vtype_kernel(OPERATION_BOR, ELEMENT_U64), .size = sizeof *words,
                               .count = count};
    vcoll_visit_reduces(&visit, true);
    return vcoll_visit_run(&visit);
}

/* More ranks than processors that any of them may use? Decided in the first visits, so that all know the same. */
static int agree_on_crowd(struct coll_hall *hall)
{
    const struct base_topology *topology = vbase_topology();
    uint64_t mask[MASK_WORDS];
    int cpus = 0, error = OK;
    vbase_affinity(mask, MASK_WORDS);
    hall->crowd = true;
    for (size_t at = 0; at < MASK_WORDS && !error; at += BLOCK_WORDS)
        error = members_or(hall, mask + at, MASK_WORDS - at < BLOCK_WORDS ? MASK_WORDS - at : BLOCK_WORDS);
    if (error)
        return error;
    for (int i = 0; i < MASK_WORDS; i++)
        cpus += __builtin_popcountll(mask[i]);
    if (cpus == 0)
        cpus = topology->cpus_online;
    /* only the rank itself knows its quota, and all must decide alike */
    uint64_t crowd = hall->ranks > cpus || (topology->cpus_quota > 0 && hall->ranks > topology->cpus_quota);
    error = members_or(hall, &crowd, 1);
    hall->crowd = crowd != 0;
    return error;
}

/* The sequence number gives a tag that no schedule of the group uses. */
static int open_share(struct coll_group *group, size_t bytes, bool willing, struct msg_share **share)
{
    int tag = (int)(group->sequence++ & ((1u << 30) - 1));
    return vmsg_share_open(group->context, tag, bytes, willing, share);
}

/* Memory of a hall that was left may come again as another one's, by way of the first rank. This orders the two in this
 * process as well, for those who see only one process. */
static _Atomic uint32_t left_here;

static int open_hall(struct coll_group *group)
{
    struct coll_hall *hall = calloc(1, sizeof *hall), sizes = {.ranks = group->size};
    struct msg_share *share;
    struct coll_plan plan;
    int error = open_share(group, vcoll_hall_lay_out(&sizes, NULL), hall != NULL, &share);
    if (error) {
        free(hall);
        return error;
    }
    /* acquire: pairs with the release of a member that left */
    (void)atomic_load_explicit(&left_here, memory_order_acquire);
    *hall = (struct coll_hall){.rank = group->rank, .ranks = group->size, .share = share, .users = 1};
    vcoll_hall_lay_out(hall, vmsg_share_memory(share));
    error = agree_on_crowd(hall);
    if (error) { /* the job is lost */
        vmsg_share_close(share);
        free(hall);
        return error;
    }
    vcoll_plan_make(&plan, false, group->size, hall->crowd);
    hall->plan = vcoll_plan_share(&plan);
    group->hall = hall;
    group->meetings = MET;
    return OK;
}

/* Whether no member may leave such a call before all have begun it. */
static inline bool all_meet(enum coll_kind kind)
{
    return kind != COLL_BCAST && kind != COLL_REDUCE && !coll_is_scan(kind);
}

/* Whether a call that needs the annex has it; if not, it counts. */
static bool annex(struct coll_group *group, struct hall_annex *annex)
{
    if (likely(annex->memory))
        return true;
    if (annex->needs < ANNEX_AFTER && ++annex->needs == ANNEX_AFTER)
        group->meetings = DUE;
    return false;
}

static void open_annex(struct coll_group *group, struct hall_annex *annex, size_t bytes)
{
    if (annex->needs != ANNEX_AFTER)
        return;
    annex->needs++; /* once, whether or not there is memory */
    if (open_share(group, bytes, true, &annex->share) == OK)
        annex->memory = vmsg_share_memory(annex->share);
}

static void open_annexes(struct coll_group *group)
{
    struct coll_hall *hall = group->hall;
    group->meetings = MET;
    open_annex(group, &hall->wide, hall_wide_size(hall->ranks));
    hall->track[0].wide = (unsigned char *)hall->wide.memory;
    open_annex(group, &hall->bodies, HALL_CASTS * HALL_BODY);
    open_annex(group, &hall->desks, hall_desks_size(hall->ranks));
}

/* Whether all members can read each other's memory. Where they cannot the plan has no such way any more. */
static bool direct(struct coll_hall *hall)
{
    if (likely(hall->reads))
        return true;
    uint64_t refused = !vmsg_share_reads(hall->share);
    int error = members_or(hall, &refused, 1);
    hall->reads = !error && !refused;
    if (!hall->reads) {
        struct coll_plan plan = *hall->plan;
        vcoll_plan_without(&plan, COLL_DIRECT);
        hall->plan = vcoll_plan_share(&plan);
    }
    return hall->reads;
}

/* The way of a call as long as its annex is not there. By messages operands meet in another order, and the same sum
 * must have the same bits each time. */
static COLD enum coll_way without_annex(const struct coll_call *call)
{
    struct coll_hall *hall = call->group->hall;
    if (!call->reduction.kernel || !all_meet(call->kind))
        return COLL_MESSAGE;
    if (direct(hall))
        return COLL_DIRECT;
    if (hall->desks.needs <= ANNEX_AFTER) {
        hall->desks.needs = ANNEX_AFTER;
        open_annexes(call->group);
    }
    return hall->desks.memory ? COLL_DESK : COLL_MESSAGE;
}

/* Wide blocks are opened at once where the call may. */
static COLD bool wide_open(const struct coll_call *call)
{
    struct coll_hall *hall = call->group->hall;
    if (hall->wide.needs < ANNEX_AFTER) {
        hall->wide.needs = ANNEX_AFTER;
        call->group->meetings = DUE;
    }
    if (all_meet(call->kind))
        open_annexes(call->group);
    return hall->wide.memory != NULL;
}

/* ---- calls ---- */

#define HALL_RANKS 1024

/* Operations with a kernel are commutative, and their elements are the same everywhere and without holes. */
static inline bool reduces(const struct coll_call *call)
{
    const struct type_layout *layout = call->receive.layout;
    return call->reduction.kernel && (!layout || (layout->shape.contiguous && layout->shape.size <= 64));
}

static inline bool suits(const struct coll_call *call)
{
    const struct coll_group *group = call->group;
    if (call->between || call->edges || (unsigned)call->root >= (unsigned)group->size)
        return false;
    switch (call->kind) {
    case COLL_BARRIER:
    case COLL_BCAST:
        return true;
    case COLL_ALLREDUCE:
    case COLL_REDUCE:
    case COLL_SCAN:
    case COLL_EXSCAN:
        return reduces(call) && call->receive.count > 0;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        return reduces(call) && coll_element_size(call) <= hall_desk_share(group->size);
    default:
        return call->kind == COLL_ALLTOALL || call->kind == COLL_ALLGATHER || call->kind == COLL_ALLGATHERV;
    }
}

/* What the plan asks for: see choose.def. */
static inline __attribute__((always_inline)) uint64_t payload(const struct coll_call *call)
{
    uint64_t bytes = 0;
    switch (call->kind) {
    case COLL_ALLGATHERV:
        for (int r = 0; r < call->group->size; r++) {
            struct type_buffer block = coll_block(&call->receive, r);
            bytes = type_buffer_bytes(&block) > bytes ? type_buffer_bytes(&block) : bytes;
        }
        return bytes;
    case COLL_REDUCE_SCATTER:
        for (int r = 0; r < call->group->size; r++)
            bytes += (uint64_t)call->receive.counts[r];
        return bytes * coll_element_size(call);
    case COLL_REDUCE_SCATTER_BLOCK:
    case COLL_ALLTOALL:
        return coll_side_bytes(&call->receive) * (uint64_t)call->group->size;
    default:
        return coll_side_bytes(&call->receive);
    }
}

static void first_meeting(struct coll_group *group)
{
    if (group->member || group->size < 2 || group->size > HALL_RANKS || open_hall(group)) {
        group->meetings = NONE;
        vcoll_nodes_meet(group);
    }
}

/* Opens what the group lacks, where the call may. True: there is a hall. */
static COLD bool meet(const struct coll_call *call, bool may_block)
{
    struct coll_group *group = call->group;
    bool may_open = may_block && all_meet(call->kind);
    if (may_open && group->hall)
        open_annexes(group);
    else if (may_open && group->meetings != NONE)
        first_meeting(group);
    return group->hall != NULL;
}

/* The way of a call; COLL_MESSAGE where it is not carried out in a hall. MAY_BLOCK: what it needs may be opened. BYTES:
 * its payload, where it is. */
static inline __attribute__((always_inline)) enum coll_way way_of(const struct coll_call *call, bool may_block,
                                                                  uint64_t *bytes)
{
    struct coll_group *group = call->group;
    *bytes = 0;
    if (!suits(call) || (unlikely(group->meetings != MET) && !meet(call, may_block)))
        return COLL_MESSAGE;
    struct coll_hall *hall = group->hall;
    if (call->kind == COLL_BCAST) /* only the root knows the payload */
        return may_block ? COLL_BLOCK : COLL_MESSAGE;
    *bytes = payload(call);
    enum coll_way way = coll_plan_way(hall->plan, call->kind, *bytes);
    if (way == COLL_DIRECT && !(may_block ? direct(hall) : hall->reads))
        way = may_block ? coll_plan_way(hall->plan, call->kind, *bytes) : COLL_MESSAGE;
    return way;
}

static inline bool gives_to_each(enum coll_kind kind)
{
    return kind == COLL_ALLTOALL || kind == COLL_REDUCE_SCATTER_BLOCK || kind == COLL_ALLGATHER ||
           kind == COLL_ALLGATHERV;
}

static inline void visit_make(struct coll_visit *visit, const struct coll_call *call, struct hall_track *track,
                       enum coll_way way)
{
    int root = call->kind == COLL_REDUCE ? call->root : -1;
    visit->call = call;
    visit->hall = call->group->hall;
    visit->track = track;
    visit->error = OK;
    visit->memory = NULL;
    visit->kernel = way == COLL_BLOCK ? call->reduction.kernel : NULL;
    if (way != COLL_BLOCK || gives_to_each(call->kind)) {
        vcoll_visit_exchanges(visit, way);
        return;
    }
    visit->own = coll_own_base(call);
    visit->out = call->receive.base;
    visit->size = coll_element_size(call);
    visit->count = call->receive.count;
    if (unlikely(coll_is_scan(call->kind)))
        vcoll_visit_scans(visit);
    else
        vcoll_visit_reduces(visit, root < 0 || root == call->group->rank);
}

static int broadcast(const struct coll_call *call)
{
    struct coll_hall *hall = call->group->hall;
    struct type_buffer buffer = coll_whole(&call->receive);
    uint64_t total;
    int error = vcoll_cast(hall, call->root, &buffer, &total);
    if (error || total <= HALL_CAST)
        return error;
    if (coll_plan_way(hall->plan, COLL_BCAST, total) == COLL_DESK &&
        annex(call->group, &hall->bodies))
        return vcoll_cast_long(hall, call->root, &buffer, total);
    return vcoll_run_by_messages(call);
}

bool vcoll_hall_run(const struct coll_call *call, int *error)
{
    struct coll_visit visit;
    uint64_t bytes;
    enum coll_way way = way_of(call, true, &bytes);
    struct coll_hall *hall = call->group->hall;
    if (way == COLL_DESK ? !annex(call->group, &hall->desks)
                         : unlikely(bytes > HALL_DATA) && way == COLL_BLOCK && !hall->wide.memory && !wide_open(call))
        way = without_annex(call);
    if (way == COLL_MESSAGE)
        return false;
    if (call->kind == COLL_BCAST) {
        *error = broadcast(call);
        return true;
    }
    visit_make(&visit, call, &hall->track[0], way);
    *error = vcoll_visit_run(&visit);
    return true;
}

/* ---- calls that do not block ---- */

#define UNABLE ((uint64_t)1 << 32) /* a member has no memory for a persistent call */

/* Tracks that some member still needs for a persistent call. ERR_MEMORY: a member is not ABLE to make another one. */
static int agree_on_kept(struct coll_hall *hall, bool able)
{
    uint64_t needed = (hall->kept & ~atomic_load_explicit(&hall->given, memory_order_relaxed)) | (able ? 0 : UNABLE);
    int error = members_or(hall, &needed, 1);
    atomic_fetch_and_explicit(&hall->given, (uint32_t)needed, memory_order_relaxed);
    hall->kept = (uint32_t)needed;
    return error || !(needed & UNABLE) ? error
           : vbase_fail(ERR_MEMORY, "%s rank has no memory for a persistent collective", able ? "another" : "this");
}

/* A track that a persistent call has for itself; 0: none is left. */
static uint32_t track_keep(struct coll_hall *hall)
{
    for (uint32_t t = HALL_TRACKS - 1; t > 0 && __builtin_popcount(hall->kept) < KEPT_MOST; t--)
        if (!(hall->kept >> t & 1)) {
            hall->kept |= 1u << t;
            return t;
        }
    return 0;
}

static uint32_t track_next(struct coll_hall *hall)
{
    do
        hall->turn = hall->turn % (HALL_TRACKS - 1) + 1;
    while (hall->kept >> hall->turn & 1);
    return hall->turn;
}

bool vcoll_hall_enter(const struct coll_call *call, struct coll_visit *visit, bool able, int *error)
{
    bool again = call->form == COLL_AGAIN;
    uint64_t bytes;
    enum coll_way way = way_of(call, again, &bytes);
    struct coll_hall *hall = call->group->hall;
    if ((way != COLL_BLOCK && way != COLL_DIRECT) || call->kind == COLL_BCAST) /* desks belong to the first track */
        return false;
    /* a visit without a round would not wait for its turn */
    if ((way == COLL_BLOCK && bytes > HALL_DATA) || (bytes == 0 && call->kind != COLL_BARRIER))
        return false;
    *error = again ? agree_on_kept(hall, able) : OK;
    if (*error)
        return true;
    uint32_t track = again ? track_keep(hall) : track_next(hall);
    if (!track)
        return false;
    visit_make(visit, call, &hall->track[track], way);
    atomic_fetch_add_explicit(&hall->users, 1, memory_order_relaxed);
    if (!again) /* its turn comes in the order of the calls */
        vcoll_visit_start(visit);
    return true;
}

/* ---- without memory ---- */

struct stand_in {
    struct coll_visit visit;
    struct msg_request request;
    _Atomic bool used;
};
static struct stand_in reserve[TUNED(WITHDRAWALS_RESERVED)];

/* From a thread that makes progress. Once it waits, another thread may complete it. */
static void stand_in_goes_on(struct msg_request *request)
{
    struct stand_in *stand_in = container_of(request, struct stand_in, request);
    struct coll_visit *visit = &stand_in->visit;
    if (!request->result.error && !vcoll_visit_advance(visit) &&
        !vmsg_share_await(visit->hall->share, request, vcoll_visit_ready))
        return;
    vcoll_hall_leave(visit);
    /* release: pairs with the acquire in stand_in_take */
    atomic_store_explicit(&stand_in->used, false, memory_order_release);
}

static struct stand_in *stand_in_take(void)
{
    for (size_t i = 0; i < ARRAY_LENGTH(reserve); i++)
        /* acquire: pairs with the release in stand_in_goes_on */
        if (!atomic_exchange_explicit(&reserve[i].used, true, memory_order_acquire))
            return &reserve[i];
    return NULL;
}

bool vcoll_hall_withdraw(const struct coll_call *call)
{
    static const struct coll_call once = {.form = COLL_ONCE}; /* the caller's is gone soon */
    static const struct msg_result fine = {.error = OK};
    struct coll_visit visit;
    int error = OK;
    if (!vcoll_hall_enter(call, &visit, false, &error))
        return false;
    if (error)
        return true;
    vcoll_visit_withdraw(&visit);
    visit.call = &once;
    struct stand_in *stand_in = stand_in_take();
    if (!stand_in) {
        vmsg_failed(vbase_fail(ERR_MEMORY, "no memory for %zu collectives at once", ARRAY_LENGTH(reserve) + 1));
        return true;
    }
    stand_in->visit = visit;
    stand_in->request.completed = stand_in_goes_on;
    stand_in->request.owner = &stand_in->visit;
    vmsg_request_settle(&stand_in->request, &fine);
    stand_in_goes_on(&stand_in->request);
    return true;
}

/* ---- the end ---- */

/* What was started here and does not block is over. */
static bool tracks_are_over(void *context)
{
    struct coll_hall *hall = context;
    for (int t = 0; t < HALL_TRACKS; t++)
        /* acquire: pairs with the release of the last visit */
        if (atomic_load_explicit(&hall->track[t].serving, memory_order_acquire) != hall->track[t].tickets)
            return false;
    return true;
}

/* All members but the first have left. */
static bool others_left(void *context)
{
    struct coll_hall *hall = context;
    /* acquire: pairs with the release of each member that left */
    return atomic_load_explicit(&hall->memory->left.count, memory_order_acquire) + 1 == (uint64_t)hall->ranks;
}

void vcoll_group_close(struct coll_group *group)
{
    struct coll_hall *hall = group->hall;
    group->meetings = 0;
    group->hall = NULL;
    vcoll_nodes_free(group);
    if (!hall)
        return;
    if (hall->kept && !agree_on_kept(hall, true) && hall->kept) {
        vcoll_hall_drop(hall); /* persistent calls may still start: the memory is given back when the job ends */
        return;
    }
    (void)vmsg_share_wait(hall->share, tracks_are_over, hall);
    if (group->rank == 0) {
        (void)vmsg_share_wait(hall->share, others_left, hall);
    } else {
        /* release, both: this rank reads and writes nothing there any more */
        atomic_fetch_add_explicit(&left_here, 1, memory_order_release);
        atomic_fetch_add_explicit(&hall->memory->left.count, 1, memory_order_release);
        vmsg_share_wake(hall->share, 0);
    }
    vmsg_share_close(hall->wide.share);
    vmsg_share_close(hall->bodies.share);
    vmsg_share_close(hall->desks.share);
    vmsg_share_close(hall->share);
    hall->wide.share = hall->bodies.share = hall->desks.share = hall->share = NULL;
    vcoll_hall_drop(hall);
}
