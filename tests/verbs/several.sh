# Verbs and TCP reach one peer: the quicker carries, the other one goes on when it is cut, and it comes back; and MPI programs over both.
# presets: release asan
# timeout: 300 takes: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs DOUBLE_MEMORY=$work/memory VIADUCT_TRANSPORTS=verbs,tcp
VIADUCT_LOG=info run 120 "$VIADUCT_BUILD/tests/verbs/several"
expect_status 0 "cut and back: $(head -5 "$work/out" "$work/err")"
expect_err 'double0, port 1, to rank [01]: an error of the double' "a request that failed"
rm -f "$work/memory"
VIADUCT_LOG=info run 60 "$VIADUCT_BUILD/tests/verbs/several" gone
expect_status 0 "a device that is removed: $(head -5 "$work/out" "$work/err")"
rm -f "$work/memory"
run 60 "$VIADUCT_BUILD/tests/verbs/several" locked
expect_status 0 "no memory may be registered: $(head -5 "$work/out" "$work/err")"
for program in cancel collective packed random threads; do
    for ranks in 2 4; do
        rm -f "$work/memory"
        run 60 "$mpiexec" -n $ranks "$VIADUCT_BUILD/tests/test-mpi-$program"
        expect_status 0 "$program on $ranks ranks"
        [ -s "$work/memory" ] || fail "the double was not used"
    done
done
finish
