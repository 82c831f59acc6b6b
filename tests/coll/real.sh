# Collectives among the ranks of real jobs of several sizes, more ranks than processors too, several threads too; then
# each way that there is for groups on one node, also where memory cannot be read directly, and on several; and a
# death in a hall.
# timeout: 300 takes: 50 presets: mpi
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$VIADUCT_BIN/viaduct" ] || skip "the launcher was not built"
for ranks in 2 3 5 8 17; do
    $mpiexec -n $ranks "$VIADUCT_BUILD/tests/test-coll-ranks" || fail "$ranks ranks"
done
for way in desk direct message; do
    for ranks in 2 3 7; do
        VIADUCT_COLL=$way $mpiexec -n $ranks "$VIADUCT_BUILD/tests/test-coll-ranks" || fail "$ranks ranks by $way"
    done
done
VIADUCT_COLL=direct VIADUCT_SINGLE_COPY=no $mpiexec -n 3 "$VIADUCT_BUILD/tests/test-coll-ranks" ||
    fail "directly, where memory cannot be read"
cat >"$work/pairs" <<'PAIRS'
#!/bin/sh
export VIADUCT_NODE=node$((PMI_RANK / 2))
unset VIADUCT_JOB_SEAT
exec "$@"
PAIRS
chmod +x "$work/pairs"
for way in "" slices message; do
    VIADUCT_COLL=$way $mpiexec -n 4 "$work/pairs" "$VIADUCT_BUILD/tests/test-coll-ranks" ||
        fail "4 ranks on nodes of two by ${way:-the table}"
done
for way in "" slices masters; do
    for ranks in 5 6; do
        VIADUCT_COLL=$way $mpiexec -n $ranks "$work/pairs" "$VIADUCT_BUILD/tests/test-mpi-collective_random" ||
            fail "a random program of $ranks ranks on nodes of two by ${way:-the table}"
    done
done
$mpiexec -n 5 "$work/pairs" "$VIADUCT_BUILD/tests/test-coll-ranks" || fail "5 ranks on nodes of two"
told=$($mpiexec --enable-recovery -n 3 "$VIADUCT_BUILD/tests/test-coll-ranks" death | grep -c "was told")
[ "$told" = 2 ] || fail "$told of 2 ranks were told of a death in a hall"
for ranks in 2 4; do
    $mpiexec -n $ranks "$VIADUCT_BUILD/tests/test-coll-threads" || fail "threads of $ranks ranks"
done
finish
