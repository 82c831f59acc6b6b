# iWARP in software (siw): the conformance suite, those of msg and pack, MPI programs, and what is told of the ports.
# presets: rdma timeout: 1500 takes: 300
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/viaduct/rdma/siw.ko" ] || skip "there is no module for iWARP: make check-rdma-iwarp builds it"
export CARDS=siw
emulated
"$VIADUCT_BIN/viaduct" info --net >"$work/net" 2>&1
grep -Eq '^siwA/1 +iWARP .* 10\.9\.0\.1 +used as card rA: ' "$work/net" || fail "the port is not told: $(cat "$work/net")"
for script in conformance suites mpi; do
    bash "$VIADUCT_SOURCE/tests/rdma/$script.sh" >"$work/said" 2>&1 || fail "$script: $(tail -5 "$work/said")"
done
finish
