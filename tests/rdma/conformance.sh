# The conformance suite of vi over the verbs provider, on software RoCE, as on the double of libibverbs (verbs/conformance.sh).
# presets: rdma timeout: 900 takes: 120
source "$VIADUCT_SOURCE/tests/lib/shell"
emulated
export VIADUCT_TRANSPORTS=verbs # by name: else ranks of one host take no card
run $((700 * ${PATIENCE:-1})) "$VIADUCT_BUILD/tests/test-vi-conformance" "" verbs
expect_status 0 "the suite: $(head -20 "$work/out" "$work/err")"
finish
