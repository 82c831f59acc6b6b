# A connection that is passed on in a message moves to shared memory in the process that gets it, if that is of the same
# family and nobody else holds it.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$VIADUCT_BUILD/tests/sock/passed
sock="$VIADUCT_BIN/viaduct sock --after 2 --"
expect 0 TCP '' timeout 20 "$program" family
expect 0 memory '' timeout 20 $sock "$program" family
expect 0 memory '' timeout 20 $sock "$program" several
expect 0 'TCP, memory' '' timeout 20 $sock "$program" held
expect 0 memory '' timeout 20 $sock "$program" refused
expect 0 TCP '' timeout 20 $sock "$program" looked
expect 0 memory '' timeout 20 $sock "$program" lost
expect 0 TCP '' timeout 20 $sock "$program" stranger
finish
