# A port of software RoCE goes down and up while checked messages of 1 byte to 1 MiB go round: they go on over TCP, every byte of them is
# looked at, and RoCE comes back by itself. CUTS times.
# presets: rdma timeout: 600 takes: 40
source "$VIADUCT_SOURCE/tests/lib/shell"
emulated
export VIADUCT_TRANSPORTS=verbs:rxeA,tcp:lo VIADUCT_LOG=info
: >"$work/go"
timeout 400 "$mpiexec" -n 2 "$VIADUCT_SOURCE/tests/lib/split" "$VIADUCT_BUILD/tests/programs/rounds" "$work/go" >"$work/said" 2>"$work/log" &
job=$!
told() { [ "$(grep -cE "rank 0\] info: $1" "$work/log")" -ge "$2" ]; } # PATTERN TIMES
for ((cut = 1; cut <= ${CUTS:-3}; cut++)); do
    eventually 60 told 'rail 16 to rank 1 is up' $cut || fail "cut $cut: no rail of RoCE: $(tail -5 "$work/log")"
    ip link set rA down
    eventually 60 told 'rail 16 to rank 1 is down' $cut && eventually 60 told 'rail 0 to rank 1 is up' $cut ||
        fail "cut $cut: TCP does not carry: $(tail -5 "$work/log")"
    kill -0 $job || fail "cut $cut: the job has ended"
    ip link set rA up
    printf '%s\n' "neigh replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev rA nud permanent" \
        "route replace 10.9.0.2/32 dev rA src 10.9.0.1 table 101" | ip -batch -
done
eventually 60 told 'rail 16 to rank 1 is up' $cut || fail "RoCE is not back: $(tail -5 "$work/log")"
rm "$work/go"
wait $job || fail "the job: $(tail -5 "$work/log")"
grep -q "all right" "$work/said" || fail "bytes: $(cat "$work/said" "$work/log" | tail -5)"
finish
