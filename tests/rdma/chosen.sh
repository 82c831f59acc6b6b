# A host with an RDMA device uses it without being asked, with TCP beside, where a rank is on another node; in a job of one node
# libibverbs is not loaded.
# presets: rdma timeout: 300 takes: 25
source "$VIADUCT_SOURCE/tests/lib/shell"
emulated
export VIADUCT_LOG=info LD_DEBUG=files LD_DEBUG_OUTPUT=$work/loaded
run 120 "$mpiexec" -n 2 "$VIADUCT_SOURCE/tests/lib/split" "$VIADUCT_BUILD/tests/test-mpi-sendrecv"
expect_status 0 "two nodes"
expect_err 'transports: verbs, tcp' "two nodes"
expect_err 'rail 16 to rank 1 is up' "a rail of verbs"
grep -q libibverbs "$work"/loaded* || fail "the check finds nothing"
rm -f "$work"/loaded*
run 60 "$mpiexec" -n 2 "$VIADUCT_BUILD/tests/test-mpi-sendrecv"
expect_status 0 "one node"
expect_err 'transports: shm' "one node"
! grep -l libibverbs "$work"/loaded* || fail "libibverbs is loaded where all ranks are on one node"
finish
