/* What a program may do wrong: calls out of order, wrong arguments, ranks that disagree about a channel, packers and unpackers
 * that disagree about blocks. Each has its code, nothing is written where it should not be, and checking names the block
 * on both sides.
 * timeout: 60 */
#include "base/settings.h"
#include "pack/pack.h"
#include "pack_test.h"
#include <sched.h>
#include <sys/mman.h>

/* The codes are those of the table. */
static void codes(void)
{
    CHECK_EQUAL(VD_AGAIN, ERR_AGAIN);
    CHECK_EQUAL(VD_UNSUPPORTED, ERR_UNSUPPORTED);
    CHECK_EQUAL(VD_NO_MEMORY, ERR_MEMORY);
    CHECK_EQUAL(VD_ARGUMENT, ERR_ARGUMENT);
    CHECK_EQUAL(VD_UNREACHABLE, ERR_UNREACHABLE);
    CHECK_EQUAL(VD_DEAD, ERR_PEER_DEAD);
    CHECK_EQUAL(VD_TIMEOUT, ERR_TIMEOUT);
    CHECK_EQUAL(VD_CANCELLED, ERR_CANCELLED);
    CHECK_EQUAL(VD_LIMIT, ERR_LIMIT);
    CHECK_EQUAL(VD_STATE, ERR_STATE);
    CHECK_EQUAL(VD_NOT_FOUND, ERR_NOT_FOUND);
    CHECK_EQUAL(VD_ASYMMETRY, ERR_ASYMMETRY);
}

static void out_of_order(int rank)
{
    vd_channel *channel, *other;
    char byte = 0;
    CHECK_EQUAL(vd_channel_open("early", NULL, &channel), VD_STATE);
    CHECK_EQUAL(vd_rank(), -1);
    CHECK_EQUAL(vd_finalize(), VD_STATE);
    CHECK(!vd_begin_packing(NULL, 0));
    CHECK_EQUAL(vd_error(), VD_STATE);
    CHECK(strstr(vd_error_text(VD_STATE), "vd_init must come before"));
    CHECK_EQUAL(vd_rpc_start(0), VD_STATE);
    CHECK(!vd_rpc_begin(0, "early", 0));
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_init(), VD_STATE);
    channel = channel_open("order");
    CHECK(!vd_begin_packing(NULL, 0));
    CHECK_EQUAL(vd_error(), VD_ARGUMENT);
    CHECK(!vd_begin_packing(channel, 2));
    CHECK_EQUAL(vd_error(), VD_ARGUMENT);
    CHECK(strstr(vd_error_text(VD_ARGUMENT), "rank 2: the ranks of channel order are 0 to 1"));
    CHECK(!vd_begin_unpacking_from(channel, -7));
    CHECK_EQUAL(vd_pack(NULL, &byte, 1, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_STATE);
    CHECK_EQUAL(vd_end_packing(NULL), VD_STATE);
    CHECK_EQUAL(vd_end_unpacking(NULL), VD_STATE);
    CHECK_EQUAL(vd_wait(NULL), VD_STATE);
    vd_connection *to = vd_begin_packing(channel, rank);
    CHECK_EQUAL(vd_unpack(to, &byte, 1, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_STATE);
    CHECK_EQUAL(vd_end_unpacking(to), VD_STATE);
    CHECK_EQUAL(vd_done(to), VD_STATE);
    CHECK_EQUAL(vd_channel_close(channel), VD_STATE); /* a message is on its way */
    CHECK_EQUAL(vd_pack(to, &byte, 1, (vd_send_mode)7, VD_RECEIVE_CHEAPER), VD_ARGUMENT);
    CHECK_EQUAL(vd_pack(to, &byte, 1, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_ARGUMENT); /* it goes no further */
    CHECK_EQUAL(vd_end_packing(to), VD_ARGUMENT);
    to = vd_begin_packing(channel, rank);
    CHECK_EQUAL(vd_pack(to, &byte, 1, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
    CHECK_EQUAL(vd_end_packing_start(to), VD_OK);
    vd_connection *from = vd_begin_unpacking(channel);
    CHECK_EQUAL(vd_pack(from, &byte, 1, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_STATE);
    CHECK_EQUAL(vd_end_packing(from), VD_STATE);
    CHECK_EQUAL(vd_unpack(from, &byte, 1, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
    CHECK_EQUAL(vd_end_unpacking(from), VD_OK);
    CHECK_EQUAL(vd_wait(to), VD_OK);
    to = vd_begin_packing(channel, rank);
    CHECK_EQUAL(vd_pack(to, NULL, 1, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_ARGUMENT);
    CHECK_EQUAL(vd_end_packing(to), VD_ARGUMENT);
    CHECK_EQUAL(vd_channel_open(rank ? "left" : "right", NULL, &other), VD_ARGUMENT);
    CHECK(strstr(vd_error_text(VD_ARGUMENT), "not all ranks open the same channel"));
    CHECK_EQUAL(vd_channel_open("same", rank ? "shm" : NULL, &other), VD_ARGUMENT);
    CHECK_EQUAL(vd_channel_open("card", "eth77", &other), VD_UNREACHABLE);
    CHECK(strstr(vd_error_text(VD_UNREACHABLE), "eth77 is no network card of host"));
    CHECK_EQUAL(vd_channel_open("card", "", &other), VD_UNREACHABLE);
    CHECK_EQUAL(vd_channel_open("near", "shm", &other), VD_OK);
    CHECK_EQUAL(vd_channel_close(other), VD_OK);
    for (int i = 0; i < 1100; i++) { /* numbers are used again */
        CHECK_EQUAL(vd_channel_open("again", NULL, &other), VD_OK);
        CHECK_EQUAL(vd_channel_close(other), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* Who ends too early is told so, may end his message and try again; the others only wait. */
static void too_early(int rank)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    vd_channel *channel = channel_open("open");
    vd_connection *to = rank ? NULL : vd_begin_packing(channel, 0);
    CHECK_EQUAL(vd_finalize(), rank ? VD_OK : VD_STATE);
    if (rank)
        return;
    CHECK(strstr(vd_error_text(VD_STATE), "1 messages of channel open"));
    CHECK_EQUAL(vd_end_packing_start(to), VD_OK);
    CHECK_EQUAL(vd_wait(to), VD_OK);
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* Blocks that rank 0 packs and rank 1 unpacks, and the places around the latter. */
struct wrong {
    size_t packed[3], unpacked[3];
};
static const struct wrong wrongs[] = {
    {{8, 0, 0}, {4, 0, 0}},            /* shorter */
    {{4, 0, 0}, {8, 0, 0}},            /* longer */
    {{4, 4, 0}, {4, 0, 0}},            /* one too few */
    {{4, 0, 0}, {4, 4, 0}},            /* one too many */
    {{4, 100000, 0}, {4, 90000, 0}},   /* alone, shorter */
    {{4, 90000, 0}, {4, 100000, 0}},   /* alone, longer */
};

static size_t place(unsigned char *block, size_t length)
{
    memset(block, GUARD, 120000);
    return length;
}

static bool guarded(const unsigned char *block, size_t length)
{
    for (size_t i = length; i < 120000; i++)
        if (block[i] != GUARD)
            return false;
    return true;
}

static void disagree(int rank)
{
    unsigned char *block = malloc(120000);
    CHECK_EQUAL(vd_init(), VD_OK);
    for (size_t w = 0; w < sizeof wrongs / sizeof *wrongs; w++) {
        vd_channel *channel = channel_open("wrong");
        const size_t *length = rank ? wrongs[w].unpacked : wrongs[w].packed;
        vd_connection *connection = rank ? vd_begin_unpacking(channel) : vd_begin_packing(channel, 1);
        int code = VD_OK;
        for (int i = 0; i < 3 && length[i]; i++) {
            size_t bytes = place(block, length[i]);
            int one = rank ? vd_unpack(connection, block, bytes, VD_SEND_SAFER, VD_RECEIVE_EXPRESS)
                           : vd_pack(connection, block, bytes, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS);
            code = code ? code : one;
            CHECK(guarded(block, length[i]));
        }
        int end = rank ? vd_end_unpacking(connection) : vd_end_packing(connection);
        if (rank)
            CHECK_EQUAL(code ? code : end, VD_ASYMMETRY);
        CHECK_EQUAL(vd_channel_close(channel), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
    free(block);
}

/* The same with checking: rank 0 hears of it, too. */
static void checked(int rank)
{
    unsigned char *block = malloc(120000);
    vbase_settings.check = true;
    CHECK_EQUAL(vd_init(), VD_OK);
    for (size_t w = 0; w <= sizeof wrongs / sizeof *wrongs; w++) {
        vd_channel *channel = channel_open("wrong");
        bool modes = w == sizeof wrongs / sizeof *wrongs; /* the last: lengths agree */
        const size_t *length = rank && !modes ? wrongs[w].unpacked : wrongs[w % (sizeof wrongs / sizeof *wrongs)].packed;
        vd_connection *connection = rank ? vd_begin_unpacking(channel) : vd_begin_packing(channel, 1);
        int code = VD_OK;
        for (int i = 0; i < 3 && length[i]; i++) {
            size_t bytes = place(block, length[i]);
            int one = rank ? vd_unpack(connection, block, bytes, modes ? VD_SEND_SAFER : VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS)
                           : vd_pack(connection, block, bytes, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS);
            code = code ? code : one;
            CHECK(guarded(block, length[i]));
        }
        int end = rank ? vd_end_unpacking(connection) : vd_end_packing(connection);
        code = code ? code : end;
        if (rank)
            CHECK_EQUAL(code, VD_ASYMMETRY);
        int close = vd_channel_close(channel);
        if (rank == 0) {
            CHECK_EQUAL(code ? code : close, VD_ASYMMETRY);
            CHECK(strstr(vd_error_text(VD_ASYMMETRY), "was packed"));
            CHECK(strstr(vd_error_text(VD_ASYMMETRY), "channel wrong, message 0 from rank 0 to rank 1"));
        }
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
    free(block);
}

static vd_connection *packing(vd_channel *channel, unsigned char *block, size_t length)
{
    vd_connection *to = vd_begin_packing(channel, 1);
    CHECK_EQUAL(vd_pack(to, block, length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
    return to;
}

static _Atomic int *goes_on; /* rank 1 has gone on */

/* Checking, vd_done waits for no mark that is not packed yet, and vd_unpack not until the packer has heard what is wrong. */
static void checked_without_waiting(int rank)
{
    static unsigned char block[3000];
    vbase_settings.check = true;
    CHECK_EQUAL(vd_init(), VD_OK);
    vd_channel *channel = channel_open("late");
    for (size_t wrong = 0; wrong < 2; wrong++) {
        int code, end = wrong ? VD_ASYMMETRY : VD_OK;
        if (rank == 0) {
            vd_connection *to = packing(channel, block, sizeof block);
            while (*goes_on == (int)wrong)
                sched_yield();
            CHECK_EQUAL(vd_end_packing(to), VD_OK);
        } else {
            vd_connection *from = vd_begin_unpacking(channel);
            CHECK_EQUAL(vd_unpack(from, block, sizeof block - wrong, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), end);
            CHECK_EQUAL(vd_end_unpacking_start(from), end);
            CHECK(wrong || vd_done(from) == VD_AGAIN);
            ++*goes_on;
            while ((code = vd_done(from)) == VD_AGAIN)
                continue;
            CHECK_EQUAL(code, end);
        }
    }
    CHECK_EQUAL(vd_channel_close(channel), rank ? VD_OK : VD_ASYMMETRY);
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* Where threads of MPI make progress, what is begun now takes locks from the first call on, and what was begun from then on. */
static void beside_threads(int rank)
{
    (void)rank;
    CHECK_EQUAL(vmsg_start(), OK);
    vmsg_threads(true);
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK(vpack_threads);
    CHECK_EQUAL(vd_finalize(), VD_OK);
    vmsg_threads(false);
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK(!vpack_threads);
    vmsg_threads(true); /* MPI_Init_thread comes later */
    CHECK(vpack_threads);
    CHECK_EQUAL(vd_finalize(), VD_OK);
    vmsg_stop();
}

int main(void)
{
    harness_run(2, beside_threads);
    goes_on = mmap(NULL, sizeof *goes_on, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    setenv("VIADUCT_LOG_FILE", "/dev/null", 1); /* checking says it there as well */
    codes();
    harness_run(2, out_of_order);
    harness_run(2, too_early);
    harness_run(2, disagree);
    harness_run(2, checked);
    harness_run(2, checked_without_waiting);
    return check_done();
}
