# Forks beside threads that make, join and close connections: every child knows what it has, and no call in it or in its parent hangs.
# timeout: 180 takes: 10
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$VIADUCT_BUILD/tests/sock/fork
sock="$VIADUCT_BIN/viaduct sock"
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log
expect 0 '0 children ended otherwise' '' timeout 50 "$program" 60
expect 0 '0 children ended otherwise' '' timeout 50 $sock -- "$program" 150
expect 0 '0 children ended otherwise' '' timeout 50 $sock --after 0 -- "$program" 60
joined=$(grep -c 'is joined' "$work/log")
[ "$joined" -gt 20 ] || fail "only $joined ends were joined"
finish
