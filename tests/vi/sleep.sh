# The model of the sleep protocol is checked exhaustively, and each broken variant of it must be found out.
# timeout: 120 takes: 8
source "$VIADUCT_SOURCE/tests/lib/shell"
model=$VIADUCT_SOURCE/tests/vi/sleep.pml
command -v spin >/dev/null || skip "spin is not installed"
cd "$work" || exit 1

# Prints the number of errors that an exhaustive search finds (it stops at the first).
errors() {
    spin -a "$@" "$model" >spin.log || { cat spin.log >&2; exit 1; }
    "${CC:-cc}" -O0 -w -DSAFETY -o pan pan.c || return # more would take longer than the search
    ./pan -m100000 >pan.log
    grep -q 'max search depth too small' pan.log && { echo "the search was cut off" >&2; exit 1; }
    sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log
}

for way in BELL EAR; do # the futex; a socket, for who sleeps on other descriptors, too
    [ "$(errors -D$way)" = 0 ] || { fail "the protocol loses a wake-up ($way)"; cat pan.log; }
    for broken in NO_SETTLE NO_FENCE NO_SWEEP OLD_BELL; do
        [ "$(errors -D$way -D$broken)" = 1 ] || fail "the model does not notice -D$broken ($way)"
    done
done
finish
