# A process ends in many ways while the other end of its connection looks, reads, writes, or is in such a call: that one is told what
# TCP tells, each error once, also where the kernel resets the connection because a bell lay unread.
# timeout: 180 takes: 20
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$VIADUCT_BUILD/tests/sock/departs
timeout 100 "$program" >"$work/plain" || fail "the program itself fails"
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log
run 100 "$VIADUCT_BIN/viaduct" sock --after 2 -- "$program"
expect_status 0 "with the library"
diff "$work/plain" "$work/out" >"$work/diff" || { fail "it answers otherwise:"; cat "$work/diff"; }
joined=$(grep -c 'is joined' "$work/log")
[ "$joined" -ge 680 ] || fail "only $joined ends were joined"
finish
