# Every threshold of vi and msg that a measurement could change stands in src/base/tunables.def and nowhere else. A macro or an
# enumerator with a number of its own there is therefore one of those below: each group says why it is none.
# timeout: 60 takes: 2
source "$VIADUCT_SOURCE/tests/lib/shell"
cd "$VIADUCT_SOURCE" || exit 1
allowed="
wire: SHM_MAGIC CALL_MAGIC CALL_VERSION CALL_NONCE CALL_NOTE_MAGIC TCP_FLAG_SIGNAL TCP_FLAG_QUIET CALL_ACCEPTED TCP_SEND
wire: MSG_FRAME_EAGER MSG_FLAG_KEY MSG_FLAG_NOTED MSG_FLAG_SYNC MSG_FLAG_SLOTS MSG_FLAG_PARTIAL MSG_FLAG_WON MSG_FLAG_ASKING
wire: MSG_KEYS MSG_FRAME_COST MSG_CONTEXT_MPLITE MSG_CONTEXT_PACK MSG_CONTEXTS_PACK MSG_CONTEXTS MSG_NETWORKS
wire: TCP_MAX_PUT TCP_MAX_SEND CALL_CARD_TEXT CALL_HOST_NAME TCP_DEPTH
layout: SHM_MAX_RANKS SHM_PAGE SHM_LINES SHM_INLINE SHM_RUN SHM_ROW SHM_HOT SHM_CLASS_SHIFT SHM_MAX_SEND SHM_SLAB SHM_SLABS
layout: SHM_TURN SHARED_ALIGN SHARED_MOST SHM_DATA SHM_PAST SHARED_ALL SLOTS COUNT_BITS COUNT_MASK PAGE CHUNK_BITS
name: SHM_NO_SLAB SHM_SHARED_KEY VI_MORE VI_SOURCE VI_COMPLETE VI_HELD VI_RARELY MSG_ANY_SOURCE MSG_ANY_TAG MSG_PENDING
name: MSG_NO_MEMBER MSG_PARKED MSG_DONE MSG_BY_LANE MSG_NOT_BEGUN MSG_REPLAY_NONE MSG_SEND CALLED
room: BATCH DIRECT CALL_MOST EVENTS TCP_PUTS CALL_PATH CALL_WHY REPLY CALL_CARDS CALL_HELD CALL_INTERFACES CALL_ADDRESSES CALL_PAIRS
room: CARD_MOST
room: MSG_GATHERED MSG_CHUNKS MSG_NICS MSG_RAILS MSG_PIECES MSG_INLINE MESSAGES_MOST MSG_REPLAY_PAIRS MSG_REPLAY_RAILS CALL_RAILS
room: MSG_REPLAY_ASKED MSG_REPLAY_BULK MSG_REQUEST_ROOM
measure: SHM_SAMPLE"
# wire: what both ends must agree on. layout: of shared memory. name: a number that only names. room: how long an array is, or a
# table may grow, before something waits. measure: how much is timed.

# numbered FILE...: names of macros and enumerators that are given a number
numbered() {
    sed -nE 's/^ *# *define +([A-Z][A-Z_0-9]*) +\(*-?[0-9].*/\1/p' "$@"
    sed -nE '/^#/!s/.*[{,] *([A-Z][A-Z_0-9]+) *= *-?[0-9].*/\1/p; s/^ *([A-Z][A-Z_0-9]+) *= *-?[0-9].*/\1/p' "$@"
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
finish
