# A process ends in many ways while the other end of its connection looks, reads, writes, or is in such a call: that one is told what
# TCP tells, each error once, also where the kernel resets the connection because a bell lay unread.
# timeout: 180 takes: 20 presets: programs
source "$VIADUCT_SOURCE/tests/lib/shell"
source "$VIADUCT_SOURCE/tests/sock/lib/same"
plain departs 100
same_as_plain "with the library" "$VIADUCT_BIN/viaduct" sock --after 2 --
joined_least 680
finish
