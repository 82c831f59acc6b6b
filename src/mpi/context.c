/* Numbers of communicators, agreed upon by their members.
 *
 * All members of the parent take the bitwise AND of what is free at each of them and pick the first common bit after a
 * place that all compute alike. With several threads another agreement may pick the same bit meanwhile, here or
 * elsewhere; so a second round tells whether all could claim it, and if not they begin again at another place. Nothing
 * is held while waiting, so agreements on different communicators never wait for each other. Where no member has
 * threads the second round is left out.
 *
 * A step is started by the completion of the one before, from whichever thread makes progress: MPI_Comm_idup needs
 * that. */
#include "mpi/context.h"
#include "mpi/type.h"

#define ID_WORDS 315 /* 20160 communicators at once: the engine has 65536 contexts */
#define ID_WINDOWS (ID_WORDS / MPI_ID_WINDOW)

_Static_assert(ID_WORDS % MPI_ID_WINDOW == 0, "whole windows");

static struct base_lock lock;
static uint64_t used[ID_WORDS] = {
    [0] = 1u << MPI_ID_WORLD | 1u << MPI_ID_SELF | 1u << MPI_ID_PARTS,
};
_Static_assert(MSG_CONTEXT_PACK / CONTEXTS_OF_COMM >= ID_WORDS * 64,
               "pack's and mplite's contexts lie behind our numbers");

static bool claim(uint32_t id)
{
    uint64_t bit = (uint64_t)1 << id % 64;
    mpi_lock(&lock);
    bool free = !(used[id / 64] & bit);
    used[id / 64] |= bit;
    mpi_unlock(&lock);
    return free;
}

void mpi_id_give(uint32_t id)
{
    mpi_lock(&lock);
    used[id / 64] &= ~((uint64_t)1 << id % 64);
    mpi_unlock(&lock);
}

/* Where attempt number ATTEMPT begins to look: a number below ID_WORDS * 64 that all members compute alike. */
static uint32_t place(uint32_t seed, uint32_t attempt)
{
    uint64_t mixed = (seed + 0x9E3779B97F4A7C15ull * (attempt / ID_WINDOWS)) * 0xD6E8FEB86659FD93ull;
    uint32_t bit = (uint32_t)(mixed >> 40) % (ID_WORDS * 64);
    return (bit + attempt % ID_WINDOWS * MPI_ID_WINDOW * 64) % (ID_WORDS * 64);
}

/* MASK: what is free here in the window of START; then yes or no as all bits or none. */
static void offer(uint64_t mask[MPI_ID_MASK], uint32_t start, bool member, bool unable)
{
    const uint64_t *words = used + start / 64 / MPI_ID_WINDOW * MPI_ID_WINDOW;
    mpi_lock(&lock);
    for (int i = 0; i < MPI_ID_WINDOW; i++)
        mask[i] = member ? ~words[i] : ~(uint64_t)0;
    mpi_unlock(&lock);
    mask[MPI_ID_ALONE] = mpi_threads ? 0 : ~(uint64_t)0;
    mask[MPI_ID_ABLE] = unable ? 0 : ~(uint64_t)0;
}

/* The first common number at or after START within its window, going round; false: none. */
static bool pick(const uint64_t mask[MPI_ID_MASK], uint32_t start, uint32_t *id)
{
    uint32_t bits = MPI_ID_WINDOW * 64, base = start / bits * bits;
    for (uint32_t i = 0; i < bits; i++) {
        uint32_t at = (start + i) % bits;
        if (mask[at / 64] >> at % 64 & 1) {
            *id = base + at;
            return true;
        }
    }
    return false;
}

static int exhausted(void)
{
    return vbase_fail(ERR_LIMIT, "all %d communicators are in use: free some with MPI_Comm_free",
                      ID_WORDS * 64);
}

/* ---- the rounds ---- */

static void finish(struct mpi_agreement *agreement, int error)
{
    agreement->error = error;
    /* release: pairs with the acquire in mpi_agreement_over */
    atomic_store_explicit(&agreement->done, true, memory_order_release);
}

/* The bitwise AND of all members' masks. */
static struct coll_call masks_join(struct mpi_agreement *agreement, struct coll_group *group)
{
    struct coll_side mask = {.base = agreement->mask, .count = MPI_ID_MASK,
                             .layout = mpi_type_at(MPI_UINT64_T)->layout},
                     in_place = mask;
    in_place.base = COLL_IN_PLACE;
    return (struct coll_call){.kind = COLL_ALLREDUCE, .group = group, .send = in_place, .receive = mask,
                              .reduction = {vtype_kernel(OPERATION_BAND, ELEMENT_U64), .commutative = true}};
}

/* Each group alone, then the leaders, then each tells its group. */
static int masks_join_over_bridge(struct mpi_agreement *agreement)
{
    struct mpi_bridge *bridge = agreement->bridge;
    struct coll_group *group = &bridge->local->coll;
    struct { /* from the leader */
        uint64_t mask[MPI_ID_MASK];
        int64_t error;
    } joined;
    struct coll_call own = masks_join(agreement, group),
                     all = {.kind = COLL_BCAST, .group = group, .root = bridge->leader,
                            .receive = {.base = &joined, .count = sizeof joined}};
    int error = vcoll_run(&own);
    if (!error && bridge->leader == group->rank)
        joined.error = mpi_bridge_swap(bridge, agreement->mask, joined.mask, sizeof joined.mask);
    error = error ?: vcoll_run(&all) ?: (int)joined.error;
    for (int i = 0; i < MPI_ID_MASK && !error; i++)
        agreement->mask[i] &= joined.mask[i]; /* the own one, which all of the group have, with the other's */
    return error;
}

/* Starts a round; THEN goes on when it is over: afterwards the agreement may be gone with its caller's stack. */
static void start_round(struct mpi_agreement *agreement, void (*then)(void *agreement, int error))
{
    if (agreement->bridge) {
        then(agreement, masks_join_over_bridge(agreement));
        return;
    }
    int error = vcoll_launch(agreement->schedule, then, agreement);
    if (error)
        finish(agreement, error);
}

static void offered(void *context, int error);

static void next_attempt(struct mpi_agreement *agreement)
{
    offer(agreement->mask, place(agreement->seed, agreement->attempt), agreement->member,
          agreement->unable);
    start_round(agreement, offered);
}

static void claims_told(void *context, int error)
{
    struct mpi_agreement *agreement = context;
    bool mine = agreement->member && agreement->claimed;
    if (error || agreement->mask[0]) {
        finish(agreement, error);
        return;
    }
    if (mine)
        mpi_id_give(agreement->id);
    agreement->attempt += ID_WINDOWS;
    next_attempt(agreement);
}

static void offered(void *context, int error)
{
    struct mpi_agreement *agreement = context;
    if (!error && !agreement->mask[MPI_ID_ABLE])
        error = vbase_fail(ERR_MEMORY, "%s rank has no memory for a communicator", agreement->unable ? "this" : "a");
    if (error) {
        finish(agreement, error);
        return;
    }
    if (!pick(agreement->mask, place(agreement->seed, agreement->attempt), &agreement->id)) {
        agreement->attempt++;
        if (agreement->attempt % ID_WINDOWS == 0)
            finish(agreement, exhausted());
        else
            next_attempt(agreement);
        return;
    }
    agreement->claimed = !agreement->member || claim(agreement->id) ? ~(uint64_t)0 : 0;
    if (agreement->mask[MPI_ID_ALONE]) {
        finish(agreement, OK);
        return;
    }
    agreement->mask[0] = agreement->claimed;
    start_round(agreement, claims_told);
}

static int start(struct mpi_agreement *agreement, struct coll_group *group, uint32_t seed, bool member)
{
    agreement->member = member;
    agreement->seed = seed;
    struct coll_call call = masks_join(agreement, group);
    int error = agreement->bridge ? OK : vcoll_prepare(&call, &agreement->schedule);
    if (!error)
        next_attempt(agreement);
    return error;
}

int mpi_agreement_start(struct mpi_agreement *agreement, struct mpi_comm *parent, bool member)
{
    return start(agreement, &parent->coll, parent->id << 12 ^ parent->children++, member);
}

int mpi_world_context_open(uint32_t id, enum mpi_context which, struct msg_context **context)
{
    const struct boot_job *job = mpi_process.job;
    mpi_lock(&lock);
    int error =
        *context ? OK : vmsg_context_open(mpi_context_id(id, which), NULL, job->size, job->rank, context);
    mpi_unlock(&lock);
    return error;
}

/* All of the world are members of the context, so that ranks of a group need no translation. Agreements in it that are
 * under way together have different tags, and TAG is the tag of all their messages: so no two of them can meet. */
int mpi_agreement_in_group(struct mpi_agreement *agreement, struct mpi_group *group, int tag)
{
    static struct msg_context *agreements;
    int error = mpi_world_context_open(MPI_ID_PARTS, CONTEXT_AGREEMENTS, &agreements);
    agreement->group =
        (struct coll_group){agreements, group->rank, group->size, group->world, .sequence = (uint32_t)tag};
    return error ? error : start(agreement, &agreement->group, (uint32_t)tag, true);
}

int mpi_agreement_over_bridge(struct mpi_agreement *agreement, struct mpi_bridge *bridge)
{
    agreement->bridge = bridge;
    return start(agreement, NULL, 0, true);
}

void mpi_agreement_close(struct mpi_agreement *agreement)
{
    if (agreement->schedule)
        vcoll_release(agreement->schedule);
}

bool mpi_agreement_over(void *context)
{
    const struct mpi_agreement *agreement = context;
    /* acquire: pairs with the release in `finish` */
    return atomic_load_explicit(&agreement->done, memory_order_acquire);
}

int mpi_agreement_await(struct mpi_agreement *agreement)
{
    int error = vmsg_wait_until(mpi_agreement_over, agreement);
    if (error && agreement->schedule) {
        (void)vcoll_abandon(agreement->schedule, error);
        agreement->schedule = NULL;
    }
    mpi_agreement_close(agreement);
    return error ? error : agreement->error;
}
