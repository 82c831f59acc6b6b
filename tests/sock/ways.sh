# Which way the bytes of a connection go, by its kind and behind calls that copy or close descriptors; with a peer whose library has
# another wire version; and in a child that has VIADUCT_SOCK=off.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
exchange=$VIADUCT_BUILD/tests/sock/exchange
sock="$VIADUCT_BIN/viaduct sock --after 4 --"
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log
expect 0 '' '' timeout 40 $sock "$VIADUCT_BUILD/tests/sock/ways"
[ "$(uname -m)" != x86_64 ] || grep -q 'wake-ups are missing: the program reads it by system calls' "$work/log" || fail "the log does not tell of a read past the library"
grep -q 'bytes lie unread and a new program begins' "$work/log" || fail "the log does not tell why a connection was reset"

# Names to meet at have the version in them: here another word.
sed 's#viaduct/sock/%u/#viaduct/other/%u#' "$VIADUCT_BUILD/lib/libviaduct-sock.so" >"$work/other.so"
cmp -s "$VIADUCT_BUILD/lib/libviaduct-sock.so" "$work/other.so" && fail "the library has no such name in it"
joined() { # ENDS SERVER'S-LIBRARY CLIENT'S-LIBRARY [SETTING]
    : >"$work/log"
    : >"$work/port"
    env ${4:-} LD_PRELOAD="$2" "$exchange" serve >"$work/port" &
    eventually 5 test -s "$work/port" || fail "the server does not start"
    expect 0 '' '' timeout 20 env LD_PRELOAD="$3" "$exchange" call "$(cat "$work/port")" 2000
    wait
    [ "$(grep -c 'is joined' "$work/log")" = "$1" ] || { fail "$2 with $3 ${4:-}: not $1 ends are joined:"; cat "$work/log"; }
}
own=$VIADUCT_BUILD/lib/libviaduct-sock.so
joined 2 "$own" "$own"
joined 2 "$work/other.so" "$work/other.so"
joined 0 "$work/other.so" "$own"
joined 0 "$own" "$work/other.so"
joined 0 "$own" "$own" VIADUCT_SOCK=off
finish
