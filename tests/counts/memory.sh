# What a hit in the cache of registrations executes: instructions, counted one by one. At most 150 for the lookup.
# presets: release
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$VIADUCT_BUILD/tests/verbs/memory" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs
run 50 "$VIADUCT_BUILD/tests/verbs/memory" --hit
[ "$status" != 77 ] || skip "the kernel gives no userfaultfd here"
expect_status 0 "$(cat "$work/out" "$work/err")"
hit=$(sed -n 's/^a hit \([0-9]*\)$/\1/p' "$work/out")
[ "${hit:-999}" -le 150 ] || fail "$(cat "$work/out")"
finish
