# Collectives among the ranks of real jobs of several sizes, more ranks than processors too, several threads too.
# timeout: 300 takes: 16
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$VIADUCT_BIN/viaduct" ] || skip "the launcher was not built"
for ranks in 2 3 5 8 17; do
    $mpiexec -n $ranks "$VIADUCT_BUILD/tests/test-coll-ranks" || fail "$ranks ranks"
done
for ranks in 2 4; do
    $mpiexec -n $ranks "$VIADUCT_BUILD/tests/test-coll-threads" || fail "threads of $ranks ranks"
done
finish
