# With writes and sends in the place of immediates, as on iWARP (verbs/iwarp.c): the conformance suite, those of msg and pack and MPI
# programs, on software RoCE. verbs/written.sh: on the double.
# presets: rdma timeout: 1500 takes: 300
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/iwarp.so" ] || skip "libibverbs-dev is not installed"
emulated
export LD_PRELOAD=$VIADUCT_BUILD/tests/verbs/iwarp.so
# (without the library in front the suites would pass as over RoCE)
VIADUCT_TRANSPORTS=verbs \
    run 60 "$VIADUCT_BIN/viaduct" info --net
expect_out ' iWARP .* used as card' "the devices"
for script in conformance suites mpi; do
    bash "$VIADUCT_SOURCE/tests/rdma/$script.sh" >"$work/said" 2>&1 || fail "$script: $(tail -5 "$work/said")"
done
finish
