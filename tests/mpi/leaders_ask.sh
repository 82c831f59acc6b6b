#!/usr/bin/env bash
# With VIADUCT_CHECK leaders tell each other what they call also where no message goes before it is asked for, and where
# nobody asks any more.
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
export VIADUCT_EAGER=64
for transports in shm tcp; do
    VIADUCT_TRANSPORTS=$transports run 50 "$mpiexec" -n 4 "$VIADUCT_BUILD/tests/test-mpi-check_leaders"
    expect_status 0 "leaders over $transports"
done
finish
