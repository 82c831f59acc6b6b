#!/usr/bin/env bash
# VIADUCT_CHECK names messages that are received as other types than they were sent as, whichever way they go; it is silent
# where types match, however they were made, and without the setting.
#
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$programs/mismatch
[ -x "$program" ] || skip "the program with types that do not match was not built"

for transports in shm tcp; do
    export VIADUCT_CHECK=1 VIADUCT_TRANSPORTS=$transports
    run 20 $mpiexec -n 2 "$program" right
    expect_status 0 "matching types, $transports"
    expect_silence "matching types, $transports"
    run 20 $mpiexec -n 2 "$program"
    expect_status 0 "mismatches, $transports"
    for tag in 1 2 3 4 5 6 7 8 9 11 12; do
        expect_err "rank 1.* received a message from rank 0 with tag $tag on MPI_COMM_WORLD as " "tag $tag, $transports"
    done
    expect_err 'rank 0.*MPI_Sendrecv .*from rank 0 with tag 10 ' "to itself, rank 0, $transports"
    expect_err 'rank 1.*MPI_Sendrecv .*from rank 1 with tag 10 ' "to itself, rank 1, $transports"
    expect_err 'tag 1 on MPI_COMM_WORLD as 100000 of MPI_FLOAT; it was sent at .* as 10 of MPI_INT' "both types"
    expect_err 'tag 3 .* as 100000 of a type made of MPI_DOUBLE, ...; .* as 3 of a type made of MPI_INT, ...' "made types"
    expect_err 'MPI_Irecv at .* with tag 6 ' "the call of a request"
    [ "$(grep -c check: "$work/err")" -eq 13 ] || { fail "not 13 lines:"; cat "$work/err"; }
    if command -v addr2line >/dev/null && readelf -S "$program" | grep -q debug_line; then
        expect_err 'MPI_Recv at .*mismatch.c:16 .* tag 1 .* sent at .*mismatch.c:14 ' "both lines"
    fi
done
unset VIADUCT_CHECK VIADUCT_TRANSPORTS
run 20 $mpiexec -n 2 "$program"
expect_silence "without VIADUCT_CHECK"
finish
