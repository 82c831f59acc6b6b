# A peer behind another network namespace stays TCP, and so does one of a user that has no number in the own user namespace. In a
# user namespace that has one for it the connection is moved.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
exchange=$VIADUCT_BUILD/tests/sock/exchange
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log
export SOCK_LIBRARY=$VIADUCT_BUILD/lib/libviaduct-sock.so

# joined NAME ENDS SERVER-PREFIX CLIENT-PREFIX [ADDRESS]
joined() {
    : >"$work/port"
    : >"$work/log"
    $3 env LD_PRELOAD="$SOCK_LIBRARY" "$exchange" serve >"$work/port" &
    eventually 5 test -s "$work/port" || fail "$1: the server does not start"
    expect 0 '' '' timeout 20 $4 env LD_PRELOAD="$SOCK_LIBRARY" "$exchange" call "${5:-}$(cat "$work/port")" 5000
    wait
    [ "$(grep -c 'is joined' "$work/log")" = "$2" ] || { fail "$1: not $2 ends are joined:"; cat "$work/log"; }
}
joined "the same namespaces" 2 "" ""
if unshare --user true 2>/dev/null; then
    joined "a user namespace in which the user is root" 2 "" "unshare --user --map-root-user"
    joined "a user namespace without users" 0 "" "unshare --user"
    joined "two user namespaces without users" 0 "unshare --user" "unshare --user"
fi
bash "$VIADUCT_SOURCE/tests/net/lab" 2 1 true >/dev/null 2>&1 || finish
run 40 bash "$VIADUCT_SOURCE/tests/net/lab" 2 1 bash -c "source '$VIADUCT_SOURCE/tests/lib/shell'; export VIADUCT_LOG_FILE=\$work/log exchange='$exchange'; $(declare -f joined)
    joined 'another network namespace' 0 'lab-rsh h1' '' 10.77.0.2:; finish"
expect_status 0 "another network namespace"
finish
