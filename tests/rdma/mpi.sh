# MPI programs over the verbs provider alone, on software RoCE (verbs/mpi.sh: more of them, on the double of libibverbs).
# presets: rdma timeout: 400 takes: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
emulated
export VIADUCT_TRANSPORTS=verbs
for program in sendrecv collective random wildcard; do
    run $((80 * ${PATIENCE:-1})) "$mpiexec" -n 2 "$VIADUCT_BUILD/tests/test-mpi-$program"
    expect_status 0 "$program"
done
finish
