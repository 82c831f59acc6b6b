# Calls that the kernel refuses, and what it tells of handlers: the same answers with the library.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
source "$VIADUCT_SOURCE/tests/sock/lib/same"
plain answers 10
same_as_plain "with the library" "$VIADUCT_BIN/viaduct" sock --after 0 --
finish
