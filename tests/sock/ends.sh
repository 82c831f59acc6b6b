# A process that ends without closing its connection, with directions that are in shared memory, have gone back, or were never used
# by the other end: that one gets the same bytes, and the same end or reset, as without the library.
# timeout: 120 takes: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
source "$VIADUCT_SOURCE/tests/sock/lib/same"
plain ends 60
same_as_plain "with the library" "$VIADUCT_BIN/viaduct" sock --after 2 --
joined_least 224
unset VIADUCT_LOG VIADUCT_LOG_FILE

# stops NAME PLAIN STOPPED SAID: it says PLAIN alone; and STOPPED, and SAID on its errors, where it stops at a step of the library
stops() {
    expect 0 "$2" "" "$VIADUCT_BUILD/tests/sock/$1"
    VIADUCT_SOCK=after:2 LD_PRELOAD=$VIADUCT_BUILD/tests/sock/libviaduct-sock.so expect 0 "$3" "$4" "$VIADUCT_BUILD/tests/sock/$1"
}
# the bell comes when the process has ended
stops late_bell "Connection reset by peer, then end" "Connection reset by peer, then end" "!"
# the bell comes when some of the bytes have been taken
stops partly told told "!"
# a byte comes while the other end looks
stops peek "nothing stopped, the byte is there" "the look stopped, the byte is there" ""
finish
