#!/usr/bin/env bash
# The default error handler, calls before MPI_Init and after MPI_Finalize, MPI_Abort: the job ends soon, with a status that
# is not 0 and a sentence that names the call and what was wrong.
#
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$programs/wrong
[ -x "$program" ] || skip "the program that does wrong was not built"

# ends WHAT PATTERN: with 3 ranks
ends() {
    run 10 $mpiexec -n 3 "$program" "$1"
    [ "$status" -ne 0 ] && [ "$status" -lt 124 ] || fail "$1: exit status $status"
    expect_err "$2" "$1"
    [ ! -s "$work/out" ] || fail "$1: the program went on"
}

ends rank 'MPI_Send: rank 7 is not in MPI_COMM_WORLD of 3 ranks \(MPI_ERR_RANK, rank 1 of MPI_COMM_WORLD\)'
ends comm 'MPI_Send: the communicator is MPI_COMM_NULL'
ends request 'MPI_Wait: .* is no request'
ends truncate 'MPI_Recv: the message from rank 1 with tag 9 is longer than the buffer of its receive'
ends root 'MPI_Bcast: root -1 is not in MPI_COMM_WORLD of 3 ranks'
ends before 'MPI_Barrier: called before MPI_Init'
ends after 'MPI_Comm_rank: called after MPI_Finalize'
ends twice 'MPI_Init: called twice'
ends abort 'MPI_Abort: .* 42'
[ "$status" -eq 42 ] || fail "abort: exit status $status, not 42"
run 20 $mpiexec -n 3 "$program" nothing
expect_status 0 "nothing wrong"
expect_silence "nothing wrong"
run 20 "$program" before
[ "$status" -ne 0 ] || fail "before, alone: exit status 0"
expect_err 'MPI_Barrier: called before MPI_Init' "before, alone"
finish
