# At every step of meeting, switch and way back one side is killed, stopped, or finds no memory or descriptor: the other one gets right
# bytes, and what TCP would show at their end. The steps are those of src/sock, in the tests' build of the library.
# timeout: 180 takes: 30 presets: programs
source "$VIADUCT_SOURCE/tests/lib/shell"
steps=$(sed -n 's/.*SOCK_STEP(\([a-z_]*\));.*/\1/p' "$VIADUCT_SOURCE"/src/sock/*.c | sort)
[ "$(uniq -d <<<"$steps")" = "" ] || fail "steps of the same name: $(uniq -d <<<"$steps")"
[ "$(wc -l <<<"$steps")" -gt 20 ] || fail "only $(wc -l <<<"$steps") steps were found"
for action in kill stop descriptors memory; do
    VIADUCT_SOCK=after:4 LD_PRELOAD=$VIADUCT_BUILD/tests/sock/libviaduct-sock.so \
        expect 0 '' '' timeout 100 "$VIADUCT_BUILD/tests/sock/faults" $action $steps
done
finish
