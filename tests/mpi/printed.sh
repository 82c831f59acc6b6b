#!/usr/bin/env bash
# What a program has printed, to a pipe or to a file, is there after MPI_Abort and after a fatal error. Where a lock of stdio is held
# the job ends all the same.
# beside: 1
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$programs/printed
[ -x "$program" ] || skip "the program that prints was not built"

# ends HOW STATUS PRINTED
ends() {
    run 20 $mpiexec -n 2 "$program" "$1" "$work/file"
    expect_status "$2" "$1"
    [ "$(cat "$work/out")" = "$3" ] || fail "$1: it printed \"$(cat "$work/out")\""
    [ "$1" = stdout ] || [ "$1" = outside ] || [ "$(cat "$work/file")" = written ] || [ "$1" = stdin ] || fail "$1: the file was not written"
}

ends abort 42 printed
ends both 42 printed
ends handler 42 printed
ends stdin 42 printed
ends stdout 42 ""
run 20 $mpiexec -n 2 "$program" error
[ "$status" -ne 0 ] && [ "$status" -lt 124 ] || fail "error: exit status $status"
[ "$(cat "$work/out")" = printed ] || fail "error: it printed \"$(cat "$work/out")\""
run 20 "$program" outside
expect_status 42 outside
[ "$(cat "$work/out")" = printed ] || fail "outside: it printed \"$(cat "$work/out")\""
run 20 $mpiexec -n 2 --outfile-pattern "$work/to.%r" "$program" abort
[ "$(cat "$work/to.0")" = printed ] || fail "to a file: it printed \"$(cat "$work/to.0")\""
finish
