# Every threshold of vi and msg that a measurement could change stands in src/base/tunables.def and nowhere else. A macro or an
# enumerator with a number of its own there is therefore one of those below: each group says why it is none.
# So is a literal by which something is multiplied or divided, or with which it is compared. bench/floor, which has no library,
# repeats the borders of the class.
# timeout: 60 takes: 2
source "$VIADUCT_SOURCE/tests/lib/shell"
cd "$VIADUCT_SOURCE" || exit 1
allowed="
wire: SHM_MAGIC CALL_MAGIC CALL_VERSION CALL_NONCE CALL_NOTE_MAGIC TCP_FLAG_SIGNAL TCP_FLAG_QUIET CALL_ACCEPTED TCP_SEND
wire: MSG_FRAME_EAGER MSG_FLAG_KEY MSG_FLAG_NOTED MSG_FLAG_SYNC MSG_FLAG_SLOTS MSG_FLAG_PARTIAL MSG_FLAG_WON MSG_FLAG_ASKING
wire: MSG_KEYS MSG_FRAME_COST MSG_CONTEXT_MPLITE MSG_CONTEXT_PACK MSG_CONTEXTS_COMM MSG_CONTEXTS_PACK MSG_CONTEXTS MSG_NETWORKS
wire: TCP_MAX_PUT TCP_MAX_SEND CALL_CARD_TEXT CALL_HOST_NAME VERBS_MAGIC VERBS_SEND VERBS_MAX_SEND VERBS_MAX_PUT VERBS_DEPTH VERBS_MTU_MOST NUMBERS GID_SUBNET
library: RDMACM_TCP RDMACM_ROUTE_RESOLVED RDMACM_CONNECT_REQUEST RDMACM_ESTABLISHED IBVERBS_GID_ROCE_V2 IBVERBS_QPS_ERR IBVERBS_QP_STATE
library: IBVERBS_QP_ACCESS_FLAGS IBVERBS_QP_PKEY_INDEX IBVERBS_QP_PORT IBVERBS_QP_AV IBVERBS_QP_PATH_MTU IBVERBS_QP_TIMEOUT
library: IBVERBS_QP_RETRY_CNT IBVERBS_QP_RNR_RETRY IBVERBS_QP_RQ_PSN IBVERBS_QP_MAX_QP_RD_ATOMIC IBVERBS_QP_MIN_RNR_TIMER
library: IBVERBS_QP_SQ_PSN IBVERBS_QP_MAX_DEST_RD_ATOMIC IBVERBS_QP_DEST_QPN
library: IBVERBS_ACCESS_REMOTE_READ IBVERBS_SEND_INLINE IBVERBS_WR_RDMA_READ IBVERBS_WC_RECV
library: IBVERBS_EVENT_DEVICE_FATAL IBVERBS_EVENT_PORT_ERR IBVERBS_EVENT_SRQ_LIMIT_REACHED IBVERBS_SRQ_LIMIT IBVERBS_LINK_INFINIBAND IBVERBS_TRANSPORT_IWARP IBVERBS_GLOBAL VERBS_GIDS UFFD_USER_MODE_ONLY
layout: SHM_MAX_RANKS SHM_PAGE SHM_LINES SHM_INLINE SHM_BUNDLE SHM_ROW SHM_DEPTH SHM_HOT SHM_CLASS_SHIFT SHM_MAX_SEND SHM_SLAB SHM_SLABS
layout: SHM_ASKED SHM_TURN SHARED_ALIGN SHARED_MOST SHM_DATA SHARED_ALL SLOTS COUNT_BITS COUNT_MASK PAGE CHUNK_BITS HUGE
name: MADV_POPULATE_WRITE MEMORY_ONCE VERBS_TAGS KEY_LENGTH SHM_NO_SLAB SHM_SHARED_KEY VI_MORE VI_SOURCE VI_STAYS VI_COMPLETE VI_HELD VI_RARELY MSG_ANY_SOURCE MSG_ANY_TAG MSG_PENDING
name: MSG_NO_MEMBER MSG_PARKED MSG_DONE MSG_BY_LANE MSG_NOT_BEGUN MSG_REPLAY_NONE MSG_SEND CALLED
room: BATCH CALL_MOST EVENTS CALL_PATH CALL_WHY REPLY CALL_CARDS CALL_HELD CALL_INTERFACES CALL_ADDRESSES CALL_PAIRS
room: PARKED_MOST BACKLOG VERBS_RECEIVED VERBS_RECEIVES_MOST VERBS_BLOCK VERBS_PLACES VERBS_LEAST VERBS_RESERVED VERBS_READS POLLED MEMORY_BUCKETS
room: MSG_NICS MSG_RAILS MSG_PIECES MSG_INLINE MESSAGES_MOST MSG_REPLAY_PAIRS MSG_REPLAY_RAILS
room: MSG_WAYS MSG_CARD_TEXT VI_CARDS CALL_RAILS CALL_PROVIDERS
room: MSG_EVENT_ROOM MSG_REPLAY_ASKED MSG_REPLAY_BULK MSG_REQUEST_ROOM
measure: SHM_SAMPLE"
# wire: what both ends must agree on. library: what libibverbs has so. name: a number that only names. measure: how much is timed.
# layout: of shared memory. The launcher and all ranks of a node lay it out alike, and bits, masks and numbers of one byte are cut
# to it: SHM_LINES to the words of a bitmap, SHM_SLAB to the longest frame and SHM_SLABS of them to one byte. Another value is
# another layout; what a measurement chooses within it (SHM_POOL_FIRST, SHM_CREDIT_LINES, SHM_ROW_MOST) is in the table.
# room: how long an array is, or a table may grow, before something waits, is packed first or is refused.

# numbered FILE...: names of macros and enumerators that are given a number
numbered() {
    sed -nE 's/^ *# *define +([A-Z][A-Z_0-9]*) +\(*-?[0-9].*/\1/p; s/^ *# *define +([A-Z][A-Z_0-9]*) +\(?[A-Z_]+ *[*/+-] *[0-9].*/\1/p' "$@"
    sed -nE '/^#/!s/.*[{,] *([A-Z][A-Z_0-9]+) *= *-?[0-9].*/\1/p; s/^ *([A-Z][A-Z_0-9]+) *= *-?[0-9].*/\1/p' "$@"
}
# literals FILE...: expressions with a number of their own, but units, bits and shifts
literals() {
    awk '/^ *(\/\*| \*)/ { next }
        { code = $0; sub(/\/\*.*/, "", code); gsub(/"[^"]*"/, "", code); gsub(/<<|>>/, "@", code)
          gsub(/[*\/%] *1(000)+u?/, "", code); gsub(/[*\/%] *1?(0|00)?[eE][0-9]+/, "", code); gsub(/[\/%] *64/, "", code)
          gsub(/TUNED\([A-Z_]*\)\)? *\/ *100/, "", code); gsub(/\* *100 *\//, "/", code)
          while (match(code, /[A-Za-z_0-9.>)\]]+ *([*\/%] *[0-9]+|[<>]=? *[0-9][0-9]+)|[0-9]+ *\* *[a-z][a-z_>.-]*|static const [a-z0-9_ ]+ = *[0-9]+/)) {
              print substr(code, RSTART, RLENGTH)
              code = substr(code, RSTART + RLENGTH) } }' "$@"
}
names=" $(sed 's/^[a-z]*://' <<<"$allowed" | tr '\n' ' ') "

printf '#define FROM 17\nenum { AT = 3 };\n' >"$work/line.c"
[ "$(numbered "$work/line.c" | paste -sd ' ')" = "FROM AT" ] || fail "the check finds nothing: $(numbered "$work/line.c")"

found=$(numbered $(find src/vi src/msg -name '*.[ch]') | sort -u)
for name in $found; do
    [[ $names == *" $name "* ]] || fail "$name: a threshold belongs into src/base/tunables.def"
done
for name in $names; do
    grep -qx "$name" <<<"$found" || fail "$name is allowed and is not there"
done

printf '/* x / 7 */\nif (a.b > 17 && c / 1000 << 3 < d / 3) e = g * TUNED(F) / 100;\nstatic const int at = 5;\n' >"$work/line.c"
[ "$(literals "$work/line.c" | paste -sd '|')" = "a.b > 17|d / 3|static const int at = 5" ] ||
    fail "the check finds something else: $(literals "$work/line.c")"
find src/vi src/msg -name '*.[ch]' | sort | while read -r file; do literals "$file" | sed "s|^|$file: |"; done | sort -u >"$work/literals"
sort -u <<'EOF' >"$work/allowed"
src/msg/rail.c: state.least_trip_ns / 2
src/msg/rail.c: >replay.main].score / 100
src/msg/replay.c: >size * 2
src/msg/replay.h: UINT32_MAX / 2
src/msg/slot.c: 2 * most
src/msg/slot.c: want / 2
src/msg/wait.c: ns * 2
src/vi/call/cards.c: 0] >= 224
src/vi/call/cards.c: CALL_CARDS * 18
src/vi/call/cards.c: port) > 65535
src/vi/call/seat.c: >port > 65535
src/vi/call/listener.c: high > 65535
src/vi/call/rail.c: again / 4
src/vi/call/rail.c: >nic.rank % 7
src/vi/call/rail.c: ) / 7
src/vi/call/rail.c: >attempts % 2
src/vi/shm/heap.c: 2 * heap->wanted
src/vi/shm/inbox.c: word * 64
src/vi/shm/lane.c: n >= 16
src/vi/shm/lane.c: n > 32
src/vi/shm/lane.c: n / 2
src/vi/shm/lane.c: SHM_INLINE / 2
src/vi/shm/lane.c: SHM_LINES / 2
src/vi/shm/line.c: 2 * line->dwell
src/vi/shm/segment.c: 511) / 512
src/vi/tcp/receive.c: TCP_STAGE) / 4
src/vi/tcp/receive.c: turn < 16
src/vi/verbs/adapter.c: 2 * adapter->needed
src/vi/verbs/complete.c: VERBS_DEPTH / 2
src/vi/verbs/memory.c: locked.rlim_cur / 2
src/vi/verbs/room.c: VERBS_LEAST / 2
src/vi/verbs/room.c: sessions / 2
src/vi/verbs/pair.c: VERBS_INLINE) / 4
EOF
# The half of a round trip is one way; what doubles or is halved; two shares of a chunk; addresses, ports and bits; a spread of
# times over ranks; what a cell or a copy of 48 bytes consists of; a reader that is leaving.
comm -23 "$work/literals" "$work/allowed" >"$work/more"
comm -13 "$work/literals" "$work/allowed" >"$work/less"
[ ! -s "$work/more" ] || fail "a threshold belongs into src/base/tunables.def: $(cat "$work/more")"
[ ! -s "$work/less" ] || fail "allowed and not there: $(cat "$work/less")"

for pair in NEAR_BELOW:LINE_NEAR SLOW_BELOW:LINE_SLOW INTERRUPTED:LINE_SANE; do
    bench=$(awk -v name="${pair%:*}" '$2 == name { print $3 * 1000 }' bench/floor.c)
    table=$(sed -nE "s/^TUNABLE_ALL\(${pair#*:}, ps, ([0-9]+),.*/\1/p" src/base/tunables.def)
    [ -n "$bench" ] && [ "$bench" = "$table" ] || fail "bench/floor.c has $bench ps for ${pair%:*}, the table $table"
done
finish
