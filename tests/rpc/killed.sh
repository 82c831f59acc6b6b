#!/usr/bin/env bash
# A server or a client is killed while calls and messages of all lengths run, over shared memory and the network, with ranks that
# end when they are asked and with ranks that do not: the job ends, the launcher names who was killed, nothing is left.
# timeout: 120 takes: 5
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$VIADUCT_BIN/viaduct" ] || skip "the launcher was not built"
cd "$work" || exit 1
cat >busy.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <viaduct.h>

static void twice(vd_call *call, void *context)
{
    int length;
    static char data[200000];
    (void)context;
    if (vd_unpack(vd_rpc_arguments(call), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS) ||
        vd_unpack(vd_rpc_arguments(call), data, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS))
        return;
    vd_pack(vd_rpc_reply(call), data, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER);
}

/* One call of each other rank and a message around the ring, of any length. */
static int round_of_all(vd_channel *channel, char *data, char *back, int length)
{
    vd_connection *reply, *to = vd_begin_packing(channel, (vd_rank() + 1) % vd_size());
    int code = to ? vd_pack(to, data, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER) : vd_error();
    code = code ? code : vd_end_packing_start(to);
    for (int rank = 0; rank < vd_size() && !code; rank++) {
        vd_call *call = vd_rpc_begin(rank, "twice", 0);
        if (!call)
            return vd_error();
        vd_pack(vd_rpc_arguments(call), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS);
        vd_pack(vd_rpc_arguments(call), data, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS);
        code = vd_rpc_send(call);
        code = code ? code : vd_rpc_wait(call, &reply);
        code = code ? code : vd_unpack(reply, back, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER);
        code = code ? code : vd_rpc_end(call);
        if (!code && memcmp(data, back, (size_t)length))
            exit(9);
    }
    vd_connection *from = code ? NULL : vd_begin_unpacking(channel);
    if (!from)
        return code ? code : vd_error();
    code = vd_unpack(from, back, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER);
    int ended = vd_end_unpacking(from);
    code = code ? code : ended;
    return code ? code : vd_wait(to);
}

int main(int argc, char **argv)
{
    static char data[200000], back[200000];
    vd_channel *channel;
    int code = vd_init() || vd_rpc_start(0) || vd_rpc_register("twice", twice, NULL, VD_AT_ONCE) || vd_channel_open("ring", NULL, &channel);
    if (argc > 1)
        signal(SIGTERM, SIG_IGN);
    memset(data, argv[0][0], sizeof data);
    for (int i = 0; !code; i++) {
        code = round_of_all(channel, data, back, 1 << i % 18);
        if (i == 20) {
            printf("rank %d is %d\n", vd_rank(), (int)getpid());
            fflush(stdout);
        }
    }
    printf("rank %d ends: %s\n", vd_rank(), vd_error_text(code));
    return code == VD_DEAD ? 0 : 8;
}
END
run 60 ${CC:-cc} -O2 -Wall -Wextra -I"$VIADUCT_SOURCE/include" -o busy-$$ busy.c -L"$VIADUCT_BUILD/lib" \
    -Wl,-rpath,"$VIADUCT_BUILD/lib" -lviaduct
expect_status 0 "compiling"
expect_silence "compiling"
for victim in 0 2; do
    for how in "shm" "shm stays" "tcp" "tcp stays"; do
        : >out # the job comes to it later
        VIADUCT_TRANSPORTS=${how% *} timeout -k 2 20 $mpiexec -n 3 ./busy-$$ $(echo "$how" | cut -d" " -f2 -s) >out 2>err &
        job=$!
        all_there() { [ "$(grep -c ' is ' out)" = 3 ]; }
        eventually 10 all_there || fail "$how: the ranks do not come to their twentieth round"
        sleep 0.0$((RANDOM % 10))
        kill -9 "$(awk -v rank=$victim '$2 == rank && $3 == "is" {print $4}' out)"
        wait $job
        status=$?
        expect_status 137 "$how, rank $victim killed"
        expect_err "rank $victim .*was killed by signal 9" "$how, rank $victim killed"
        no_process "busy-$$" "$how, rank $victim killed"
    done
done
ls /dev/shm | grep -i viaduct >left && fail "in /dev/shm: $(cat left)"
finish
