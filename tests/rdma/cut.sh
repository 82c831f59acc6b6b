# A port of software RoCE goes down and up while checked messages of 1 byte to 1 MiB go round, and every byte of them is looked at. They
# go on over TCP, ten seconds later at most, and RoCE comes back by itself within thirty; CUTS times. And where there is no
# TCP: after five seconds without any rail they go on as well.
# presets: rdma timeout: 600 takes: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
emulated
export VIADUCT_LOG=info
begin() { # TRANSPORTS
    : >"$work/go"
    VIADUCT_TRANSPORTS=$1 timeout 400 "$mpiexec" -n 2 "$VIADUCT_SOURCE/tests/lib/split" "$VIADUCT_BUILD/tests/programs/rounds" \
        "$work/go" >"$work/said" 2>"$work/log" &
    job=$!
}
end() { # WHAT
    rm "$work/go"
    wait $job || fail "$1: the job: $(tail -5 "$work/log")"
    grep -q "all right" "$work/said" || fail "$1: bytes: $(cat "$work/said" "$work/log" | tail -5)"
}
told() { [ "$(grep -cE "rank 0\] info: $1" "$work/log")" -ge "$2" ]; } # PATTERN TIMES
port_up() {
    ip link set rA up
    printf '%s\n' "neigh replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev rA nud permanent" \
        "route replace 10.9.0.2/32 dev rA src 10.9.0.1 table 101" | ip -batch -
}
since() { echo $(((${EPOCHREALTIME/./} - $1) / 1000)) ms; }

begin verbs:rxeA,tcp:lo
eventually 60 told 'rail 16 to rank 1 is up' 1 || fail "no rail of RoCE: $(tail -5 "$work/log")"
for ((cut = 1; cut <= ${CUTS:-5}; cut++)); do
    down=${EPOCHREALTIME/./}
    ip link set rA down
    eventually 10 told 'rail 16 to rank 1 is down' $cut && eventually 10 told 'rail 0 to rank 1 is up' $cut ||
        fail "cut $cut: TCP does not carry: $(tail -5 "$work/log")"
    after=$(since "$down") up=${EPOCHREALTIME/./}
    kill -0 $job || fail "cut $cut: the job has ended"
    port_up
    eventually 30 told 'rail 16 to rank 1 is up' $((cut + 1)) || fail "cut $cut: RoCE is not back: $(tail -5 "$work/log")"
    echo "cut $cut: TCP after $after, RoCE again after $(since "$up")"
done
end "verbs and TCP"

begin verbs:rxeA
eventually 60 told 'rail 16 to rank 1 is up' 1 || fail "no rail of RoCE alone: $(tail -5 "$work/log")"
ip link set rA down
eventually 10 told 'rail 16 to rank 1 is down' 1 || fail "the only rail is not lost: $(tail -5 "$work/log")"
sleep 5
kill -0 $job || fail "the job has ended for want of a rail: $(tail -5 "$work/log")"
port_up
eventually 30 told 'rail 16 to rank 1 is up' 2 || fail "the only rail is not back: $(tail -5 "$work/log")"
end "verbs alone"
finish
