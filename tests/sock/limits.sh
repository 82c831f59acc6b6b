# The limit of descriptors is what the program has set, at every moment, while connections are moved to shared memory.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$VIADUCT_BUILD/tests/sock/limits
expect 0 '0 wrong, TCP' '' timeout 20 "$program"
expect 0 '0 wrong, memory' '' timeout 20 "$VIADUCT_BIN/viaduct" sock --after 2 -- "$program"
finish
