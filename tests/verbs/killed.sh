# A rank is killed in the middle of transfers over verbs, on the double of libibverbs: the job ends, and one sentence
# names the rank.
# presets: release
# timeout: 120 takes: 5
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs DOUBLE_MEMORY=$work/memory VIADUCT_TRANSPORTS=verbs VIADUCT_LOG=info
: >"$work/go"
rank_pid() { # RANK
    processes -x rounds | while read -r pid; do grep -qz "^PMI_RANK=$1$" /proc/$pid/environ && echo "$pid"; done
}
ended() { ! kill -0 $job 2>/dev/null; }
for ((time = 0; time < 10; time++)); do
    rm -f "$work/memory"
    "$mpiexec" -n 2 "$programs/rounds" "$work/go" >"$work/out" 2>"$work/err" </dev/null &
    job=$!
    eventually 20 grep -q 'rail 16 to rank 1 is up' "$work/err" || fail "no rail of verbs: $(tail -3 "$work/err")"
    sleep 0.0$time
    rank=$((time % 2)) pid=$(rank_pid $((time % 2)))
    [ -n "$pid" ] && kill -KILL $pid || fail "there is no rank $rank"
    eventually 20 ended || { fail "time $time: the job does not end"; kill -KILL $job; }
    wait $job 2>/dev/null
    [ $? = 137 ] || fail "time $time: another status: $(tail -3 "$work/err")"
    grep -Eq "rank $rank \(pid $pid .*signal 9" "$work/err" || fail "time $time: not told: $(tail -3 "$work/err")"
    none_of -x rounds || fail "time $time: a rank is left"
done
finish
