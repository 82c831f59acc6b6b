/* A rank dies amid calls of several threads of all others, which run at once and in pools: who calls it gets VD_DEAD, calls of
 * others go on, and vd_finalize lets the survivors part.
 * timeout: 60
 * tcp: 1 */
#include "pack/pack_test.h"
#include <poll.h>
#include <pthread.h>

#define RANKS 4
#define VICTIM 2
#define CALLERS 3
#define SERVED 200 /* calls, before it dies */

static int sent[2]; /* a pipe: all calls to rank 1 were sent */

static int never(void *unused) { return unused != NULL; }

/* The argument is a length and so many bytes; the reply is the same. */
static void handle(vd_call *call, void *served)
{
    size_t length = 0;
    vd_connection *from = vd_rpc_arguments(call);
    if (vd_rank() == VICTIM && __atomic_add_fetch((int *)served, 1, __ATOMIC_RELAXED) > SERVED)
        _exit(HARNESS_DIES);
    if (vd_unpack(from, &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS))
        return; /* of a dead rank: its long blocks never come */
    unsigned char *data = malloc(length + 1);
    if (!vd_unpack(from, data, length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS))
        vd_pack(vd_rpc_reply(call), data, length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER);
    free(data);
}

static int call_one(int rank, unsigned number)
{
    size_t length = mixed(number, (unsigned)rank) % (number % 3 ? 3000 : 100000);
    unsigned char *data = malloc(length + 1), *back = malloc(length + 1);
    vd_connection *reply;
    vd_call *call = vd_rpc_begin(rank, number % 2 ? "at once" : "pool", 0);
    int code = call ? VD_OK : vd_error(), end = VD_OK;
    fill(data, number, length);
    if (call) {
        (void)vd_pack(vd_rpc_arguments(call), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS);
        (void)vd_pack(vd_rpc_arguments(call), data, length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER);
        code = vd_rpc_send(call);
        code = code ? code : vd_rpc_wait(call, &reply);
        code = code ? code : vd_unpack(reply, back, length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS);
        end = vd_rpc_end(call);
    }
    code = code ? code : end;
    if (!code)
        CHECK_EQUAL(first_wrong(back, number, length), length);
    free(data);
    free(back);
    return code;
}

static void *caller(void *first)
{
    unsigned number = *(unsigned *)first;
    int code;
    while (!(code = call_one(VICTIM, number)))
        number++;
    CHECK_EQUAL(code, VD_DEAD);
    CHECK_EQUAL(call_one(VICTIM, number), VD_DEAD);
    for (int i = 0; i < 30; i++) {
        int other = (vd_rank() + 1 + i % (RANKS - 1)) % RANKS;
        if (other != VICTIM)
            CHECK_EQUAL(call_one(other, number++), VD_OK);
    }
    return NULL;
}

static void one_dies(int rank)
{
    pthread_t thread[CALLERS];
    unsigned first[CALLERS];
    int served = 0;
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_start(2), VD_OK);
    CHECK_EQUAL(vd_rpc_register("at once", handle, &served, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("pool", handle, &served, VD_POOL), VD_OK);
    vd_channel *channel = channel_open("of all");
    if (rank == VICTIM)
        vd_rpc_serve(never, NULL);
    for (unsigned i = 0; i < CALLERS; i++) {
        first[i] = (unsigned)rank * 100000 + i * 10000;
        pthread_create(&thread[i], NULL, caller, &first[i]);
    }
    for (int i = 0; i < CALLERS; i++)
        pthread_join(thread[i], NULL);
    CHECK(!vd_begin_unpacking_from(channel, VICTIM));
    CHECK_EQUAL(vd_error(), VD_DEAD);
    CHECK_EQUAL(vd_finalize(), VD_DEAD);
}

/* Who sleeps at the descriptor until a call is over wakes when its server dies. */
static void handle_death(vd_call *call, void *unused) { (void)call, (void)unused, _exit(HARNESS_DIES); }

static void watched(int rank)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_register("death", handle_death, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    if (rank == 1)
        vd_rpc_serve(never, NULL);
    struct pollfd watched = {.fd = vd_get_fd(), .events = POLLIN};
    vd_call *call = vd_rpc_begin(1, "death", 0);
    int code;
    CHECK_EQUAL(vd_rpc_send(call), VD_OK);
    while ((code = vd_rpc_done(call)) == VD_AGAIN) {
        CHECK_EQUAL(poll(&watched, 1, 5000), 1);
        CHECK_EQUAL(vd_arm(), VD_OK);
    }
    CHECK_EQUAL(code, VD_DEAD);
    CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    CHECK_EQUAL(vd_finalize(), VD_DEAD);
}

/* All places at it are taken by one-way calls that it never confirms. It takes none before all are sent. */
static void full(int rank)
{
    int code = VD_AGAIN;
    char byte = 0;
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_register("death", handle_death, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    for (int i = 0; i < VD_RPC_ROOM && !rank; i++) {
        vd_call *call = vd_rpc_begin_now(1, "death", VD_ONE_WAY);
        CHECK(call);
        code = call ? vd_rpc_send(call) : VD_OK;
    }
    CHECK_EQUAL(code, rank ? VD_AGAIN : VD_OK);
    if (rank == 1) {
        CHECK_EQUAL(read(sent[0], &byte, 1), 1);
        vd_rpc_serve(never, NULL);
    }
    CHECK_EQUAL(write(sent[1], &byte, 1), 1);
    do {
        (void)vd_progress();
        code = vd_rpc_begin_now(1, "death", VD_ONE_WAY) ? VD_OK : vd_error();
    } while (code == VD_AGAIN);
    CHECK_EQUAL(code, VD_DEAD);
    CHECK_EQUAL(vd_finalize(), VD_DEAD);
}

int main(void)
{
    CHECK_EQUAL(pipe(sent), 0);
    harness_run(RANKS, one_dies);
    harness_run(2, watched);
    harness_run(2, full);
    return check_done();
}
