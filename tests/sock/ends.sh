# A process that ends without closing its connection, with directions that are in shared memory, have gone back, or were never used
# by the other end: that one gets the same bytes, and the same end or reset, as without the library.
# timeout: 120 takes: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$VIADUCT_BUILD/tests/sock/ends
timeout 60 "$program" >"$work/plain" || fail "the program itself fails"
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log
run 60 "$VIADUCT_BIN/viaduct" sock --after 2 -- "$program"
expect_status 0 "with the library"
diff "$work/plain" "$work/out" >"$work/diff" || { fail "it answers otherwise:"; cat "$work/diff"; }
joined=$(grep -c 'is joined' "$work/log")
[ "$joined" -ge 224 ] || fail "only $joined ends were joined"
unset VIADUCT_LOG VIADUCT_LOG_FILE

# the bell comes when the process has ended
program=$VIADUCT_BUILD/tests/sock/late_bell
expect 0 "Connection reset by peer, then end" "" "$program"
VIADUCT_SOCK=after:2 LD_PRELOAD=$VIADUCT_BUILD/tests/sock/libviaduct-sock.so \
    expect 0 "Connection reset by peer, then end" "!" "$program"
# a byte comes while the other end looks
program=$VIADUCT_BUILD/tests/sock/peek
expect 0 "the byte is there" "" "$program"
VIADUCT_SOCK=after:2 LD_PRELOAD=$VIADUCT_BUILD/tests/sock/libviaduct-sock.so expect 0 "the byte is there" "" "$program"
finish
