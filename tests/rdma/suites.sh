# The tests of msg and pack that know nothing of transports, over verbs and TCP together, on software RoCE (verbs/suites.sh: on the double).
# presets: rdma timeout: 900 takes: 120
source "$VIADUCT_SOURCE/tests/lib/shell"
emulated
export VIADUCT_TRANSPORTS=verbs,tcp
for test in msg-order msg-parted msg-sizes msg-threads pack-event pack-messages pack-over; do
    run $((200 * ${PATIENCE:-1})) "$VIADUCT_BUILD/tests/test-$test"
    expect_status 0 "$test: $(head -3 "$work/out" "$work/err")"
    echo "$test: $SECONDS s"
done
finish
