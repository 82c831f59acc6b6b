# A process that becomes another user for good leaves its family: it cannot write any more what processes with more rights read, and
# what it does with sockets from then on is moved as ever.
# timeout: 180 takes: 5
source "$VIADUCT_SOURCE/tests/lib/shell"
[ "$(id -u)" = 0 ] || skip "to become another user needs root"
program=$VIADUCT_BUILD/tests/sock/rights
chmod 755 "$work" && mkdir -m 777 "$work/logs"
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/logs/log

# rights CASE MEMORY ENDS: so many ends are joined
rights() {
    : >"$VIADUCT_LOG_FILE"
    chmod 666 "$VIADUCT_LOG_FILE"
    expect 0 none '' timeout 30 "$program" "$1"
    expect 0 "$2" '' timeout 30 "$VIADUCT_BIN/viaduct" sock -- "$program" "$1"
    [ "$(grep -c 'is joined' "$VIADUCT_LOG_FILE")" = "$3" ] || { fail "$1: not $3 ends are joined:"; cat "$VIADUCT_LOG_FILE"; }
}
rights spoil left 4
rights serve left 4
rights share left 2
rights root kept 4
rights threads kept 4
grep -q 'has threads' "$VIADUCT_LOG_FILE" || fail "nobody says that the memory stays"
finish
