# A peer of another user has no share in where we wait: it is told by TCP, and does not look again and again.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
[ "$(id -u)" = 0 ] || skip "to become another user needs root"
chmod 755 "$work" && mkdir -m 777 "$work/logs"
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/logs/log
touch "$VIADUCT_LOG_FILE" && chmod 666 "$VIADUCT_LOG_FILE"
expect 0 '~^woken [0-9]+, in time$' '' "$VIADUCT_BIN/viaduct" sock -- "$VIADUCT_BUILD/tests/sock/users" 65534
woken=$(tr -dc '0-9 ' <"$work/out")
[ "$woken" -lt 100 ] || fail "woke up $woken times in half a second"
[ "$(grep -c 'is joined' "$VIADUCT_LOG_FILE")" = 2 ] || { fail "the two ends are not joined:"; cat "$VIADUCT_LOG_FILE"; }

# Two users, neither of them root: they share memory only if both allow the other one.
users() { # JOINED OPTION...
    local joined=$1
    shift
    : >"$VIADUCT_LOG_FILE"
    expect 0 '~^woken [0-9]+, in time$' '' "$VIADUCT_BIN/viaduct" sock "$@" -- "$VIADUCT_BUILD/tests/sock/users" 65533 65532
    [ "$(grep -c 'is joined' "$VIADUCT_LOG_FILE")" = $joined ] || { fail "with \"$*\" not $joined ends are joined:"; cat "$VIADUCT_LOG_FILE"; }
}
users 0
grep -q 'stays TCP: at its other end is a process of another user' "$VIADUCT_LOG_FILE" || { fail "another user is not the reason:"; cat "$VIADUCT_LOG_FILE"; }
users 0 --also-user 65533
users 2 --also-user 65533,65532

# The list counts what was refused.
cp "$VIADUCT_BUILD/tests/sock/exchange" "$VIADUCT_BUILD/lib/libviaduct-sock.so" "$work" && chmod 755 "$work"/exchange && mkfifo "$work/hold"
as() { env LD_PRELOAD="$work/libviaduct-sock.so" setpriv --reuid "$1" --clear-groups "$work/exchange" "${@:2}"; }
as 65533 serve >"$work/port" &
eventually 10 test -s "$work/port" || fail "the server does not start"
as 65532 call "$(cat "$work/port")" 2000 hold <"$work/hold" >"$work/out" &
exec 9>"$work/hold"
counted() { "$VIADUCT_BIN/viaduct" sock --list >"$work/list" && grep -q ' exchange  *refused 1 in the place of the other end: another user' "$work/list"; }
eventually 10 counted || { fail "what was refused is not counted:"; cat "$work/list"; }
exec 9>&-
wait
finish
