# Connections are closed by threads while other threads wait for them in a set: nothing is told of what is gone, and
# nobody crashes.
# timeout: 60 takes: 8
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$VIADUCT_BUILD/tests/sock/closing
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log
expect 0 '' '' timeout 30 "$program" 1
expect 0 '' '' timeout 30 "$VIADUCT_BIN/viaduct" sock -- "$program" 5
[ "$(grep -c 'is joined' "$work/log")" -ge 100 ] || fail "hardly any were joined"
finish
