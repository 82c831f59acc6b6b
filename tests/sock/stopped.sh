# A process that is stopped inside the lock of a connection holds up no call of another one that does not wait; one that is killed there
# leaves no lock behind.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
VIADUCT_SOCK=after:4 LD_PRELOAD=$VIADUCT_BUILD/tests/sock/libviaduct-sock.so expect 0 '' '' timeout 30 "$VIADUCT_BUILD/tests/sock/stopped"
finish
