#!/usr/bin/env bash
# The examples, built as their comments say: heat gives the serial answer and the same picture on any number of ranks.
# timeout: 120
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -f "$VIADUCT_BUILD/lib/libmpi_abi.so.1" ] || skip "libmpi_abi is not built"
cd "$work" || exit 1
for program in hello ring heat pingpong; do
    run 60 "$VIADUCT_BIN/mpicc" -O2 -Wall -Wextra -pedantic "$VIADUCT_SOURCE/examples/$program.c" -o $program -lm
    expect_status 0 "compiling $program"
    expect_silence "compiling $program"
done

run 20 $mpiexec -n 7 ./hello
expect_status 0 hello
[ "$(sort -u out | grep -cE '^rank [0-6] of 7 on ')" -eq 7 ] || { fail "hello on 7 ranks:"; cat out; }
for ranks in 1 2 5; do
    run 30 $mpiexec -n $ranks ./ring 100
    expect_status 0 "ring on $ranks"
    expect_out "100 times around $ranks ranks: .* as it must be" "ring on $ranks"
done
for ranks in 1 2 3 4 6 7; do
    run 60 $mpiexec -n $ranks ./heat $ranks.ppm 61 150
    expect_status 0 "heat on $ranks"
    expect_out 'largest difference to its answer: 0, right' "heat on $ranks"
    expect_silence "heat on $ranks"
    cmp -s 1.ppm $ranks.ppm || fail "heat on $ranks ranks paints another picture"
done
[ "$(stat -c %s 1.ppm)" -eq $((61 * 61 * 3 + 13)) ] || fail "the picture has $(stat -c %s 1.ppm) bytes"
run 20 $mpiexec -n 4 ./heat x.ppm 1 5
expect_status 1 "heat with too few points"
expect_err 'too few for 4 ranks' "heat with too few points"
run 20 $mpiexec -n 3 ./pingpong
expect_status 1 "pingpong on 3 ranks"
expect_err 'wants two ranks' "pingpong on 3 ranks"
finish
