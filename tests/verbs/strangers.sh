# Ports of iWARP, on a double of librdmacm which strangers call without end: the ranks go on, over TCP;
# MPIEXEC_PORT_RANGE says where they listen; a port of iWARP does not call one of RoCE; and a card with addresses of IPv4
# and IPv6 listens at both.
# presets: release asan
# timeout: 120 takes: 10
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 1 1
double=$VIADUCT_BUILD/tests/verbs
[ -e "$double/strangers/librdmacm.so.1" ] || skip "libibverbs-dev or librdmacm-dev is not installed"
export LD_LIBRARY_PATH=$double/strangers:$double DOUBLE_MEMORY=$work/memory VIADUCT_LOG=info VIADUCT_TRANSPORTS=verbs,tcp
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 STRANGERS=$work/ports
cat >"$work/rank" <<'SH'
#!/bin/sh
# where MIXED is set the ports of rank 1 are of RoCE, in a memory of their own
[ "$PMI_RANK:${MIXED:-}" = 1:1 ] && export DOUBLE_MEMORY=$DOUBLE_MEMORY.1 || export LD_PRELOAD=$IWARP
[ "$PMI_RANK" = 0 ] || export DOUBLE_GIDS=$SECOND
exec "$@"
SH
chmod +x "$work/rank"
export IWARP=$double/iwarp.so SECOND=198.51.100.8,198.51.100.9 DOUBLE_GIDS=198.51.100.8,198.51.100.9
job() { # WHAT
    rm -f "$work/memory" "$work/ports"
    run 40 "$mpiexec" -n 2 "$VIADUCT_SOURCE/tests/lib/split" "$work/rank" "$VIADUCT_BUILD/tests/test-mpi-sendrecv"
    expect_status 0 "$1"
}
job "strangers that call without end"
expect_err 'transports: verbs, tcp' "strangers"
[ "$(wc -l <"$work/ports")" -eq 2 ] || fail "two ranks do not listen: $(cat "$work/ports")"

export MPIEXEC_PORT_RANGE=21500:21509
job "a range of ports"
[ "$(awk '$1 >= 21500 && $1 <= 21509' "$work/ports" | sort -u | wc -l)" -eq 2 ] || fail "ports are others: $(cat "$work/ports")"
unset MPIEXEC_PORT_RANGE
MIXED=1 SECOND=127.0.0.1,198.51.100.9 job "iWARP here, RoCE there"
expect_err 'rank 1 is not reached by verbs: no address of this host \([^)]* of iWARP[^)]*\) can reach one of rank 1' "iWARP here, RoCE there"

export STRANGERS_CARD=eth0 MPIEXEC_PORT_RANGE=21500:21509
ip -6 addr add fd77::1/64 dev eth0 nodad || skip "there is no IPv6"
job "IPv4 and IPv6"
for family in 4 6; do
    [ "$(awk -v family=$family '$2 == family && $1 >= 21500 && $1 <= 21509' "$work/ports" | sort -u | wc -l)" -eq 2 ] ||
        fail "two ranks do not listen at IPv$family: $(cat "$work/ports")"
done
finish
