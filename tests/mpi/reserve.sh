#!/usr/bin/env bash
# A rank without memory for more collectives at once than the library keeps room for: the job is lost. Each call says so, none
# waits for ever; with the handler that a program begins with the job ends with that sentence.
# takes: 2
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$programs/reserve" ] || skip "the program without memory was not built"
for ranks in 2 4; do
    run 20 $mpiexec -n $ranks "$programs/reserve" return
    expect_status 7 "$ranks ranks"
    expect_err 'rank 0.*no memory for 17 collectives at once' "$ranks ranks"
    [ ! -s "$work/out" ] || fail "$ranks ranks: not told by $(cat "$work/out")"
    run 20 $mpiexec -n $ranks "$programs/reserve"
    [ $status -ne 0 ] && [ $status -ne 124 ] || fail "$ranks ranks: status $status"
    expect_err 'rank 0.* MPI_Iallreduce.*memory' "$ranks ranks, errors are fatal"
done
finish
