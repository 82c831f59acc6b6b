# A process that begins to use liburing leaves shared memory, by whichever of its first calls, and whether liburing came
# with the program or with a plugin alone.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
folder=$VIADUCT_BUILD/tests/sock
sock="$VIADUCT_BIN/viaduct sock --after 2 --"
said=(10 109 214 311)
for call in 0 1 2 3; do
    expect 0 "TCP, ${said[call]}, TCP" '' timeout 20 "$folder/uring" "$folder/libplugin.so" $call
    expect 0 "memory, ${said[call]}, TCP" '' timeout 20 $sock "$folder/uring" "$folder/libplugin.so" $call
    # behind our library, as what a program is linked with
    expect 0 "memory, ${said[call]}, TCP" '' timeout 20 $sock bash -c 'LD_PRELOAD="$LD_PRELOAD:$0" exec "$@"' \
        "$folder/liburing.so.2" "$folder/uring" "$folder/libplugin.so" $call
done
expect 0 -38 '' timeout 20 $sock "$folder/uring" none
finish
