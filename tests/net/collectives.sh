#!/usr/bin/env bash
# A rank of a job on two hosts that is killed inside a collective, whichever it is and in whichever form and way: with
# --enable-recovery all others are told so. They leave without MPI_Finalize, which would wait for messages to ranks of the
# other host that have ended in order.
# timeout: 200 waits: 30
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 2 1
source "$VIADUCT_SOURCE/tests/lib/dies"
export HYDRA_LAUNCHER_EXEC=lab-rsh
leave=leave
for way in "" slices message; do
    all_told "$way" -host h0:2,h1:2
done
finish
