#!/usr/bin/env bash
# A rank that is killed in a call that makes a communicator, or in a collective of two groups or of neighbours: with
# --enable-recovery all others are told so and end, else the job ends with the name of the one that died.
# timeout: 300 takes: 30
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
dies=$programs/dies_making
[ -x "$dies" ] || skip "no victim was built"
RANDOM=${SEED:-2027}
ranks=4 kinds=29

draw() { arguments=("$1" $((RANDOM % ranks)) $((RANDOM * RANDOM / 2000))); } # KIND
all_told() { # KIND
    draw $1
    local what="dies_making ${arguments[*]} by ${VIADUCT_TRANSPORTS:-all}"
    run 40 $mpiexec --enable-recovery -n $ranks "$dies" "${arguments[@]}"
    expect_status 137 "$what"
    [ "$(grep -c ': told$' "$work/out")" = $((ranks - 1)) ] ||
        { fail "$what: not all others are told"; sed 's/^/    /' "$work/out" "$work/err" | head -12; }
}

for ((kind = 0; kind < kinds; kind++)); do
    for transports in shm tcp shm; do VIADUCT_TRANSPORTS=$transports all_told $kind; done
    draw $kind
    run 40 $mpiexec -n $ranks "$dies" "${arguments[@]}"
    expect_status 137 "dies_making ${arguments[*]}"
    expect_err "^viaduct: rank ${arguments[1]} \(pid [0-9]+ on [^ ]*\) was killed by signal 9" "dies_making ${arguments[*]}"
done
for round in 1 2 3 4 5 6; do # where the two groups, or some of the world, meet by the library's own messages
    for kind in 0 2 8; do all_told $kind; done
done
ranks=8
for round in 1 2 3 4 5 6 7 8 9 10; do
    for kind in 2 28; do all_told $kind; done
done
run 40 $mpiexec -n $ranks "$dies" $kinds 0 0
expect_status 9 "the last kind is $((kinds - 1))"
finish
