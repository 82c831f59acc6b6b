# Options that shared memory cannot keep, by their old and new numbers, set before the first byte and later.
# timeout: 30
source "$VIADUCT_SOURCE/tests/lib/shell"
expect 0 '' '' timeout 20 "$VIADUCT_BIN/viaduct" sock --after 4 -- "$VIADUCT_BUILD/tests/sock/options"
finish
