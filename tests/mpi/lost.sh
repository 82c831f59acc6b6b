#!/usr/bin/env bash
# A job that is lost, here by want of memory for messages that nobody receives: every call that waits, tests or looks says
# so, and none goes on for ever.
# takes: 2
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$programs/lost" ] || skip "the program that loses its job was not built"
for transports in shm tcp; do
    VIADUCT_TRANSPORTS=$transports run 20 $mpiexec -n 2 "$programs/lost"
    expect_status 7 "$transports"
    expect_err 'rank 0.*out of memory: no memory for a message of 1 bytes' "$transports"
    [ ! -s "$work/out" ] || fail "$transports: not told by $(cat "$work/out")"
done
finish
