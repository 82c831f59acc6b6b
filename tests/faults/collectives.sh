#!/usr/bin/env bash
# A rank that is killed inside a collective, whichever it is, in whichever form and way of one node: with
# --enable-recovery all others are told so and end, else the job ends with the name of the one that died.
# timeout: 300 takes: 15
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
source "$VIADUCT_SOURCE/tests/lib/dies"
for way in "" desk direct message; do
    all_told "$way"
done
for ((kind = 0; kind < kinds; kind++)); do
    draw $kind
    run 40 $mpiexec -n $ranks "$dies" "${arguments[@]}"
    expect_status 137 "dies ${arguments[*]}"
    expect_err "^viaduct: rank ${arguments[3]} \(pid [0-9]+ on [^ ]*\) was killed by signal 9" "dies ${arguments[*]}"
done
finish
