# A receiver that is stopped for STOP seconds (make soak: 60) loses no rail of software RoCE, for its card answers; every
# byte comes.
# presets: rdma timeout: 300 takes: 30
source "$VIADUCT_SOURCE/tests/lib/shell"
emulated
export VIADUCT_TRANSPORTS=verbs:rxeA,tcp:lo VIADUCT_LOG=info
told() { grep -qE "rank 0\] info: $1" "$work/log"; } # PATTERN
: >"$work/go"
timeout 250 "$mpiexec" -n 2 "$VIADUCT_BUILD/tests/programs/rounds" "$work/go" >"$work/said" 2>"$work/log" &
job=$!
eventually 60 told 'rail 16 to rank 1 is up' || fail "no rail of RoCE: $(tail -5 "$work/log")"
pid=$(processes -x rounds | while read -r pid; do grep -qz '^PMI_RANK=1$' /proc/$pid/environ && echo "$pid"; done)
[ -n "$pid" ] || fail "there is no rank 1"
kill -STOP $pid
sleep "${STOP:-10}"
kill -CONT $pid
sleep 3
rm "$work/go"
wait $job || fail "the job: $(tail -5 "$work/log")"
grep -q "all right" "$work/said" || fail "bytes: $(cat "$work/said" "$work/log" | tail -5)"
! grep -q 'is down' "$work/log" || fail "it loses a rail: $(grep 'is down' "$work/log")"
finish
