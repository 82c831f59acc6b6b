# A preloaded program that talks to one that is not makes exactly the system calls of its own; one that talks to another
# preloaded one makes none, and allocates nothing. And the tool does as it says.
# timeout: 150
source "$VIADUCT_SOURCE/tests/lib/shell"
programs=$VIADUCT_BUILD/tests/sock
command -v strace >/dev/null || skip "strace is not installed"

server() { # starts a server; its port in $port
    "$programs/exchange" serve >"$work/port" &
    eventually 5 test -s "$work/port" || fail "the server does not start"
    port=$(cat "$work/port")
    : >"$work/port"
}

# calls NAME COMMAND...: the system calls of 5000 exchanges, behind the first 2000, with how often they were made
calls() {
    local name=$1
    shift
    server
    strace -f -qq -o "$work/$name.trace" "$@" "$programs/exchange" call "$port" 7000 || fail "$name: wrong answers"
    wait
    sed 's/^[0-9]* //; s/(.*//' "$work/$name.trace" | awk '/getppid/ { marks++ } marks == 1' | tail -n 10000 | sort | uniq -c >"$work/$name"
}
strace -qq -o /dev/null true 2>/dev/null || skip "this system does not allow strace"
calls plain env
calls ours "$VIADUCT_BIN/viaduct" sock --
diff "$work/plain" "$work/ours" >"$work/diff" || { fail "other system calls than without the preload:"; cat "$work/diff"; }

# between the marks: how many system calls
marked() { awk '/getppid/ { marks++; next } marks == 1' "$1"; }

# Two preloaded processes that read what is there: an exchange makes no system call but those of the pipes that tell them so.
strace -f -qq -o "$work/turns" "$VIADUCT_BIN/viaduct" sock --after 4 -- "$programs/exchange" turns 1000 || fail "exchange by turns"
[ "$(grep -c 'write(101, ' "$work/turns")" -ge 1000 ] || fail "the turns are not in the trace"
marked "$work/turns" | grep -vE ' (read|write)\(10[0-3], |<\.\.\. (read|write) resumed' >"$work/calls"
[ ! -s "$work/calls" ] || { fail "$(wc -l <"$work/calls") system calls in 1000 exchanges of two processes"; head -n 5 "$work/calls"; }

# Two preloaded ends in one thread: an exchange makes no system call and, as the program itself counts them, no allocation. But once in
# a millisecond the kernel is asked for ends of connections, in each of two sets.
strace -ttt -qq -o "$work/self" "$VIADUCT_BIN/viaduct" sock -- "$programs/exchange" self 4000 || fail "exchange with itself"
[ "$(grep -c getppid "$work/self")" = 2 ] || fail "the marks are not in the trace"
count=$(marked "$work/self" | wc -l)
ms=$(awk '/getppid/ { print $1 * 1000 }' "$work/self" | awk 'NR == 1 { first = $1 } END { printf "%d", $1 - first }')
[ "$count" -le $((10 + 2 * ms)) ] || { fail "$count system calls in 4000 exchanges of a joined connection in $ms ms"; tail -n 5 "$work/self"; }

# A stream to a reader that polls: it has one bell in a millisecond, in which the reader looks for the end, and not one for each write.
read -r bells ms < <("$VIADUCT_BIN/viaduct" sock --after 4 -- "$programs/exchange" stream 50000)
[ -n "${ms:-}" ] && [ "$bells" -le $((5 + 2 * ms)) ] || fail "${bells:-no} bells in 50000 writes of a stream in ${ms:-no} ms"

expect 0 '~^usage: viaduct sock' '' "$VIADUCT_BIN/viaduct" sock --help
expect 2 '' '~^usage' "$VIADUCT_BIN/viaduct" sock
refused() { expect 2 '' "viaduct sock: invalid value '$2' of $1: expected $3" "$VIADUCT_BIN/viaduct" sock "$1" "$2" -- true; }
for value in 'a b' abc '' 80, 80,,81 99999 8100-8000 80- -80 1-2-3; do
    refused --only "$value" 'ports, like 80,8000-8100'
    refused --not "$value" 'ports, like 80,8000-8100'
done
for value in abc -1 '' 8x 99999999999; do refused --after "$value" 'a number of calls'; done
for value in nobody-at-all '' root, 'root nobody'; do refused --also-user "$value" 'users of this host'; done
expect 127 '' '~no-such-program' "$VIADUCT_BIN/viaduct" sock -- no-such-program
expect 0 '~^/lib/other.so:/.*/libviaduct-sock.so$' '~' env LD_PRELOAD=/lib/other.so "$VIADUCT_BIN/viaduct" sock -- sh -c 'echo $LD_PRELOAD'
expect 0 'only:80 after:0' '' "$VIADUCT_BIN/viaduct" sock --only 80 --after 0 -- sh -c 'echo $VIADUCT_SOCK'
expect 0 'only:80,90-91 not:1,2 user:root,0,4294967295 after:0' '' "$VIADUCT_BIN/viaduct" sock --after 3 --not 1 --only 80 --also-user root,0 \
    --after 0 --only 90-91 --not 2 --also-user 4294967295 -- sh -c 'echo $VIADUCT_SOCK'
expect 2 '' '~longer than 511 letters' "$VIADUCT_BIN/viaduct" sock $(printf -- '--only 10000-11000 %.0s' {1..50}) -- true
finish
