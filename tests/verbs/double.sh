# The double of libibverbs: a script of verbs tells on it what is recorded in events, as on software RoCE (rdma/double.sh); and what tests
# ask of it beside.
# presets: release asan clang
source "$VIADUCT_SOURCE/tests/lib/shell"
built=$VIADUCT_BUILD/tests/verbs
[ -x "$built/events" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$built
run 60 "$built/events" double0 double1 1
expect_status 0 "the script"
diff "$work/out" "$VIADUCT_SOURCE/tests/verbs/events" || fail "the double tells something else"
run 60 "$built/controls"
expect_status 0 "what tests ask for: $(cat "$work/out")"
finish
