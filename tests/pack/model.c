/* Random messages against a model: three ranks, two channels, everybody to everybody in both directions at once, random numbers
 * of blocks of random lengths and modes, ended with and without waiting, taken from anyone and from one. A number and
 * the names of the ranks tell both sides what a message must be.
 * timeout: 120
 * tcp: 1 */
#include "pack_test.h"

#define RANKS 3
#define CHANNELS 2
#define EACH 60      /* messages from one rank to another on one channel */
#define BLOCKS 24
#define LONGEST 60000
#define SLOTS 6      /* messages that one rank has on their way */

struct message {
    unsigned name;
    int to, channel, blocks;
};
struct slot {
    vd_connection *connection;
    unsigned char *memory;
};

static struct message message_of(int from, int to, int channel, int number)
{
    unsigned name = (unsigned)(((from * RANKS + to) * CHANNELS + channel) * EACH + number);
    return (struct message){name, to, channel, (int)(mixed(name, 1) % BLOCKS)};
}

static size_t length_of(unsigned name, int block)
{
    unsigned any = mixed(name, 100 + (unsigned)block);
    switch (any % 8) {
    case 0: return 0;
    case 1: return 8193 + any / 8 % (LONGEST - 8193);
    case 2: case 3: return any / 8 % 8193;
    default: return any / 8 % 300;
    }
}
static vd_send_mode send_of(unsigned name, int block)
{
    unsigned any = mixed(name, 200 + (unsigned)block) % 16;
    return any == 0 ? VD_SEND_LATER : any < 6 ? VD_SEND_SAFER : VD_SEND_CHEAPER;
}
static vd_receive_mode receive_of(unsigned name, int block)
{
    return mixed(name, 300 + (unsigned)block) % 3 ? VD_RECEIVE_CHEAPER : VD_RECEIVE_EXPRESS;
}

/* Long SAFER blocks wait for their receiver; here everybody sends first. */
static vd_send_mode mode_of(unsigned name, int block)
{
    vd_send_mode mode = send_of(name, block);
    return mode == VD_SEND_SAFER && length_of(name, block) > 2048 ? VD_SEND_CHEAPER : mode;
}

static void pack(struct slot *slot, vd_channel *channel, struct message message)
{
    size_t at = 0;
    slot->connection = vd_begin_packing(channel, message.to);
    CHECK(slot->connection);
    for (int b = 0; b < message.blocks; b++) {
        size_t length = length_of(message.name, b);
        vd_send_mode mode = mode_of(message.name, b);
        unsigned char *data = slot->memory + at;
        memset(data, 0, length);
        if (mode != VD_SEND_LATER)
            fill(data, message.name * BLOCKS + (unsigned)b, length);
        CHECK_EQUAL(vd_pack(slot->connection, data, length, mode, receive_of(message.name, b)), VD_OK);
        if (mode == VD_SEND_SAFER)
            memset(data, 0, length);
        at += length;
    }
    at = 0;
    for (int b = 0; b < message.blocks; b++) {
        if (mode_of(message.name, b) == VD_SEND_LATER)
            fill(slot->memory + at, message.name * BLOCKS + (unsigned)b, length_of(message.name, b));
        at += length_of(message.name, b);
    }
    CHECK_EQUAL(vd_end_packing_start(slot->connection), VD_OK);
}

static void unpack(vd_connection *from, struct message message, unsigned char *memory)
{
    size_t at = 0, total = 0;
    for (int b = 0; b < message.blocks; b++)
        total += length_of(message.name, b) + 1;
    memset(memory, GUARD, total);
    for (int b = 0; b < message.blocks; b++) {
        size_t length = length_of(message.name, b);
        CHECK_EQUAL(vd_unpack(from, memory + at, length, mode_of(message.name, b), receive_of(message.name, b)), VD_OK);
        if (receive_of(message.name, b) == VD_RECEIVE_EXPRESS)
            CHECK_EQUAL(first_wrong(memory + at, message.name * BLOCKS + (unsigned)b, length), length);
        at += length + 1;
    }
    if (message.name % 2) {
        CHECK_EQUAL(vd_end_unpacking(from), VD_OK);
    } else {
        int code;
        CHECK_EQUAL(vd_end_unpacking_start(from), VD_OK);
        while ((code = vd_done(from)) == VD_AGAIN)
            ;
        CHECK_EQUAL(code, VD_OK);
    }
    at = 0;
    for (int b = 0; b < message.blocks; b++) {
        size_t length = length_of(message.name, b);
        CHECK_EQUAL(first_wrong(memory + at, message.name * BLOCKS + (unsigned)b, length), length);
        CHECK_EQUAL(memory[at + length], GUARD);
        at += length + 1;
    }
}

/* One message, if there is any; true: it was one. */
static bool take(vd_channel **channel, int rank, int next[CHANNELS][RANKS], unsigned *any, unsigned char *memory)
{
    for (int c = 0; c < CHANNELS; c++) {
        vd_connection *from;
        int source = (*any = mixed(*any, 9)) % 2 ? VD_ANYONE : (int)(*any % RANKS);
        int code = vd_begin_unpacking_now(channel[c], source, &from);
        if (code == VD_AGAIN)
            continue;
        CHECK_EQUAL(code, VD_OK);
        source = vd_remote(from);
        unpack(from, message_of(source, rank, c, next[c][source]++), memory);
        return true;
    }
    return false;
}

static void body(int rank)
{
    enum { ALL = RANKS * CHANNELS * EACH };
    struct slot slot[SLOTS] = {{0}};
    unsigned char *memory = malloc(BLOCKS * (LONGEST + 1));
    unsigned any = (unsigned)rank;
    int sent[RANKS][CHANNELS] = {{0}}, next[CHANNELS][RANKS] = {{0}}, out = 0, came = 0, under_way = 0;
    vd_channel *channel[CHANNELS];
    CHECK_EQUAL(vd_init(), VD_OK);
    channel[0] = channel_open("one");
    channel[1] = channel_open("two");
    for (int s = 0; s < SLOTS; s++)
        slot[s].memory = malloc(BLOCKS * LONGEST);
    while (out < ALL || came < ALL || under_way) {
        struct slot *one = &slot[(any = mixed(any, 5)) % SLOTS];
        int to = (int)(any / 8 % RANKS), c = (int)(any / 64 % CHANNELS);
        if (one->connection) {
            int code = vd_done(one->connection);
            if (code != VD_AGAIN) {
                CHECK_EQUAL(code, VD_OK);
                one->connection = NULL;
                under_way--;
            }
        } else if (sent[to][c] < EACH) {
            pack(one, channel[c], message_of(rank, to, c, sent[to][c]++));
            out++;
            under_way++;
        }
        came += take(channel, rank, next, &any, memory);
    }
    for (int s = 0; s < SLOTS; s++)
        free(slot[s].memory);
    free(memory);
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

int main(void)
{
    harness_run(RANKS, body);
    return check_done();
}
