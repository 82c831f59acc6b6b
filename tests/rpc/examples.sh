#!/usr/bin/env bash
# The two examples of remote calls, built as their comments say: the store finds every value, the search every solution.
# timeout: 120
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$VIADUCT_BIN/viaduct" ] || skip "the launcher was not built"
cd "$work" || exit 1
for program in kvstore steal; do
    run 60 ${CC:-cc} -O2 -Wall -Wextra -pedantic -I"$VIADUCT_SOURCE/include" -o $program \
        "$VIADUCT_SOURCE/examples/$program.c" -L"$VIADUCT_BUILD/lib" -Wl,-rpath,"$VIADUCT_BUILD/lib" -lviaduct
    expect_status 0 "compiling $program"
    expect_silence "compiling $program"
done
for ranks in 1 2 5; do
    run 60 $mpiexec -n $ranks ./kvstore 200
    expect_status 0 "kvstore on $ranks"
    expect_out "^$ranks ranks, 200 keys each: 200 found, 67 removed, 133 left" "kvstore on $ranks"
    expect_silence "kvstore on $ranks"
done
ways=(1 1 0 0 2 10 4 40 92 352 724 2680)
for queens in 1 6 8 11; do
    for ranks in 1 3; do
        run 60 $mpiexec -n $ranks ./steal $queens
        expect_status 0 "steal on $ranks"
        expect_out "^$queens queens, $ranks ranks: ${ways[$queens]} ways" "$queens queens on $ranks"
    done
done
run 60 env VIADUCT_TRANSPORTS=tcp $mpiexec -n 3 ./kvstore 100
expect_status 0 "kvstore over tcp"
run 60 env VIADUCT_CHECK=yes $mpiexec -n 3 ./steal 9
expect_status 0 "steal with checks"
expect_out "352 ways" "steal with checks"
finish
