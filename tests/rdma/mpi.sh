# MPI programs over the verbs provider, alone and beside TCP, on software RoCE: two ranks, and four and six on pretended nodes
# (verbs/mpi.sh: more of them, on the double of libibverbs).
# presets: rdma timeout: 700 takes: 140
source "$VIADUCT_SOURCE/tests/lib/shell"
emulated
all() { # RANKS COMMAND...: each program, with COMMAND before it
    local ranks=$1 program
    shift
    for program in sendrecv collective random wildcard; do
        run $((80 * ${PATIENCE:-1})) "$mpiexec" -n "$ranks" "$@" "$VIADUCT_BUILD/tests/test-mpi-$program"
        expect_status 0 "$program of $ranks ranks over $VIADUCT_TRANSPORTS"
    done
    echo "$ranks ranks over $VIADUCT_TRANSPORTS: $SECONDS s"
}
for transports in verbs verbs,tcp; do
    export VIADUCT_TRANSPORTS=$transports
    all 2
    all 4 "$VIADUCT_SOURCE/tests/lib/split"
    all 6 "$VIADUCT_SOURCE/tests/lib/split"
done
finish
