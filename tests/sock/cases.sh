# Half-close, reset, death, time-outs, urgent data, signals, stdio, exec, passing, forking, nested sets: the same answers with and
# without shared memory, at once or after a while, with one processor or all.
# timeout: 180 takes: 40
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$VIADUCT_BUILD/tests/sock/cases
sock="$VIADUCT_BIN/viaduct sock"
timeout 60 "$program" >"$work/plain" || fail "the program itself fails"

same_as_plain() { # NAME COMMAND...
    local name=$1
    shift
    run 60 "$@" "$program"
    expect_status 0 "$name"
    diff "$work/plain" "$work/out" >"$work/diff" || { fail "$name answers otherwise:"; cat "$work/diff"; }
}
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log
same_as_plain "after 2 calls" $sock --after 2 --
same_as_plain "one processor" taskset -c 0 $sock --after 8 --
cases=$(grep -vc 'stays TCP' "$work/plain") joined=$(grep -c 'is joined' "$work/log")
[ "$joined" -ge $((cases * 4)) ] || fail "of $((cases * 4)) ends only $joined were joined"
finish
