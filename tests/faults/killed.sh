#!/usr/bin/env bash
# A rank that dies at any point ends the job soon (no time-out of the product is that short), is named once, and nothing is left behind.
# timeout: 120
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
cp "$programs/victim" "$work/victim-$$" || skip "no victim was built"
victim=$work/victim-$$

files() { ls -A /dev/shm /tmp 2>/dev/null | sort; }

files >"$work/before"
for where in before loop recv barrier large finalize; do
    for signal in 9 11 15; do
        what="rank 1 of 3 killed by signal $signal: $where"
        run 10 $mpiexec -n 3 "$victim" 1 $signal $where
        expect_status $((128 + signal)) "$what"
        expect_err 'rank 1' "$what"
        expect_err 'pid [0-9]+' "$what"
        expect_err "signal $signal" "$what"
        [ "$(grep -c 'rank' "$work/err")" -eq 1 ] || { fail "$what: more than one message"; cat "$work/err"; }
        no_process "$victim" "$what"
    done
done
for where in loop recv barrier large finalize; do # the others see the connection end first, and leave the word to the launcher
    what="rank 1 of 3 killed over tcp: $where"
    VIADUCT_TRANSPORTS=tcp run 20 $mpiexec -n 3 "$victim" 1 9 $where
    expect_status 137 "$what"
    [ "$(grep -c 'rank' "$work/err")" -eq 1 ] || { fail "$what: more than one message"; cat "$work/err"; }
done
run 20 $mpiexec -n 3 "$victim" 1 9 recv
expect_err 'MPI_' "the last MPI call is named"
run 20 $mpiexec -n 1 "$victim" 0 9 loop
expect_err 'rank 0 .* its last MPI call was MPI_Irecv$' "the last MPI call of a rank that is alone"
run 20 $mpiexec -n 3 "$victim" 2 0 loop
expect_status 3 "a rank that exits with 3 in the middle"
run 20 $mpiexec -n 3 "$victim" 2 -1 loop
[ "$status" -ne 0 ] || fail "a rank that returned without MPI_Finalize went unnoticed"
expect_err 'MPI_Finalize' "a rank that returned without MPI_Finalize"
run 20 $mpiexec -n 16 "$victim" 7 9 loop
expect_status 137 "rank 7 of 16 killed"
no_process "$victim" "rank 7 of 16 killed"
files >"$work/after"
diff <(grep -v "$(basename "$work")" "$work/before") <(grep -v "$(basename "$work")" "$work/after") |
    grep -E '^> .*(viaduct|vd_|memfd)' && fail "files are left"
finish
