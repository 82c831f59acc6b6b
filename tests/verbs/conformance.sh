# The conformance suite of vi over the verbs provider, on the double of libibverbs; rdma/conformance.sh: on software RoCE.
# presets: release asan clang
# timeout: 300 takes: 10
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs DOUBLE_MEMORY=$work/memory
run 280 "$VIADUCT_BUILD/tests/test-vi-conformance" "" verbs
expect_status 0 "the suite: $(head -20 "$work/out" "$work/err")"
[ -s "$work/memory" ] || fail "the double was not used"
finish
