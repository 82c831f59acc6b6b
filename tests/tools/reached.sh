#!/usr/bin/env bash
# What others reach and read: over TCP on one host no card listens; what a program calls its communicators commands no terminal.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
# over TCP on one host nothing listens on a card
cat >$work/listens.c <<'C'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    MPI_Comm named;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "\033[31mred\007");
    write(1, "there\n", 6);
    if (argc > 1)
        MPI_Abort(named, 3);
    pause();
}
C
"$VIADUCT_BIN/mpicc" -w $work/listens.c -o $work/listens || fail "mpicc"
if command -v ss >/dev/null; then
    VIADUCT_TRANSPORTS=tcp $mpiexec -n 2 $work/listens >$work/said & job=$!
    eventually 20 grep -q there $work/said || fail "not started"
    ss -Hltnp >$work/open
    family >$work/ours
    echo $job >>$work/ours
    grep -F "$(sed 's/^ */pid=/; s/$/,/' $work/ours)" $work/open | awk '$4 !~ /^(127\.|\[::1\])/' >$work/wide
    [ ! -s $work/wide ] || fail "listens to others: $(cat $work/wide)"
    grep -qF "$(sed 's/^ */pid=/; s/$/,/' $work/ours)" $work/open || fail "nothing listens: $(cat $work/open)"
    kill -TERM $job
    wait $job
fi

$mpiexec -n 1 $work/listens abort >$work/out 2>$work/err
grep -q "rank 0 of .*\[31mred" $work/err && ! grep -q $'[\e\a]' $work/err || fail "said $(cat -v $work/err)"

finish
