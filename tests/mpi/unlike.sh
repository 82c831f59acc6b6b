# With VIADUCT_CHECK collectives that differ in kind, root or order are an error that names both calls.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
export VIADUCT_CHECK=1

for way in kind root order; do
    case $way in
    kind) says="ranks of twin call different collectives: rank 0 calls MPI_Allreduce at .*, rank 2 calls MPI_Barrier at " ;;
    root) says="ranks of twin call different collectives: rank 0 calls MPI_Bcast with root 0 at .*, rank 1 calls MPI_Bcast with root 1 at " ;;
    order) says="ranks of twin call different collectives: rank 0 calls MPI_Barrier at .*, rank 1 calls MPI_Bcast with root 0 at " ;;
    esac
    run 20 $mpiexec -n 3 $programs/unlike $way
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || fail "$way: status $status"
    expect_err "$says" "$way"
    run 20 $mpiexec -n 3 $programs/unlike $way return # each of them has it
    expect_status 0 "$way, returned"
    [ "$(grep -c 'has the error' "$work/out")" -eq 3 ] || fail "$way: $(cat "$work/out")"
done
run 20 env VIADUCT_TRANSPORTS=tcp $mpiexec -n 3 $programs/unlike root
expect_err "rank 1 calls MPI_Bcast with root 1 at " "over the network"
run 20 $mpiexec -n 3 $programs/unlike
expect_status 0 "nothing wrong"
expect_silence "nothing wrong"
finish
