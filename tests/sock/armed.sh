# Threads that wait in an epoll set since before the first connection in it moved to shared memory are told of room,
# also where another thread still waited in a set that was closed before this one was made. A thread that is about to look at
# a one-shot connection sees that it has been armed meanwhile.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
source "$VIADUCT_SOURCE/tests/sock/lib/same"
sock="$VIADUCT_BIN/viaduct sock --after 4 --"
plain armed 30
same_as_plain "one thread" $sock
expect 0 $'room\nroom\nroom' '' timeout 30 "$VIADUCT_BUILD/tests/sock/armed" 3
expect 0 $'room\nroom\nroom' '' timeout 30 $sock "$VIADUCT_BUILD/tests/sock/armed" 3
expect 0 room '' timeout 30 $sock "$VIADUCT_BUILD/tests/sock/armed" 1 former
expect 0 5000 '' timeout 30 $sock "$VIADUCT_BUILD/tests/sock/rearmed" 5000
joined_least 8
finish
