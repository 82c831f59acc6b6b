# The tests of msg and pack that know nothing of transports, over verbs and TCP together, on the double of libibverbs. rdma/suites.sh: on
# software RoCE.
# presets: release
# timeout: 300 takes: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs DOUBLE_MEMORY=$work/memory VIADUCT_TRANSPORTS=verbs,tcp
for test in msg-abandoned msg-beside msg-order msg-parted msg-sizes msg-starve msg-threads msg-ways pack-event pack-messages pack-over; do
    rm -f "$work/memory"
    run 100 "$VIADUCT_BUILD/tests/test-$test"
    expect_status 0 "$test: $(head -3 "$work/out" "$work/err")"
    [ -s "$work/memory" ] || fail "$test: the double was not used"
done
finish
