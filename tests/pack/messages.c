/* Messages of pieces: every length around every threshold, every pair of modes, orders, sources, and the six names of
 * Madeleine.
 * timeout: 120
 * tcp: 1 */
#include "madeleine.h"
#include "pack_test.h"

/* A size EXPRESS, then an array of that size CHEAPER. */
static void size_and_array(int rank)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rank(), rank);
    CHECK_EQUAL(vd_size(), 2);
    vd_channel *channel = channel_open("arrays");
    for (size_t size = 1; size < 3 << 20; size = size * 3 + 1) {
        if (rank == 0) {
            unsigned char *array = malloc(size);
            fill(array, (unsigned)size, size);
            p_mad_connection_t to = mad_begin_packing(channel, 1);
            mad_pack(to, &size, sizeof size, send_CHEAPER, receive_EXPRESS);
            mad_pack(to, array, size, send_CHEAPER, receive_CHEAPER);
            mad_end_packing(to);
            free(array);
        } else {
            size_t came = 0;
            p_mad_connection_t from = mad_begin_unpacking(channel);
            CHECK_EQUAL(vd_remote(from), 0);
            mad_unpack(from, &came, sizeof came, send_CHEAPER, receive_EXPRESS);
            CHECK_EQUAL(came, size);
            unsigned char *array = malloc(came);
            mad_unpack(from, array, came, send_CHEAPER, receive_CHEAPER);
            mad_end_unpacking(from);
            CHECK_EQUAL(first_wrong(array, (unsigned)size, size), size);
            free(array);
        }
    }
    CHECK_EQUAL(vd_channel_close(channel), VD_OK);
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

static const size_t lengths[] = {0, 1, 4, 8, 200, 1024, 1025, 2048, 2049, 3000, 8192, 8193, 16383, 16384, 16385, 70000, 300000};
#define LENGTHS (sizeof lengths / sizeof *lengths)

/* Three blocks of all lengths with all modes: 0 and 2 around what is looked at. */
static void every_length(int rank)
{
    unsigned char *block[3];
    CHECK_EQUAL(vd_init(), VD_OK);
    vd_channel *channel = channel_open("lengths");
    for (int i = 0; i < 3; i++)
        block[i] = malloc(300000 + 1);
    for (unsigned n = 0; n < LENGTHS * LENGTHS * 6; n++) {
        size_t length[3] = {lengths[n % LENGTHS], lengths[n / LENGTHS % LENGTHS], lengths[mixed(n, 1) % LENGTHS]};
        vd_send_mode send = (vd_send_mode)(n / LENGTHS / LENGTHS % 3);
        vd_receive_mode receive = n / LENGTHS / LENGTHS / 3 ? VD_RECEIVE_EXPRESS : VD_RECEIVE_CHEAPER;
        vd_connection *connection = rank ? vd_begin_unpacking_from(channel, 0) : vd_begin_packing(channel, 1);
        CHECK(connection);
        for (unsigned i = 0; i < 3; i++) {
            vd_send_mode mode = (vd_send_mode)((send + i) % 3);
            memset(block[i], GUARD, length[i] + 1);
            if (rank == 0) {
                if (mode != VD_SEND_LATER)
                    fill(block[i], 3 * n + i, length[i]);
                CHECK_EQUAL(vd_pack(connection, block[i], length[i], mode, receive), VD_OK);
                if (mode == VD_SEND_SAFER)
                    memset(block[i], 0, length[i]);
            } else {
                CHECK_EQUAL(vd_unpack(connection, block[i], length[i], mode, receive), VD_OK);
                if (receive == VD_RECEIVE_EXPRESS && mode != VD_SEND_LATER)
                    CHECK_EQUAL(first_wrong(block[i], 3 * n + i, length[i]), length[i]);
            }
        }
        for (unsigned i = 0; i < 3 && rank == 0; i++)
            if ((send + i) % 3 == VD_SEND_LATER)
                fill(block[i], 3 * n + i, length[i]);
        CHECK_EQUAL(rank ? vd_end_unpacking(connection) : vd_end_packing(connection), VD_OK);
        for (unsigned i = 0; i < 3 && rank == 1; i++) {
            CHECK_EQUAL(first_wrong(block[i], 3 * n + i, length[i]), length[i]);
            CHECK_EQUAL(block[i][length[i]], GUARD);
        }
    }
    for (int i = 0; i < 3; i++)
        free(block[i]);
    CHECK_EQUAL(vd_finalize(), VD_OK); /* closes the channel */
}

/* Messages of several senders on two channels; what one of them sends comes in order, whatever is asked for first. */
static void sources_and_channels(int rank)
{
    enum { EACH = 50 };
    CHECK_EQUAL(vd_init(), VD_OK);
    vd_channel *channel[2] = {channel_open("one"), channel_open("two")};
    for (int n = 0; n < EACH; n++)
        for (int to = 0; to < 3; to++)
            for (int c = 0; c < 2; c++) {
                int what[3] = {rank, c, n};
                vd_connection *connection = vd_begin_packing(channel[c], to);
                CHECK_EQUAL(vd_pack(connection, what, sizeof what, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
                CHECK_EQUAL(vd_end_packing(connection), VD_OK);
            }
    for (int c = 1; c >= 0; c--) {
        int next[3] = {0, 0, 0};
        for (int n = 0; n < 3 * EACH; n++) {
            int what[3], from = -1;
            for (int i = 0; i < 3 && n % 2; i++)
                if (next[i] < EACH)
                    from = i;
            vd_connection *connection = n % 2 ? vd_begin_unpacking_from(channel[c], from) : vd_begin_unpacking(channel[c]);
            from = vd_remote(connection);
            CHECK_EQUAL(vd_unpack(connection, what, sizeof what, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
            CHECK_EQUAL(vd_end_unpacking(connection), VD_OK);
            CHECK(what[0] == from && what[1] == c && what[2] == next[from]);
            next[from]++;
        }
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* Several messages are packed and unpacked at once, across each other. */
static void at_once(int rank)
{
    enum { MESSAGES = 5, BLOCKS = 40 };
    static unsigned char block[MESSAGES][BLOCKS][1500];
    vd_connection *connection[MESSAGES];
    CHECK_EQUAL(vd_init(), VD_OK);
    vd_channel *channel = channel_open("across");
    for (int m = 0; m < MESSAGES; m++) {
        connection[m] = rank ? vd_begin_unpacking(channel) : vd_begin_packing(channel, 1);
        int number = m;
        if (rank == 0) /* one whole block, so that the first frame leaves in this order */
            CHECK_EQUAL(vd_pack(connection[m], &number, sizeof number, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
        else
            CHECK_EQUAL(vd_unpack(connection[m], &number, sizeof number, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
        for (int b = 0; b < BLOCKS && rank == 0; b++) {
            fill(block[m][b], (unsigned)(m * BLOCKS + b), 1500);
            CHECK_EQUAL(vd_pack(connection[m], block[m][b], 1500, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        }
        CHECK_EQUAL(number, m);
    }
    for (int b = 0; b < BLOCKS && rank; b++)
        for (int m = MESSAGES - 1; m >= 0; m--)
            CHECK_EQUAL(vd_unpack(connection[m], block[m][b], 1500, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
    for (int m = 0; m < MESSAGES; m++) {
        CHECK_EQUAL(rank ? vd_end_unpacking(connection[m]) : vd_end_packing(connection[m]), VD_OK);
        for (int b = 0; b < BLOCKS; b++)
            CHECK_EQUAL(first_wrong(block[m][b], (unsigned)(m * BLOCKS + b), 1500), 1500);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* Both send long blocks first and end without waiting; then both unpack, and look now and then whether they are done. */
static void without_waiting(int rank)
{
    enum { BYTES = 400000 };
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
    CHECK_EQUAL(vd_init(), VD_OK);
    vd_channel *channel = channel_open("now");
    for (unsigned n = 0; n < 40; n++) {
        size_t length = n % 4 == 0 ? 100 : n % 4 == 1 ? 12000 : BYTES;
        int code;
        vd_connection *to = vd_begin_packing(channel, !rank), *from = NULL;
        fill(out, 2 * n + (unsigned)rank, length);
        memset(in, 0, length);
        CHECK_EQUAL(vd_pack(to, out, length, VD_SEND_LATER, VD_RECEIVE_CHEAPER), VD_OK);
        CHECK_EQUAL(vd_pack(to, &n, sizeof n, VD_SEND_SAFER, VD_RECEIVE_CHEAPER), VD_OK);
        CHECK_EQUAL(vd_end_packing_start(to), VD_OK);
        while ((code = vd_begin_unpacking_now(channel, n % 2 ? VD_ANYONE : !rank, &from)) == VD_AGAIN)
            vd_progress();
        CHECK_EQUAL(code, VD_OK);
        unsigned number = 99;
        CHECK_EQUAL(vd_unpack(from, in, length, VD_SEND_LATER, VD_RECEIVE_CHEAPER), VD_OK);
        CHECK_EQUAL(vd_unpack(from, &number, sizeof number, VD_SEND_SAFER, VD_RECEIVE_CHEAPER), VD_OK);
        CHECK_EQUAL(vd_end_unpacking_start(from), VD_OK);
        while (n % 3 && (code = vd_done(from)) == VD_AGAIN)
            ;
        CHECK_EQUAL(n % 3 ? code : vd_wait(from), VD_OK);
        CHECK_EQUAL(number, n);
        CHECK_EQUAL(first_wrong(in, 2 * n + !rank, length), length);
        while (n % 5 && (code = vd_done(to)) == VD_AGAIN)
            ;
        CHECK_EQUAL(n % 5 ? code : vd_wait(to), VD_OK);
    }
    vd_connection *none;
    CHECK_EQUAL(vd_begin_unpacking_now(channel, VD_ANYONE, &none), VD_AGAIN);
    CHECK_EQUAL(vd_finalize(), VD_OK);
    free(out);
    free(in);
}

/* A message to the own rank. */
static void to_oneself(int rank)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    vd_channel *channel = channel_open("self");
    for (size_t i = 0; i < LENGTHS; i++) {
        unsigned char *out = malloc(lengths[i] + 1), *in = malloc(lengths[i] + 1);
        fill(out, (unsigned)i, lengths[i]);
        vd_connection *to = vd_begin_packing(channel, rank);
        CHECK_EQUAL(vd_pack(to, out, lengths[i], VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_end_packing_start(to), VD_OK);
        vd_connection *from = vd_begin_unpacking(channel);
        CHECK_EQUAL(vd_unpack(from, in, lengths[i], VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(first_wrong(in, (unsigned)i, lengths[i]), lengths[i]);
        CHECK_EQUAL(vd_end_unpacking(from), VD_OK);
        CHECK_EQUAL(vd_wait(to), VD_OK);
        free(out);
        free(in);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

int main(void)
{
    harness_run(2, size_and_array);
    harness_run(2, every_length);
    harness_run(3, sources_and_channels);
    harness_run(2, at_once);
    harness_run(2, without_waiting);
    harness_run(2, to_oneself);
    return check_done();
}
