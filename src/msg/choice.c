/* The receiver chooses the way of each large message when it is matched, and says it in the invitation, so both sides
 * agree. He learns: each transfer that ends well tells what it took, and for each peer and size class a moving average is
 * kept for each way. Which way is best depends on whether the two processors share a cache, which a scheduler below us may
 * change from one second to the next, on whether the sender computes, and on how many ranks share the processors; none
 * of this is asked for, all of it is in the times.
 *
 * Messages that cross each other are another matter: both processors are busy in any case, and what one side tries
 * the other one feels. So that is learned apart, and one side alone learns: the other does for his messages what was
 * chosen for ours.
 *
 * With several messages under way, one begins when the one before it has ended: transfers of one peer go on one after
 * another (vmsg_transfer_first), so that these times are theirs. But while we get one alone, the sender goes on with the next
 * ones that are joint, and may end them first: those overtake, and their times tell nothing, nor do they
 * end the time of the one before. (When they did, 4 MiB went to and fro between joint and get, fifty times in 480 transfers.)
 *
 * Trials find out whether another way has become better. All that begin until three have told their time go the way that is
 * tried: what goes another way beside them would be in their times. The first one finds caches cold and does
 * not count (unless it takes twice as long as the best way: then the trial is over), of the others the faster one does. Frames
 * are fast only while their blocks are in a cache, which three transfers do not bring about, and the first ones touch memory
 * that nobody touched before, so another way that was guessed has many transfers before they are tried; if they come near, the
 * trial goes on until all blocks were used, the more rarely the more often in vain. Where frames were guessed another way must
 * take half of their time until then. Trials become rarer and rarer, down to one in 64 transfers, and the rarer the more the
 * last one cost: fifty times what it lost passes until the next, so that trials cost two in a hundred. When the best way itself
 * becomes slower or faster by a quarter, something has changed, and the others are tried at once.
 *
 * Called under the peer's lock. */
#include "msg/choice.h"

#define TRIAL       3u
#define HOPELESS    2u /* so many times the cost of the best way: one look was enough */
#define SILENT_MOST 63u /* transfers of a trial that told nothing, or three that failed: it is over */
#define SKIP_MOST   31u
#define GAP_FIRST   4u
#define GAP_MOST    64u
#define LEFT_MOST   4096u
#define LOSS_MOST   8u
#define LOST        50u       /* transfers for each whose time a trial lost */
#define CLASS_LEAST 15        /* the lowest class ends at 1 << CLASS_LEAST bytes */
#define COST_BYTES  65536u
#define WARM        (32u << 20) /* bytes in frames until the sender's blocks are as many as they become */
#define ROUND       (6u << 20)  /* bytes in frames until each of them was used again */
#define WHILE_COLD  2u          /* so many times they may cost until then, beside another way */
#define OUTLIER     2u        /* a sample counts for so many averages at most, and not at all if no other such one came before */
#define SAMPLE_MOST (1u << 28)

static unsigned class_of(uint64_t bytes)
{
    unsigned bit = 63 - (unsigned)__builtin_clzll(bytes | 1);
    if (bit < CLASS_LEAST)
        return 0;
    return bit - CLASS_LEAST + 1 < MSG_WAY_CLASSES ? bit - CLASS_LEAST + 1 : MSG_WAY_CLASSES - 1;
}

/* The way after this one. */
static unsigned turn(unsigned way) { return way + 1 < MSG_WAYS ? way + 1 : 0; }

/* The way to be tried next; the best one if there is no other. */
static unsigned other(const struct msg_ways *ways, unsigned allowed)
{
    unsigned way = turn(ways->trial);
    for (int i = 0; i < MSG_WAYS && (way == ways->best || !(allowed >> way & 1)); i++)
        way = turn(way);
    return allowed >> way & 1 ? way : ways->best;
}

static void trial_begin(struct msg_ways *ways, unsigned way)
{
    ways->trial = (uint8_t)way;
    ways->told = TRIAL;
    ways->silent = 0;
    ways->least = SAMPLE_MOST;
    ways->lost = 0;
    ways->second = false;
}

/* It came near: now long enough. True: the trial goes on. */
static bool trial_lengthen(struct msg_ways *ways, uint64_t bytes)
{
    if (ways->second || ways->trial != MSG_WAY_FRAMES || ways->least / 3 * 2 > ways->cost[ways->best])
        return false;
    if (ways->skipped < ways->skip) {
        ways->skipped++;
        return false;
    }
    ways->second = true;
    ways->least = SAMPLE_MOST;
    ways->told = (uint16_t)(ROUND / bytes + TRIAL);
    return true;
}

/* Something has changed. */
static void soon(struct msg_ways *ways)
{
    ways->left = ways->gap && ways->left < GAP_FIRST ? ways->left : GAP_FIRST;
    ways->gap = GAP_FIRST;
}

/* Until the next trial. */
static void rest(struct msg_ways *ways, uint64_t left)
{
    ways->gap = (uint16_t)(ways->gap * 2 < GAP_MOST ? ways->gap * 2 : GAP_MOST);
    ways->left = (uint16_t)(left < ways->gap ? ways->gap : left > LEFT_MOST ? LEFT_MOST : left);
}

enum msg_way vmsg_choice_take(struct msg_choice *choice, uint64_t bytes, unsigned allowed, enum msg_way first)
{
    struct msg_ways *ways = &choice->ways[class_of(bytes)];
    if (unlikely(!ways->gap))
        ways->best = ways->trial = (uint8_t)first;
    if (unlikely(!ways->gap || ways->first != first)) {
        ways->first = (uint8_t)first;
        soon(ways);
    }
    if (unlikely(!(allowed >> ways->best & 1)))
        return first;
    if (unlikely(!(allowed >> ways->trial & 1)))
        ways->told = 0; /* nobody would end that trial */
    if (likely(!ways->told && ways->left > 0)) {
        ways->left--;
        return (enum msg_way)ways->best;
    }
    if (!ways->told) {
        bool early = choice->framed < WARM && ways->gap < GAP_MOST;
        unsigned way = other(ways, early ? allowed & ~(1u << MSG_WAY_FRAMES) : allowed);
        if (way == ways->best) {
            rest(ways, 0);
            return (enum msg_way)ways->best;
        }
        trial_begin(ways, way);
    }
    return (enum msg_way)ways->trial;
}

/* Another way is the best. */
static void change(struct msg_ways *ways, unsigned way)
{
    ways->best = (uint8_t)way;
    ways->reference = ways->cost[way];
    ways->gap = ways->left = GAP_FIRST;
    ways->told = 0;
}

static bool better(uint32_t a, uint32_t b) { return a && (uint64_t)a * 16 < (uint64_t)b * 15; }

/* Than the best way; in frames that are COLD yet, which will become faster, by far. */
static bool wins(const struct msg_ways *ways, unsigned way, bool cold)
{
    uint32_t best = ways->cost[ways->best];
    return better(ways->cost[way], cold ? best / WHILE_COLD : best);
}

/* COLD: frames are the best way, and may not have used all of their blocks yet. */
static void told_best(struct msg_ways *ways, uint32_t sample, bool cold)
{
    uint32_t *cost = &ways->cost[ways->best];
    bool outlier = *cost && sample / OUTLIER > *cost, single = outlier && !ways->outlier;
    ways->outlier = outlier;
    if (single)
        return;
    if (!*cost || cold)
        *cost = sample;
    else
        *cost += (uint32_t)((int32_t)((sample < *cost * OUTLIER ? sample : *cost * OUTLIER) - *cost) / 8);
    for (unsigned way = 0; way < MSG_WAYS; way++)
        if (wins(ways, way, cold))
            change(ways, way);
    uint32_t now = ways->cost[ways->best];
    if (ways->reference && (now > ways->reference / 4 * 5 || now < ways->reference / 4 * 3)) {
        ways->reference = now;
        soon(ways);
    }
}

/* No more of it. */
static void trial_end(struct msg_ways *ways)
{
    uint32_t best = ways->cost[ways->best];
    ways->told = 0;
    rest(ways, best ? (uint64_t)ways->lost * LOST / best : 0);
}

/* Of one sample, which may be an interrupted one. */
static uint32_t loss(uint32_t sample, uint32_t best)
{
    uint32_t most = best < SAMPLE_MOST / LOSS_MOST ? best * LOSS_MOST : SAMPLE_MOST;
    return sample - best < most ? sample - best : most;
}

/* SAMPLE 0: its time says nothing. */
static void told_trial(struct msg_ways *ways, uint32_t sample, uint64_t bytes, bool failed, bool cold)
{
    uint32_t best = ways->cost[ways->best];
    if (sample > best && ways->lost < SAMPLE_MOST)
        ways->lost += loss(sample, best);
    if (!sample) {
        ways->silent = (uint8_t)(ways->silent + (failed ? SILENT_MOST / TRIAL : 1));
        if (ways->silent >= SILENT_MOST)
            trial_end(ways);
        return;
    }
    bool hopeless = ways->told == TRIAL && !ways->second && sample / HOPELESS > best;
    if ((ways->told < TRIAL || hopeless) && sample < ways->least)
        ways->least = sample;
    if (!hopeless && --ways->told)
        return;
    bool won = better(ways->least, cold ? best / WHILE_COLD : best);
    if (!won && !hopeless && trial_lengthen(ways, bytes))
        return;
    if (ways->second) {
        ways->skip = (uint8_t)(won ? 0u : ways->skip < SKIP_MOST ? ways->skip * 2u + 1 : SKIP_MOST);
        ways->skipped = 0;
    }
    ways->cost[ways->trial] = ways->least;
    ways->reference = best;
    if (won)
        change(ways, ways->trial);
    else
        trial_end(ways);
}

/* Of a trial that is over: it was under way with the others. */
static void told_late(struct msg_ways *ways, uint32_t sample)
{
    uint32_t best = ways->cost[ways->best];
    if (!best || sample <= best)
        return;
    uint64_t left = ways->left + (uint64_t)loss(sample, best) * LOST / best;
    ways->left = (uint16_t)(left < LEFT_MOST ? left : LEFT_MOST);
}

void vmsg_choice_told(struct msg_choice *choice, uint64_t bytes, enum msg_way way, uint64_t began, uint64_t now,
                      enum msg_order order)
{
    struct msg_ways *ways = &choice->ways[class_of(bytes)];
    uint64_t from = began > choice->ended ? began : choice->ended;
    uint64_t cost = now > from ? (now - from) * COST_BYTES / (bytes | 1) : 0;
    bool says = began && order == MSG_ORDER_ALONE && !choice->overtaken && now > from; /* else a later one told before it */
    uint32_t sample = !says ? 0 : cost < SAMPLE_MOST ? (uint32_t)cost + 1 : SAMPLE_MOST;
    choice->overtaken = order == MSG_ORDER_OVERTOOK;
    if (order != MSG_ORDER_OVERTOOK && now > choice->ended)
        choice->ended = now;
    choice->framed += way == MSG_WAY_FRAMES ? bytes : 0;
    bool cold = ways->best == MSG_WAY_FRAMES && choice->framed < WARM;
    if (way == ways->best && sample)
        told_best(ways, sample, cold);
    else if (way == ways->trial && ways->told)
        told_trial(ways, sample, bytes, !began, cold);
    else if (way == ways->trial)
        told_late(ways, sample);
}

#define SHARE_LEAST 64u
#define SHARE_EVEN  128u
#define EARLIER     4096u /* bytes: he begins while the sender does not know it yet */
#define SHARE_MOST  224u
#define SHARE_MORE  3u /* to wait for the sender's word takes longer than to find it there; so the receiver should be last more often */

uint8_t vmsg_choice_share(const struct msg_choice *choice, uint64_t bytes, bool alone)
{
    uint8_t share = choice->ways[class_of(bytes)].share;
    if (!alone)
        return SHARE_EVEN; /* both are busy from one to the next: nobody comes late */
    uint64_t more = EARLIER * 256 / bytes;
    return share ? share : (uint8_t)(SHARE_EVEN + (more < SHARE_EVEN / 2 ? more : SHARE_EVEN / 2));
}

void vmsg_choice_balance(struct msg_choice *choice, uint64_t bytes, bool first)
{
    unsigned share = vmsg_choice_share(choice, bytes, true);
    if (first)
        share = share + SHARE_MORE < SHARE_MOST ? share + SHARE_MORE : SHARE_MOST;
    else if (share > SHARE_LEAST)
        share--;
    choice->ways[class_of(bytes)].share = (uint8_t)share;
}

void vmsg_choice_heard(struct msg_choice *choice, uint64_t bytes, enum msg_way way)
{
    choice->ways[class_of(bytes)].theirs = (uint8_t)(way + 1);
}

enum msg_way vmsg_choice_follow(const struct msg_choice *choice, uint64_t bytes, unsigned allowed, enum msg_way first)
{
    unsigned theirs = choice->ways[class_of(bytes)].theirs;
    return theirs && allowed >> (theirs - 1) & 1 ? (enum msg_way)(theirs - 1) : first;
}
