# Channels of packed messages that are bound to "verbs", and to the card of an RDMA port by its name, on the double of libibverbs.
# presets: release asan
# timeout: 100 takes: 5
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs DOUBLE_GIDS=127.0.0.1,198.51.100.9 DOUBLE_COUNTS=$work/counts
for transports in shm,verbs,tcp verbs,tcp; do
    rm -f "$work/memory" "$work/counts"
    VIADUCT_TRANSPORTS=$transports DOUBLE_MEMORY=$work/memory run 60 "$VIADUCT_BUILD/tests/test-pack-networks" lo
    expect_status 0 "$transports: $(head -5 "$work/out" "$work/err")"
    grep -q 'connected [1-9]' "$work/counts" || fail "$transports: the double was not used"
done
finish
