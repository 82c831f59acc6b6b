# The cache of registrations: tests/verbs/memory.c, with 100,000 rounds of unmapping, mapping at the same address and using in two threads.
# presets: release asan clang
# timeout: 300 takes: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$VIADUCT_BUILD/tests/verbs/memory" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs
run 280 "$VIADUCT_BUILD/tests/verbs/memory" 100000
[ "$status" != 77 ] || skip "the kernel gives no userfaultfd here"
expect_status 0 "$(head -5 "$work/out" "$work/err")"
finish
