# Sends from where they lie: tests/verbs/staying.c.
# presets: release asan clang
# timeout: 60 takes: 1
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$VIADUCT_BUILD/tests/verbs/staying" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs
run 50 "$VIADUCT_BUILD/tests/verbs/staying"
expect_status 0 "$(head -5 "$work/out" "$work/err")"
finish
