# Calls that the kernel refuses, and what it tells of handlers: the same answers with the library.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
source "$VIADUCT_SOURCE/tests/sock/lib/same"
plain answers 10
same_as_plain "with the library" "$VIADUCT_BIN/viaduct" sock --after 0 --

# A handler that another thread sets while one that runs once is about to run.
once=$VIADUCT_BUILD/tests/sock/once
expect 0 'ran, the later one stays' '' "$once"
LD_PRELOAD=$VIADUCT_BUILD/tests/sock/libviaduct-sock.so expect 0 'stopped, the later one stays' '' "$once"
finish
