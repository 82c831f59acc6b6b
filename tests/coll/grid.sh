#!/usr/bin/env bash
# Random programs of collectives (tests/mpi/collective_random.c: all kinds, types, lengths, roots, forms, groups that
# overlap, random delays) against a serial model, in each way that a collective may take, on one node and on nodes of
# one, three and two ranks, and where no rank can read the memory of others. PROGRAMS: of each, for a long run; SEED:
# the one that failed.
# timeout: 300 takes: 40
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
random=$VIADUCT_BUILD/tests/test-mpi-collective_random
[ -x "$random" ] || skip "MPI was not built"
export RANDOM_PROGRAMS=${PROGRAMS:-2} RANDOM_DELAYS=1
seed=${SEED:-1}

programs_run() { # WHAT RANKS COMMAND...
    local what=$1 ranks=$2
    shift 2
    run 120 env RANDOM_FIRST=$seed "$@" $mpiexec -n $ranks $split "$random"
    expect_status 0 "$what, $ranks ranks, seed $seed"
    seed=$((seed + RANDOM_PROGRAMS))
}

for ranks in 2 3 6; do
    split=
    for way in "" desk direct message; do
        programs_run "one node, by ${way:-the table}" $ranks VIADUCT_COLL=$way
    done
    programs_run "one node, memory is not read" $ranks VIADUCT_SINGLE_COPY=no VIADUCT_COLL=direct
done
split=$VIADUCT_SOURCE/tests/lib/split
for way in "" masters slices message; do
    programs_run "nodes of 1, 3 and 2, by ${way:-the table}" 6 VIADUCT_COLL=$way
    programs_run "nodes of 1, 3 and 4, by ${way:-the table}" 8 VIADUCT_COLL=$way
done
finish
