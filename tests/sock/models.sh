# The models of sockets over shared memory are checked exhaustively, and each broken variant of them must be found out.
# timeout: 240 takes: 30
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

check() { # MODEL OPTION BROKEN...; OPTION may be empty
    local model=$1 option=$2 broken
    [ "$(errors "$model" $option)" = 0 ] || { fail "the model $model $option fails"; cat pan.log; }
    for broken in "${@:3}"; do
        [ "$(errors "$model" $option "-D$broken")" = 1 ] || fail "the model $model $option does not notice -D$broken"
    done
}

check mark "" NO_RECHECK NO_SWEEP PLAIN_HEAD MARK_FIRST NO_MOVE_CHECK
check room "" CLEAR_FIRST NO_LOOK BELL_FOR_ROOM STAYS_POLLED
check room -DMORE CLEAR_LAST TAKE_OVER CLEAR_ALWAYS
check switch "" LATE_COUNT LATE_SWITCH NO_RELOAD EAT_ALL NO_END
finish
