# MPI programs over the verbs provider alone, on the double of libibverbs. rdma/mpi.sh runs some of them on software RoCE.
# presets: release asan
# timeout: 300 takes: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs DOUBLE_MEMORY=$work/memory VIADUCT_TRANSPORTS=verbs
job() { # PROGRAM RANKS
    run 60 "$mpiexec" -n "$2" "$VIADUCT_BUILD/tests/test-mpi-$1"
    expect_status 0 "$1 on $2 ranks"
    [ -s "$work/memory" ] || fail "the double was not used"
    rm -f "$work/memory"
}
for program in cancel collective modes packed partitioned persistent probe random sendrecv threads truncate types_wide wait wildcard; do
    job $program 2
    job $program 4
done
job sizes_large 2
finish
