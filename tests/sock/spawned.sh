# A connection that joins while posix_spawn, system or popen is about to make a child goes back to TCP, since the child holds it.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
for how in spawn system popen; do
    SOCK_STEP="rest_looked 0 wait" VIADUCT_SOCK=after:2 LD_PRELOAD=$VIADUCT_BUILD/tests/sock/libviaduct-sock.so \
        expect 0 'memory, TCP' '' timeout 20 "$VIADUCT_BUILD/tests/sock/spawned" $how
done
finish
