#!/usr/bin/env bash
# With --enable-recovery a probe of a rank that has died, or a loop of MPI_Test, finds what it sent before, and then
# says that it is dead: they went on for ever.
# takes: 2
# presets: release
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$programs/probe_dead" ] || skip "the program that looks was not built"
for transports in shm tcp; do
    for how in probe mprobe iprobe improbe test; do
        VIADUCT_TRANSPORTS=$transports run 20 $mpiexec --enable-recovery -n 4 "$programs/probe_dead" $how
        expect_status 137 "$how, $transports"
        [ "$(sort "$work/out" | uniq -c | tr -s ' \n' ' ')" = " 3 between told 3 world told " ] ||
            fail "$how, $transports: $(cat "$work/out")"
    done
done
finish
