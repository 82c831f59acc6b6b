# A connection that was accepted on a listener from before exec moves to shared memory, as systemd, inetd and servers that
# begin a new version of themselves hand listeners on; one whose listener had then what memory cannot keep goes by TCP.
# So does a socket that left one connection for another: on some kernels the counts of its bytes go on.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$VIADUCT_BUILD/tests/sock/joins
sock="$VIADUCT_BIN/viaduct sock --after 4 --"
expect 0 'TCP TCP TCP TCP' '' timeout 20 "$program" exec
expect 0 'memory memory memory memory' '' timeout 20 $sock "$program" exec
expect 0 'TCP TCP TCP TCP' '' timeout 20 $sock "$program" exec filter
expect 0 TCP '' timeout 20 $sock "$program" anew
finish
