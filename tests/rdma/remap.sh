# Large messages from and into memory that is unmapped and mapped again at the same addresses, by two threads at once, on software RoCE:
# what was registered for pages that are gone is never used (verbs/memory.sh: 100,000 rounds of the cache alone, on the double).
# presets: rdma timeout: 600 takes: 100
source "$VIADUCT_SOURCE/tests/lib/shell"
emulated
VIADUCT_TRANSPORTS=verbs run 560 "$mpiexec" -n 2 "$VIADUCT_BUILD/tests/programs/remap" 3000
expect_status 0 "3,000 rounds"
expect_out '3000 rounds of two threads' "3,000 rounds"
finish
