#!/bin/bash
# The model of a large message is checked exhaustively for each way, and each broken variant of it must be found out.
# timeout: 180 takes: 20 beside: 1
set -eu
source=$VIADUCT_SOURCE/tests/msg/transfer.pml
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
check() { # the way, and what may be broken in it
    local way=$1
    shift
    [ "$(errors -D$way)" = 0 ] || { echo "a large message goes wrong ($way)"; cat pan.log; failed=1; }
    for broken in CANCEL_AT_ONCE "$@"; do
        [ "$(errors -D$way -D$broken)" != 0 ] || { echo "the model does not notice -D$broken ($way)"; failed=1; }
    done
}
check PULL NO_DRAIN NO_DONE EARLY_AGAIN
check SHARE TWO_PUTS NO_DRAIN NO_STOP EARLY_SLOT EARLY_COUNT NO_ANSWER
check PUSHSLOT SENT_EARLY NO_DONE NO_PARTIAL
check PUSH NO_FENCE OPEN_FENCE SENT_EARLY
exit $failed
