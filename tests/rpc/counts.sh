#!/usr/bin/env bash
# What a call that does nothing executes over shared memory, from vd_rpc_begin to vd_rpc_end at the caller and from vd_rpc_serve to it at
# the server, where nobody ever polls for nothing: the two take turns by a byte in a fifo, which is counted, too. Instructions
# (callgrind, the difference of N and 2N calls, without the start and the end of the job, where ranks wait), for one thread and where
# several may call, beside those of tests/counts/recorded.
# timeout: 120
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$VIADUCT_BIN/viaduct" ] || skip "the launcher was not built"
command -v valgrind >/dev/null || skip "valgrind is not installed"
cd "$work" || exit 1
cat >calls.c <<'END_OF_C'
#include "turns.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <viaduct.h>

static int served;

static void nothing(vd_call *call, void *context) { (void)call, (void)context, served++; }
static int enough(void *calls) { return served >= *(int *)calls; }

__attribute__((noinline)) int exchanges(int calls)
{
    int code = 0, wanted = 0;
    for (int i = 0; i < calls && !code; i++) {
        if (vd_rank() == 0) {
            await_turn();
            wanted++;
            code = vd_rpc_serve(enough, &wanted);
            turn_is_yours();
            continue;
        }
        vd_call *call = vd_rpc_begin(0, "nothing", 0);
        code = vd_rpc_send(call);
        turn_is_yours();
        await_turn();
        code = code || vd_rpc_wait(call, NULL) || vd_rpc_end(call);
    }
    return code;
}

int main(int argc, char **argv)
{
    int code = vd_init() || (getenv("THREADS") && vd_threads()) || vd_rpc_start(0) || vd_rpc_register("nothing", nothing, NULL, VD_AT_ONCE);
    mine = open(vd_rank() ? "1" : "0", O_RDWR);
    theirs = open(vd_rank() ? "0" : "1", O_RDWR);
    code = code || exchanges(argc > 1 ? atoi(argv[1]) : 0);
    return code || vd_finalize();
}
END_OF_C
run 60 ${CC:-cc} -O2 -Wall -Wextra -I"$VIADUCT_SOURCE/include" -I"$VIADUCT_SOURCE/tests/programs" -o calls calls.c -L"$VIADUCT_BUILD/lib" \
    -Wl,-rpath,"$VIADUCT_BUILD/lib" -lviaduct
expect_status 0 "compiling"
mkfifo 0 1

instructions() { # CALLS: of both ranks
    rm -f count.*
    VIADUCT_TRANSPORTS=shm run 30 $mpiexec -n 2 valgrind --tool=callgrind --toggle-collect=exchanges --callgrind-out-file=count.%p \
        ./calls "$1"
    expect_status 0 "under callgrind"
    cat count.* | awk '/^totals:/ {sum += $2} END {printf "%d", sum}'
}
few=500
for mode in single threads; do
    [ $mode = single ] || export THREADS=1
    a=$(instructions $few) b=$(instructions $((2 * few)))
    each=$(((b - a) / few))
    [ "$each" -gt 500 ] || fail "nothing was counted"
    counted call-instructions-$mode $each
done
finish
