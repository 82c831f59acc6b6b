/* mourn DEAD...: ranks of these numbers are killed from outside, all others survive them (tests/net/recover.sh). Of the survivors every
 * second one calls the dead over and over, the others wait for messages of theirs; each tells its pid when it is at it ("rank 0 is
 * 1234"), and the time of day at which it has heard of all deaths ("rank 0 mourns at 1763726193.412"). Then they go on with each
 * other, or, if one alone is left, hear it of whoever waits for anyone.
 * presets: release asan tsan */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <viaduct.h>

#define LONGEST (4 << 20)
#define MOST    16

#include "survivor.h"
static int dies[MOST];

static int never(void *context) { return context != NULL; }

static void say_pid(void)
{
    printf("rank %d is %d\n", vd_rank(), (int)getpid());
    fflush(stdout);
}

static void call_until_dead(int rank)
{
    int code = VD_OK;
    for (int i = 0; !code; i++)
        code = call(rank, 1 << (22 - i % 23));
    EXPECT(code, VD_DEAD);
}

/* The next survivor behind (STEP 1) or before (size - 1) us; us, if nobody else is left. */
static int neighbour(int step)
{
    int rank = vd_rank();
    do
        rank = (rank + step) % vd_size();
    while (dies[rank]);
    return rank;
}

static void alone(void)
{
    vd_connection *none;
    for (int i = 0; i < 3; i++)
        if (vd_begin_unpacking(channel) || vd_error() != VD_DEAD)
            exit(4);
    EXPECT(vd_begin_unpacking_now(channel, VD_ANYONE, &none), VD_DEAD);
}

static void go_on(int next, int last)
{
    for (int i = 0; i < 50; i++) {
        EXPECT(call(next, 1 << i % 23), VD_OK);
        EXPECT(send_to(next, 4000), VD_OK);
        EXPECT(take_from(last, 4000), VD_OK);
    }
}

int main(int argc, char **argv)
{
    vd_channel *none;
    struct timespec now;
    for (int i = 1; i < argc; i++)
        dies[atoi(argv[i]) % MOST] = 1;
    memset(data, 'x', sizeof data);
    int begun = vd_init();
    begun = begun ? begun : vd_rpc_start(0);
    begun = begun ? begun : vd_rpc_register("twice", twice, NULL, VD_AT_ONCE);
    begun = begun ? begun : vd_channel_open("c", NULL, &channel);
    if (begun == VD_DEAD)
        return puts("somebody is dead before all have begun") < 0;
    EXPECT(begun, VD_OK);
    int me = vd_rank(), size = vd_size(), at = 0;
    if (dies[me]) {
        say_pid();
        vd_rpc_serve(never, NULL);
    }
    for (int rank = 0; rank < me; rank++)
        at += !dies[rank];
    for (int rank = 0; rank < size && at % 2 == 0; rank++)
        if (dies[rank])
            EXPECT(call(rank, LONGEST / 2), VD_OK);
    say_pid();
    for (int rank = 0; rank < size; rank++)
        if (dies[rank] && at % 2 == 0)
            call_until_dead(rank);
        else if (dies[rank])
            EXPECT(take_from(rank, 8), VD_DEAD);
    clock_gettime(CLOCK_REALTIME, &now);
    printf("rank %d mourns at %lld.%03ld\n", me, (long long)now.tv_sec, now.tv_nsec / 1000000);
    for (int rank = 0; rank < size; rank++)
        if (dies[rank])
            EXPECT(call(rank, 8), VD_DEAD);
    if (neighbour(1) == me)
        alone();
    else
        go_on(neighbour(1), neighbour(size - 1));
    EXPECT(vd_channel_open("none", NULL, &none), VD_DEAD);
    EXPECT(vd_finalize(), VD_DEAD);
    printf("rank %d goes on\n", me);
    return 0;
}
