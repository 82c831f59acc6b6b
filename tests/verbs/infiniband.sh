# Ports of InfiniBand, on the double of libibverbs: one belongs to the card of IPoIB in whose hardware address its GID stands; within a
# subnet a queue pair is connected by LIDs; between two TCP remains.
# presets: release
# timeout: 120 takes: 5
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs VIADUCT_TRANSPORTS=verbs DOUBLE_SUBNET=1
told() { # PATTERN: viaduct info --net
    "$VIADUCT_BIN/viaduct" info --net >"$work/net" 2>&1 || fail "viaduct info --net: status $?"
    grep -Eq -- "$1" "$work/net" || fail "no \"$1\" in: $(cat "$work/net")"
}
sum() { awk -v name="$1" '{ for (i = 1; i < NF; i += 2) if ($i == name) sum += $(i + 1) } END { print sum + 0 }' "$work/counts"; } # COUNT
job() { # STATUS SUBNET OF-THE-OTHER-RANK: to whom 100 messages are sent and come back
    rm -f "$work/memory" "$work/counts"
    DOUBLE_COUNTS=$work/counts DOUBLE_MEMORY=$work/memory run 60 "$mpiexec" -n 1 env DOUBLE_SUBNET="$2" "$program" : \
        -n 1 env DOUBLE_SUBNET="$3" "$program"
    expect_status "$1" "a job in subnets $2 and $3"
}
program=$VIADUCT_BUILD/tests/test-mpi-sendrecv

told '^double0/1 +InfiniBand .*not used: no network card is of this port; one of IPoIB'
VIADUCT_LOG=info run 60 "$mpiexec" -n 2 "$program"
expect_status 1 "a port without a card"
expect_err 'transport verbs is not used: no active port of an RDMA device belongs to a network card' "a port without a card"

export LD_PRELOAD=$VIADUCT_BUILD/tests/verbs/ipoib.so
told '^double0/1 +InfiniBand +100 Gb/s +127\.0\.0\.1 +used as card lo: GID 0, LID 7, MTU 4096,'
told '^double1/1 +InfiniBand .*not used: no network card is of this port'
DOUBLE_DOWN=double0 told '^double0/1 +InfiniBand .*not used: its port is not active; a subnet manager makes it so'
VIADUCT_VERBS=gid:1 told '^double0/1 +InfiniBand .*not used: no network card is of this port'
job 0 1 1
[ "$(sum connected)" -ge 2 ] && [ "$(sum global)" = 0 ] && [ "$(sum lids)" = $((7 * $(sum connected))) ] || fail "not by LIDs: $(cat "$work/counts")"
VIADUCT_TRANSPORTS=verbs,tcp job 0 1 2
[ "$(sum connected)" = 0 ] || fail "connected all the same: $(cat "$work/counts")"
VIADUCT_PATIENCE=1s job 16 1 2
expect_err 'double0 and the port of rank . are in different subnets of InfiniBand' "two subnets"
finish
