#!/usr/bin/env bash
# VIADUCT_CHECK names both calls where ranks call collectives that differ in kind, root, order, length, type or operation, and is silent where they do not.
# timeout: 120 takes: 15
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$programs/differ
[ -x "$program" ] || skip "the program with collectives that differ was not built"
export VIADUCT_CHECK=1

wrong() { # WAY SENTENCE
    run 20 $mpiexec -n 4 "$program" $1
    [ $status -ne 0 ] && [ $status -ne 124 ] || fail "$1 over $VIADUCT_TRANSPORTS: status $status"
    expect_err "the ranks of MPI_COMM_WORLD $2" "$1 over $VIADUCT_TRANSPORTS"
}
differs() { wrong $1 "call different collectives: $2"; }
unlike() { wrong $1 "pass unlike lengths: $2"; }
types() { wrong $1 "pass unlike types: rank 0 calls $2 bytes of $3 at .*, rank 2 calls $2 bytes of $4 at "; }
operations() { wrong $1 "pass unlike operations: $2"; }

for VIADUCT_TRANSPORTS in shm tcp; do
    export VIADUCT_TRANSPORTS
    differs kind "rank 0 calls MPI_Barrier at .*, rank 1 calls MPI_Bcast with root 0 at "
    if command -v addr2line >/dev/null && readelf -S "$program" | grep -q debug_line; then
        expect_err 'MPI_Barrier at .*differ.c:15, .*MPI_Bcast with root 0 at .*differ.c:13 ' "both lines"
    fi
    differs root "rank 0 calls MPI_Bcast with root 0 at .*, rank 3 calls MPI_Bcast with root 1 at "
    differs order "rank 0 calls MPI_Allgather at .*, rank 1 calls MPI_Allreduce at "
    differs form "rank 0 calls MPI_Ibarrier at .*, rank 1 calls MPI_Barrier at "
    differs request "rank 0 calls MPI_Ibcast with root 0 at .*, rank 1 calls MPI_Ireduce with root 0 at "
    differs prepared "rank 0 calls MPI_Bcast_init with root 1 at .*, rank 1 calls MPI_Bcast_init with root 0 at "
    differs finalize "rank 0 calls MPI_Finalize at .*, rank 1 calls MPI_Barrier at "
    unlike gather "rank 0 calls MPI_Gather with root 0 and 8 bytes at .*, rank 2 calls MPI_Gather with root 0 and 12 bytes at "
    unlike scatter "rank 0 calls MPI_Scatter with root 1 and 8 bytes at .*, rank 2 calls MPI_Scatter with root 1 and 4 bytes at "
    unlike allgather "rank 0 calls MPI_Allgather with 8 bytes at .*, rank 2 calls MPI_Allgather with 12 bytes at "
    unlike gives "rank 0 calls MPI_Allgather with 8 bytes at .*, rank 2 calls MPI_Allgather with 12 bytes at "
    unlike alltoall "rank 0 calls MPI_Alltoall with 8 bytes at .*, rank 2 calls MPI_Alltoall with 12 bytes at "
    unlike reduce "rank 0 calls MPI_Reduce with root 0 and 8 bytes at .*, rank 2 calls MPI_Reduce with root 0 and 16 bytes at "
    unlike broadcast "rank 0 calls MPI_Bcast with root 0 and 8 bytes at .*, rank 2 calls MPI_Bcast with root 0 and 4 bytes at "
    unlike allreduce "rank 0 calls MPI_Iallreduce with 8 bytes at .*, rank 2 calls MPI_Iallreduce with 12 bytes at "
    unlike reduce_scatter "rank 0 calls MPI_Reduce_scatter with 16 bytes at .*, rank 2 calls MPI_Reduce_scatter with 20 bytes at "
    for ranks in 1 2 3 5; do
        run 20 $mpiexec -n $ranks "$program" right
        expect_status 0 "the same calls, $ranks ranks over $VIADUCT_TRANSPORTS"
        expect_silence "the same calls, $ranks ranks over $VIADUCT_TRANSPORTS"
    done
    run 20 $mpiexec -n 4 "$program" told
    expect_status 0 "ranks that are told, over $VIADUCT_TRANSPORTS"
    expect_silence "ranks that are told, over $VIADUCT_TRANSPORTS"
done
export VIADUCT_TRANSPORTS=shm
types types "MPI_Bcast with root 0 and 8" MPI_INT MPI_FLOAT
types sum_of "MPI_Allreduce with 8" MPI_INT MPI_FLOAT
types gives_type "MPI_Allgather with 8" MPI_INT MPI_FLOAT
types takes_type "MPI_Alltoall with 8" MPI_INT MPI_FLOAT
types scatter_type "MPI_Scatter with root 1 and 8" MPI_INT MPI_FLOAT
types started_type "MPI_Igather with root 0 and 12" MPI_INT MPI_FLOAT
types derived_type "MPI_Bcast with root 0 and 24" "a type made of MPI_INT, ..." "a type made of MPI_INT, ..."
operations operation "rank 0 calls MPI_Allreduce with MPI_SUM at .*, rank 2 calls MPI_Allreduce with MPI_MAX at "
operations user_operation "rank 0 calls MPI_Exscan with MPI_SUM at .*, rank 2 .* with an operation of the program at "
for ranks in 2 5; do
    run 20 $mpiexec -n $ranks "$program" same_types
    expect_status 0 "the same types in other words, $ranks ranks"
    expect_silence "the same types in other words, $ranks ranks"
done
finish
