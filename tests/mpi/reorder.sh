#!/usr/bin/env bash
# MPI_Cart_create with `reorder` gives each of four pretended nodes a block of the grid, however their ranks are numbered;
# without leave to, and on one node, ranks stay.
# timeout: 120 takes: 5
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$programs/reorder" ] || skip "no reorder program was built"
cat >"$work/split" <<'SPLIT'
#!/bin/sh
[ "$2" = blocks ] && VIADUCT_NODE=node$((PMI_RANK / 4)) || VIADUCT_NODE=node$((PMI_RANK % 4))
export VIADUCT_NODE
unset VIADUCT_JOB_SEAT
exec "$@"
SPLIT
chmod +x "$work/split"

told() { # EXPECTED COMMAND...
    local expected=$1
    shift
    run 60 "$@"
    expect_status 0 "$*"
    [ "$(cat "$work/out")" = "$expected" ] || fail "$*: $(cat "$work/out"), not $expected"
}
told "square 8 round 8" $mpiexec -n 16 "$work/split" "$programs/reorder" blocks
told "square 8 round 8" $mpiexec -n 16 "$work/split" "$programs/reorder" turns
export VIADUCT_REORDER=no
told "square 12 round 12 stayed" $mpiexec -n 16 "$work/split" "$programs/reorder" blocks
unset VIADUCT_REORDER
told "square 12 round 12 stayed" $mpiexec -n 16 "$programs/reorder" blocks
finish
