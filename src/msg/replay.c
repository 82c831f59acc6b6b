/* Frames that are kept, bulk that is noted, fences. See replay.h. */
#include "msg/replay.h"

#define SKIP        UINT32_MAX /* the length of what fills the end of the ring */

static unsigned pair_of(uint64_t name) { return (unsigned)(name >> 32); }

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static uint64_t place_behind(const struct msg_replay *replay, uint64_t place)
{
    const struct msg_replay_frame *frame = msg_replay_frame_at(replay, place);
    return frame->length == SKIP ? (place | (replay->size - 1)) + 1 : place + msg_replay_frame_size(frame->length);
}

/* Past what fills the end of the ring, if PLACE is there. */
static uint64_t frame_from(const struct msg_replay *replay, uint64_t place)
{
    bool skip = place != replay->end && msg_replay_frame_at(replay, place)->length == SKIP;
    return skip ? place_behind(replay, place) : place;
}

/* Bytes from the end of what is kept to the end of the ring. */
static uint64_t ring_straight(const struct msg_replay *replay)
{
    return replay->size - (replay->end & (replay->size - 1));
}

static bool ring_fits(const struct msg_replay *replay, uint64_t bytes)
{
    uint64_t skipped = bytes > ring_straight(replay) ? ring_straight(replay) : 0;
    return replay->end - replay->first + skipped + bytes <= replay->size;
}

static struct msg_replay_frame *frame_append(struct msg_replay *replay, uint64_t bytes)
{
    uint64_t left = ring_straight(replay);
    if (unlikely(bytes > left)) {
        msg_replay_frame_at(replay, replay->end)->length = SKIP;
        replay->end += left;
    }
    struct msg_replay_frame *frame = msg_replay_frame_at(replay, replay->end);
    replay->end += bytes;
    return frame;
}

/* The same frames in another ring, from its start. */
static int ring_move(struct msg_replay *replay, uint64_t size)
{
    struct msg_replay other = *replay;
    other.size = size;
    other.first = other.next = other.end = 0;
    other.ring = replay->memory.take(replay->memory.context, size);
    if (!other.ring)
        return vbase_fail(ERR_MEMORY, "%llu bytes for frames that are not acknowledged", (unsigned long long)size);
    for (uint64_t place = replay->first; (place = frame_from(replay, place)) != replay->end;
         place = place_behind(replay, place)) {
        const struct msg_replay_frame *frame = msg_replay_frame_at(replay, place);
        if (place == frame_from(replay, replay->next))
            other.next = other.end;
        memcpy(frame_append(&other, msg_replay_frame_size(frame->length)), frame, sizeof *frame + frame->length);
    }
    if (replay->next == replay->end)
        other.next = other.end;
    if (replay->ring)
        replay->memory.give(replay->ring);
    *replay = other;
    return OK;
}

int vmsg_replay_renew(struct msg_replay *replay) { return ring_move(replay, replay->size); }

static int room_make(struct msg_replay *replay, uint64_t bytes)
{
    if (replay->end - replay->first + bytes > replay->most && !msg_replay_quiet(replay))
        return ERR_AGAIN;
    uint64_t size = replay->size ? replay->size * 2 : TUNED(REPLAY_RING);
    while (size < replay->end - replay->first + bytes)
        size *= 2;
    return ring_move(replay, size);
}

int vmsg_replay_append(struct msg_replay *replay, uint64_t bytes, struct msg_replay_frame **frame)
{
    int error = replay->size && ring_fits(replay, bytes) ? OK : room_make(replay, bytes);
    if (!error)
        *frame = frame_append(replay, bytes);
    return error;
}

/* `next` stays before what fills the end of the ring: there msg_replay_drop cuts a frame off that lies behind it. */
struct msg_replay_frame *vmsg_replay_next(const struct msg_replay *replay)
{
    if (likely(replay->next == replay->end) || replay->doubt)
        return NULL;
    return msg_replay_frame_at(replay, frame_from(replay, replay->next));
}

void vmsg_replay_went(struct msg_replay *replay)
{
    replay->next = place_behind(replay, frame_from(replay, replay->next));
}

/* Numbers are compared by their distance: they may wrap. */
bool vmsg_replay_acknowledged(struct msg_replay *replay, uint32_t upto)
{
    uint32_t more = upto - replay->acked;
    if ((int32_t)more <= 0)
        return true; /* an old one, by another rail */
    if (more > replay->sent - replay->acked)
        return false;
    replay->acked = upto;
    if (upto == replay->sent) { /* from the start again, where the cache is warm */
        replay->first = replay->next = replay->end = 0;
        return true;
    }
    while (replay->first = frame_from(replay, replay->first),
           (int32_t)(msg_replay_frame_at(replay, replay->first)->sequence - upto) <= 0)
        replay->first = place_behind(replay, replay->first);
    if (replay->next < replay->first)
        replay->next = replay->first;
    return true;
}

int vmsg_replay_arrived(struct msg_replay *replay, uint32_t sequence, uint32_t length)
{
    int32_t step = (int32_t)(sequence - replay->arrived);
    if (unlikely(step != 1))
        return step <= 0 ? 0
                         : vbase_fail(ERR_PROTOCOL, "its frame %u arrived when frame %u was expected", sequence,
                                      replay->arrived + 1);
    replay->arrived = sequence;
    replay->owed_frames++;
    replay->owed_bytes += length;
    return 1;
}

/* ---- rails ------------------------------------------------------------------------------------------------------- */

void vmsg_replay_open(struct msg_replay *replay, uint64_t most, const struct msg_replay_memory *memory)
{
    memset(replay, 0, sizeof *replay);
    replay->main = MSG_REPLAY_NONE;
    replay->most = most;
    replay->memory = *memory;
}

void vmsg_replay_close(struct msg_replay *replay)
{
    for (int i = 0; i < MSG_REPLAY_RAILS; i++)
        free(replay->rail[i].bulk);
    if (replay->ring)
        replay->memory.give(replay->ring);
}

static bool in_doubt(const struct msg_replay_rail *rail)
{
    return rail->state >= MSG_RAIL_LOST && rail->sent != rail->landed;
}

/* The first free place, or that of a lost rail of which nothing needs the fence any more. */
int vmsg_replay_add(struct msg_replay *replay)
{
    int number = MSG_REPLAY_NONE;
    for (int i = MSG_REPLAY_RAILS; i-- > 0;) {
        const struct msg_replay_rail *rail = &replay->rail[i];
        if (rail->state == MSG_RAIL_FREE || (number < 0 && rail->state != MSG_RAIL_HELD && !in_doubt(rail)))
            number = i;
    }
    if (number >= 0 && replay->rail[number].state != MSG_RAIL_FREE) {
        replay->lost--;
        replay->doubt = replay->doubt == replay->rail[number].name ? 0 : replay->doubt;
    }
    if (number >= 0)
        replay->rail[number] = (struct msg_replay_rail){.state = MSG_RAIL_HELD, .bulk = replay->rail[number].bulk};
    return number;
}

bool vmsg_replay_up(struct msg_replay *replay, int rail, uint64_t name)
{
    if (pair_of(name) >= MSG_REPLAY_PAIRS || (uint32_t)name <= replay->pair[pair_of(name)].floor)
        return false;
    replay->rail[rail].name = name;
    return true;
}

static void floor_raise(struct msg_replay *replay, uint64_t name)
{
    if ((uint32_t)name > replay->pair[pair_of(name)].floor)
        replay->pair[pair_of(name)].floor = (uint32_t)name;
}

void vmsg_replay_lost(struct msg_replay *replay, int number)
{
    struct msg_replay_rail *rail = &replay->rail[number];
    if (replay->main == number) {
        replay->main = MSG_REPLAY_NONE;
        if (!replay->doubt && !msg_replay_quiet(replay))
            replay->doubt = rail->name; /* the fence tells what has arrived, so that even a short connection makes
                                         * progress */
    }
    rail->state = rail->name ? MSG_RAIL_LOST : MSG_RAIL_FREE;
    rail->told_on = MSG_REPLAY_NONE;
    if (rail->name) {
        replay->lost++;
        floor_raise(replay, rail->name);
    }
    for (int i = 0; i < MSG_REPLAY_RAILS; i++)
        if (replay->rail[i].told_on == number)
            replay->rail[i].told_on = MSG_REPLAY_NONE;
    for (int i = replay->askings; i-- > 0;)
        if (replay->asked[i].rail == number)
            replay->asked[i] = replay->asked[--replay->askings];
}

int vmsg_replay_named(const struct msg_replay *replay, uint64_t name)
{
    for (int i = 0; i < MSG_REPLAY_RAILS; i++)
        if (replay->rail[i].state == MSG_RAIL_HELD && replay->rail[i].name == name)
            return i;
    return MSG_REPLAY_NONE;
}

void vmsg_replay_main(struct msg_replay *replay, int rail)
{
    replay->main = rail;
    replay->next = replay->first;
}

/* ---- bulk -------------------------------------------------------------------------------------------------------- */

/* Not over a pair of cards whose last connection is in doubt: so the other side need remember only one of each. Nor
 * while so many are in doubt that, with all that are held, no place is left for the rail that brings their fences. */
bool vmsg_replay_bulk_room(struct msg_replay *replay, int number)
{
    struct msg_replay_rail *rail = &replay->rail[number];
    if (rail->state != MSG_RAIL_HELD || !rail->name || rail->sent - rail->landed >= MSG_REPLAY_BULK)
        return false;
    for (int i = 0, doubts = 0; i < MSG_REPLAY_RAILS && replay->lost; i++)
        if (in_doubt(&replay->rail[i]) && (pair_of(replay->rail[i].name) == pair_of(rail->name) ||
                                           ++doubts == MSG_REPLAY_RAILS - MSG_RAILS))
            return false;
    if (!rail->bulk)
        rail->bulk = malloc(MSG_REPLAY_BULK * sizeof *rail->bulk);
    return rail->bulk != NULL;
}

void vmsg_replay_bulk_sent(struct msg_replay *replay, int number, const struct msg_replay_bulk *bulk)
{
    struct msg_replay_rail *rail = &replay->rail[number];
    rail->bulk[rail->sent++ % MSG_REPLAY_BULK] = *bulk;
}

void vmsg_replay_bulk_landed(struct msg_replay *replay, int number)
{
    uint64_t name = replay->rail[number].name;
    if (replay->pair[pair_of(name)].name != name) {
        replay->pair[pair_of(name)].name = name;
        replay->pair[pair_of(name)].came = 0;
    }
    replay->pair[pair_of(name)].came++;
}

uint32_t vmsg_replay_bulk_came(const struct msg_replay *replay, uint64_t name)
{
    bool known = pair_of(name) < MSG_REPLAY_PAIRS && replay->pair[pair_of(name)].name == name;
    return known ? replay->pair[pair_of(name)].came : 0;
}

bool vmsg_replay_bulk_owes(const struct msg_replay *replay, int number)
{
    const struct msg_replay_rail *rail = &replay->rail[number];
    return vmsg_replay_bulk_came(replay, rail->name) - rail->told >= TUNED(REPLAY_TELL);
}

bool vmsg_replay_bulk_told(struct msg_replay *replay, int number, uint32_t landed)
{
    struct msg_replay_rail *rail = &replay->rail[number];
    if (landed - rail->landed > rail->sent - rail->landed)
        return (int32_t)(landed - rail->landed) < 0; /* an old one, by another rail */
    rail->landed = landed;
    return true;
}

/* ---- fences ------------------------------------------------------------------------------------------------------ */

static int fence_untold(const struct msg_replay *replay)
{
    for (int i = 0; i < MSG_REPLAY_RAILS && replay->lost && replay->main != MSG_REPLAY_NONE; i++)
        if (replay->rail[i].state == MSG_RAIL_LOST && replay->rail[i].told_on == MSG_REPLAY_NONE)
            return i;
    return MSG_REPLAY_NONE;
}

bool vmsg_replay_fence(const struct msg_replay *replay, int *over, uint64_t *name, bool *asking)
{
    int ours = fence_untold(replay);
    *asking = replay->askings == 0;
    if (*asking && ours == MSG_REPLAY_NONE)
        return false;
    *over = *asking ? replay->main : replay->asked[replay->askings - 1].rail;
    *name = *asking ? replay->rail[ours].name : replay->asked[replay->askings - 1].name;
    return true;
}

void vmsg_replay_fence_told(struct msg_replay *replay)
{
    if (replay->askings)
        replay->askings--;
    else
        replay->rail[fence_untold(replay)].told_on = (int8_t)replay->main;
}

static bool fence_asked(struct msg_replay *replay, int rail, uint64_t name)
{
    for (int i = 0; i < replay->askings; i++)
        if (replay->asked[i].name == name && replay->asked[i].rail == rail)
            return true;
    if (replay->askings == MSG_REPLAY_ASKED)
        return false;
    replay->asked[replay->askings].name = name;
    replay->asked[replay->askings++].rail = rail;
    return true;
}

int vmsg_replay_fenced(struct msg_replay *replay, int over, uint64_t name, uint32_t landed, bool asking)
{
    if (!name || pair_of(name) >= MSG_REPLAY_PAIRS)
        return ERR_PROTOCOL;
    if (asking && !fence_asked(replay, over, name))
        return ERR_AGAIN;
    floor_raise(replay, name);
    if (replay->doubt == name)
        replay->doubt = 0;
    for (int i = 0; i < MSG_REPLAY_RAILS; i++) {
        struct msg_replay_rail *rail = &replay->rail[i];
        if (rail->state != MSG_RAIL_LOST || rail->name != name)
            continue;
        if (in_doubt(rail)) { /* else the peer may have forgotten how much it was */
            if (landed - rail->landed > rail->sent - rail->landed)
                return ERR_PROTOCOL;
            rail->landed = landed;
        }
        rail->state = MSG_RAIL_SETTLED;
    }
    return OK;
}

/* A settled rail with bulk that did not land; those without are free. */
static struct msg_replay_rail *rail_settled(struct msg_replay *replay)
{
    for (int i = 0; i < MSG_REPLAY_RAILS && replay->lost; i++) {
        struct msg_replay_rail *rail = &replay->rail[i];
        if (rail->state != MSG_RAIL_SETTLED)
            continue;
        if (rail->landed != rail->sent)
            return rail;
        rail->state = MSG_RAIL_FREE;
        replay->lost--;
    }
    return NULL;
}

bool vmsg_replay_back(struct msg_replay *replay, struct msg_replay_bulk *bulk)
{
    const struct msg_replay_rail *rail = rail_settled(replay);
    if (rail)
        *bulk = rail->bulk[rail->landed % MSG_REPLAY_BULK];
    return rail;
}

void vmsg_replay_back_taken(struct msg_replay *replay) { rail_settled(replay)->landed++; }
