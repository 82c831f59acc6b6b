# iWARP in software (siw): the conformance suite, those of msg and pack, MPI programs, and what is told of the ports.
# presets: iwarp timeout: 4000 takes: 900
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/viaduct/rdma/siw.ko" ] || skip "there is no module for iWARP: make check-rdma-iwarp builds it"
export CARDS=siw PATIENCE=3 # the suites take three times as long as on software RoCE
emulated
"$VIADUCT_BIN/viaduct" info --net >"$work/net" 2>&1
grep -Eq '^siwA/1 +iWARP .* 10\.9\.0\.1 +used as card rA: ' "$work/net" || fail "the port is not told: $(cat "$work/net")"

# librdmacm does not know which ports TCP sockets hold, to listen or to call: here two of three, at both addresses
echo 40000 40599 >/proc/sys/net/ipv4/ip_local_port_range
python3 -c 'import signal, socket
held = [socket.create_server((at, port)) for at in ("10.9.0.1", "10.9.0.2") for port in range(40000, 40600) if port % 3]
print("held", flush=True)
signal.pause()' >"$work/ports" 2>&1 &
holder=$!
eventually 60 grep -q held "$work/ports" || fail "no ports are held: $(cat "$work/ports")"
VIADUCT_LOG=info VIADUCT_TRANSPORTS=verbs,tcp run 100 "$mpiexec" -n 2 "$VIADUCT_BUILD/tests/test-mpi-sendrecv"
expect_status 0 "ports that are held"
! grep 'RDMA device is not used' "$work/err" || fail "an adapter is left out"
VIADUCT_TRANSPORTS=verbs run 200 "$VIADUCT_BUILD/tests/test-vi-conformance" called_once verbs
expect_status 0 "calls from ports that are held: $(head -20 "$work/out" "$work/err")"
kill $holder
echo 32768 60999 >/proc/sys/net/ipv4/ip_local_port_range
for script in conformance suites mpi; do
    bash "$VIADUCT_SOURCE/tests/rdma/$script.sh" >"$work/said" 2>&1 || fail "$script: $(tail -5 "$work/said")"
done

# a card with addresses of IPv4 and IPv6 listens at both: the other rank has none but that of IPv6
ip addr add fd00::1/64 dev rA nodad
cat >"$work/six" <<'SH'
#!/bin/bash
[ "$PMI_RANK" = 0 ] && exec "$@"
for ((i = 0; i < 300; i++)); do [ "$(rdma resource show cm_id | grep -c LISTEN)" -lt 2 ] || break; sleep 0.1; done
ip addr del 10.9.0.1/32 dev rA
exec "$@"
SH
chmod +x "$work/six"
VIADUCT_LOG=info VIADUCT_TRANSPORTS=verbs:siwA run 200 "$mpiexec" -n 2 "$work/six" "$VIADUCT_BUILD/tests/test-mpi-sendrecv"
expect_status 0 "IPv6 alone, and both"
expect_err 'rail 16 to rank 1 is up: rA fd00::1' "IPv6 alone, and both"
finish
