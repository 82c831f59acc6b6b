#!/bin/bash
# The model of the sleep protocol is checked exhaustively, and each broken variant of it must be found out.
# timeout: 120 takes: 8 beside: 1
set -eu
source=$VIADUCT_SOURCE/tests/vi/sleep.pml
command -v spin >/dev/null || { echo "spin is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Prints the number of errors that an exhaustive search finds (it stops at the first).
errors() {
    spin -a "$@" "$source" >spin.log || { cat spin.log >&2; exit 1; }
    "${CC:-cc}" -O0 -w -DSAFETY -o pan pan.c # more would take longer than the search
    ./pan -m100000 >pan.log
    grep -q 'max search depth too small' pan.log && { echo "the search was cut off" >&2; exit 1; }
    sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log
}

failed=0
for way in BELL EAR; do # the futex; a socket, for who sleeps on other descriptors, too
    [ "$(errors -D$way)" = 0 ] || { echo "the protocol loses a wake-up ($way)"; cat pan.log; failed=1; }
    for broken in NO_SETTLE NO_FENCE NO_SWEEP OLD_BELL; do
        [ "$(errors -D$way -D$broken)" != 0 ] || { echo "the model does not notice -D$broken ($way)"; failed=1; }
    done
done
exit $failed
