# What a rank's memory grows by over verbs, on the double of libibverbs: for an adapter, 4 MiB at most, and for each
# peer, 24 KiB at most, without what a driver takes. PEERS=1000 takes 1.5 GB and up to a minute.
# presets: release
# timeout: 120 takes: 5
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs DOUBLE_MEMORY=$work/memory DOUBLE_GIDS=127.0.0.1,198.51.100.9
program=$VIADUCT_BUILD/tests/programs/peers
export DOUBLE_COUNTS=$work/counts
held() { # FIGURE RANKS TRANSPORT
    rm -f "$work/memory" "$work/counts"
    VIADUCT_TRANSPORTS=$3 run 100 "$mpiexec" -n "$2" "$program"
    expect_status 0 "$2 ranks over $3"
    awk -v figure="$1" '$1 == figure { print $2 }' "$work/out"
}
few=8 peers=${PEERS:-200}
adapter=$(($(held begun 2 verbs) - $(held begun 2 tcp)))
[ -s "$work/memory" ] && fail "the double was used for TCP"
met=$(held met $((peers + 1)) verbs) mapped=$(awk '$1 == "mapped" { print $2 }' "$work/out")
entries=$(sed -n 's/.* entries \([0-9]*\) .*/\1/p' "$work/counts" | sort -n | tail -1)
peer=$(((met - $(held met $few verbs)) / (peers + 1 - few)))
mapped=$((mapped / peers))
[ -s "$work/memory" ] || fail "the double was not used"
echo "an adapter $adapter bytes, a peer $peer, mapped $mapped; the completion queue $entries entries"
[ "$entries" -gt $((peers * 33)) ] && [ "$entries" -le $((5124 + peers * 33 * 3 / 2)) ] || fail "$entries entries for $peers peers"
[ "$adapter" -gt 1000000 ] && [ "$adapter" -le $((4 << 20)) ] || fail "an adapter takes $adapter bytes"
[ "$peer" -gt 1000 ] && [ "$peer" -le $((24 << 10)) ] || fail "a peer takes $peer bytes"
[ "$mapped" -gt 1000 ] && [ "$mapped" -le $((24 << 10)) ] || fail "$mapped bytes are mapped for a peer"
finish
