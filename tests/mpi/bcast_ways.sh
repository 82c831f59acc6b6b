#!/usr/bin/env bash
# Broadcasts of unlike lengths, see bcast_lengths.c, in every way that a broadcast may go: on one node, on three, over
# the network.
# timeout: 240 takes: 20
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$VIADUCT_BUILD/tests/test-mpi-bcast_lengths
[ -x "$program" ] || skip "the program of this test was not built"

for way in desk message masters slices; do
    for where in node nodes network; do
        case $where in
        node) command="$program" ;;
        nodes) command="$VIADUCT_SOURCE/tests/lib/split $program" ;;
        network) command="env VIADUCT_TRANSPORTS=tcp $program" ;;
        esac
        run 60 env VIADUCT_COLL=$way $mpiexec -n 6 $command
        expect_status 0 "$way, $where"
        expect_silence "$way, $where"
    done
done
finish
