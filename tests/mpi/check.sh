#!/usr/bin/env bash
# VIADUCT_CHECK names what a program left behind, and is silent about one that left nothing.
#
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$programs/leaks
[ -x "$program" ] || skip "the program that leaves things behind was not built"

export VIADUCT_CHECK=1
run 20 $mpiexec -n 2 "$program" clean
expect_status 0 "a clean program"
expect_silence "a clean program"
run 20 $mpiexec -n 2 "$program"
expect_status 0 "leaks"
expect_err 'rank 0.* a request of MPI_Irecv on communicator [0-9]+ was never freed; it was made at ' "request"
expect_err 'rank 0.* a datatype was never freed; it was made at ' "datatype"
expect_err 'rank 0.* a communicator \(communicator [0-9]+\) was never freed' "communicator"
expect_err 'rank 1.* a message of 4 bytes from rank 0 with tag 77 on MPI_COMM_WORLD was never received' "message"
[ "$(wc -l <"$work/err")" -eq 4 ] || { fail "not four lines:"; cat "$work/err"; }
if command -v addr2line >/dev/null && readelf -S "$program" | grep -q debug_line; then
    expect_err 'request.* made at .*leaks.c:14' "line of the request"
    expect_err 'datatype.* made at .*leaks.c:15' "line of the datatype"
fi
unset VIADUCT_CHECK
run 20 $mpiexec -n 2 "$program"
expect_silence "without VIADUCT_CHECK"
finish
