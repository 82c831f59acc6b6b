# RDMA ports in words, and that VIADUCT_TRANSPORTS chooses among them by name, on software RoCE (verbs/chosen.sh: more of it, on the double).
# presets: rdma timeout: 300 takes: 30
source "$VIADUCT_SOURCE/tests/lib/shell"
emulated
told() { # PATTERN: viaduct info --net
    "$VIADUCT_BIN/viaduct" info --net >"$work/net" 2>&1 || fail "viaduct info --net: status $?"
    grep -Eq -- "$1" "$work/net" || fail "no \"$1\" in: $(cat "$work/net")"
}
told '^rxeA/1 +RoCE +.* 10\.9\.0\.1 +used as card rA: GID 1, MTU 4096,'
told '^rxeB/1 +RoCE +.* 10\.9\.0\.2 +used as card rB: GID 1,'
told '^registered +any amount'
export VIADUCT_LOG=info
for card in rxeB rB; do
    VIADUCT_TRANSPORTS=verbs:$card run 100 "$mpiexec" -n 2 "$VIADUCT_BUILD/tests/test-mpi-sendrecv"
    expect_status 0 "$card alone"
    expect_err 'rail 16 to rank 1 is up: rB 10.9.0.2' "$card alone"
    ! grep -q 'rail .* 10.9.0.1' "$work/err" || fail "the other one is used, too"
done
# an interface of two addresses is one card, whose port a process opens once
ip addr add fd00::1/64 dev rA nodad
: >"$work/go"
VIADUCT_TRANSPORTS=verbs:rxeA timeout 100 "$mpiexec" -n 2 "$VIADUCT_BUILD/tests/programs/rounds" "$work/go" >"$work/said" 2>"$work/log" &
job=$!
eventually 60 grep -q 'rail 16 to rank 1 is up' "$work/log" || fail "two addresses: $(tail -5 "$work/log")"
are 2 -x rounds || fail "two addresses: no two processes"
for pid in $(processes -x rounds); do
    opened=$(find /proc/"$pid"/fd -lname '/dev/infiniband/uverbs*' | wc -l)
    [ "$opened" -eq 1 ] || fail "two addresses: the port is opened $opened times"
done
rm "$work/go"
wait $job || fail "two addresses: $(tail -5 "$work/log")"
# the queue pairs have the address of their connection: one rank has none but that of IPv6, the other one opens the card by that of IPv4
index=$(grep -l fd00: /sys/class/infiniband/rxeA/ports/1/gids/* | head -1)
VIADUCT_TRANSPORTS=verbs:rxeA run 100 "$mpiexec" -n 1 env VIADUCT_VERBS="gid:${index##*/}" "$VIADUCT_BUILD/tests/test-mpi-sendrecv" : \
    -n 1 "$VIADUCT_BUILD/tests/test-mpi-sendrecv"
expect_status 0 "IPv6 alone, and both"
expect_err 'rail 16 to rank 1 is up: rA fd00::1' "IPv6 alone, and both"
ip addr del fd00::1/64 dev rA
# a job of one host does not even load the library: the double, where it is loaded, leaves what it has counted
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs DOUBLE_COUNTS=$work/counts DOUBLE_GIDS=10.9.0.1,10.9.0.2
run 60 "$mpiexec" -n 2 "$VIADUCT_BUILD/tests/test-mpi-sendrecv"
expect_status 0 "a job of one host"
[ ! -e "$work/counts" ] || fail "libibverbs was loaded for one host"
VIADUCT_TRANSPORTS=verbs DOUBLE_MEMORY=$work/memory run 60 "$mpiexec" -n 2 "$VIADUCT_BUILD/tests/test-mpi-sendrecv"
expect_status 0 "the same over verbs, on the double"
[ -s "$work/counts" ] || fail "the double leaves no counts"
unset LD_LIBRARY_PATH DOUBLE_COUNTS

ip link set rA down
told '^rxeA/1 .*not used: its port is down$'
VIADUCT_TRANSPORTS=verbs:rxeA run 60 "$mpiexec" -n 2 "$VIADUCT_BUILD/tests/test-mpi-sendrecv"
expect_status 1 "a port that is down"
expect_err 'transport verbs is not used: no active port' "a port that is down"
finish
