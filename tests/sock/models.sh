# The models of sockets over shared memory are checked exhaustively, and each broken variant of them must be found out.
# timeout: 120 takes: 12
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v spin >/dev/null || skip "spin is not installed"
cd "$work" || exit 1

# errors MODEL OPTION...: the number of errors that an exhaustive search finds (it stops at the first)
errors() {
    local model=$VIADUCT_SOURCE/tests/sock/$1.pml
    spin -a "${@:2}" "$model" >spin.log || { cat spin.log >&2; exit 1; }
    "${CC:-cc}" -O0 -w -DSAFETY -o pan pan.c || return # more would take longer than the search
    ./pan -m100000 >pan.log
    grep -q 'max search depth too small' pan.log && { echo "the search was cut off" >&2; exit 1; }
    sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log
}

check() { # MODEL BROKEN...
    local model=$1 broken
    [ "$(errors "$model")" = 0 ] || { fail "the model $model fails"; cat pan.log; }
    for broken in "${@:2}"; do
        [ "$(errors "$model" "-D$broken")" = 1 ] || fail "the model $model does not notice -D$broken"
    done
}

check mark NO_RECHECK NO_SWEEP PLAIN_HEAD MARK_FIRST NO_MOVE_CHECK
check switch LATE_COUNT LATE_SWITCH NO_RELOAD EAT_ALL NO_END
finish
