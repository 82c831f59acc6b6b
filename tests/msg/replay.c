/* Never lose, as a model: two sides over connections that end at any moment, at either end first, that come up late or
 * never, with what is under way lost from a random place on, and frames that come late. A schedule is made from its number
 * alone. Ordered frames come once and in order; a chunk lands once, and never in a buffer that was given back; in the end
 * all is done and every fence is settled. Called with a number it plays that schedule and tells its steps. CHECK_SEED: others.
 * takes: 4 presets: release
 * timeout: 300 */
#include "check.h"
#include "msg/replay.h"
#include <stdarg.h>
#include <time.h>

#define SCHEDULES 60000u
#define CONNECTIONS 24
#define QUEUE 128
#define PAIRS 3
#define TRANSFERS 3
#define CHUNKS 4
#define FRAMES 12
#define STEPS 60

enum kind { PLAIN, ANNOUNCE, CLEAR, FINISH, BULK, FENCE, ASKING_FENCE, LANDED };

struct packet {
    uint8_t kind, transfer, chunk;
    uint32_t sequence, acknowledgement, number; /* number: of a plain frame; landed */
    uint64_t name;
};
struct end {
    enum { UNBORN, UP, CLOSED } state;
    int rail;
    struct packet queue[QUEUE]; /* on their way to this end */
    unsigned first, last;
};
struct connection {
    uint64_t name;
    struct end end[2];
};
struct buffer { /* the receiver's */
    bool lent;
    uint8_t landed; /* a bit a chunk */
};
struct side {
    struct msg_replay replay;
    unsigned frames, due;        /* plain ones: given, come */
    struct packet waiting[64];   /* answers that did not go yet */
    unsigned answers;
    unsigned started, finished;  /* transfers of ours */
    uint8_t pool[TRANSFERS];     /* chunks to be sent */
    bool cleared[TRANSFERS];
    struct buffer buffer[TRANSFERS]; /* of his */
};

static struct side side[2];
static struct connection connection[CONNECTIONS];
static int connections, epoch[PAIRS];
static uint32_t up[2]; /* a bit a connection: this end of it is UP */
static uint64_t seed;
static unsigned schedule;
static bool told, healthy;

static unsigned any(unsigned below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)((seed >> 33) % below);
}

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (told)
        vprintf(format, arguments);
    va_end(arguments);
}

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "schedule %u: %s\n", schedule, what);
    exit(1);
}

/* Rings that are given back are not looked at any more. */
static int rings;

static void *ring_take(void *context, uint64_t bytes)
{
    uint64_t *ring = malloc(sizeof *ring * 2 + bytes);
    must(context == &rings, "rings are taken of somebody else");
    rings++;
    *ring = bytes;
    return ring + 2;
}

static void ring_give(void *ring)
{
    uint64_t *start = (uint64_t *)ring - 2;
    rings--;
    memset(ring, 0xEE, *start);
    free(start);
}
static const struct msg_replay_memory memory = {ring_take, ring_give, &rings};

static int first_of(uint32_t connections_left) { return __builtin_ctz(connections_left); }

static struct end *end_of(int at, int rail, int *which)
{
    for (uint32_t left = up[at]; left; left &= left - 1)
        if (connection[first_of(left)].end[at].rail == rail) {
            *which = first_of(left);
            return &connection[*which].end[!at];
        }
    must(false, "a rail without a connection");
    return NULL;
}

/* False: the provider is full. */
static bool post(int at, int rail, struct packet packet)
{
    int which = 0;
    struct end *to = end_of(at, rail, &which);
    if (to->last - to->first == QUEUE || (!healthy && any(16) == 0))
        return false;
    packet.acknowledgement = msg_replay_acknowledge(&side[at].replay);
    if (to->state != CLOSED)
        to->queue[to->last++ % QUEUE] = packet;
    tell("  %d sends kind %d sequence %u over %d\n", at, packet.kind, packet.sequence, which);
    return true;
}

/* ---- what a side sends ------------------------------------------------------------------------------------------- */

static bool ordered(int at, struct packet packet)
{
    struct msg_replay *replay = &side[at].replay;
    char body[200] = {0};
    uint32_t length = (uint32_t)(sizeof packet + any(100));
    struct msg_replay_frame *frame;
    packet.sequence = replay->sent + 1;
    memcpy(body, &packet, sizeof packet);
    struct iovec piece[2] = {{body, sizeof packet}, {body + sizeof packet, length - sizeof packet}};
    if (!msg_replay_ready(replay) || msg_replay_keep(replay, packet.kind, piece, 2, &frame) != OK)
        return false;
    must(frame->sequence == packet.sequence, "a frame was kept with another number");
    if (any(8) == 0)
        must(vmsg_replay_renew(replay) == OK, "there is no memory");
    if (any(2) == 0) { /* a sender may look at it once more, before it is refused, too */
        frame = vmsg_replay_next(replay);
        must(frame && frame->sequence == packet.sequence, "the frame that was kept is not the next one");
        must(memcmp(frame + 1, body, length) == 0, "a frame was not kept as it was");
    }
    bool went = post(at, replay->main, packet);
    if (went)
        msg_replay_kept_went(replay);
    else
        msg_replay_drop(replay);
    return went;
}

static void answer(int at, struct packet packet)
{
    must(side[at].answers < 64, "too many answers");
    side[at].waiting[side[at].answers++] = packet;
}

static void answers_go(int at)
{
    struct side *here = &side[at];
    while (here->answers && ordered(at, here->waiting[0]))
        memmove(here->waiting, here->waiting + 1, --here->answers * sizeof here->waiting[0]);
}

static void bulk_goes(int at)
{
    struct side *here = &side[at];
    if (!here->pool[0] && !here->pool[1] && !here->pool[2])
        return;
    for (int rail = 0; rail < MSG_REPLAY_RAILS; rail++)
        for (unsigned t = 0; t < TRANSFERS && here->replay.rail[rail].state == MSG_RAIL_HELD; t++)
            for (unsigned c = 0; c < CHUNKS && here->pool[t] >> c; c++) {
                if (!(here->pool[t] & 1u << c) || any(3) == 0 || !vmsg_replay_bulk_room(&here->replay, rail) ||
                    !post(at, rail, (struct packet){.kind = BULK, .transfer = (uint8_t)t, .chunk = (uint8_t)c}))
                    continue;
                here->pool[t] &= (uint8_t)~(1u << c);
                vmsg_replay_bulk_sent(&here->replay, rail, &(struct msg_replay_bulk){t, c, 1});
            }
}

static void main_choose(int at)
{
    struct msg_replay *replay = &side[at].replay;
    int found[CONNECTIONS], count = 0;
    for (uint32_t left = up[at]; left; left &= left - 1)
        found[count++] = connection[first_of(left)].end[at].rail;
    if (count && (replay->main < 0 || (msg_replay_quiet(replay) && any(4) == 0)))
        vmsg_replay_main(replay, found[any((unsigned)count)]);
}

static void fences_go(int at)
{
    struct msg_replay *replay = &side[at].replay;
    uint64_t name;
    bool asking;
    for (int over; vmsg_replay_fence(replay, &over, &name, &asking);) {
        if (!post(at, over, (struct packet){.kind = asking ? ASKING_FENCE : FENCE, .name = name,
                                            .number = vmsg_replay_bulk_came(replay, name)}))
            return;
        vmsg_replay_fence_told(replay);
    }
}

static void frames_go(int at)
{
    struct msg_replay *replay = &side[at].replay;
    const struct msg_replay_frame *frame;
    while (replay->main >= 0 && (frame = vmsg_replay_next(replay))) {
        struct packet packet;
        memcpy(&packet, frame + 1, sizeof packet);
        must(packet.sequence == frame->sequence && packet.kind == frame->header, "a frame was not kept as it was");
        if (!post(at, replay->main, packet))
            return;
        vmsg_replay_went(replay);
    }
}

/* What comes back waits for memory. */
static void backs_go(int at)
{
    struct msg_replay_bulk back;
    while (vmsg_replay_back(&side[at].replay, &back) && (healthy || any(4))) {
        side[at].pool[back.id] |= (uint8_t)(1u << back.from);
        vmsg_replay_back_taken(&side[at].replay);
    }
}

static void pump(int at)
{
    struct msg_replay *replay = &side[at].replay;
    main_choose(at);
    fences_go(at);
    backs_go(at);
    frames_go(at);
    answers_go(at);
    bulk_goes(at);
    if (replay->main >= 0 && msg_replay_owes(replay))
        (void)post(at, replay->main, (struct packet){.kind = LANDED});
    for (uint32_t left = up[at]; left; left &= left - 1)
        if (any(8) == 0) {
            int number = connection[first_of(left)].end[at].rail;
            struct msg_replay_rail *rail = &replay->rail[number];
            uint32_t came = vmsg_replay_bulk_came(replay, rail->name);
            if (came != rail->told && post(at, number, (struct packet){.kind = LANDED, .name = rail->name, .number = came}))
                rail->told = came;
        }
}

/* ---- what happens to connections --------------------------------------------------------------------------------- */

static void close_end(int at, int which)
{
    struct end *end = &connection[which].end[at], *other = &connection[which].end[!at];
    tell("%d loses %d\n", at, which);
    vmsg_replay_lost(&side[at].replay, end->rail);
    end->state = CLOSED;
    up[at] &= ~(1u << which);
    end->first = end->last;
    other->last -= any(other->last - other->first + 1); /* what is still under way is lost from somewhere on */
}

static void raise_end(int at, int which)
{
    struct end *end = &connection[which].end[at];
    for (int i = 0; i < connections; i++)
        if (i != which && connection[i].name >> 32 == connection[which].name >> 32) {
            if (i < which && connection[i].end[at].state == UP)
                close_end(at, i); /* a newer one has come */
            else if (i > which && connection[i].end[at].state != UNBORN)
                return;
        }
    end->rail = vmsg_replay_add(&side[at].replay);
    must(end->rail >= 0, "no place for a rail");
    if (vmsg_replay_up(&side[at].replay, end->rail, connection[which].name)) {
        end->state = UP;
        up[at] |= 1u << which;
        tell("%d has %d\n", at, which);
    } else {
        vmsg_replay_lost(&side[at].replay, end->rail);
        end->state = CLOSED;
        end->first = end->last;
        tell("%d refuses %d\n", at, which);
    }
}

static void connect_pair(unsigned pair, int at)
{
    if (connections == CONNECTIONS)
        return;
    struct connection *new = &connection[connections++];
    for (int i = 0; i < 2; i++) {
        new->end[i].state = UNBORN;
        new->end[i].first = new->end[i].last = 0;
    }
    new->name = (uint64_t)pair << 32 | (uint32_t)++epoch[pair];
    raise_end(at, connections - 1);
}

/* ---- what comes -------------------------------------------------------------------------------------------------- */

static void bulk_came(int at, const struct packet *packet)
{
    struct buffer *buffer = &side[at].buffer[packet->transfer];
    must(buffer->lent, "something landed in a buffer that was given back");
    must(!(buffer->landed & 1u << packet->chunk), "a chunk landed twice");
    buffer->landed |= (uint8_t)(1u << packet->chunk);
    if (buffer->landed != (1u << CHUNKS) - 1)
        return;
    buffer->lent = false;
    answer(at, (struct packet){.kind = FINISH, .transfer = packet->transfer});
}

static void ordered_came(int at, const struct packet *packet)
{
    struct side *here = &side[at];
    switch (packet->kind) {
    case PLAIN:
        must(packet->number == here->due, "a frame came out of its order");
        here->due++;
        break;
    case ANNOUNCE:
        here->buffer[packet->transfer].lent = true;
        answer(at, (struct packet){.kind = CLEAR, .transfer = packet->transfer});
        break;
    case CLEAR:
        must(!here->cleared[packet->transfer], "a clearance came twice");
        here->cleared[packet->transfer] = true;
        here->pool[packet->transfer] = (1u << CHUNKS) - 1;
        break;
    default:
        must(here->cleared[packet->transfer] && !here->pool[packet->transfer], "a finish before all was sent");
        here->finished++;
    }
}

static void fence_came(int at, int over, const struct packet *packet)
{
    struct msg_replay *replay = &side[at].replay;
    int held = vmsg_replay_named(replay, packet->name), which = 0;
    if (held >= 0) {
        (void)end_of(at, held, &which);
        close_end(at, which);
    }
    if (packet->kind == ASKING_FENCE && !healthy && any(8) == 0) { /* as if there were no room for one more question */
        (void)end_of(at, over, &which);
        close_end(at, which);
        return;
    }
    must(vmsg_replay_fenced(replay, over, packet->name, packet->number, packet->kind == ASKING_FENCE) == OK, "a fence made no sense");
}

static void deliver(int at, int which)
{
    struct end *end = &connection[which].end[at];
    struct msg_replay *replay = &side[at].replay;
    struct packet packet = end->queue[end->first++ % QUEUE];
    int rail;
    must(vmsg_replay_acknowledged(replay, packet.acknowledgement), "an acknowledgement made no sense");
    switch (packet.kind) {
    case BULK:
        vmsg_replay_bulk_landed(replay, end->rail);
        bulk_came(at, &packet);
        break;
    case FENCE:
    case ASKING_FENCE:
        fence_came(at, end->rail, &packet);
        break;
    case LANDED:
        rail = packet.name ? vmsg_replay_named(replay, packet.name) : -1;
        must(rail < 0 || vmsg_replay_bulk_told(replay, rail, packet.number), "a count of what landed made no sense");
        break;
    default:
        rail = vmsg_replay_arrived(replay, packet.sequence, 1000);
        must(rail >= 0, "a frame is missing");
        if (rail == 1)
            ordered_came(at, &packet);
    }
}

/* ---- a schedule -------------------------------------------------------------------------------------------------- */

/* One thing at a random connection, of those that are not gone if a few tries find one. */
static void network_step(void)
{
    int which, at;
    struct end *end;
    for (int tries = 0; tries < 4; tries++) {
        which = (int)any((unsigned)connections), at = (int)any(2);
        end = &connection[which].end[at];
        if (end->state != CLOSED)
            break;
    }
    if (end->state == UNBORN && any(healthy ? 2 : 6) == 0)
        raise_end(at, which);
    else if (end->state == UP && end->first != end->last)
        deliver(at, which);
    else if (end->state == UP && connection[which].end[!at].state == CLOSED)
        close_end(at, which); /* its kernel has told */
    else if (end->state == UP && !healthy && any(12) == 0)
        close_end(at, which);
}

static void program_step(int at)
{
    struct side *here = &side[at];
    if (here->frames < FRAMES && any(2) && ordered(at, (struct packet){.kind = PLAIN, .number = here->frames}))
        here->frames++;
    else if (here->started < TRANSFERS && ordered(at, (struct packet){.kind = ANNOUNCE, .transfer = (uint8_t)here->started}))
        here->started++;
}

static bool linked(void)
{
    return up[0] & up[1];
}

static bool over(void)
{
    for (int at = 0; at < 2; at++) {
        const struct side *here = &side[at];
        if (here->frames != FRAMES || side[!at].due != FRAMES || here->finished != TRANSFERS || here->answers)
            return false;
        for (int i = 0; i < MSG_REPLAY_RAILS; i++)
            if (here->replay.rail[i].state >= MSG_RAIL_LOST)
                return false;
    }
    return true;
}

static void play(unsigned number)
{
    schedule = number;
    seed = number * 0x9E3779B97F4A7C15ull + 1;
    connections = 0;
    up[0] = up[1] = 0;
    healthy = false;
    memset(epoch, 0, sizeof epoch);
    memset(side, 0, sizeof side);
    for (int at = 0; at < 2; at++)
        vmsg_replay_open(&side[at].replay, 400 + any(4000), &memory);
    for (int at = 0; at < 2; at++)
        side[at].replay.sent = side[at].replay.acked = side[!at].replay.arrived = UINT32_MAX - any(20); /* they wrap */
    connect_pair(any(PAIRS), (int)any(2));
    for (int i = 0; i < STEPS; i++) {
        if (any(10) == 0 && connections < CONNECTIONS - 4)
            connect_pair(any(PAIRS), (int)any(2));
        network_step();
        program_step((int)any(2));
        pump((int)any(2));
    }
    healthy = true; /* from here on nothing is lost any more */
    for (int i = 0; i < 100000 && !over(); i++) {
        if (i % 64 == 0 && !linked())
            connect_pair(0, 0);
        network_step();
        program_step(i % 2);
        pump(i % 2);
    }
    must(over(), "it does not come to an end");
    for (int at = 0; at < 2; at++)
        vmsg_replay_close(&side[at].replay);
    must(rings == 0, "a ring is left");
}

/* He asks and asks, and takes no answer: at last the connection is to be closed, and with it all that he asked over it. */
static void too_many_questions(void)
{
    struct msg_replay replay;
    uint64_t name;
    bool asking;
    int rail, over, error = OK;

    vmsg_replay_open(&replay, 4000, &memory);
    rail = vmsg_replay_add(&replay);
    CHECK(rail >= 0 && vmsg_replay_up(&replay, rail, 1000));
    vmsg_replay_main(&replay, rail);
    uint32_t asked = 0;
    while (asked < 1000 && !(error = vmsg_replay_fenced(&replay, rail, 1ull << 32 | (asked + 1), 0, true)))
        asked++;
    CHECK_EQUAL(error, ERR_AGAIN);
    CHECK(asked >= MSG_REPLAY_RAILS); /* all that he may be in doubt of at once */
    CHECK(vmsg_replay_fence(&replay, &over, &name, &asking) && !asking && over == rail);
    vmsg_replay_lost(&replay, rail);
    rail = vmsg_replay_add(&replay);
    CHECK(rail >= 0 && vmsg_replay_up(&replay, rail, 2ull << 32 | 1));
    vmsg_replay_main(&replay, rail);
    CHECK_EQUAL(vmsg_replay_fenced(&replay, rail, 1ull << 32 | (asked + 1), 0, true), OK);
    CHECK(vmsg_replay_fence(&replay, &over, &name, &asking) && !asking && over == rail && name == (1ull << 32 | (asked + 1)));
    vmsg_replay_close(&replay);
}

static int rail_up(struct msg_replay *replay, uint64_t pair)
{
    int rail = vmsg_replay_add(replay);
    CHECK(rail >= 0 && vmsg_replay_up(replay, rail, pair << 32 | 1));
    return rail;
}

/* There are more pairs of cards than places. However many connections are lost with bulk, there is one for the next, which brings
 * the fences; until then no more bulk goes. */
static void many_pairs(void)
{
    enum { SINGLY = MSG_REPLAY_RAILS - MSG_RAILS - 1, ALL = SINGLY + MSG_RAILS };
    struct msg_replay replay;
    struct msg_replay_bulk bulk = {1, 2, 3};
    int rail[MSG_RAILS], pair = 0, back = 0;

    vmsg_replay_open(&replay, 4000, &memory);
    for (int i = 0; i < SINGLY; i++) {
        rail[0] = rail_up(&replay, (uint64_t)pair++);
        CHECK(vmsg_replay_bulk_room(&replay, rail[0]));
        vmsg_replay_bulk_sent(&replay, rail[0], &bulk);
        vmsg_replay_lost(&replay, rail[0]);
    }
    for (int i = 0; i < MSG_RAILS; i++) {
        rail[i] = rail_up(&replay, (uint64_t)pair++);
        CHECK(vmsg_replay_bulk_room(&replay, rail[i]));
        vmsg_replay_bulk_sent(&replay, rail[i], &bulk);
    }
    for (int i = 0; i < MSG_RAILS; i++)
        vmsg_replay_lost(&replay, rail[i]);
    for (; pair < MSG_REPLAY_PAIRS - 1; pair++) {
        rail[0] = rail_up(&replay, (uint64_t)pair);
        CHECK(!vmsg_replay_bulk_room(&replay, rail[0]));
        vmsg_replay_lost(&replay, rail[0]);
    }
    rail[0] = rail_up(&replay, MSG_REPLAY_PAIRS - 1);
    for (uint64_t i = 0; i < ALL; i++)
        CHECK_EQUAL(vmsg_replay_fenced(&replay, rail[0], i << 32 | 1, 0, false), OK);
    for (; vmsg_replay_back(&replay, &bulk); back++)
        vmsg_replay_back_taken(&replay);
    CHECK_EQUAL(back, ALL);
    CHECK(vmsg_replay_bulk_room(&replay, rail[0]));
    rail[1] = vmsg_replay_add(&replay);
    CHECK(rail[1] >= 0 && !vmsg_replay_up(&replay, rail[1], (uint64_t)MSG_REPLAY_PAIRS << 32 | 1)); /* no such pair */
    vmsg_replay_close(&replay);
}

/* A frame that lies behind the end of the ring is looked at and refused: then the one before it is the last. */
static void refused_behind_end(void)
{
    static uint8_t body[TUNED(REPLAY_RING) / 4]; /* three such frames fit before the end */
    const struct iovec piece = {body, sizeof body};
    struct msg_replay replay;
    struct msg_replay_frame *frame = NULL;

    vmsg_replay_open(&replay, 4 * TUNED(REPLAY_RING), &memory);
    vmsg_replay_main(&replay, rail_up(&replay, 0));
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(msg_replay_keep(&replay, PLAIN, &piece, 1, &frame), OK);
        msg_replay_kept_went(&replay);
    }
    CHECK(vmsg_replay_acknowledged(&replay, 2));
    CHECK_EQUAL(msg_replay_keep(&replay, PLAIN, &piece, 1, &frame), OK);
    CHECK_EQUAL(replay.size, TUNED(REPLAY_RING));
    CHECK((uint8_t *)frame == replay.ring);
    CHECK(vmsg_replay_next(&replay) == frame);
    msg_replay_drop(&replay);
    vmsg_replay_main(&replay, replay.main); /* what is not acknowledged goes once more: the third */
    frame = vmsg_replay_next(&replay);
    CHECK(frame && frame->sequence == 3);
    vmsg_replay_went(&replay);
    CHECK(!vmsg_replay_next(&replay));
    CHECK(msg_replay_ready(&replay));
    vmsg_replay_close(&replay);
}

int main(int count, char **arguments)
{
    too_many_questions();
    many_pairs();
    refused_behind_end();
    told = count > 1;
    if (told) {
        play((unsigned)strtoul(arguments[1], NULL, 0));
        return 0;
    }
    const char *text = getenv("CHECK_SEED");
    unsigned first = text ? (unsigned)strtoul(text, NULL, 0) * SCHEDULES : 0;
    for (unsigned i = 0; i < SCHEDULES; i++)
        play(first + i);
    return check_done();
}
