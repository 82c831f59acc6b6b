/* Who waits for whom, and why it will not end: cycles, messages that almost match, ranks that have left, collectives
 * that differ, and the ranks that all others wait for. From what state.c has read; nothing is asked of the ranks. */
#include "run/state.h"
#include "msg/msg.h"

#define SAME_WAIT_NS 20000000ull /* the same wait, told a second time */
#define NAMED_MOST 8             /* ranks in one sentence */

struct stuck {
    const struct state_job *job;
    const bool *waits; /* by place in job->rank: for some time already */
    int found;
    state_line *line;
    void *to;
};

static void say(struct stuck *stuck, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct stuck *stuck, const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    stuck->line(stuck->to, text);
    stuck->found++;
}

/* Its place; -1: it is not of this host, or has not come to MPI_Init. */
static int place_of(const struct state_job *job, int rank)
{
    int low = 0, high = job->count - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (job->rank[middle].rank == rank)
            return middle;
        if (job->rank[middle].rank < rank)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

/* The place of the one rank that this one waits for; -1: of none alone. */
static int waits_for(const struct stuck *stuck, int place)
{
    const struct base_waiting *wait = &stuck->job->rank[place].wait;
    if (!stuck->waits[place] || (wait->kind != WAITS_RECEIVE && wait->kind != WAITS_SEND) || wait->message.peer < 0)
        return -1;
    return place_of(stuck->job, wait->message.peer);
}

static void describe(const struct stuck *stuck, int place, char *text, size_t size)
{
    state_describe(&stuck->job->rank[place], text, size);
}

/* ---- receives that nothing will come for ------------------------------------------------------------------------- */

/* What keeps the message that came from being the one that is awaited; NULL: nothing does. */
static const char *difference(const struct base_waiting *wait)
{
    const struct base_message *want = &wait->message, *there = &wait->other;
    bool peer = want->peer < 0 || want->peer == there->peer, tag = want->tag < 0 || want->tag == there->tag;
    if (want->context != there->context)
        return peer && tag ? "the communicator differs" : NULL;
    return !peer && tag ? "the sender differs" : peer && !tag ? "the tag differs" : NULL;
}

static void almost(struct stuck *stuck)
{
    for (int i = 0; i < stuck->job->count; i++) {
        const struct base_waiting *wait = &stuck->job->rank[i].wait;
        const char *differs = wait->other.there ? difference(wait) : NULL;
        char what[256], room[40];
        if (!stuck->waits[i] || wait->kind != WAITS_RECEIVE || !differs)
            continue;
        describe(stuck, i, what, sizeof what);
        say(stuck, "rank %d %s; a message from rank %d with tag %d on %s has come and nobody receives it: %s",
            stuck->job->rank[i].rank, what, wait->other.peer, wait->other.tag,
            state_communicator(wait->other.context, room, sizeof room), differs);
    }
}

static void left(struct stuck *stuck)
{
    for (int i = 0; i < stuck->job->count; i++) {
        int to = waits_for(stuck, i);
        const struct state_rank *other = to < 0 ? NULL : &stuck->job->rank[to];
        bool finalizes = other && stuck->waits[to] &&
                         (other->wait.kind == WAITS_FENCE || !strcmp(other->call, "MPI_Finalize"));
        char what[256];
        if (!other || (other->alive && !finalizes))
            continue;
        describe(stuck, i, what, sizeof what);
        say(stuck, "rank %d %s; rank %d %s and will not do its part", stuck->job->rank[i].rank, what, other->rank,
            other->alive ? "is in MPI_Finalize" : "has ended");
    }
}

/* ---- cycles ------------------------------------------------------------------------------------------------------ */

static void cycle_tell(struct stuck *stuck, int first)
{
    char text[700] = "", what[256];
    size_t length = 0;
    int at = first, count = 0;
    do {
        if (count++ < NAMED_MOST && length < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%d",
                                       count > 1 ? ", which waits for " : "", stuck->job->rank[at].rank);
        at = waits_for(stuck, at);
    } while (at != first);
    say(stuck, "a cycle of %d: rank %s%s, which waits for %d", count, text, count > NAMED_MOST ? ", ..." : "",
        stuck->job->rank[first].rank);
    do {
        describe(stuck, at, what, sizeof what);
        say(stuck, "    rank %d %s", stuck->job->rank[at].rank, what);
        at = waits_for(stuck, at);
    } while (at != first && --count > 0);
}

static void cycles(struct stuck *stuck)
{
    int *seen = calloc((size_t)stuck->job->count, sizeof *seen); /* by which walk */
    for (int i = 0; seen && i < stuck->job->count; i++) {
        int at = i;
        while (at >= 0 && !seen[at]) {
            seen[at] = i + 1;
            at = waits_for(stuck, at);
        }
        if (at >= 0 && seen[at] == i + 1 && waits_for(stuck, at) != at)
            cycle_tell(stuck, at);
        else if (at >= 0 && seen[at] == i + 1)
            say(stuck, "rank %d waits for a message from itself", stuck->job->rank[at].rank);
    }
    free(seen);
}

/* ---- collectives ------------------------------------------------------------------------------------------------- */

/* "ranks 0, 2, 5 and 11 more" of those in LIST, which holds NAMED_MOST of them where there are more. */
static void ranks_name(const int *list, int count, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, count == 1 ? "rank " : "ranks ");
    for (int i = 0; i < count && i < NAMED_MOST && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%d", i ? ", " : "", list[i]);
    if (count > NAMED_MOST && length < size)
        snprintf(text + length, size - length, " and %d more", count - NAMED_MOST);
}

/* "communicator 5 (ranks 0, 2, 4)". */
static void communicator_name(const struct base_waiting *wait, char *text, size_t size)
{
    int list[NAMED_MOST], count = 0;
    char room[40], names[160];
    const char *name = state_communicator(wait->message.context, room, sizeof room);
    for (int r = 0; r < BASE_MEMBER_ROWS; r++)
        for (uint32_t i = 0; i < wait->members.row[r].count && count < NAMED_MOST; i++)
            list[count++] = (int)(wait->members.row[r].first + (int64_t)i * wait->members.row[r].stride);
    ranks_name(list, (int)wait->members.size, names, sizeof names);
    snprintf(text, size, name == room ? "%s (%s)" : "%s", name, names);
}

/* It waits in a collective of the communicator that WITH waits in. Several that were split off together have one
 * number: their members tell them apart. */
static bool collects(const struct stuck *stuck, int place, const struct base_waiting *with)
{
    const struct base_waiting *wait = &stuck->job->rank[place].wait;
    return stuck->waits[place] && wait->kind == WAITS_COLLECTIVE &&
           wait->message.context / MSG_CONTEXTS_COMM == with->message.context / MSG_CONTEXTS_COMM &&
           memcmp(&wait->members, &with->members, sizeof wait->members) == 0;
}

/* Those that wait in one collective of one communicator; DONE is set for them. Their number. */
static int group_take(const struct stuck *stuck, int first, bool *done, int list[NAMED_MOST])
{
    const struct state_rank *rank = stuck->job->rank;
    int count = 0;
    for (int i = first; i < stuck->job->count; i++)
        if (!done[i] && collects(stuck, i, &rank[first].wait) && !strcmp(rank[i].call, rank[first].call)) {
            if (count < NAMED_MOST)
                list[count] = rank[i].rank;
            count++;
            done[i] = true;
        }
    return count;
}

/* The members of this rank's communicator that do not wait in a collective of it. */
static void absent_tell(struct stuck *stuck, const struct base_waiting *wait)
{
    char what[256];
    uint32_t absent = 0, unknown = wait->members.size;
    for (int r = 0; r < BASE_MEMBER_ROWS; r++)
        unknown -= wait->members.row[r].count;
    for (int i = 0; i < stuck->job->count; i++) {
        const struct state_rank *rank = &stuck->job->rank[i];
        if (state_member(&wait->members, rank->rank) < 0 || collects(stuck, i, wait) || absent++ >= NAMED_MOST)
            continue;
        describe(stuck, i, what, sizeof what);
        say(stuck, "    rank %d does not: it %s", rank->rank, what);
    }
    if (absent > NAMED_MOST)
        say(stuck, "    nor do %u more", absent - NAMED_MOST);
    if (unknown)
        say(stuck, "    which ranks its last %u members are is not known here", unknown);
}

static void collectives(struct stuck *stuck)
{
    bool *done = calloc((size_t)stuck->job->count, sizeof *done);
    for (int i = 0; done && i < stuck->job->count; i++) {
        const struct state_rank *rank = &stuck->job->rank[i];
        char names[200], communicator[240];
        int list[NAMED_MOST];
        if (done[i] || !collects(stuck, i, &rank->wait))
            continue;
        int waiting = group_take(stuck, i, done, list);
        ranks_name(list, waiting, names, sizeof names);
        communicator_name(&rank->wait, communicator, sizeof communicator);
        say(stuck, "%s %s in %s on %s", names, waiting == 1 ? "waits" : "wait", rank->call, communicator);
        absent_tell(stuck, &rank->wait);
    }
    free(done);
}

/* ---- groups alone: which ranks are in one is not known, so each is told what it calls ---- */

static void groups(struct stuck *stuck)
{
    char what[256];
    for (int i = 0; i < stuck->job->count; i++)
        if (stuck->waits[i] && stuck->job->rank[i].wait.kind == WAITS_GROUP) {
            describe(stuck, i, what, sizeof what);
            say(stuck, "rank %d %s", stuck->job->rank[i].rank, what);
        }
}

/* ---- ends of chains ---------------------------------------------------------------------------------------------- */

/* Ranks that do not wait, and for which others do, one after another. */
static void awaited(struct stuck *stuck)
{
    int *by = calloc((size_t)stuck->job->count, sizeof *by);
    for (int i = 0; by && i < stuck->job->count; i++) {
        int at = waits_for(stuck, i), steps = 0, end = -1;
        for (; at >= 0 && steps <= stuck->job->count; steps++) {
            end = at;
            at = waits_for(stuck, at);
        }
        if (at < 0 && end >= 0 && !stuck->waits[end] && stuck->job->rank[end].alive)
            by[end]++;
    }
    for (int i = 0; by && i < stuck->job->count; i++) {
        char what[256];
        if (!by[i])
            continue;
        describe(stuck, i, what, sizeof what);
        say(stuck, "rank %d %s, and %d %s for it", stuck->job->rank[i].rank, what, by[i],
            by[i] == 1 ? "rank waits" : "ranks wait");
    }
    free(by);
}

/* It was told of the same wait before. */
static bool is_same_wait(const struct state_rank *rank, const struct state_job *earlier)
{
    int place = earlier ? place_of(earlier, rank->rank) : -1;
    if (!earlier)
        return true;
    if (place < 0)
        return false;
    const struct base_waiting *now = &rank->wait, *then = &earlier->rank[place].wait;
    uint64_t apart = now->since_ns > then->since_ns ? now->since_ns - then->since_ns : then->since_ns - now->since_ns;
    return then->kind == now->kind && apart < SAME_WAIT_NS;
}

int stuck_explain(const struct state_job *job, const struct state_job *earlier, state_line *line, void *to)
{
    bool *waits = calloc((size_t)job->count + 1, sizeof *waits);
    struct stuck stuck = {job, waits, 0, line, to};
    if (!waits)
        return 0;
    for (int i = 0; i < job->count; i++) {
        const struct state_rank *rank = &job->rank[i];
        waits[i] = rank->alive && rank->wait.kind != WAITS_NOT && is_same_wait(rank, earlier);
    }
    almost(&stuck);
    left(&stuck);
    cycles(&stuck);
    collectives(&stuck);
    awaited(&stuck);
    groups(&stuck);
    free(waits);
    return stuck.found;
}
