#!/usr/bin/env bash
# What a packed message of 4 bytes executes over shared memory beside MPI_Send and MPI_Recv, from a rank and from anyone, when the
# message and the credit are there: instructions of both ends (callgrind), for one thread and where several may call, beside those of
# tests/counts/recorded. The ranks take turns by a byte in a fifo, so nobody polls for nothing.
# timeout: 120
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/lib/libmpi_abi.so" ] || skip "MPI was not built"
command -v valgrind >/dev/null || skip "valgrind is not installed"
cd "$work" || exit 1
cat >packed.c <<'END_OF_C'
#include "turns.h"
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
#include <viaduct.h>

#define BATCH 16
#define COUNTED __attribute__((noinline)) static void

static int rank, value;
static vd_channel *channel;

COUNTED mpi_to(void) { MPI_Send(&value, 4, MPI_BYTE, !rank, 0, MPI_COMM_WORLD); }
COUNTED mpi_from(void) { MPI_Recv(&value, 4, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void to(void)
{
    vd_connection *out = vd_begin_packing(channel, !rank);
    vd_pack(out, &value, sizeof value, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS);
    vd_end_packing(out);
}
static void take(vd_connection *in)
{
    vd_unpack(in, &value, sizeof value, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS);
    vd_end_unpacking(in);
}
COUNTED named_to(void) { to(); }
COUNTED named_from(void) { take(vd_begin_unpacking_from(channel, !rank)); }
COUNTED anyone_to(void) { to(); __asm__ volatile(""); /* no other name of the same */ }
COUNTED anyone_from(void) { take(vd_begin_unpacking(channel)); }

static void exchange(void (*send)(void), void (*receive)(void), int batches)
{
    for (int i = 0; i < batches; i++) {
        if (rank == 1)
            await_turn();
        for (int k = 0; k < BATCH && rank == 0; k++)
            send();
        if (rank == 0) {
            turn_is_yours();
            await_turn();
        }
        for (int k = 0; k < BATCH && rank == 1; k++)
            receive();
        for (int k = 0; k < BATCH && rank == 1; k++)
            send();
        if (rank == 1)
            turn_is_yours();
        for (int k = 0; k < BATCH && rank == 0; k++)
            receive();
    }
}

int main(int argc, char **argv)
{
    int batches = argc > 1 ? atoi(argv[1]) : 0, code, level;
    MPI_Init_thread(&argc, &argv, getenv("THREADS") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = open(rank ? "1" : "0", O_RDWR);
    theirs = open(rank ? "0" : "1", O_RDWR);
    code = vd_init() || vd_channel_open("counts", NULL, &channel);
    exchange(mpi_to, mpi_from, batches);
    exchange(named_to, named_from, batches);
    exchange(anyone_to, anyone_from, batches);
    code = vd_finalize() || code;
    MPI_Finalize();
    return code;
}
END_OF_C
run 60 "$VIADUCT_BIN/mpicc" -I"$VIADUCT_SOURCE/tests/programs" -O2 -Wall -Wextra -o packed packed.c -lviaduct
expect_status 0 "compiling"
mkfifo 0 1

count() { # BATCHES: files of what each function executes, with all that it calls
    rm -f count.*
    VIADUCT_TRANSPORTS=shm run 30 $mpiexec -n 2 valgrind --tool=callgrind --callgrind-out-file=count.%p ./packed "$1"
    expect_status 0 "under callgrind"
    for file in count.*; do callgrind_annotate --inclusive=yes --threshold=100 --show-percs=no "$file"; done >"all.$1"
}
instructions() { # KIND: of a message, both ends; the difference of twice as many
    for n in $few $((2 * few)); do
        grep -E ":$1_(to|from) " "all.$n" | awk '{gsub(",", "", $1); sum += $1} END {print sum + 0}'
    done | awk -v each=$((few * 2 * 16)) 'NR == 1 {a = $1} END {printf "%d", ($1 - a) / each}'
}
few=100
for mode in single threads; do
    [ $mode = single ] || export THREADS=1
    count $few
    count $((2 * few))
    mpi=$(instructions mpi)
    [ "$mpi" -gt 200 ] || fail "nothing was counted: $mpi instructions of MPI_Send and MPI_Recv"
    for kind in named anyone; do
        each=$(instructions $kind)
        [ "$each" -gt 200 ] || fail "nothing was counted"
        counted packed-$kind-instructions-$mode $each
        counted packed-$kind-percent-of-mpi-$mode $((each * 100 / (mpi > 0 ? mpi : 1)))
    done
done
finish
