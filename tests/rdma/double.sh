# A script of verbs tells on software RoCE what is recorded in verbs/events, as on the double of libibverbs (verbs/double.sh).
# presets: rdma timeout: 200 takes: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$VIADUCT_BUILD/tests/verbs/events" ] || skip "libibverbs-dev is not installed"
emulated
run 150 "$VIADUCT_BUILD/tests/verbs/events" rxeA rxeB 1
expect_status 0 "the script"
diff "$work/out" "$VIADUCT_SOURCE/tests/verbs/events" || fail "software RoCE tells something else"
finish
