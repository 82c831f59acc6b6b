# After mpiexec --enable-recovery a rank that is killed amid calls and messages of all lengths does not end the others: who needs it gets
# VD_DEAD, who does not goes on, and vd_finalize lets them part.
# timeout: 60
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$VIADUCT_BIN/viaduct" ] || skip "the launcher was not built"
cd "$work" || exit 1
cat >survive.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <viaduct.h>

#define VICTIM 2
#define LONGEST 200000
#include "survivor.h"
static int calls[VICTIM + 2];

/* The victim serves until everyone has called it often enough; then it dies amid a call. */
static int never(void *context) { return context != NULL; }

static void twice_and_die(vd_call *call, void *context)
{
    calls[vd_rpc_caller(call)]++;
    if (vd_rank() == VICTIM && calls[0] > 20 && calls[1] > 20 && calls[3] > 20)
        kill(getpid(), SIGKILL);
    twice(call, context);
}

int main(void)
{
    vd_channel *none;
    memset(data, 'x', sizeof data);
    EXPECT(vd_init() || vd_rpc_start(0) || vd_rpc_register("twice", twice_and_die, NULL, VD_AT_ONCE) || vd_channel_open("c", NULL, &channel), 0);
    int me = vd_rank(), size = vd_size(), code = 0, next = (me + 1) % size == VICTIM ? VICTIM + 1 : (me + 1) % size;
    int last = (me + size - 1) % size == VICTIM ? VICTIM - 1 : (me + size - 1) % size;
    if (me == VICTIM) {
        for (int rank = 0; rank < size; rank++) { /* he dies while this is announced and not taken */
            vd_connection *to = rank == me ? NULL : vd_begin_packing(channel, rank);
            if (to)
                EXPECT(vd_pack(to, data, LONGEST, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER) || vd_end_packing_start(to), 0);
        }
        vd_rpc_serve(never, NULL);
    }
    for (int i = 0; i < 100000 && !code; i++)
        code = call(VICTIM, 1 << i % 18);
    EXPECT(code, VD_DEAD);
    if (!strstr(vd_error_text(code), "rank 2"))
        exit(6);
    EXPECT(call(VICTIM, 8), VD_DEAD);
    EXPECT(take_from(VICTIM, LONGEST), VD_DEAD);
    EXPECT(take_from(VICTIM, 8), VD_DEAD);
    for (int i = 0; i < 300 && code; i++) /* small ones may leave */
        code = send_to(VICTIM, 100000) == VD_DEAD ? 0 : VD_STATE;
    EXPECT(code, VD_OK);
    for (int i = 0; i < 100; i++) {
        EXPECT(call(next, 1 << i % 18), VD_OK);
        EXPECT(send_to(next, 4000), VD_OK);
        EXPECT(take_from(last, 4000), VD_OK);
    }
    EXPECT(vd_channel_open("none", NULL, &none), VD_DEAD);
    EXPECT(vd_finalize(), VD_DEAD);
    printf("rank %d goes on\n", me);
    return 0;
}
END
run 60 ${CC:-cc} -O2 -Wall -Wextra -I"$VIADUCT_SOURCE/include" -I"$VIADUCT_SOURCE/tests/programs" -o survive-$$ survive.c -L"$VIADUCT_BUILD/lib" \
    -Wl,-rpath,"$VIADUCT_BUILD/lib" -lviaduct
expect_status 0 "compiling"
expect_silence "compiling"
for transport in shm tcp; do
    VIADUCT_TRANSPORTS=$transport run 20 $mpiexec --enable-recovery -n 4 ./survive-$$
    expect_status 137 "over $transport"
    expect_err "rank 2 .*was killed by signal 9" "over $transport"
    [ "$(grep -c "goes on" out)" = 3 ] || fail "over $transport: $(cat out err)"
    no_process "survive-$$" "over $transport"
done

# Who waits for anyone gets what the dead have sent, and then hears that nobody is left; with several threads, too.
cat >alone.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <viaduct.h>

int main(int argc, char **argv)
{
    vd_channel *channel;
    char byte = 0;
    (void)argv;
    if (vd_init() || (argc > 1 && vd_threads()) || vd_channel_open("c", NULL, &channel))
        return 1;
    if (vd_rank() > 0) {
        vd_connection *to = vd_begin_packing(channel, 0);
        if (!to || vd_pack(to, &byte, 1, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS) || vd_end_packing(to))
            return 2;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        kill(getpid(), SIGKILL);
    }
    for (int i = 1; i < vd_size(); i++) {
        vd_connection *from = vd_begin_unpacking(channel);
        if (!from || vd_unpack(from, &byte, 1, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS) || vd_end_unpacking(from))
            return 3;
    }
    vd_connection *none;
    int code;
    while ((code = vd_begin_unpacking_now(channel, VD_ANYONE, &none)) == VD_AGAIN)
        continue; /* who only looks hears it, too */
    if (code != VD_DEAD)
        return 6;
    for (int i = 0; i < 3; i++)
        if (vd_begin_unpacking(channel) || vd_error() != VD_DEAD)
            return 4;
    if (vd_begin_unpacking_from(channel, 1) || vd_error() != VD_DEAD)
        return 5;
    printf("nobody is left\n");
    return vd_finalize() != VD_DEAD;
}
END
run 60 ${CC:-cc} -O2 -Wall -Wextra -I"$VIADUCT_SOURCE/include" -o alone-$$ alone.c -L"$VIADUCT_BUILD/lib" \
    -Wl,-rpath,"$VIADUCT_BUILD/lib" -lviaduct
expect_status 0 "compiling"
for transport in shm tcp; do
    for threads in "" threads; do
        VIADUCT_TRANSPORTS=$transport run 10 $mpiexec --enable-recovery -n 3 ./alone-$$ $threads
        expect_out "nobody is left" "alone over $transport $threads"
        no_process "alone-$$" "alone over $transport $threads"
    done
done
finish
