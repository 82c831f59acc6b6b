# viaduct sock --list: what went through shared memory, with bytes and bells; else the reason why not.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
exchange=$VIADUCT_BUILD/tests/sock/exchange
sock="$VIADUCT_BIN/viaduct sock"
mkfifo "$work/hold"

listed() { # PID PATTERN
    $sock --list >"$work/list" 2>&1 && grep -qE "^ *$1 exchange +127.0.0.1:[0-9]+ +127.0.0.1:[0-9]+ +$2" "$work/list"
}
# pair N SERVER-PREFIX CLIENT-PREFIX SERVER-LINE CLIENT-LINE: what the list says while both are there
pair() {
    : >"$work/port"
    $2 "$exchange" serve >"$work/port" &
    local server=$!
    eventually 10 test -s "$work/port" || { fail "the server does not start"; return; }
    $3 "$exchange" call "$(cat "$work/port")" "$1" hold <"$work/hold" >/dev/null &
    local client=$!
    exec 9>"$work/hold"
    eventually 10 listed $server "$4" || { fail "$2, $1 exchanges: the server is not listed as $4:"; cat "$work/list"; }
    [ -z "$5" ] || eventually 10 listed $client "$5" || { fail "$3, $1 exchanges: the client is not listed as $5:"; cat "$work/list"; }
    [ -n "$5" ] || ! grep -q "^ *$client " "$work/list" || { fail "a program without the library is listed"; cat "$work/list"; }
    exec 9>&-
    wait $client || fail "the client failed"
    wait $server || fail "the server failed"
}
pair 500 "$sock --only 1-65535 --" "$sock --" 'shared memory: [1-9][0-9]+ bytes in, [1-9][0-9]+ out, [0-9]+ bells$' 'shared memory: [1-9][0-9]+ bytes in, '
pair 3 "$sock --" "$sock --" 'TCP: too few calls' 'TCP: too few calls'
pair 50000 "$sock --" "" 'TCP: its other end has not answered: it was not' ""
pair 50 "$sock --not 1-65535" "$sock --" 'TCP: --only or --not leaves' 'TCP: its other end has not answered yet'
pair 50 "$sock --only 1-2 --" "" 'TCP: --only or --not leaves' ""

# a name that would command a terminal
named="$work/"$'e\e[31m'
cp "$exchange" "$named"
: >"$work/port"
$sock -- "$named" serve >"$work/port" &
server=$!
eventually 10 test -s "$work/port" || fail "the server with a strange name does not start"
$sock -- "$named" call "$(cat "$work/port")" 500 hold <"$work/hold" >/dev/null &
client=$!
exec 9>"$work/hold"
named() { $sock --list >"$work/list" 2>&1 && grep -q "^ *$server e \[31m " "$work/list"; }
eventually 10 named || fail "not listed: $(cat -v "$work/list")"
! grep -q $'\e' "$work/list" || fail "an escape sequence: $(cat -v "$work/list")"
exec 9>&-
wait $client && wait $server || fail "the server or the client with a strange name failed"
finish
