#!/usr/bin/env bash
# A rank of a job on two hosts that is killed inside a collective, whichever it is and in whichever form and way: with
# --enable-recovery all others are told so, and MPI_Finalize returns although others have ended before.
# timeout: 200 waits: 30
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 2 1
source "$VIADUCT_SOURCE/tests/lib/dies"
export HYDRA_LAUNCHER_EXEC=lab-rsh
for way in "" slices message; do
    all_told "$way" -host h0:2,h1:2
done

# the first message to a rank that has ended in order: from another host, and from its own
mkfifo "$work/end"
departed() { # SAME FLAGS OF MPIEXEC...
    local same=$1
    shift
    run 20 $mpiexec --enable-recovery -n 3 "$@" $programs/departed "$work/end" $same
    expect_status 137 "a rank has left, '$*'"
    [ "$(cat "$work/out")" = refused ] || { fail "a rank has left, '$*':"; sed 's/^/    /' "$work/out" "$work/err"; }
}
departed "" -host h0,h1:2
departed same
departed ""
finish
