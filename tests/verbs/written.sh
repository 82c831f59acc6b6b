# With writes and sends in the place of immediates, as on iWARP (iwarp.c): the conformance suite and MPI programs, on
# the double of libibverbs. rdma/written.sh: on software RoCE.
# presets: release asan
# timeout: 600 takes: 30
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/iwarp.so" ] || skip "libibverbs-dev is not installed"
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 LD_PRELOAD=$VIADUCT_BUILD/tests/verbs/iwarp.so
# (without the library in front the suites would pass as over RoCE)
LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs DOUBLE_GIDS=127.0.0.1,198.51.100.9 VIADUCT_TRANSPORTS=verbs \
    run 60 "$VIADUCT_BIN/viaduct" info --net
expect_out ' iWARP .* used as card' "the devices"
for script in conformance mpi; do
    bash "$VIADUCT_SOURCE/tests/verbs/$script.sh" >"$work/said" 2>&1 || fail "$script: $(tail -5 "$work/said")"
done
finish
