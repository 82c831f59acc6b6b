# A process that ends without closing its connection, with directions that are in shared memory, have gone back, or were never used
# by the other end: that one gets the same bytes, and the same end or reset, as without the library.
# timeout: 120 takes: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
source "$VIADUCT_SOURCE/tests/sock/lib/same"
plain ends 60
same_as_plain "with the library" "$VIADUCT_BIN/viaduct" sock --after 2 --
joined_least 224
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
