# A connection that joins, or is made, while posix_spawn, system or popen is about to make a child goes by TCP, since the child holds it.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
for how in spawn system popen; do
    for when in "early rest_looked memory," "late rest_told TCP,"; do
        set -- $when
        SOCK_STEP="$2 0 wait" VIADUCT_SOCK=after:2 LD_PRELOAD=$VIADUCT_BUILD/tests/sock/libviaduct-sock.so \
            expect 0 "$3 TCP" '' timeout 20 "$VIADUCT_BUILD/tests/sock/spawned" $how $1
    done
done
finish
